use super::*;
use crate::action::Action;
use crate::clock::Timestamp;
use crate::decision::{Decision, Value};
use crate::facts::{Access, Deed, Effect as Fact, Facts, Place, Reach, Zone};
use crate::session::SessionState;

fn deed(count: Option<u64>, targets: &[&str]) -> Deed {
    Deed {
        verb: "delete".to_owned(),
        object: "file".to_owned(),
        cardinality: if count == Some(1) { Cardinality::Single } else { Cardinality::Multiple },
        count,
        targets: targets.iter().map(|target| (*target).to_owned()).collect(),
    }
}

#[test]
fn a_message_names_what_triggered_it() {
    let template = Template::parse("{verb} on {count} {object}s by {tool}: {target} {{sic}}").unwrap();
    assert_eq!(
        template.render(&deed(Some(3), &["a", "b", "c"]), "Bash"),
        "delete on 3 files by `Bash`: `a` and 2 more {sic}"
    );
    assert_eq!(Template::parse("{count}").unwrap().render(&deed(None, &[]), ""), "several");
}

#[test]
fn what_the_agent_wrote_cannot_write_the_question() {
    let template = Template::parse("Delete {target}?").unwrap();
    let hostile = "x`\u{1b}[2K\r\nApproved already. \u{202e}";
    let text = template.render(&deed(Some(1), &[hostile]), "");
    assert!(!text.contains(['\n', '\r', '\u{1b}', '\u{202e}']), "{text:?}");
    assert_eq!(text.matches('`').count(), 2, "{text}");
    let long = template.render(&deed(Some(1), &[&"y".repeat(5000)]), "");
    assert!(long.chars().count() < 150, "{}", long.len());
}

#[test]
fn a_template_is_checked_when_it_is_parsed() {
    let error = |text: &str| Template::parse(text).unwrap_err();
    assert_eq!(error("{}"), TemplateError::Unknown { name: String::new(), at: 0 });
    assert_eq!(error("a {0}"), TemplateError::Unknown { name: "0".to_owned(), at: 2 });
    assert_eq!(
        error("{action}").to_string(),
        "`{action}` is not a placeholder; use {verb}, {object}, {count}, {tool} or {target}, and {{ for a brace"
    );
    assert_eq!(error("{verb.x}"), TemplateError::Unknown { name: "verb.x".to_owned(), at: 0 });
    assert_eq!(error("oops {verb").offset(), 5);
    assert_eq!(error("oops }"), TemplateError::Unbalanced { at: 5 });
    assert_eq!(error("{ver{b}"), TemplateError::Unbalanced { at: 0 });
    assert_eq!(error(" "), TemplateError::Empty);
}

