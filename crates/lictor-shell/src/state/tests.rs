use super::{Content, Datum, State, Value};
use crate::operand::Cwd;

fn text(state: &State, name: &str) -> Option<String> {
    match state.variable(name)? {
        Value::Scalar(datum) => datum.text().map(str::to_owned),
        _ => None,
    }
}

fn set(state: &mut State, name: &str, value: &str) {
    state.set(name, Value::Scalar(Datum::known(value)));
}

#[test]
fn a_subshell_leaves_only_files_behind() {
    let mut state = State::new();
    set(&mut state, "x", "1");
    let mark = state.mark();
    set(&mut state, "x", "2");
    set(&mut state, "y", "3");
    state.set_file("f".to_owned(), Content::known("t".into()));
    state.leave(mark);
    assert_eq!(text(&state, "x").as_deref(), Some("1"));
    assert!(state.variable("y").is_none());
    assert!(state.file("f").is_some());
}

#[test]
fn branches_agree_or_are_unknown() {
    let branch = |state: &mut State, value: &str| {
        let mark = state.mark();
        set(state, "x", "passing");
        set(state, "x", value);
        state.take(mark)
    };
    let mut state = State::new();
    let (first, second) = (branch(&mut state, "1"), branch(&mut state, "1"));
    state.merge(vec![first, second], true);
    assert_eq!(text(&state, "x").as_deref(), Some("1"));

    let (first, second) = (branch(&mut state, "1"), branch(&mut state, "2"));
    state.merge(vec![first, second], true);
    assert_eq!(text(&state, "x"), None);

    let mut state = State::new();
    set(&mut state, "x", "0");
    let only = branch(&mut state, "1");
    state.merge(vec![only], false);
    assert_eq!(text(&state, "x"), None, "the branch may not have been taken");
}

#[test]
fn a_directory_change_that_may_not_happen_keeps_both_places() {
    let mut state = State::new();
    let mark = state.mark();
    let mut directories = state.directories().clone();
    directories.now = Cwd::Known("/a".to_owned());
    state.set_directories(directories);
    let branch = state.take(mark);
    state.merge(vec![branch], false);
    assert_eq!(state.directories().now, Cwd::Known("/a".to_owned()));
    assert_eq!(state.directories().instead, Some(Cwd::Start));
}
