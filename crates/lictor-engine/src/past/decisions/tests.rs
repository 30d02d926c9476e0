use lictor_core::{Verdict, guard_fn};
use lictor_store::{Draft, Durability};

use super::*;
use crate::{MemoryStore, PolicyEngine};
use std::sync::Arc;

fn store() -> Arc<MemoryStore> {
    let guard = guard_fn("no_rm", |action, _| match action.text("command") {
        Some(command) if command.starts_with("rm ") => {
            Verdict::block("deletes things", "keep them").by_rule("files.delete")
        }
        _ => Verdict::pass(),
    });
    let store = Arc::new(MemoryStore::new());
    let engine = PolicyEngine::builder(guard).shared_store(store.clone()).build().unwrap();
    for (session, command) in [("a", "ls"), ("a", "rm x"), ("b", "rm y")] {
        let _ = engine.evaluate(&Action::bash(command).in_session(session));
    }
    store
}

fn found(wanted: Wanted) -> Vec<String> {
    let store = store();
    let all = Decisions::after(&*store, &wanted, 0).unwrap();
    all.map(|decided| title(&decided.unwrap().action)).collect()
}

#[test]
fn reading_goes_on_where_it_ended() {
    let store = store();
    let nothing = Wanted { since: None, ..Wanted::default() };
    let mut all = Decisions::after(&*store, &nothing, 0).unwrap();
    let first = all.next().unwrap().unwrap();
    assert_eq!(all.looked_at(), first.id);
    let mut rest = Decisions::after(&*store, &nothing, all.looked_at()).unwrap();
    assert_eq!(
        rest.by_ref().map(|decided| title(&decided.unwrap().action)).collect::<Vec<_>>(),
        ["bash rm x", "bash rm y"]
    );
    let head = store.view(|view| view.head()).unwrap().seq;
    assert_eq!(rest.looked_at(), head);
    let none = Wanted { until: Some(first.at), ..Wanted::default() };
    let mut none = Decisions::after(&*store, &none, 0).unwrap();
    assert!(none.next().is_none() && none.looked_at() < first.id);
}

/// The short form equals the whole record.
#[test]
fn a_decision_is_read_as_the_whole_record_says_it() {
    let store = store();
    for record in store.view(|view| view.records(&Query::all())).unwrap() {
        let Some(short) = decided(&record) else { continue };
        let whole: crate::log::Evaluated<'_> = serde_json::from_str(&record.body).unwrap();
        let rules = rules_of(&whole.evaluation);
        assert_eq!(short.said, said_by(&rules, &whole.evaluation));
        assert_eq!((short.rules.clone(), short.decision), (rules, whole.evaluation.decision));
        let reason = whole.evaluation.deciding().first().map_or("", |given| given.verdict.reason());
        assert_eq!(short.reason, reason);
        assert_eq!((&short.action, short.facts()), (&*whole.action, whole.facts.into_owned()));
    }
}

#[test]
fn decisions_are_found_by_what_they_say() {
    assert_eq!(found(Wanted::default()), ["bash ls", "bash rm x", "bash rm y"]);
    let block = Wanted { decision: Some(Decision::Block), ..Wanted::default() };
    assert_eq!(found(block), ["bash rm x", "bash rm y"]);
    assert_eq!(found(Wanted { text: Some("RM Y".into()), ..Wanted::default() }), ["bash rm y"]);
    assert_eq!(found(Wanted { text: Some("deletes".into()), ..Wanted::default() }).len(), 2);
    assert_eq!(found(Wanted { rule: Some("files".into()), ..Wanted::default() }).len(), 2);
    assert_eq!(found(Wanted { rule: Some("file".into()), ..Wanted::default() }).len(), 0);
    let session = SessionKey { agent: String::new(), id: "b".into() };
    assert_eq!(found(Wanted { session: Some(session), ..Wanted::default() }), ["bash rm y"]);
}

#[test]
fn the_beginning_of_a_time_is_found() {
    let store = store();
    let records = store.view(|view| view.records(&Query::all())).unwrap();
    for record in &records {
        let first = records.iter().find(|other| other.at >= record.at).unwrap();
        assert_eq!(first_since(&*store, record.at).unwrap(), first.seq);
    }
    let last = records.last().unwrap();
    assert_eq!(first_since(&*store, last.at.plus_millis(1)).unwrap(), last.seq + 1);
    assert_eq!(first_since(&*store, Timestamp(0)).unwrap(), 1);
}

#[test]
fn the_newest_come_in_order_and_say_whether_there_are_more() {
    let store = store();
    let newest = |limit| {
        let (found, more) = newest_decisions(&*store, &Wanted::default(), limit).unwrap();
        (found.iter().map(|decided| title(&decided.action)).collect::<Vec<_>>(), more)
    };
    assert_eq!(newest(2), (vec!["bash rm x".to_owned(), "bash rm y".to_owned()], true));
    assert_eq!(newest(3).0.len(), 3);
    assert!(!newest(3).1);
}

#[test]
fn what_is_left_is_counted_as_far_back_as_is_quick() {
    let store = store();
    let all = Wanted::default();
    let last = store.view(|view| view.head()).unwrap().seq;
    let further = |wanted: &Wanted, before| {
        let further = further_decisions(&*store, wanted, before).unwrap();
        (further.count, further.at_least)
    };
    assert_eq!(further(&all, last + 1), (3, false));
    let newest = newest_decisions(&*store, &all, 1).unwrap().0.pop().unwrap();
    assert_eq!(further(&all, newest.id), (2, false));
    let blocks = Wanted { decision: Some(Decision::Block), ..Wanted::default() };
    assert_eq!(further(&blocks, newest.id), (1, false));
    let later = Wanted { since: Some(newest.at.plus_millis(1)), ..Wanted::default() };
    assert_eq!(further(&later, newest.id), (0, false));
    // More records than are scanned, none of which is a decision.
    let other = Draft { at: newest.at, session: None, kind: "other".into(), body: "{}".into() };
    store
        .update(Durability::Process, |tx| (0..COUNTED).try_for_each(|_| tx.append(other.clone()).map(|_| ())))
        .unwrap();
    assert_eq!(further(&all, last + COUNTED as u64 + 1), (0, true));
}
