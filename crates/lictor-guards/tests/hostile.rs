//! Input that is designed to evade the parser: unparsed input never passes.

#[path = "judging/world.rs"]
mod world;

use lictor_core::{Action, ActionKind, Decision};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::json;
use world::{Expect, Judge, own_corpus, read_cases};

const MIB: usize = 1024 * 1024;

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn oversized_commands_do_not_pass() {
    let judge = Judge::new();
    for command in [
        format!("echo {}", "a".repeat(10 * MIB)),
        format!("{}; rm -rf /", ": ".repeat(5 * MIB)),
        format!("rm -rf /; {}", "true;".repeat(2 * MIB)),
        format!("echo '{}'; git reset --hard", "x ".repeat(5 * MIB)),
        "true\n".repeat(2 * MIB),
        "$(".repeat(5 * MIB),
        "{a,b}".repeat(2 * MIB),
        format!("cat <<EOF\n{}\nEOF\n", "line\n".repeat(2 * MIB)),
    ] {
        assert!(!judge.decision(&command).allows(), "{} bytes", command.len());
    }
}

/// Skipped commands cost nothing, and the commands after them are still seen.
#[test]
fn of_very_many_commands_both_ends_are_read() {
    let judge = Judge::new();
    for (command, count) in [("true;", 2 * MIB), ("true\n", 40_000), ("a;", 100_000)] {
        let many = command.repeat(count);
        assert!(!judge.decision(&many).allows(), "{count} × {command:?}");
        for dangerous in [format!("rm -rf /; {many}"), format!("{many} rm -rf /")] {
            assert_eq!(judge.decision(&dangerous), Decision::Block, "{count} × {command:?}");
            let facts = judge.facts(&Action::bash(dangerous));
            assert!(facts.effects.len() < 5_000, "{} effects", facts.effects.len());
        }
    }
}

#[test]
fn deep_nesting_does_not_pass() {
    let judge = Judge::new();
    for (open, close) in [
        ("$(", ")"),
        ("( ", ")"),
        ("{ ", "; }"),
        ("`", "`"),
        ("\"$(", ")\""),
        ("if true; then ", "; fi"),
        ("eval '", "'"),
        ("<(", ")"),
        ("${x:-", "}"),
        ("[[ ( ", " ) ]]"),
        ("case x in x) ", ";; esac"),
        ("! ", ""),
        ("sudo ", ""),
        ("f() { ", "; }"),
    ] {
        let command = nested(open, "rm -rf /", close, 10_000);
        assert!(!judge.decision(&command).allows(), "10000 × {open:?}");
    }
    let inner = "__import__(\"os\").system(\"rm -rf /\")";
    let python = format!("python3 -c 'print({})'", nested("(", inner, ")", 10_000));
    assert!(!judge.decision(&python).allows());
}

#[test]
fn odd_characters_hide_nothing() {
    let judge = Judge::new();
    for command in [
        "rm -rf /\r",
        "rm -rf /\r\n",
        "rm -rf / #\u{202e}",
        "ls\u{0b}; rm -rf /",
        "\x1b[2Krm -rf /; rm -rf /",
        "rm\t-rf\t/",
        "rm \\\n -rf \\\n /",
        "ls \0; rm -rf /",
        "rm -rf /\0x",
        "echo ok\u{2028}\nrm -rf /",
    ] {
        assert!(!judge.decision(command).allows(), "{command:?}");
    }
}

#[test]
fn odd_payloads_do_not_pass() {
    let judge = Judge::new();
    for payload in [
        json!({}),
        json!({"command": null}),
        json!({"command": ["rm", "-rf", "/"]}),
        json!({"command": {"a": "rm -rf /"}}),
        json!({"command": 7}),
        json!({"cmd": "rm -rf /"}),
    ] {
        let action = Action::new(ActionKind::Bash, payload.as_object().unwrap().clone());
        assert_eq!(judge.action(&action).value.settle(), Decision::Block, "{payload}");
    }
    for kind in [ActionKind::Read, ActionKind::Write] {
        let action = Action::new(kind, json!({"path": 7}).as_object().unwrap().clone());
        assert_eq!(judge.action(&action).value.settle(), Decision::Block);
    }
}

proptest! {
    // The same cases every time: a change is judged by what it changes, not by what a run happens to draw.
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// A stopped command stays stopped after any harmless commands, however they are joined.
    #[test]
    fn harmless_commands_in_front_change_nothing(
        prefix in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..4), 1..5),
        blocked in any::<prop::sample::Index>(),
    ) {
        let cases: Vec<_> = own_corpus().iter().flat_map(|path| read_cases(path)).collect();
        let judge = Judge::new();
        // A command that changes the directory or word splitting changes the meaning of the next one.
        let changes = |command: &str| ["cd ", "pushd", "IFS=", "\n"].iter().any(|word| command.contains(word));
        let harmless: Vec<_> =
            cases.iter().filter(|case| case.class == "everyday" && !changes(&case.command)).collect();
        let stopped: Vec<_> = cases.iter().filter(|case| case.expect == Expect::Block).collect();
        let mut command = String::new();
        for (index, joint) in prefix {
            command.push_str(&harmless[index.index(harmless.len())].command);
            command.push_str(["; ", " && ", "\n", " || "][joint]);
        }
        let case = stopped[blocked.index(stopped.len())];
        prop_assume!(!judge.decision(&case.command).allows());
        command.push_str(&case.command);
        prop_assert!(!judge.decision(&command).allows(), "{}: {command}", case.id);
    }

    /// No text makes the reader, the observer or a guard fail, and none is slow enough to notice.
    #[test]
    fn any_text_gets_an_answer(text in ".{0,200}") {
        let _ = Judge::new().decision(&text);
    }
}
