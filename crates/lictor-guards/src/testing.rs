//! Helpers for the guards' tests: one guard, one action, a fake file system.

use std::sync::Arc;

use lictor_core::{Action, Graph, Judged, Node, SessionState, SharedGuard, Timestamp};
use lictor_observe::{FakeObserver, Project, facts};

pub(crate) const ROOT: &str = "/home/user/project";

pub(crate) fn judged_in(
    guard: impl lictor_core::Guard + 'static,
    action: &Action,
    world: &FakeObserver,
    session: &SessionState,
    now: i64,
) -> Judged {
    let mut project = Project::discover(ROOT, world);
    project.watched = vec!["**/.env*".to_owned()];
    let facts = facts(action, &project, world);
    let guard: SharedGuard = Arc::new(guard);
    let graph = Graph::new(Node::from(guard)).expect("one guard is a graph");
    graph.judge(action, &facts, session, Timestamp(now))
}

pub(crate) fn judged(guard: impl lictor_core::Guard + 'static, action: &Action) -> Judged {
    judged_in(guard, action, &FakeObserver::for_judging(), &SessionState::default(), 0)
}

pub(crate) fn bash(command: &str) -> Action {
    Action::bash(command).in_dir(ROOT)
}

/// The strictest reason.
pub(crate) fn reason(judged: &Judged) -> String {
    let strictest = judged.verdicts.iter().max_by_key(|given| given.verdict.value());
    strictest.map(|given| given.verdict.reason().to_owned()).unwrap_or_default()
}
