use super::*;

fn audience(agent: &[&str], subagent: &[&str], prompt: &[&str], task: &[&str]) -> Audience {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Audience { agent: owned(agent), subagent: owned(subagent), prompt: owned(prompt), task: owned(task) }
}

fn by(agent: &str, chain: &[&str]) -> Action {
    let mut action = Action::bash("ls");
    action.session = Some(SessionKey { agent: agent.to_owned(), id: "s".to_owned() });
    action.actor.chain = chain.iter().map(|name| (*name).to_owned()).collect();
    action
}

#[test]
fn each_part_has_to_fit_and_what_is_not_said_is_for_all() {
    let prompted = SessionState { prompt: Some("deploy".to_owned()), ..SessionState::default() };
    let plain = SessionState::default();
    let main = by("claude-code", &["main"]);
    let explorer = by("claude-code", &["main", "explorer"]);
    assert!(Audience::default().includes(&main, &plain));
    assert!(audience(&["claude-*"], &[], &[], &[]).includes(&main, &plain));
    assert!(!audience(&["codex"], &[], &[], &[]).includes(&main, &plain));
    assert!(audience(&[], &["explorer", "tester"], &[], &[]).includes(&explorer, &plain));
    assert!(!audience(&[], &["main"], &[], &[]).includes(&main, &plain), "a main agent is no subagent");
    assert!(audience(&[], &[], &["deploy"], &[]).includes(&main, &prompted));
    assert!(!audience(&[], &[], &["deploy"], &[]).includes(&main, &plain));
    assert!(!audience(&["claude-code"], &[], &["review"], &[]).includes(&main, &prompted));
    let task = Action { task_type: Some("deploy".to_owned()), ..main };
    assert!(audience(&[], &[], &[], &["deploy"]).includes(&task, &plain));
}

#[test]
fn it_says_for_whom() {
    assert_eq!(audience(&["codex"], &[], &["a", "b"], &[]).to_string(), "agent=codex prompt=a|b");
    assert_eq!(Audience::default().to_string(), "");
}
