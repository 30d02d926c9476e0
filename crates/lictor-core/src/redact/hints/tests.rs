use proptest::prelude::*;

use super::super::options::{self, Form};
use super::super::secrets::{KEY_BEGINS, NAMES, SCHEMES, TOKENS, find, is_secret_name, search};
use super::*;

#[test]
fn every_shape_has_a_hint() {
    let shapes = TOKENS.iter().map(|(prefix, _)| *prefix).chain(NAMES.iter().copied()).chain(SCHEMES);
    let others = ["cookie", "set-cookie", "Authorization", "pass:x", "chpasswd", KEY_BEGINS, "https://a:b@c"];
    for shape in shapes.chain(others) {
        assert!(Hints::of(shape).words, "{shape}");
        assert!(Hints::of(&shape.to_uppercase()).words, "{shape}");
    }
    for option in ["curl -u a:b", "'-p'", "\"-psecret\"", "(-p", "-p"] {
        assert!(Hints::of(option).options, "{option}");
    }
    let has_any = |hints: Hints| hints.words || hints.options;
    for (program, letter, _) in options::SHORT {
        assert!(has_any(Hints::of(&format!("{program} {letter}"))), "{program} {letter}");
    }
    for option in options::PAIRS {
        assert!(Hints::of(&format!(" {option} ")).options, "{option}");
    }
    for option in options::LONG {
        assert!(has_any(Hints::of(&format!(" --{option} "))), "{option}");
    }
    let given = options::GIVEN.iter().map(|(program, before, _)| (*program, *before));
    for (program, before) in given.chain(options::PUTS) {
        assert!(has_any(Hints::of(&format!("{program} {before}"))), "{program} {before}");
    }
    for words in options::PROMPTED.into_iter().chain(options::IN_SQL) {
        assert!(has_any(Hints::of(words)), "{words}");
    }
    for name in NAMES {
        assert!(is_secret_name(name), "{name}");
    }
}

#[test]
fn what_hooks_write_most_has_none() {
    let record = r#"{"action":{"actor":{"agent":"claude-code"},"kind":"bash","payload":{"command":"cargo build"},"tool":"Bash"},"#;
    let trace = r#""trace":[{"below":"/all[0]/all","passed":["rules","base.known_tools"]},{"status":"active","value":"pass"}]"#;
    let stopped = r#"{"value":"block","risk_before":0.5,"risk_after":1.0,"fix":"go on without changing what governs you"}"#;
    let event = r#"{"event":{"action":"ebcc571a","decision":"pass","dialect":"claude-code","permission_mode":"default","tool_use_id":"toolu_1"}}"#;
    for text in [
        record,
        event,
        trace,
        stopped,
        "git status",
        "ls -la",
        "rm -rf target",
        "cargo test --release",
        "0860c63ca1c3ed11f9f15daa6e3b6b7a",
    ] {
        let hints = Hints::of(text);
        assert!(!hints.words && !hints.options, "{text}");
    }
}

proptest! {
    /// The pre-check never hides what the full search finds.
    #[test]
    fn nothing_is_found_without_a_hint(
        parts in prop::collection::vec(
            prop_oneof![
                "[a-zA-Z0-9_:=@/.'\" -]{0,12}",
                prop::sample::select(vec![
                    "password", "PASSWD", "token", "api_key", "Bearer ", "basic ", "ghp_", "sk-", "AKIA", "eyJ", "-p", "-u ",
                    "--user ", "mysql ", "curl ", "cookie: ", "pass:", "https://u:", "@host", "0123456789abcdefghij",
                    "sudo -S", "echo ", " | ", "=", "\"", "\\\"", "TOKEN_PROD", "xoxb-", "github_pat_",
                    "sk_live_", "rk_live_", "Authorization: ", "auth_key=", " -e ", "identified by '", "kinit <<< ",
                    "redis-cli ", " -a ", "ldapsearch ", " -w", "docker login ", " -P", " --pass ", " --auth=", "openssl -k ",
                ]).prop_map(str::to_owned),
            ],
            0..8,
        ),
    ) {
        let text = parts.concat();
        for form in [Form::Plain, Form::Json] {
            prop_assert_eq!(find(&text, form), search(&text, form, Hints::ALL), "{}", text);
        }
    }
}

/// Every hook writes such a record: searching it in full would cost more than judging.
#[test]
fn an_ordinary_record_has_no_hint() {
    let record = serde_json::json!({
        "action": {"actor": {"agent": "claude-code"}, "cwd": "/home/ann/app", "kind": "bash",
            "payload": {"command": "cargo build"}, "session": {"agent": "claude-code", "id": "s1"}, "tool": "Bash",
            "tool_use_id": "t9"},
        "evaluation": {"annotations": {}, "decision": "pass", "risk": 0, "trace": [{"below": "/all[0]/all", "from": 0,
            "layer": "BOUNDARY", "passed": ["rules", "base.known_tools", "self_protection", "commit_gate"]}],
            "verdicts": [0, 1], "violations": []},
        "event": {"decision": "pass", "dialect": "claude-code", "risk": 0, "type": "judged"},
        "facts": {"effects": [{"run": {"args": ["build"], "attributable": true, "certain": true, "program": "cargo",
            "words": ["cargo", "build"]}}]},
    });
    let hints = Hints::of(&record.to_string());
    assert!(!hints.words && !hints.options);
}
