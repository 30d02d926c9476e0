use crate::sandbox::Sandbox;

#[test]
fn shells_accept_the_scripts() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.lictor(&["completions", shell]);
        assert_eq!(script.code, 0, "{script:?}");
        assert!(script.stdout.contains("doctor"), "{shell}");
        if shell == "bash" {
            let read = sandbox.program("bash", &["-n"], &script.stdout);
            assert_eq!((read.code, read.stderr.as_str()), (0, ""), "{read:?}");
        }
    }
    assert_eq!(sandbox.lictor(&["completions", "tcsh"]).code, 64);
}

#[test]
fn every_command_explains_itself() {
    let sandbox = Sandbox::new();
    let all = sandbox.lictor(&["help"]).stdout;
    let commands: Vec<&str> = all
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
        .collect();
    assert!(commands.len() > 10, "{all}");
    for topic in commands.into_iter().chain(["exit-codes"]) {
        let help = sandbox.lictor(&["help", topic]);
        assert_eq!(help.code, 0, "{topic}: {help:?}");
        assert!(help.stdout.len() > 40, "{topic}: {help:?}");
    }
}
