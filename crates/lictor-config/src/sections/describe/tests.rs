use lictor_core::facts::{Access, DatabaseEffect, Effect, Facts};
use lictor_core::{Action, ActionKind};
use lictor_observe::{FakeObserver, Project, facts};
use serde_json::{Value, json};

use crate::{Origin, PolicyBundle, Source, load};

const FILE: &str = "describe:
  programs:
    acme:
      options: {values: [region, profile]}
      commands:
        - {words: 'deploy *', verb: deploy, object: service}
        - {words: 'db drop|reset', effect: destroys, what: 'the database {3}'}
        - {words: 'run --', runs: rest}
        - {words: export, writes: [--out]}
  tools:
    mcp__acme__query: {sql: sql}
    mcp__acme__save: {writes: path}
    mcp__acme__run: {language: python, code: code}
    mcp__acme__get_*: {verb: read, object: ticket}
    mcp__acme__drop: {effect: destroys-all, what: the environment}
";

fn policy(origin: Origin, text: &str) -> Result<PolicyBundle, Vec<String>> {
    let source = Source { origin, path: "governance.yaml".to_owned(), bytes: text.as_bytes().to_vec() };
    match load(&[source]) {
        Ok(loaded) => Ok(loaded.policy),
        Err(problems) => Err(problems.diagnostics.iter().map(|problem| format!("{problem:?}")).collect()),
    }
}

fn facts_of(policy: &PolicyBundle, action: &Action) -> Facts {
    let world = FakeObserver::for_judging();
    let mut project = Project::discover("/home/user/project", &world);
    project.described = policy.described_tools();
    project.programs = policy.described_programs();
    facts(action, &project, &world)
}

fn tool(name: &str, input: Value) -> Action {
    let mut action = Action::new(ActionKind::Tool, input.as_object().unwrap().clone());
    action.tool = name.to_owned();
    action.in_dir("/home/user/project")
}

fn bash(command: &str) -> Action {
    Action::bash(command).in_dir("/home/user/project")
}

#[test]
fn a_program_of_ones_own_does_what_its_description_says() {
    let policy = policy(Origin::User, FILE).unwrap();
    let has = |command: &str, wanted: fn(&Effect<lictor_core::facts::Place>) -> bool| {
        facts_of(&policy, &bash(command)).effects.iter().any(wanted)
    };
    for command in ["acme db drop main", "acme --region eu db reset main", "sudo acme db drop main"] {
        assert!(has(command, |effect| matches!(effect, Effect::Infrastructure { .. })), "{command}");
    }
    assert!(!has("acme db list", |effect| matches!(effect, Effect::Infrastructure { .. })));
    let deploys = |effect: &Effect<_>| matches!(effect, Effect::Deed { verb, object, .. } if verb == "deploy" && object == "service");
    assert!(has("acme deploy web", deploys));
    let deletes = |effect: &Effect<_>| matches!(effect, Effect::File { access: Access::Delete, .. });
    assert!(has("acme run -- rm -rf build", deletes));
    assert!(!has("acme run -- ls", deletes));
    assert!(has("acme export --out x.csv", |effect| matches!(
        effect,
        Effect::File { access: Access::Write, .. }
    )));
}

#[test]
fn the_fields_of_a_tool_are_judged_as_what_they_are() {
    let policy = policy(Origin::User, FILE).unwrap();
    let effects = |name: &str, input: Value| facts_of(&policy, &tool(name, input)).effects;
    let drops = |effects: &[Effect<_>]| {
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Database { effect: DatabaseEffect::DropPart, .. }))
    };
    assert!(drops(&effects("mcp__acme__query", json!({"sql": "DROP TABLE t"}))));
    assert!(!drops(&effects("mcp__acme__query", json!({"sql": "SELECT 1"}))));
    let writes = effects("mcp__acme__save", json!({"path": "a.txt"}));
    assert!(writes.iter().any(|effect| matches!(effect, Effect::File { access: Access::Write, .. })));
    let runs = effects("mcp__acme__run", json!({"code": "import shutil; shutil.rmtree('x')"}));
    assert!(
        runs.iter().any(|effect| matches!(effect, Effect::Code { language, .. } if language == "python"))
    );
    assert!(runs.iter().any(|effect| matches!(effect, Effect::File { access: Access::Delete, .. })));
    let gone = effects("mcp__acme__drop", json!({}));
    assert!(gone.iter().any(|effect| matches!(effect, Effect::Infrastructure { mass: true, .. })));
}

#[test]
fn a_repository_cannot_make_a_tool_one_that_may_be_used() {
    let told = |origin: Origin| {
        let policy = policy(origin, FILE).unwrap();
        let facts = facts_of(&policy, &tool("mcp__acme__get_ticket", json!({})));
        facts.effects.into_iter().find_map(|effect| match effect {
            Effect::Tool { described, .. } => Some(described),
            _ => None,
        })
    };
    assert_eq!(told(Origin::User), Some(Some("governance.yaml".to_owned())));
    assert_eq!(told(Origin::Managed), Some(Some("governance.yaml".to_owned())));
    assert_eq!(told(Origin::Repository), Some(None));
}

#[test]
fn what_is_wrong_is_said_where_it_stands() {
    let wrong = |text: &str| policy(Origin::User, text).err().unwrap().join("\n");
    let cases = [
        ("describe:\n  tools:\n    x: {sqll: sql}\n", "3", "sqll"),
        ("describe:\n  tools:\n    x: {code: code}\n", "3", "language"),
        ("describe:\n  tools:\n    x: {effect: explodes}\n", "3", "explodes"),
        ("describe:\n  tools:\n    x: {verb: frobnicate, object: data}\n", "3", "frobnicate"),
        ("describe:\n  programs:\n    acme: {commands: [{words: a, effect: explodes}]}\n", "3", "explodes"),
        ("describe:\n  programs:\n    acme: {command: x}\n", "3", "command"),
        ("describe: {tool: {}}\n", "1", "tool"),
    ];
    for (text, line, word) in cases {
        let said = wrong(text);
        assert!(said.contains(&format!("line: {line}")) && said.contains(word), "{text}: {said}");
    }
}
