use std::path::Path;

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn shells_accept_the_scripts() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.lictor(&["completions", shell]);
        assert_eq!(script.code, 0, "{script:?}");
        assert!(script.stdout.contains("LICTOR_COMPLETE"), "{shell}: {script:?}");
        if shell == "bash" {
            let read = sandbox.program("bash", &["-n"], &script.stdout);
            assert_eq!((read.code, read.stderr.as_str()), (0, ""), "{read:?}");
        }
    }
    assert_eq!(sandbox.lictor(&["completions", "tcsh"]).code, 64);
}

/// What bash offers after these words, asked through the script itself.
fn offered(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let line = words.join(" ");
    let programs = Path::new(env!("CARGO_BIN_EXE_lictor")).parent().unwrap().display();
    let script = format!(
        "PATH='{programs}':$PATH\nsource <(lictor completions bash)\nCOMP_WORDS=({line} '')\nCOMP_CWORD={}\nCOMP_TYPE=9\n_clap_complete_lictor lictor '' ''\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.len()
    );
    let run = sandbox.program("bash", &["-c", &script], "");
    assert_eq!(run.code, 0, "{run:?}");
    run.stdout.lines().map(|word| word.trim().to_owned()).collect()
}

#[test]
fn ids_of_sessions_and_approvals_are_offered() {
    let sandbox = Sandbox::new();
    assert!(offered(&sandbox, &["lictor"]).contains(&"doctor".to_owned()));
    assert_eq!(
        offered(&sandbox, &["lictor", "deny"]).iter().filter(|word| !word.starts_with('-')).count(),
        0
    );
    let event = json!({"session_id": "s-17", "permission_mode": "dontAsk", "tool_name": "Bash",
                       "tool_input": {"command": "$DEPLOY --to staging"}});
    sandbox.claude("PreToolUse", event);
    let waiting = sandbox.lictor(&["approvals", "--json"]).json();
    let id = waiting[0]["id"].as_str().unwrap();
    let ids = offered(&sandbox, &["lictor", "deny"]);
    assert!(ids.iter().any(|word| !word.is_empty() && id.starts_with(word.as_str())), "{ids:?}");
    for words in [&["lictor", "init", "--agent"][..], &["lictor", "hook"], &["lictor", "log", "--agent"]] {
        let agents = offered(&sandbox, words);
        assert!(agents.contains(&"codex".to_owned()), "{words:?}: {agents:?}");
    }
    for words in [&["lictor", "session", "show"][..], &["lictor", "log", "--session"]] {
        let ids = offered(&sandbox, words);
        assert!(ids.iter().any(|word| word.contains("s-17")), "{words:?}: {ids:?}");
    }
}

#[test]
fn every_command_explains_itself() {
    let sandbox = Sandbox::new();
    let all = sandbox.lictor(&["help"]).stdout;
    let commands: Vec<&str> = all
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split("  ").next())
        .flat_map(|names| names.split(", "))
        .collect();
    assert!(commands.len() > 30, "{all}");
    for topic in commands.into_iter().chain(["exit-codes"]) {
        let help = sandbox.lictor(&["help", topic]);
        assert_eq!(help.code, 0, "{topic}: {help:?}");
        assert!(help.stdout.len() > 40, "{topic}: {help:?}");
        // Notes are rewrapped; examples are not, and must fit.
        let examples = help.stdout.lines().filter(|line| line.starts_with("  lictor "));
        assert!(examples.clone().all(|line| line.chars().count() <= 80), "{topic}: {help:?}");
    }
    for page in ["exit-codes", "upgrade"] {
        let help = sandbox.lictor(&["help", page]).stdout;
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
}
