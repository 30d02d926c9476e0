use super::*;
use crate::observer::FakeObserver;

#[test]
fn an_alias_is_the_last_value_of_its_section() {
    let text = "[alias]\n  co = checkout\n  wipe = \"!rm -rf /\" ; c\n[alias \"x\"]\n co = other\n[Alias]\nCO = switch\n";
    assert_eq!(value_in(text, "alias", "co").as_deref(), Some("switch"));
    assert_eq!(value_in(text, "alias", "wipe").as_deref(), Some("!rm -rf /"));
    assert_eq!(value_in(text, "alias", "none"), None);
}

#[test]
fn a_value_may_go_on_over_lines() {
    assert_eq!(value_in("[alias]\n a = reset \\\n --hard\n", "alias", "a").as_deref(), Some("reset --hard"));
}

#[test]
fn a_linked_worktree_has_two_git_directories() {
    let world = FakeObserver::empty()
        .file("/w/.git", "gitdir: /r/.git/worktrees/w\n")
        .file("/r/.git/worktrees/w/commondir", "../..\n");
    assert_eq!(directories("/w", &world), ["/w/.git", "/r/.git", "/r/.git/worktrees/w"]);
}
