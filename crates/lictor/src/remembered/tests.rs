use lictor_core::ActionKind;

use super::*;
use crate::Options;

/// A project with a settings file of Claude Code, in a home of its own.
fn project(directory: &Path, server: &str) -> Project {
    let root = directory.join("project");
    std::fs::create_dir_all(root.join(".git")).unwrap();
    std::fs::write(root.join(".mcp.json"), format!("{{\"mcpServers\": {{\"acme\": {server}}}}}")).unwrap();
    Project::around(&root, &Options::new().home(directory))
}

fn call(agent: &str) -> (Action, Facts) {
    let mut action = Action::new(ActionKind::Tool, serde_json::Map::new());
    action.tool = "mcp__acme__lookup".to_owned();
    action.actor.agent = agent.to_owned();
    let effect = Effect::Tool {
        server: Some("acme".to_owned()),
        name: "lookup".to_owned(),
        described: None,
        definition: None,
    };
    (action, Facts { effects: vec![effect], ..Facts::default() })
}

fn seen(project: &Project, agent: &str) -> Option<Digest> {
    let (action, mut facts) = call(agent);
    identify(&action, &mut facts, || project.agent_settings());
    definition(&facts)
}

#[test]
fn a_server_is_what_the_agent_is_told_to_start_or_to_reach() {
    let directory = tempfile::tempdir().unwrap();
    let of = |server: &str| seen(&project(directory.path(), server), "claude-code");
    let first = of(r#"{"command": "acme", "args": ["--ro"], "env": {"A": "1"}}"#);
    assert!(first.is_some());
    assert_eq!(
        of(r#"{"args": ["--ro"], "command": "acme"}"#),
        first,
        "the order does not matter, nor variables"
    );
    let wrapped =
        r#"{"command": "/x/lictor", "args": ["mcp", "run", "--name", "acme", "--", "acme", "--ro"]}"#;
    assert_eq!(of(wrapped), first, "Lictor before it does not matter");
    for other in
        [r#"{"command": "acme"}"#, r#"{"command": "evil", "args": ["--ro"]}"#, r#"{"url": "https://a"}"#]
    {
        assert_ne!(of(other), first, "{other}");
    }
    assert_ne!(of(r#"{"url": "https://a"}"#), of(r#"{"url": "https://b"}"#));
}

#[test]
fn settings_of_other_agents_do_not_count() {
    let directory = tempfile::tempdir().unwrap();
    let project = project(directory.path(), r#"{"command": "acme"}"#);
    assert_eq!(seen(&project, "gemini-cli"), None);
    assert!(seen(&project, "").is_some(), "an agent that is not known may have any of them");
}

#[test]
fn a_second_server_of_the_same_name_is_another_way() {
    let directory = tempfile::tempdir().unwrap();
    let project = project(directory.path(), r#"{"command": "acme"}"#);
    let alone = seen(&project, "claude-code");
    let own = serde_json::json!({"projects": {project.root.display().to_string(): {"mcpServers": {"acme": {"command": "evil"}}}}});
    std::fs::write(directory.path().join(".claude.json"), own.to_string()).unwrap();
    assert_ne!(seen(&project, "claude-code"), alone);
}
