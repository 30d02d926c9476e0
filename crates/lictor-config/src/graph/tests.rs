use std::sync::Mutex;

use lictor_core::facts::{Access, Cardinality, Command, Effect, Facts, Opaque, OpaqueWhat, Place};
use lictor_core::{
    Action, ActionKind, Context, GivenVerdict, Graph, Judged, SessionState, Timestamp, Verdict, guard_fn,
};

use super::*;
use crate::command::Asked;
use crate::{Source, load};

/// A runner with a canned answer that records its calls.
struct Canned {
    answer: Result<&'static str, &'static str>,
    asked: Mutex<Vec<(String, Origin, String)>>,
}

impl Runner for Canned {
    fn run(&self, asked: &Asked<'_>, input: &[u8]) -> Result<Vec<u8>, String> {
        let entry = (asked.what.to_owned(), asked.origin, String::from_utf8(input.to_vec()).unwrap());
        self.asked.lock().unwrap().push(entry);
        self.answer.map(|text| text.as_bytes().to_vec()).map_err(str::to_owned)
    }
}

fn canned(answer: Result<&'static str, &'static str>) -> Arc<Canned> {
    Arc::new(Canned { answer, asked: Mutex::new(Vec::new()) })
}

struct World {
    graph: Graph,
    history: History,
}

fn built(files: &[(Origin, &str)], runner: Arc<Canned>) -> Built {
    let sources: Vec<Source> = files
        .iter()
        .map(|(origin, text)| Source {
            origin: *origin,
            path: format!("{}.yaml", origin.as_str()),
            bytes: text.as_bytes().to_vec(),
        })
        .collect();
    let policy = load(&sources).unwrap_or_else(|error| panic!("{:#?}", error.diagnostics)).policy;
    // A hook uses the stored form.
    let seal = |parts: &[&[u8]]| lictor_core::Digest::of_parts(parts.iter().copied());
    let stored = PolicyBundle::from_cache(&policy.to_cache(&sources, seal).unwrap(), &sources, seal).unwrap();
    stored.build(&BuildEnv { root: "/p".to_owned(), runner }).unwrap()
}

fn world_with(files: &[(Origin, &str)], runner: Arc<Canned>) -> World {
    let built = built(files, runner);
    World { graph: Graph::new(built.root).unwrap(), history: built.history }
}

fn world(files: &[(Origin, &str)]) -> World {
    world_with(files, canned(Err("nobody answers")))
}

fn command(words: &[&str]) -> Effect<Place> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Effect::Run(Command {
        program: words[0].clone(),
        args: words[1..].iter().cloned().map(Some).collect(),
        through: Vec::new(),
        attributable: true,
        certain: true,
        directory: None,
        words,
    })
}

fn file(access: Access, path: &str) -> Effect<Place> {
    let target = Place::project_file("/p", path);
    Effect::File { access, target, recursive: false, by: None }
}

impl World {
    fn judge(&self, action: &Action, effects: Vec<Effect<Place>>) -> Judged {
        let facts = Facts { effects, opaque: Vec::new() };
        self.graph.judge(&action.clone().in_session("s"), &facts, &SessionState::default(), Timestamp(1_000))
    }

    /// The decision, and the guards that caused it.
    fn says(&self, action: &Action, effects: Vec<Effect<Place>>) -> String {
        let judged = self.judge(action, effects);
        let guards: Vec<&str> =
            judged.verdicts.iter().filter(|given| given.counts()).map(GivenVerdict::guard).collect();
        format!("{} {}", judged.value, guards.join(" ")).trim_end().to_owned()
    }

    fn run(&self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        self.says(&Action::bash(line), vec![command(&words)])
    }
}

#[test]
fn the_two_sections_of_the_source_document_work_as_written_there() {
    let text = "
boundaries:
  allowed_dirs: [src, tests, docs]
  red_line_files: [src/auth/handler.py]
bash_safety:
  blocked_patterns:
    - 'rm\\s+-rf\\s+/'
    - 'DROP\\s+TABLE'
";
    let world = world(&[(Origin::Repository, text)]);
    let judged = world.judge(&Action::bash("rm -rf /"), vec![command(&["rm", "-rf", "/"])]);
    let reasons: Vec<&str> = judged.verdicts.iter().map(|given| given.verdict.reason()).collect();
    assert!(reasons.contains(&r"Command matches blocked pattern: rm\s+-rf\s+/"), "{reasons:?}");
    let read = |path: &str| world.says(&Action::read(path), vec![file(Access::Read, path)]);
    assert_eq!(read("src/auth/handler.py"), "block file_boundary");
    assert_eq!(read("src/main.py"), "pass");
    assert_eq!(read("secret/main.py"), "block file_boundary");
}

