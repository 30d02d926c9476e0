use std::sync::Arc;

use lictor_core::{Action, Clock, Lifetime, Verdict, Who, guard_fn};
use lictor_store::{MemoryStore, Query, StoreExt as _};

use super::*;
use crate::{Asking, Mode, PolicyEngine};

struct At(std::sync::atomic::AtomicI64);

impl Clock for At {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.fetch_add(1000, std::sync::atomic::Ordering::Relaxed))
    }
}

#[test]
fn decisions_rules_and_waits_are_counted() {
    let guard = guard_fn("careful", |action, _| match action.text("command") {
        Some("rm x") => Verdict::block("deletes", "keep it").by_rule("files.delete"),
        Some("deploy") => Verdict::ask("deploys").by_rule("deploy"),
        _ => Verdict::pass(),
    });
    let store = Arc::new(MemoryStore::new());
    let clock = At(0.into());
    let engine = PolicyEngine::builder(guard).shared_store(store.clone()).clock(clock).build().unwrap();
    for command in ["ls", "rm x", "rm x", "deploy"] {
        let action = Action::bash(command).in_session("s").by_agent("codex");
        let _ = engine.evaluate_with(&action, Mode { asking: Asking::Nobody, ..Mode::default() });
    }
    let waiting = engine.approvals().pending(Timestamp(10_000)).unwrap().remove(0);
    let who = Who { by: "me".into(), at: Timestamp(60_000), from: "test".into() };
    engine.approvals().approve(&waiting.id, who, Lifetime::Once, 1000).unwrap();

    let mut summary = Summary::default();
    for record in store.view(|view| view.records(&Query::all())).unwrap() {
        summary.record(&record, |_| "today".to_owned());
    }
    assert_eq!(summary.total, Counts { calls: 4, pass: 1, warn: 0, ask: 0, block: 3 });
    assert_eq!(summary.days["today"], summary.total);
    assert_eq!(summary.sessions, 1);
    let (rule, used) = summary.busiest()[0];
    assert_eq!((rule, used.count, used.examples.len()), ("files.delete", 2, 1));
    let waits = &summary.approvals;
    assert_eq!((waits.requested, waits.granted, waits.denied), (1, 1, 0));
    assert_eq!(waits.median_ms(), Some(60_000 - waiting.requested_at.0));
}

/// Joined summaries of parts equal the summary of the whole.
#[test]
fn summaries_are_joined() {
    let guard = guard_fn("careful", |action, _| match action.text("command") {
        Some(command) if command.starts_with("rm") => {
            Verdict::block("deletes", "keep it").by_rule("files.delete")
        }
        Some("touch y") => Verdict::warn("touches").by_rule("files.touch"),
        _ => Verdict::pass(),
    });
    let store = Arc::new(MemoryStore::new());
    let engine =
        PolicyEngine::builder(guard).shared_store(store.clone()).clock(At(0.into())).build().unwrap();
    let commands = ["ls", "rm a", "rm b", "touch y", "rm a", "rm c", "rm d", "ls"];
    for (number, command) in commands.into_iter().enumerate() {
        let agent = if number % 2 == 0 { "codex" } else { "claude-code" };
        let session = format!("s{}", number / 3);
        let _ = engine.evaluate(&Action::bash(command).in_session(session).by_agent(agent));
    }
    let records = store.view(|view| view.records(&Query::all())).unwrap();
    let count = |records: &[Record]| {
        let mut summary = Summary::default();
        records.iter().for_each(|record| summary.record(record, |at| (at.0 / 4000).to_string()));
        summary
    };
    let whole = serde_json::to_value(count(&records)).unwrap();
    for place in 0..=records.len() {
        let (first, rest) = records.split_at(place);
        let mut joined = count(first);
        joined.join(count(rest));
        assert_eq!(serde_json::to_value(&joined).unwrap(), whole, "parted at {place}");
    }
    assert_eq!(whole["rules"]["files.delete"]["examples"].as_array().unwrap().len(), EXAMPLES);
}
