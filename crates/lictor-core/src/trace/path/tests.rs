use super::*;
use crate::action::Action;
use crate::clock::Timestamp;
use crate::facts::Facts;
use crate::graph::{All, Graph, When};
use crate::guard::guard_fn;
use crate::session::SessionState;
use crate::verdict::Verdict;

fn traced() -> Trace {
    let guard = |name: &str| guard_fn(name, |_, _| Verdict::pass());
    let note = guard_fn("note", |_, context| {
        context.annotate("seen", true);
        Verdict::pass()
    });
    let when = When::new(|_, _| false).then(All::new([guard("then")])).otherwise(guard("otherwise"));
    let graph = Graph::new(All::new((note, when))).unwrap().observe(Arc::new(guard("audit")));
    let judged =
        graph.judge(&Action::bash("ls"), &Facts::none(), &SessionState::default(), Timestamp::default());
    judged.trace
}

#[test]
fn every_step_finds_its_own_node() {
    let trace = traced();
    let seen: Vec<_> = trace.iter().map(|entry| (entry.path, entry.name, entry.kind)).collect();
    let expected = [
        ("/all[0]", "note", NodeKind::Guard),
        ("/all[1]/when/then", "all", NodeKind::All),
        ("/all[1]/when/otherwise", "otherwise", NodeKind::Guard),
        ("/all[1]", "when", NodeKind::When),
        ("/", "all", NodeKind::All),
        ("/observe", "audit", NodeKind::Observer),
    ];
    assert_eq!(seen, expected.map(|(path, name, kind)| (path.into(), name.into(), kind)));
    assert_eq!(trace.len(), 6);
}

#[test]
fn what_is_read_back_is_the_same_path_although_its_nodes_have_other_numbers() {
    let trace = traced();
    let written = serde_json::to_string(&trace).unwrap();
    let read: Trace = serde_json::from_str(&written).unwrap();
    assert_eq!(read, trace);
    assert_ne!(read.steps[1].node, trace.steps[1].node, "what stands below a skipped node has no step");
    assert_eq!(serde_json::to_string(&read).unwrap(), written);
    assert_ne!(read, read.iter().skip(1).collect());
}