#[test]
fn each_file_is_a_subtree_with_names_of_its_own() {
    let text = "budget: {max_actions: 0}\n";
    let all = [(Origin::Repository, text), (Origin::User, text), (Origin::Managed, text)];
    assert_eq!(world(&all).run("ls"), "block managed.budget user.budget budget");
}

#[test]
fn only_trusted_exceptions_lift_packs() {
    let allow = "bash_safety: {blocked_programs: [make], allow: ['git reset --hard', 'make x']}\n";
    let reset = |files: &[(Origin, &str)]| {
        let effect = Effect::Git { effect: lictor_core::facts::GitEffect::DiscardWork, target: None };
        let run = command(&["git", "reset", "--hard"]);
        world(files).says(&Action::bash("git reset --hard"), vec![run, effect])
    };
    assert_ne!(reset(&[]), "pass");
    assert_eq!(reset(&[(Origin::Repository, allow)]), reset(&[]));
    assert_eq!(reset(&[(Origin::User, allow)]), "pass");
    // A repository's exceptions lift its own rules, and no others.
    assert_eq!(world(&[(Origin::Repository, allow)]).run("make x"), "pass");
    let strict = (Origin::User, "bash_safety: {blocked_programs: [make]}\n");
    assert_eq!(world(&[strict, (Origin::Repository, allow)]).run("make x"), "block user.bash_safety");
}

#[test]
fn unknown_tools_ask_and_a_repository_cannot_make_them_known() {
    let mut action = Action::new(ActionKind::Tool, Default::default());
    action.tool = "mcp__x__y".to_owned();
    let says = |files: &[(Origin, &str)]| {
        world(files).says(
            &action,
            vec![Effect::Tool {
                server: Some("x".into()),
                name: "y".into(),
                described: None,
                definition: None,
            }],
        )
    };
    assert_eq!(says(&[]), "ask base.known_tools");
    assert_eq!(says(&[(Origin::Repository, "known_tools: {known: [mcp__x__y]}\n")]), "ask base.known_tools");
    assert_eq!(says(&[(Origin::User, "known_tools: {known: [mcp__x__y]}\n")]), "pass");
    let strict = "known_tools: {unknown: block}\n";
    assert_eq!(says(&[(Origin::Repository, strict)]), "block base.known_tools known_tools");
}

#[test]
fn opaque_commands_get_what_the_strictest_file_says() {
    let says = |files: &[(Origin, &str)]| {
        let opaque = vec![Opaque { what: OpaqueWhat::Program, text: "$CMD".to_owned() }];
        let facts = Facts { effects: Vec::new(), opaque };
        let action = Action::bash("$CMD").in_session("s");
        world(files).graph.judge(&action, &facts, &SessionState::default(), Timestamp(0)).value.to_string()
    };
    assert_eq!(says(&[]), "ask");
    assert_eq!(says(&[(Origin::User, "known_tools: {opaque: pass}\n")]), "pass");
    assert_eq!(says(&[(Origin::Repository, "known_tools: {opaque: pass}\n")]), "ask");
    assert_eq!(says(&[(Origin::Repository, "known_tools: {opaque: block}\n")]), "block");
    let both = [
        (Origin::User, "known_tools: {opaque: pass}\n"),
        (Origin::Managed, "known_tools: {opaque: block}\n"),
    ];
    assert_eq!(says(&both), "block");
    let none = [(Origin::Managed, "extends: [strict]\n"), (Origin::User, "known_tools: {opaque: pass}\n")];
    assert_eq!(says(&none), "block", "a user does not lift what the managed file brings");
}

#[test]
fn a_section_that_the_graph_names_is_judged_there_alone() {
    let text = "
budget: {max_actions: 0}
guards: {yes: {expr: 'action.kind == \"bash\"', reason: r, fix: f}}
policy: {any: [budget, yes]}
";
    let world = world(&[(Origin::Repository, text)]);
    assert_eq!(world.run("ls"), "pass");
    let judged = world.judge(&Action::bash("ls"), Vec::new());
    let asked = judged.trace.iter().filter(|entry| &*entry.name == "budget").count();
    assert_eq!(asked, 1);
}

