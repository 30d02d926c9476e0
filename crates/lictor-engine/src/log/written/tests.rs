use lictor_core::{Action, All, Any, Escalate, Evaluation, Guard, Node, Not, Verdict, When, guard_fn};
use lictor_store::{Query, StoreExt};

use crate::PolicyEngine;
use crate::log::{Evaluated, kind};

fn saying(name: &str, verdict: Verdict) -> impl Guard + use<> {
    guard_fn(name.to_owned(), move |_, _| verdict.clone())
}

fn rules(names: impl Iterator<Item = u32>) -> Vec<Node> {
    names.map(|name| saying(&format!("rule_{name}"), Verdict::pass()).into()).collect()
}

/// An evaluation, and the body of its record.
fn recorded(root: impl Into<Node>) -> (Evaluation, String) {
    let engine = PolicyEngine::new(root).unwrap();
    let said = engine.evaluate(&Action::bash("cargo build").in_session("s"));
    let query = Query::all().kind(kind::EVALUATED);
    let mut records = engine.store().view(|view| view.records(&query)).unwrap();
    (said, records.pop().unwrap().body)
}

/// The evaluation in a record, completed with the fields that are not recorded.
fn read(body: &str, said: &Evaluation) -> Evaluation {
    let read: Evaluated<'_> = serde_json::from_str(body).unwrap();
    let session = said.session.clone();
    Evaluation { id: said.id, session, ..read.evaluation.into_owned() }
}

#[test]
fn a_record_gives_the_whole_evaluation_back() {
    let risky = guard_fn("risky", |_, context| {
        context.add_risk(0.25);
        Verdict::pass()
    });
    let noting = guard_fn("noting", |_, context| {
        context.annotate("seen", true);
        Verdict::pass()
    });
    let several = guard_fn("several", |_, context| {
        context.also(Verdict::warn("and this"));
        Verdict::block("no", "do something else").by_rule("a.b")
    });
    let asked: Vec<Node> = vec![
        All::new(rules(0..3)).into(),
        noting.into(),
        saying("noted", Verdict::pass_because("as it should be")).into(),
        Any::new(vec![saying("no", Verdict::block("no", "yes")), saying("yes", Verdict::pass())]).into(),
        Not::new(saying("inverted", Verdict::block("no", "yes")), "why", "how").into(),
        When::new(|_, _| true).then(saying("then", Verdict::pass())).into(),
        When::new(|_, _| false).then(saying("skipped", Verdict::pass())).into(),
        Escalate::new(saying("primary", Verdict::block("no", "yes")), saying("fallback", Verdict::pass()))
            .into(),
        saying("before the risk", Verdict::pass()).into(),
        risky.into(),
        saying("after the risk", Verdict::pass()).into(),
        several.into(),
        saying("last", Verdict::ask("really?")).into(),
    ];
    let (said, body) = recorded(All::new(asked));
    assert_eq!(read(&body, &said), said);

    let cut = All::new(vec![Node::from(saying("no", Verdict::block("no", "yes"))), rules(0..1).remove(0)]);
    let (said, body) = recorded(cut.short_circuit());
    assert_eq!(read(&body, &said), said);
}

#[test]
fn guards_that_pass_are_only_named() {
    let (said, body) = recorded(All::new(rules(100..200)));
    assert_eq!((said.verdicts.len(), said.trace.len()), (100, 101));
    assert_eq!(read(&body, &said), said);
    assert!(body.len() < 3_000, "a record of a hundred passes has {} bytes:\n{body}", body.len());
}

#[test]
fn the_long_form_can_be_read_too() {
    let (said, body) = recorded(All::new(rules(0..3)));
    let mut long: serde_json::Value = serde_json::from_str(&body).unwrap();
    long["evaluation"] = serde_json::to_value(&said).unwrap();
    assert_eq!(read(&long.to_string(), &said), said);
}

#[test]
fn a_verdict_that_points_nowhere_is_refused() {
    let (_, body) = recorded(All::new(rules(0..3)));
    let broken = body.replace(r#""verdicts":[0,1,2]"#, r#""verdicts":[0,1,99]"#);
    assert_ne!(broken, body);
    let refused = serde_json::from_str::<Evaluated<'_>>(&broken).unwrap_err().to_string();
    assert!(refused.contains("entry 99"), "{refused}");
}
