use serde_json::json;

use super::*;

fn note(guard: &str, key: &str, value: Option<Json>) -> Note {
    Note { guard: guard.to_owned(), key: key.to_owned(), value }
}

#[test]
fn guards_keep_their_own_values() {
    let mut memory = Memory::default();
    memory.keep(&[note("a", "n", Some(json!(1))), note("b", "n", Some(json!(2)))]);
    assert_eq!((memory.get("a", "n"), memory.get("b", "n")), (Some(&json!(1)), Some(&json!(2))));
    memory.keep(&[note("a", "n", None)]);
    assert_eq!((memory.get("a", "n"), memory.of("b").count()), (None, 1));
    memory.keep(&[note("b", "n", None)]);
    assert!(memory.is_empty());
}

#[test]
fn it_is_bounded() {
    let mut memory = Memory::default();
    for number in 0..VALUES_KEPT + 10 {
        memory.keep(&[note("a", &number.to_string(), Some(json!(number)))]);
    }
    assert_eq!(memory.of("a").count(), VALUES_KEPT);
    // Existing values can still change.
    memory.keep(&[note("a", "0", Some(json!("new")))]);
    assert_eq!(memory.get("a", "0"), Some(&json!("new")));
    memory.keep(&[note("a", "0", Some(json!("x".repeat(VALUE_BYTES))))]);
    assert_eq!(memory.get("a", "0"), Some(&json!("new")));
}

#[test]
fn a_guard_sees_what_it_has_just_written() {
    let kept = |guard: &str, key: &str| (guard == "g" && key == "n").then(|| json!(1));
    let mut memory = GuardMemory::new("g", &kept);
    assert_eq!((memory.recall("n"), memory.recall("m")), (Some(json!(1)), None));
    assert!(memory.remember("n", 2));
    assert!(!memory.remember("big", "x".repeat(VALUE_BYTES)));
    assert_eq!(memory.recall("n"), Some(json!(2)));
    memory.forget("n");
    assert_eq!(memory.recall("n"), None);
    assert_eq!(memory.into_notes().len(), 2);
}
