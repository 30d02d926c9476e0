use serde_json::{Value, json};

use super::Todos;
use crate::action::{Action, ActionKind};

fn call(tool: &str, input: Value) -> Action {
    let mut action = Action::new(ActionKind::Tool, input.as_object().cloned().unwrap_or_default());
    action.tool = tool.to_owned();
    action
}

/// What is open after each of these calls.
fn open_after(calls: &[(&str, Value)]) -> Vec<Vec<String>> {
    let mut todos: Option<Todos> = None;
    let mut seen = Vec::new();
    for (tool, input) in calls {
        todos = Todos::after(todos.as_ref(), &call(tool, input.clone())).or(todos);
        let now = todos.clone().unwrap_or_default();
        assert_eq!(usize::try_from(now.open), Ok(now.items.len()));
        seen.push(now.items);
    }
    seen
}

#[test]
fn tasks_come_and_go_one_at_a_time() {
    let seen = open_after(&[
        ("TaskCreate", json!({"subject": "write", "description": "the report"})),
        ("TaskCreate", json!({"subject": "test"})),
        ("TaskUpdate", json!({"taskId": "1", "status": "in_progress"})),
        ("Bash", json!({"command": "ls"})),
        ("TaskUpdate", json!({"taskId": "1", "status": "completed"})),
        ("TaskUpdate", json!({"taskId": "1", "status": "completed"})),
        ("TaskUpdate", json!({"taskId": "1", "status": "pending", "subject": "write again"})),
        ("TaskUpdate", json!({"taskId": "2", "status": "deleted"})),
    ]);
    let expected: [&[&str]; 8] = [
        &["write"],
        &["write", "test"],
        &["write", "test"],
        &["write", "test"],
        &["test"],
        &["test"],
        &["write again", "test"],
        &["write again"],
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_list_with_other_numbers_empties_all_the_same() {
    let seen = open_after(&[
        ("TaskCreate", json!({"subject": "one"})),
        ("TaskCreate", json!({"subject": "two"})),
        ("TaskUpdate", json!({"taskId": "17", "status": "in_progress"})),
        ("TaskUpdate", json!({"taskId": "18", "status": "completed"})),
        ("TaskUpdate", json!({"taskId": "17", "status": "completed"})),
    ]);
    assert_eq!(seen.last(), Some(&Vec::new()));
    assert_eq!(seen[3], ["one"]);
}

#[test]
fn a_whole_list_takes_the_place_of_what_was_there() {
    let seen = open_after(&[
        ("TaskCreate", json!({"subject": "one"})),
        (
            "TodoWrite",
            json!({"todos": [{"content": "a", "status": "pending"}, {"content": "b", "status": "completed"}]}),
        ),
    ]);
    assert_eq!(seen, [["one"], ["a"]]);
}
