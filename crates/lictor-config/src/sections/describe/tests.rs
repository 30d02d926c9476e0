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
fn a_call_of_a_tool_that_submits_tasks_is_the_task() {
    let text = "describe:
  tools:
    mcp__queue__*: {kind: submit_task, task_type: job.type|type}
    run_cell: {kind: execute_code, language: python, code: source}
";
    let policy = policy(Origin::User, text).unwrap();
    let described = policy.described_tools();
    let task = |tool: &Action| lictor_observe::as_task(tool, &described);
    let submitted = task(&tool("mcp__queue__add", json!({"type": "deploy", "ticket": "OPS-1"}))).unwrap();
    assert_eq!((&submitted.kind, submitted.task_type.as_deref()), (&ActionKind::SubmitTask, Some("deploy")));
    assert_eq!((submitted.tool.as_str(), submitted.text("ticket")), ("mcp__queue__add", Some("OPS-1")));
    assert_eq!(task(&submitted), None, "it stands for itself");
    let nested = task(&tool("mcp__queue__add", json!({"job": {"type": "report"}}))).unwrap();
    assert_eq!(nested.task_type.as_deref(), Some("report"));
    let without = task(&tool("mcp__queue__add", json!({}))).unwrap();
    assert_eq!((without.kind, without.task_type), (ActionKind::SubmitTask, None));
    assert_eq!(task(&tool("mcp__other__add", json!({"type": "deploy"}))), None);
    assert_eq!(task(&bash("mcp__queue__add")), None);
    // The tool stays known by its description, and its other effects are still judged.
    let facts = facts_of(&policy, &submitted);
    assert!(facts.effects.iter().any(|effect| matches!(effect, Effect::Tool { described: Some(_), .. })));
    let cell = facts_of(&policy, &tool("run_cell", json!({"source": "import socket"})));
    assert!(
        cell.effects
            .iter()
            .any(|effect| matches!(effect, Effect::Code { language, .. } if language == "python"))
    );
    // Rules about tools would not see the calls any more.
    let refused = self::policy(Origin::Repository, text).err().unwrap().join("\n");
    assert!(refused.contains("repository") && refused.contains("submits tasks"), "{refused}");
}

#[test]
fn verbs_and_objects_of_ones_own_are_known_to_every_file() {
    let words = "describe:
  verbs: [promote]
  objects: [model-card]
";
    let used = format!(
        "{words}  tools:
    mcp__ml__promote: {{verb: promote, object: model-card}}
policies:
  - {{name: promotions, on: {{verb: promote, object: model-card}}, requires_confirmation: true}}
"
    );
    let policy = policy(Origin::User, &used).unwrap();
    let facts = facts_of(&policy, &tool("mcp__ml__promote", json!({})));
    assert!(facts.effects.iter().any(
        |effect| matches!(effect, Effect::Deed { verb, object, .. } if verb == "promote" && object == "model-card")
    ));
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
        ("describe:\n  tools:\n    x: {kind: submit_task}\n", "3", "task_type"),
        ("describe:\n  tools:\n    x: {task_type: type}\n", "3", "submit_task"),
        ("describe:\n  tools:\n    x: {kind: execute_code}\n", "3", "language"),
        ("describe:\n  tools:\n    x: {kind: bash, command: c}\n", "3", "bash"),
        ("describe:\n  verbs: [Promote it]\n", "2", "Promote it"),
        (
            "policies:\n  - {name: p, on: {verb: promote, object: file}, effect: block}\n",
            "2",
            "describe: {verbs: [promote]}",
        ),
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
