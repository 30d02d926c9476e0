//! Graphs that cannot be built, graphs with lints, and graphs as data.

use std::collections::BTreeMap;
use std::sync::Arc;

use lictor_core::graph::SharedGuard;
use lictor_core::{
    Action, All, Any, Escalate, Facts, Graph, Layer, Layers, Node, Not, SessionState, Threshold, Timestamp,
    Value, Verdict, When, guard_fn, pipeline,
};
use serde_json::{Value as Json, json};

use crate::trees::cases;

/// Builds what a case describes. The same name in one case is the same guard; `a'` is another guard called `a`,
/// `a as b` is `a` under the name `b`, and `B:`, `R:`, `O:` put a guard into a layer.
fn node(json: &Json, guards: &mut BTreeMap<String, SharedGuard>) -> Node {
    if let Some(word) = json.as_str() {
        let (source, renamed) = word.split_once(" as ").map_or((word, None), |(a, b)| (a, Some(b)));
        let guard = guards.entry(source.to_owned()).or_insert_with(|| {
            let (layer, name) = match source.split_once(':') {
                Some(("B", name)) => (Layer::Boundary, name),
                Some(("R", name)) => (Layer::Resource, name),
                Some(("O", name)) => (Layer::Observe, name),
                _ => (Layer::Intent, source),
            };
            Arc::new(guard_fn(name.trim_end_matches('\''), |_, _| Verdict::pass()).in_layer(layer))
        });
        let node = Node::from(Arc::clone(guard));
        return renamed.map_or_else(|| Node::from(Arc::clone(guard)), |name| node.named(name));
    }
    let (kind, body) = json.as_object().and_then(|map| map.iter().next()).expect("a combinator");
    let mut many = |list: &Json| -> Vec<Node> {
        list.as_array().expect("a list").iter().map(|child| node(child, guards)).collect()
    };
    match kind.as_str() {
        "all" => All::new(many(body)).into(),
        "any" => Any::new(many(body)).into(),
        "threshold" => {
            let at_least = usize::try_from(body[0].as_u64().expect("a number")).expect("small");
            Threshold::new(at_least, many(&body[1])).into()
        }
        "not" => {
            Not::new(node(&body[0], guards), body[1].as_str().unwrap(), body[2].as_str().unwrap()).into()
        }
        "when" => {
            let mut branches = many(body).into_iter();
            let mut when = When::new(|_, _| true);
            when = branches.next().into_iter().fold(when, When::then);
            branches.next().into_iter().fold(when, When::otherwise).into()
        }
        "escalate" => {
            let mut children = many(body).into_iter();
            Escalate::new(children.next().unwrap(), children.next().unwrap()).into()
        }
        "nested" => {
            let deep = body.as_u64().expect("a number");
            (0..deep)
                .fold(Node::from(guard_fn("deep", |_, _| Verdict::pass())), |node, _| All::new([node]).into())
        }
        other => panic!("unknown combinator {other}"),
    }
}

#[test]
fn degenerate_graphs_are_refused_and_odd_ones_are_named() {
    for (id, case) in cases(include_str!("../cases/construction.jsonl")) {
        let built = Graph::new(node(&case["build"], &mut BTreeMap::new()));
        match (built, case["error"].as_str()) {
            (Err(error), Some(wanted)) if wanted.ends_with(" at") => {
                assert!(error.to_string().starts_with(wanted), "{id}: {error}");
            }
            (Err(error), Some(wanted)) => assert_eq!(error.to_string(), wanted, "{id}"),
            (Err(error), None) => panic!("{id}: {error}"),
            (Ok(_), Some(wanted)) => panic!("{id}: built, wanted `{wanted}`"),
            (Ok(graph), None) => {
                let lints: Vec<Json> =
                    graph.lints().iter().map(|lint| json!([&*lint.path, lint.smell])).collect();
                if let Some(wanted) = case.get("lints") {
                    assert_eq!(&json!(lints), wanted, "{id}");
                }
                assert!(graph.lints().iter().all(|lint| lint.to_string().contains(&*lint.path)), "{id}");
            }
        }
    }
}

fn shared(name: &str, layer: Layer) -> SharedGuard {
    Arc::new(guard_fn(name, |_, _| Verdict::pass()).in_layer(layer))
}

#[test]
fn layers_put_boundaries_first_and_observers_outside() {
    let graph = Layers::new()
        .guard(shared("meaning", Layer::Intent))
        .guard(shared("audit", Layer::Observe))
        .guard(shared("budget", Layer::Resource))
        .guard(shared("files", Layer::Boundary))
        .guard(shared("bash", Layer::Boundary))
        .tree(Any::new([shared("x", Layer::Intent), shared("y", Layer::Intent)]))
        .build()
        .unwrap();
    let outline = serde_json::to_value(graph.outline()).unwrap();
    let names = |json: &Json| {
        json["children"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&outline), ["boundary", "budget", "meaning", "any"]);
    assert_eq!(names(&outline["children"][0]), ["files", "bash"]);
    assert_eq!(outline["children"][0]["short_circuit"], true);
    assert_eq!(outline["children"][0]["layer"], "BOUNDARY");
    assert_eq!(outline["children"][0]["children"][1]["path"], "/all[0]/all[1]");
    assert_eq!(graph.observers().iter().map(|it| &*it.name).collect::<Vec<_>>(), ["audit"]);
    assert!(graph.lints().is_empty());
    assert!(Layers::new().build().is_err());
}

