use super::*;

fn key(agent: &str, id: &str) -> SessionKey {
    SessionKey { agent: agent.to_owned(), id: id.to_owned() }
}

fn known() -> Vec<SessionKey> {
    vec![key("claude-code", "t5-a"), key("claude-code", "t5-b"), key("codex", "t5-a"), key("codex", "u:1")]
}

fn found(text: &str) -> String {
    match choose(&known(), text) {
        Ok(key) => key.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_bare_id_and_the_beginning_of_one_are_enough() {
    assert_eq!(found("t5-b"), "claude-code:t5-b");
    assert_eq!(found("u"), "codex:u:1");
    assert_eq!(found("u:1"), "codex:u:1");
    assert_eq!(found("codex:t5"), "codex:t5-a");
}

#[test]
fn what_fits_several_names_them() {
    assert_eq!(found("t5-a"), "`t5-a` fits 2 sessions; name one of: `claude-code:t5-a`, `codex:t5-a`");
    assert!(found("t5").contains("fits 3 sessions"), "{}", found("t5"));
}

#[test]
fn what_fits_none_says_so() {
    for text in ["nothing", "", "cursor:t5-a"] {
        assert!(found(text).starts_with("there is no session"), "{text}");
    }
}
