use lictor_core::{Action, ActionKind, Value};

use super::*;
use crate::testing::{bash, judged, reason};

fn guard(patterns: &[&str], programs: &[&str], allow: &[&str]) -> BashSafety {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    BashSafety::only(BashSafetyConfig {
        blocked_patterns: owned(patterns),
        blocked_programs: owned(programs),
        allow: owned(allow),
        unreadable: None,
    })
    .unwrap()
}

#[test]
fn the_reason_names_the_pattern_word_for_word() {
    let judged = judged(guard(&[r"rm\s+-rf\s+/"], &[], &[]), &bash("rm -rf /"));
    assert_eq!(judged.value, Value::Block);
    assert_eq!(reason(&judged), r"Command matches blocked pattern: rm\s+-rf\s+/");
}

#[test]
fn a_pattern_sees_every_spelling_of_a_command() {
    for command in [
        "rm -fr /",
        "rm -r -f /",
        "rm --recursive --force /",
        "sudo rm -rf /",
        "'rm' \"-rf\" /",
        "true && rm -rf /",
        "bash -c 'rm -rf /'",
        "F=-rf; rm $F /",
        "echo / | xargs rm -rf",
        "$(echo rm) -rf /",
    ] {
        let judged = judged(guard(&[r"^rm\s+-rf\s+/"], &[], &[]), &bash(command));
        assert_eq!(judged.value, Value::Block, "{command}");
    }
}

#[test]
fn a_pattern_runs_on_the_raw_text_too() {
    let judged = judged(guard(&[r"DROP\s+TABLE"], &[], &[]), &bash("psql -f - <<< 'DROP TABLE x'"));
    assert_eq!(judged.value, Value::Block);
}

#[test]
fn a_program_is_blocked_by_its_base_name_only() {
    for (command, value) in [
        ("shutdown -h now", Value::Block),
        ("/sbin/shutdown now", Value::Block),
        ("sudo shutdown now", Value::Block),
        ("echo shutdown", Value::Pass),
        ("shutdown-helper x", Value::Pass),
    ] {
        assert_eq!(judged(guard(&[], &["shutdown"], &[]), &bash(command)).value, value, "{command}");
    }
}

#[test]
fn an_exception_lifts_the_block_for_one_whole_command() {
    for (command, value) in [
        ("rm -rf target", Value::Pass),
        ("ls && rm -rf target", Value::Pass),
        ("sudo rm -rf target", Value::Pass),
        ("rm -rf target /", Value::Block),
        ("rm -rf target && rm -rf src", Value::Block),
        ("rm -rf target; echo rm -rf src", Value::Block),
        ("rm -rf \"$X\"", Value::Block),
    ] {
        let judged = judged(guard(&["rm -rf"], &[], &["rm -rf target"]), &bash(command));
        assert_eq!(judged.value, value, "{command}");
    }
}

#[test]
fn a_command_without_text_is_an_error_and_an_unreadable_one_is_asked_about() {
    let empty = Action::new(ActionKind::Bash, serde_json::Map::new());
    assert_eq!(judged(guard(&["x"], &[], &[]), &empty).value, Value::Error);
    assert_eq!(judged(guard(&["x"], &[], &[]), &bash("echo 'open")).value, Value::Ask);
    assert_eq!(judged(guard(&["x"], &[], &[]), &Action::read("x")).value, Value::Pass);
}

#[test]
fn a_bad_pattern_is_refused() {
    let config = BashSafetyConfig { blocked_patterns: vec!["(".to_owned()], ..BashSafetyConfig::default() };
    assert!(BashSafety::only(config).is_err());
}

fn library(guard: BashSafety, command: &str) -> lictor_core::Judged {
    let action = lictor_core::Action::bash(command).in_dir("/home/user/project");
    crate::testing::judged_in(
        guard,
        &action,
        &lictor_observe::FakeObserver::for_judging(),
        &lictor_core::SessionState::default(),
        0,
    )
}

#[test]
fn the_default_stops_what_the_recommended_rules_stop() {
    let reason = |command: &str| {
        let judged = library(BashSafety::default(), command);
        (
            judged.value,
            judged.verdicts.first().map(|given| given.verdict.reason().to_owned()).unwrap_or_default(),
        )
    };
    let pattern = r"Command matches blocked pattern: rm\s+-rf\s+/".to_owned();
    assert_eq!(reason("rm -rf /"), (lictor_core::Value::Block, pattern));
    for stopped in ["rm -r -f /", "sudo rm -rf --no-preserve-root /", "mkfs.ext4 /dev/sda1", ":(){ :|:& };:"]
    {
        assert_eq!(library(BashSafety::default(), stopped).value, lictor_core::Value::Block, "{stopped}");
    }
    for harmless in ["ls -la", "rm -rf target", "cargo test", "echo 'rm -rf /'"] {
        assert!(library(BashSafety::default(), harmless).value <= lictor_core::Value::Warn, "{harmless}");
    }
    // A configuration adds to the rules; `only` does not have them.
    let config =
        || BashSafetyConfig { blocked_programs: vec!["terraform".to_owned()], ..BashSafetyConfig::default() };
    for stopped in ["terraform apply", "rm -rf /"] {
        assert_eq!(library(BashSafety::new(config()).unwrap(), stopped).value, lictor_core::Value::Block);
    }
    assert_eq!(library(BashSafety::only(config()).unwrap(), "rm -rf /").value, lictor_core::Value::Pass);
}

#[test]
fn what_can_never_match_is_refused() {
    for name in ["git push", "/bin/rm", ""] {
        let config =
            BashSafetyConfig { blocked_programs: vec![name.to_owned()], ..BashSafetyConfig::default() };
        assert_eq!(
            BashSafety::new(config).err(),
            Some(BashSafetyError::NotAProgram(name.to_owned())),
            "{name}"
        );
    }
}