#[test]
fn an_outline_names_the_parts_of_conditions_and_escalations() {
    let root = When::new(|_, _| true)
        .then(Escalate::new(shared("strict", Layer::Intent), shared("lax", Layer::Intent)))
        .otherwise(Threshold::new(2, [shared("a", Layer::Intent), shared("b", Layer::Intent)]));
    let outline = serde_json::to_value(Graph::new(root).unwrap().outline()).unwrap();
    assert_eq!(outline["kind"], "when");
    assert_eq!(outline["children"][0]["role"], "then");
    assert_eq!(outline["children"][0]["children"][1]["role"], "fallback");
    assert_eq!(outline["children"][0]["children"][1]["path"], "/when/then/escalate/fallback");
    assert_eq!(outline["children"][1]["at_least"], 2);
}

fn trace(root: impl Into<Node>) -> (Value, Vec<(String, Option<Value>)>) {
    let graph = Graph::new(root).unwrap();
    let judged = graph.judge(&Action::bash("ls"), &Facts::none(), &SessionState::default(), Timestamp(0));
    (judged.value, judged.trace.iter().map(|entry| (entry.name.to_string(), entry.value)).collect())
}

/// A guard's context: the verdicts of earlier guards, the trace so far, and the accumulated risk, which is at
/// most one.
#[test]
fn a_guard_sees_the_verdicts_the_trace_and_the_risk_before_it() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let risky = |name: &'static str| {
        guard_fn(name, move |_, context| {
            context.add_risk(0.7);
            Verdict::warn(format!("{name} frowns"))
        })
    };
    let last = guard_fn("last", move |_, context| {
        let reasons = context.verdicts().iter().map(|given| given.verdict.reason().to_owned());
        let names = context.trace().iter().map(|entry| entry.name.to_string());
        sink.lock().unwrap().extend(reasons.chain(names));
        match context.risk().as_fraction() {
            risk if risk >= 1.0 => Verdict::block(format!("risk {risk}"), "less"),
            _ => Verdict::pass(),
        }
    });
    let graph = Graph::new(All::new((risky("one"), risky("two"), last))).unwrap();
    let judged = graph.judge(&Action::bash("ls"), &Facts::none(), &SessionState::default(), Timestamp(0));
    assert_eq!(*seen.lock().unwrap(), ["one frowns", "two frowns", "one", "two"]);
    assert_eq!((judged.value, judged.risk.in_thousandths()), (Value::Block, 1000));
    assert!(judged.verdicts.iter().any(|given| given.verdict.reason() == "risk 1"));
}

#[test]
fn a_pipeline_is_all_with_short_circuit_sorted_by_layer() {
    let no: SharedGuard =
        Arc::new(guard_fn("no", |_, _| Verdict::block("no", "yes")).in_layer(Layer::Boundary));
    let guards = || {
        [
            shared("i", Layer::Intent),
            shared("r", Layer::Resource),
            Arc::clone(&no),
            shared("b", Layer::Boundary),
        ]
    };
    let [i, r, no_, b] = guards();
    assert_eq!(trace(pipeline(guards())), trace(All::new([no_, b, r, i]).short_circuit()));
    let names: Vec<_> = trace(pipeline(guards())).1;
    assert_eq!(names[1], ("b".to_owned(), None), "skipped after the block");
}

#[test]
fn observers_run_after_a_block_and_see_the_outcome_and_cannot_change_it() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let audit = guard_fn("audit", move |_, context| {
        sink.lock().unwrap().push(context.outcome());
        Verdict::block("an observer has no say", "none")
    })
    .in_layer(Layer::Observe);
    let graph = Graph::new(guard_fn("ok", |_, _| Verdict::pass())).unwrap().observe(Arc::new(audit));
    let judged = graph.judge(&Action::bash("ls"), &Facts::none(), &SessionState::default(), Timestamp(0));
    assert_eq!(judged.value, Value::Pass);
    assert_eq!(*seen.lock().unwrap(), [Some(Value::Pass)]);
}

#[test]
fn only_a_required_observer_stops_the_action_when_it_fails() {
    let failing = || Arc::new(guard_fn("audit", |_, _| panic!("disk full")).in_layer(Layer::Observe));
    let judge = |graph: Graph| {
        graph.judge(&Action::bash("ls"), &Facts::none(), &SessionState::default(), Timestamp(0))
    };
    let graph = || Graph::new(guard_fn("ok", |_, _| Verdict::pass())).unwrap();
    assert_eq!(judge(graph().observe(failing())).value, Value::Pass);
    let stopped = judge(graph().observe_or_block(failing()));
    assert_eq!(stopped.value, Value::Error);
    assert!(stopped.verdicts.iter().any(|given| given.verdict.reason().contains("disk full")));
}

#[test]
fn a_guard_that_panics_is_an_error_that_names_it() {
    let graph = Graph::new(guard_fn("fragile", |_, _| panic!("index out of range"))).unwrap();
    let judged = graph.judge(&Action::bash("ls"), &Facts::none(), &SessionState::default(), Timestamp(0));
    assert_eq!(judged.value, Value::Error);
    let said = &judged.verdicts[0].verdict;
    assert_eq!(said.reason(), "guard `fragile` failed: it panicked: index out of range");
    assert!(!said.fix().is_empty());
}

#[test]
fn a_condition_sees_what_stands_to_its_left_and_is_asked_once() {
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let raise = guard_fn("raise", |_, context| {
        context.add_risk(0.6);
        context.annotate("seen", true);
        Verdict::pass()
    });
    let when = When::new(move |_, context| {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        context.risk().as_fraction() > 0.5 && context.annotation("raise.seen").is_some()
    })
    .then(guard_fn("risky", |_, _| Verdict::ask("risky")))
    .otherwise(guard_fn("calm", |_, _| Verdict::pass()));
    let (value, trace) = trace(All::new((raise, when)));
    assert_eq!(value, Value::Ask);
    assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert!(trace.contains(&("calm".to_owned(), None)), "the other branch is shown as skipped");
}
