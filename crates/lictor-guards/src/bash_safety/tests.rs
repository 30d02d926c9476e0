use lictor_core::{Action, ActionKind, Value};

use super::*;
use crate::testing::{bash, judged, reason};

fn guard(patterns: &[&str], programs: &[&str], allow: &[&str]) -> BashSafety {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    BashSafety::new(BashSafetyConfig {
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
    assert!(BashSafety::new(config).is_err());
}