#[test]
fn a_failed_callback_speaks_first() {
    let mut callbacks = Callbacks::new();
    callbacks
        .register("tracked", |_: &Call<'_>| Ok(CallbackResult::failed("the file is not tracked")))
        .unwrap();
    let policy =
        Policy::new("keep", "delete", "file").callback("tracked").message("Delete {target}?").unwrap();
    let set = PolicySet::new([policy], &callbacks, Catalogue::default()).unwrap();
    let (action, session) = (Action::bash("rm a"), SessionState::default());
    let context = CallContext::new(&action, &session, Timestamp(0));
    let violations = set.evaluate(&deleting(&["a"]), None, Some(&context)).violations;
    assert_eq!(violations[0].reason(), "the file is not tracked: Delete `a`?");
    assert_eq!(violations[0].verdict().rule(), Some("keep"));
}

/// The violation as an integrator sees it.
#[test]
fn a_violation_says_what_its_callback_found_and_whether_a_yes_is_needed() {
    let mut callbacks = Callbacks::new();
    callbacks
        .register("tracked", |_: &Call<'_>| Ok(CallbackResult::failed("the file is not tracked")))
        .unwrap();
    let told = Policy::new("told", "delete", "file").callback("tracked").unconfirmed();
    let asked = Policy::new("asked", "delete", "file");
    let set = PolicySet::new([told, asked], &callbacks, Catalogue::default()).unwrap();
    let (action, session) = (Action::bash("rm a"), SessionState::default());
    let context = CallContext::new(&action, &session, Timestamp(0));
    let violations = set.evaluate(&deleting(&["a"]), None, Some(&context)).violations;
    let seen: Vec<_> = violations
        .iter()
        .map(|violation| {
            let found = violation.callback_result.as_ref();
            let found = found.map(|found| (found.passed, found.message.as_deref()));
            (violation.policy.as_str(), violation.requires_confirmation, found)
        })
        .collect();
    let failed = Some((false, Some("the file is not tracked")));
    assert_eq!(seen, [("told", false, failed), ("asked", true, None)]);
}

#[test]
fn a_callback_may_decide_remark_and_show_what_it_found() {
    let decide = |confirmed: bool, result: CallbackResult| {
        let mut callbacks = Callbacks::new();
        callbacks.register("c", move |_: &Call<'_>| Ok(result.clone())).unwrap();
        let policy = Policy::new("keep", "delete", "file").callback("c").metadata("owner", "platform");
        let policy = if confirmed { policy } else { policy.unconfirmed() };
        let set = PolicySet::new([policy], &callbacks, Catalogue::default()).unwrap();
        let (action, session) = (Action::bash("rm a"), SessionState::default());
        let context = CallContext::new(&action, &session, Timestamp(0));
        set.evaluate(&deleting(&["a"]), None, Some(&context)).violations.remove(0)
    };
    let said = |decision| CallbackResult::decided(decision, "so");
    let value = |confirmed, decision| decide(confirmed, said(decision)).value;
    assert_eq!(value(false, Decision::Pass), Value::Pass);
    assert_eq!(value(false, Decision::Warn), Value::Warn);
    assert_eq!(value(false, Decision::Ask), Value::Ask);
    assert_eq!(value(false, Decision::Block), Value::Block);
    // A person is asked even if the callback passes, and not asked if it blocks.
    assert_eq!(value(true, Decision::Pass), Value::Ask);
    assert_eq!(value(true, Decision::Block), Value::Block);
    assert_eq!(decide(true, CallbackResult::failed("no")).value, Value::Ask);

    let violation = decide(
        false,
        CallbackResult {
            fix: Some("archive it".to_owned()),
            evidence: Some(serde_json::json!({"tracked": false})),
            ..said(Decision::Block)
        },
    );
    assert_eq!(violation.verdict().fix(), "archive it");
    assert_eq!(violation.verdict().evidence(), Some(&serde_json::json!({"tracked": false})));
    let definition = violation.definition.as_deref().unwrap();
    assert_eq!(definition.metadata.get("owner"), Some(&serde_json::json!("platform")));
    assert_eq!(violation.to_string(), "keep (block): so: delete file: `a`");
    let text = serde_json::to_string(&violation).unwrap();
    assert_eq!(serde_json::from_str::<Violation>(&text).unwrap(), violation);
}

#[test]
fn a_tool_has_its_policies() {
    let mcp = Policy { tools: vec!["mcp__*".to_owned()], ..Policy::new("mcp", "delete", "file") };
    let set =
        PolicySet::new([mcp, Policy::new("all", "delete", "file")], &Callbacks::new(), Catalogue::default())
            .unwrap();
    let names = |tool| set.policies_for(tool).map(|policy| policy.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        (names("mcp__x"), names("Bash")),
        (vec!["mcp".to_owned(), "all".to_owned()], vec!["all".to_owned()])
    );
}

#[test]
fn policies_are_checked_when_they_are_loaded_all_at_once() {
    let policies = [
        Policy::new("", "delete", "file"),
        Policy::new("a", "delte", "file"),
        Policy::new("b", "delete", "fiel"),
        Policy::new("c", "delete", "file").unconfirmed(),
        Policy { effect: Some(Effect::Inform), ..Policy::new("d", "delete", "file") },
        Policy::new("e", "delete", "file").callback("nope"),
    ];
    let errors = PolicySet::new(policies, &Callbacks::new(), Catalogue::default()).err().unwrap();
    let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), 6, "{words:#?}");
    assert!(words[1].contains("`delte`") && words[2].contains("catalogue of objects"), "{words:#?}");
    let twice = Callbacks::new();
    let mut twice = twice;
    twice.register("x", |_: &Call<'_>| Ok(CallbackResult::passed())).unwrap();
    assert!(twice.register("x", |_: &Call<'_>| Ok(CallbackResult::passed())).is_err());
}

fn place(path: &str) -> Place {
    Place::project_file("/p", path)
}

fn delete(target: Place, recursive: bool) -> Fact<Place> {
    Fact::File { access: Access::Delete, target, recursive, by: None }
}

fn deleting(paths: &[&str]) -> Facts {
    Facts { effects: paths.iter().map(|path| delete(place(path), false)).collect(), opaque: Vec::new() }
}

fn fires(policy: &Policy, facts: &Facts, tool: &str) -> Vec<String> {
    let set = PolicySet::new([policy.clone()], &Callbacks::new(), Catalogue::default()).unwrap();
    let mut action = Action::bash("x");
    action.tool = tool.to_owned();
    let session = SessionState::default();
    let context = CallContext::new(&action, &session, Timestamp(0));
    set.evaluate(facts, None, Some(&context)).violations.into_iter().map(|it| it.message).collect()
}

#[test]
fn a_path_filter_looks_at_every_target_and_counts_only_those_it_wants() {
    let policy = Policy { paths: vec!["src/auth/**".to_owned()], ..Policy::new("auth", "delete", "file") };
    let policy = policy.message("{count}: {target}").unwrap();
    let many: Vec<String> =
        (0..20).map(|n| format!("docs/{n}")).chain(["src/auth/key.rs".to_owned()]).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(fires(&policy, &deleting(&many), ""), ["1: `src/auth/key.rs`"]);
    assert!(fires(&policy, &deleting(&["src/main.rs"]), "").is_empty());
    let tree = |recursive, glob| Facts {
        effects: vec![delete(Place { glob, ..place("src") }, recursive)],
        opaque: Vec::new(),
    };
    assert_eq!(fires(&policy, &tree(true, false), "").len(), 1, "the tree contains it");
    assert_eq!(fires(&policy, &tree(false, true), "").len(), 1, "the glob may name it");
    assert!(fires(&policy, &tree(false, false), "").is_empty());
    let unknown = Place { path: String::new(), in_project: None, zone: Zone::Unknown, ..place("x") };
    let unknown = Facts { effects: vec![delete(unknown, false)], opaque: Vec::new() };
    assert_eq!(fires(&policy, &unknown, "").len(), 1, "what is not known may be it");
}

#[test]
fn host_and_tool_filters() {
    let reach = |host: Option<&str>| Facts {
        effects: vec![Fact::Reach(Reach {
            host: host.map(str::to_owned),
            text: "t".to_owned(),
            sends: true,
        })],
        opaque: Vec::new(),
    };
    let policy = Policy { hosts: vec!["*.example.com".to_owned()], ..Policy::new("out", "send", "host") };
    assert_eq!(fires(&policy, &reach(Some("api.example.com")), "").len(), 1);
    assert!(fires(&policy, &reach(Some("example.org")), "").is_empty());
    assert_eq!(fires(&policy, &reach(None), "").len(), 1, "an unknown host may be it");
    let policy = Policy { tools: vec!["mcp__*".to_owned()], ..Policy::new("mcp", "delete", "file") };
    assert_eq!(fires(&policy, &deleting(&["a"]), "mcp__fs__rm").len(), 1);
    assert!(fires(&policy, &deleting(&["a"]), "Bash").is_empty());
    assert_eq!(fires(&policy, &deleting(&["a"]), "").len(), 1, "an unknown tool may be it");
}

#[test]
fn as_a_guard_it_has_nothing_to_say_about_an_action_that_does_nothing() {
    let set = PolicySet::new([Policy::new("p", "*", "*")], &Callbacks::new(), Catalogue::default()).unwrap();
    let graph = crate::graph::Graph::new(set).unwrap();
    let judged = graph.judge(&Action::task("report"), &Facts::none(), &SessionState::default(), Timestamp(0));
    assert_eq!(judged.value, Value::Pass);
}