#[test]
fn expressions_pass_object_and_fail() {
    let text = "
guards:
  calm: {expr: 'payload.n < 3', decision: ask, reason: too many, fix: fewer}
policy: calm
";
    let world = world(&[(Origin::Repository, text)]);
    let with = |payload: serde_json::Value| {
        let action = Action::new(ActionKind::Other("x".into()), payload.as_object().unwrap().clone());
        world.says(&action, Vec::new())
    };
    assert_eq!(with(serde_json::json!({"n": 2})), "pass");
    assert_eq!(with(serde_json::json!({"n": 3})), "ask calm");
    assert_eq!(with(serde_json::json!({})), "error calm", "missing is not false");
    assert_eq!(with(serde_json::json!({"n": "2"})), "error calm");
}

#[test]
fn a_condition_that_cannot_be_told_takes_neither_branch() {
    let text = "
guards: {calm: {expr: 'risk <= 1.0', reason: r, fix: f}}
policy: {when: 'payload.n == 1', then: calm, otherwise: calm}
";
    assert_eq!(world(&[(Origin::Repository, text)]).run("ls"), "error payload.n == 1");
}

#[test]
fn programs_answer_for_guards_and_callbacks() {
    let guard = "guards: {g: {command: [x.sh], decision: ask}}\npolicy: g\n";
    let says = |answer| world_with(&[(Origin::User, guard)], canned(answer)).run("ls");
    assert_eq!(says(Ok(r#"{"passed": true}"#)), "pass");
    assert_eq!(says(Ok(r#"{"passed": false, "message": "not now"}"#)), "ask user.g");
    for fault in
        [Ok(""), Ok("true"), Ok(r#"{"passed": 1}"#), Ok(r#"{"passed": true, "extra": 1}"#), Err("late")]
    {
        assert_eq!(says(fault), "error user.g", "{fault:?}");
    }
    assert_eq!(says(Ok(r#"{"decision": "warn", "reason": "large"}"#)), "warn user.g");
    assert_eq!(says(Ok(r#"{"decision": "block"}"#)), "block user.g");
    let policy = "policies: [{name: p, on: {verb: delete, object: file}, callback: {command: [x.sh]}}]\n";
    let delete = |answer| {
        let runner = canned(answer);
        let world = world_with(&[(Origin::Repository, policy)], Arc::clone(&runner));
        let said = world.says(&Action::bash("rm a"), vec![file(Access::Delete, "a")]);
        (said, runner.asked.lock().unwrap().clone())
    };
    assert_eq!(delete(Ok(r#"{"passed": true}"#)).0, "pass");
    assert_eq!(delete(Ok(r#"{"passed": false}"#)).0, "block policies");
    let (said, asked) = delete(Err("not trusted"));
    assert_eq!(said, "error policies");
    let [(what, origin, input)] = asked.as_slice() else { panic!("asked once: {asked:?}") };
    assert_eq!((what.as_str(), *origin), ("the callback of policy `p`", Origin::Repository));
    let input: serde_json::Value = serde_json::from_str(input).unwrap();
    assert_eq!((&input["deed"]["verb"], &input["policy"]), (&"delete".into(), &"p".into()));
}

#[test]
fn guards_leave_risk_notes_and_tags() {
    let text = "
guards:
  touches_auth: {expr: 'payload.command != \"edit auth\"', decision: pass, risk: 0.3, tags: [auth], annotations: {area: auth}, reason: r, fix: f}
  scored: {command: [x.sh]}
  seen: {expr: 'annotations[\"user.touches_auth.area\"] == \"auth\" && annotations[\"user.scored.files\"] == 12.0', reason: r, fix: f}
policy: {all: [touches_auth, scored, seen]}
";
    let answer = r#"{"passed": true, "risk": 0.25, "annotations": {"files": 12}, "tags": ["bulk"]}"#;
    let runner = canned(Ok(answer));
    let world = world_with(&[(Origin::User, text)], Arc::clone(&runner));
    let judged = world.judge(&Action::bash("edit auth"), vec![]);
    assert_eq!(
        (judged.value, judged.risk.in_thousandths()),
        (lictor_core::Value::Pass, 550),
        "{:?}",
        judged.verdicts
    );
    assert_eq!(judged.tags, ["auth", "bulk"]);
    let asked = runner.asked.lock().unwrap();
    let input: serde_json::Value = serde_json::from_str(&asked[0].2).unwrap();
    assert_eq!(
        (&input["for"], &input["name"], &input["lictor"]),
        (&"guard".into(), &"scored".into(), &1.into())
    );
    assert_eq!(input["risk"], 0.3);
}

#[test]
fn a_prerequisite_may_be_for_one_value() {
    // As written, without quotes, in both styles.
    for text in [
        "tools: {require_first: {write_table(table: $t): [read_table(table: $t)]}}\n",
        "tools:\n  require_first:\n    write_table(table: $t):\n      - read_table(table: $t)\n",
        "tools: {require_first: {'write_table(table: $t)': ['read_table(table: $t)']}}\n",
    ] {
        let world = world(&[(Origin::Repository, text)]);
        let mut action = Action::new(ActionKind::Tool, serde_json::Map::new());
        action.tool = "write_table".to_owned();
        action.payload.insert("table".to_owned(), "users".into());
        let judged = world.judge(&action, vec![]);
        let reasons: Vec<&str> = judged.verdicts.iter().map(|given| given.verdict.reason()).collect();
        assert!(
            reasons.iter().any(|reason| reason.contains("read_table(table: \"users\")")),
            "{text} {reasons:?}"
        );
    }
}

#[test]
fn expressions_answer_for_callbacks() {
    let says = |expression: &str, more: &str| {
        let text = format!(
            "policies: [{{name: p, on: {{verb: delete, object: file}}, callback: {{expr: '{expression}'}}{more}}}]\n"
        );
        world(&[(Origin::Repository, &text)]).says(&Action::bash("rm a"), vec![file(Access::Delete, "a")])
    };
    // Everything that any other expression sees.
    for holds in [
        "action.kind == \"bash\"",
        "payload.command == \"rm a\"",
        "facts.files.all(f, f.access == \"delete\")",
        "session.action_count == 0",
        "risk == 0.0",
        "!has(annotations.x)",
        "!formerly(\"write\")",
    ] {
        assert_eq!(says(holds, ""), "pass", "{holds}");
        assert_eq!(says(&format!("!({holds})"), ""), "block policies", "{holds}");
        assert_eq!(says(holds, ", requires_confirmation: true"), "ask policies", "{holds}");
    }
    // Missing, or of another type: an error, which a person cannot lift.
    for fault in ["payload.ticket == 1", "payload.command > 3"] {
        assert_eq!(says(fault, ""), "error policies", "{fault}");
        assert_eq!(says(fault, ", requires_confirmation: true"), "error policies", "{fault}");
    }
}

#[test]
fn a_callback_sees_what_was_found_before_it() {
    let text = "policies: [{name: p, on: {verb: delete, object: file}, \
                callback: {expr: 'risk < 0.2 && !(\"x.seen\" in annotations)'}}]\n";
    let (action, session) = (Action::bash("rm a"), SessionState::default());
    let facts = Facts { effects: vec![file(Access::Delete, "a")], opaque: Vec::new() };
    let after = |before: fn(&mut Context<'_>)| {
        let guard = guard_fn("x", move |_: &Action, context: &mut Context<'_>| {
            before(context);
            Verdict::pass()
        });
        let policy = built(&[(Origin::Repository, text)], canned(Err("nobody answers"))).root;
        let graph = Graph::new(All::new((guard, policy))).unwrap();
        graph.judge(&action, &facts, &session, Timestamp(0)).value
    };
    assert_eq!(after(|context| context.add_risk(0.1)), lictor_core::Value::Pass);
    assert_eq!(after(|context| context.add_risk(0.3)), lictor_core::Value::Block);
    assert_eq!(after(|context| context.annotate("seen", true)), lictor_core::Value::Block);
}

#[test]
fn the_strictest_word_on_ungrounded_deeds_counts() {
    let deed = |verb: &str| Effect::Deed {
        verb: verb.to_owned(),
        object: "file".to_owned(),
        cardinality: Cardinality::Single,
        what: None,
    };
    let rule = "policies: [{name: p, on: {verb: push, object: branch}, effect: block}]\n";
    let (ask, block) = ("known_tools: {ungrounded: ask}\n", "known_tools: {ungrounded: block}\n");
    let ask_and_rule = format!("{ask}{rule}");
    for (files, expected) in [
        (vec![], "pass"),
        (vec![(Origin::Repository, rule)], "block policies"),
        (vec![(Origin::User, ask)], "ask user.policies"),
        (vec![(Origin::User, block)], "block user.policies"),
        (vec![(Origin::User, ask_and_rule.as_str())], "ask user.policies"),
        // A repository follows the other files and can be stricter, never more lenient.
        (vec![(Origin::User, ask), (Origin::Repository, rule)], "ask user.policies policies"),
        (vec![(Origin::User, ask), (Origin::Repository, block)], "block user.policies policies"),
        (vec![(Origin::User, block), (Origin::Repository, ask)], "block user.policies policies"),
        (vec![(Origin::Repository, ask)], "block policies"),
        (vec![(Origin::Repository, &ask_and_rule)], "block policies"),
        (vec![(Origin::Managed, block), (Origin::User, ask)], "block managed.policies user.policies"),
    ] {
        let world = world(&files);
        assert_eq!(world.says(&Action::bash("x"), vec![deed("teleport")]), expected, "{files:?}");
        assert_eq!(world.says(&Action::bash("x"), vec![deed("write")]), "pass", "{files:?}");
    }
}

#[test]
fn questions_about_the_past_are_answered_from_the_session() {
    let text = "
guards:
  tested: {expr: 'action.kind != \"submit_task\" || since(not(\"write\"), ok(bash(\"cargo test\")))', reason: r, fix: f}
policy: tested
";
    let world = world(&[(Origin::Repository, text)]);
    let submit = Action::task("x").in_session("s");
    let judge = |session: &SessionState| {
        let judged = world.graph.judge(&submit, &Facts::none(), session, Timestamp(10_000));
        judged.verdicts.iter().find(|given| given.guard() == "tested").map(|given| given.verdict.value())
    };
    let mut session = SessionState::default();
    assert_eq!(judge(&session), Some(lictor_core::Value::Block));
    let happen = |session: &mut SessionState, action: &Action, effect: Effect<Place>| {
        let facts = Facts { effects: vec![effect], opaque: Vec::new() };
        let marks = world.history.marks(action, &facts);
        let position = session.past.judged(&marks, true, Timestamp(1));
        session.past.ended(&marks, position, true, Timestamp(2));
    };
    happen(&mut session, &Action::bash("cargo test"), command(&["cargo", "test"]));
    assert_eq!(judge(&session), Some(lictor_core::Value::Pass));
    happen(&mut session, &Action::write("a"), file(Access::Write, "a"));
    assert_eq!(judge(&session), Some(lictor_core::Value::Block));
}

#[test]
fn risk_is_judged_after_everything_else() {
    let text = "risk: {ask_at: 0.2}\nbudget: {max_actions: 9}\n";
    let world = world(&[(Origin::User, text), (Origin::Repository, text)]);
    let judged = world.judge(&Action::bash("ls"), Vec::new());
    let policy = judged.verdicts.iter().filter(|given| given.guard() != "self_protection");
    let guards: Vec<&str> = policy.map(GivenVerdict::guard).collect();
    assert_eq!(guards.last_chunk(), Some(&["user.risk", "risk"]), "{guards:?}");
}

#[test]
fn rules_on_tasks_hold_also_when_they_are_read_late() {
    let text = "
intent:
  - {for: [deploy, release], require: 'payload.ticket == \"OPS-1\"', reason: no ticket, fix: add one}
  - {for: test}
";
    let world = world(&[(Origin::Repository, text)]);
    assert!(world.history.is_empty());
    let task = |kind: &str, ticket: &str| {
        let mut action = Action::task(kind);
        action.payload.insert("ticket".to_owned(), ticket.into());
        world.says(&action, Vec::new())
    };
    assert_eq!(task("deploy", "OPS-1"), "pass");
    assert_eq!(task("deploy", "OPS-2"), "block intent");
    assert_eq!(task("release", "OPS-2"), "block intent");
    assert_eq!(task("test", ""), "pass");
    assert_eq!(task("dance", "OPS-1"), "block intent");
}

#[test]
fn rules_on_tasks_that_ask_about_the_past_have_it_kept() {
    let text = "intent: [{for: deploy, require: 'formerly(ok(bash(\"cargo test\")))', reason: r, fix: f}]\n";
    let world = world(&[(Origin::Repository, text)]);
    assert!(!world.history.is_empty());
    assert_eq!(world.says(&Action::task("deploy"), Vec::new()), "block intent");
}
