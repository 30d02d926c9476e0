//! Asks that become grants, and grants that count for exactly one action, once.

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use lictor_engine::log::kind;
    use lictor_engine::{
        Action, All, Answer, ApprovalError, Asking, Decision, FixedClock, Lifetime, MemoryStore, Mode,
        Outcome, PolicyEngine, Standing, Store, Timestamp, Verdict, Who, guard_fn,
    };
    use lictor_store::{Query, StoreExt};

    /// Asks about every payment, blocks what is called forbidden.
    fn engine_at(store: &Arc<dyn Store>, now: i64, policy: &[u8]) -> PolicyEngine {
        let root = All::new((
            guard_fn("forbidden", |action, _| match action.task_type.as_deref() {
                Some("forbidden") => Verdict::block("forbidden", "do something else"),
                _ => Verdict::pass(),
            }),
            guard_fn("payments", |action, _| {
                Verdict::ask(format!("pay {}?", action.text("amount").unwrap_or("nothing")))
            }),
        ));
        PolicyEngine::builder(root)
            .shared_store(Arc::clone(store))
            .clock(FixedClock(Timestamp(now)))
            .policy_digest(lictor_engine::Digest::of(policy))
            .facts(|_: &Action| lictor_engine::Facts::none())
            .build()
            .unwrap()
    }

    fn store() -> Arc<dyn Store> {
        Arc::new(MemoryStore::new())
    }

    fn pay(amount: &str) -> Action {
        let mut action = Action::task("payment").in_session("s");
        action.payload.insert("amount".to_owned(), amount.into());
        action
    }

    fn who(at: i64) -> Who {
        Who { by: "ada".to_owned(), at: Timestamp(at), from: "test".to_owned() }
    }

    fn kinds(store: &Arc<dyn Store>) -> Vec<String> {
        let records = store.view(|view| view.records(&Query::all())).unwrap();
        records.into_iter().map(|record| record.kind).collect()
    }

    #[test]
    fn a_grant_lifts_the_ask_once_and_the_third_attempt_asks_again() {
        let store = store();
        let engine = engine_at(&store, 1000, b"p");
        let asked = engine.evaluate(&pay("$5"));
        assert_eq!((asked.decision, asked.passed()), (Decision::Ask, false));
        let pending = engine.approvals().pending(Timestamp(1000)).unwrap();
        assert_eq!(pending.len(), 1);
        engine.approvals().approve(&pending[0].id, who(1001), Lifetime::Once, 60_000).unwrap();
        assert!(engine.approvals().pending(Timestamp(1002)).unwrap().is_empty());

        let lifted = engine.evaluate(&pay("$5"));
        assert_eq!(lifted.decision, Decision::Pass);
        let answer = lifted.verdicts.iter().find_map(|given| given.answer.clone()).unwrap();
        assert_eq!(answer, Answer::yes().because("allowed by ada"));

        assert_eq!(engine.evaluate(&pay("$5")).decision, Decision::Ask);
        assert_eq!(
            kinds(&store),
            [
                kind::SESSION_STARTED,
                kind::APPROVAL_REQUESTED,
                kind::EVALUATED,
                kind::APPROVAL_GRANTED,
                kind::GRANT_USED,
                kind::EVALUATED,
                kind::APPROVAL_REQUESTED,
                kind::EVALUATED
            ]
        );
    }

    /// A proxy holds a call and judges it a second time once a person has answered; seen by two hooks it counts once.
    #[test]
    fn a_call_that_was_held_and_answered_is_governed() {
        let (store, mode) = (store(), Mode { asking: Asking::Nobody, ..Mode::default() });
        let engine = engine_at(&store, 1000, b"p");
        let call = Action { tool_use_id: Some("7".to_owned()), ..pay("$5") };
        for _ in 0..2 {
            assert_eq!(engine.evaluate_with(&call, mode.clone()).decision, Decision::Block);
        }
        let counted = || engine.session(call.session.as_ref().unwrap()).unwrap();
        assert_eq!(counted().action_count, 1);
        let pending = engine.approvals().pending(Timestamp(1000)).unwrap();
        engine.approvals().approve(&pending[0].id, who(1001), Lifetime::Once, 60_000).unwrap();
        for _ in 0..2 {
            assert_eq!(engine.evaluate_with(&call, mode.clone()).decision, Decision::Pass);
        }
        assert_eq!(engine.post_action(&call, Outcome::success()).unwrap(), Standing::Governed);
        assert_eq!((counted().pass_count, counted().bypass_count), (1, 0));
    }

    #[test]
    fn approve_82_000_run_820_000_asks_again() {
        let store = store();
        let engine = engine_at(&store, 1000, b"p");
        let _ = engine.evaluate(&pay("$82,000"));
        let id = engine.approvals().pending(Timestamp(1000)).unwrap()[0].id.clone();
        engine.approvals().approve(&id, who(1000), Lifetime::Once, 60_000).unwrap();
        assert_eq!(engine.evaluate(&pay("$820,000")).decision, Decision::Ask);
        assert_eq!(
            engine.evaluate(&pay("$82,000").in_session("other")).decision,
            Decision::Ask,
            "another session"
        );
        assert_eq!(
            engine_at(&store, 1000, b"q").evaluate(&pay("$82,000")).decision,
            Decision::Ask,
            "another policy"
        );
        assert_eq!(engine.evaluate(&pay("$82,000")).decision, Decision::Pass, "the grant is still there");
    }

    #[test]
    fn a_grant_expires() {
        let store = store();
        let _ = engine_at(&store, 0, b"p").evaluate(&pay("$5"));
        let approvals = engine_at(&store, 0, b"p").approvals();
        let id = approvals.pending(Timestamp(0)).unwrap()[0].id.clone();
        approvals.approve(&id, who(0), Lifetime::Once, 500).unwrap();
        assert_eq!(engine_at(&store, 500, b"p").evaluate(&pay("$5")).decision, Decision::Ask);
        assert!(kinds(&store).contains(&kind::GRANT_EXPIRED.to_owned()));
        assert_eq!(
            engine_at(&store, 499, b"p").evaluate(&pay("$5")).decision,
            Decision::Ask,
            "it is gone for good"
        );
    }

    #[test]
    fn a_grant_for_a_while_can_be_used_again_and_again_until_it_expires() {
        let store = store();
        let _ = engine_at(&store, 0, b"p").evaluate(&pay("$5"));
        let approvals = engine_at(&store, 0, b"p").approvals();
        let id = approvals.pending(Timestamp(0)).unwrap()[0].id.clone();
        approvals.approve(&id, who(0), Lifetime::UntilExpiry, 500).unwrap();
        for now in [1, 2, 499] {
            assert_eq!(engine_at(&store, now, b"p").evaluate(&pay("$5")).decision, Decision::Pass);
        }
        assert_eq!(engine_at(&store, 500, b"p").evaluate(&pay("$5")).decision, Decision::Ask);
    }

    #[test]
    fn a_grant_for_the_session_ends_with_it() {
        let store = store();
        let engine = engine_at(&store, 0, b"p");
        let _ = engine.evaluate(&pay("$5"));
        let id = engine.approvals().pending(Timestamp(0)).unwrap()[0].id.clone();
        engine.approvals().approve(&id, who(0), Lifetime::Session, 1_000_000).unwrap();
        assert!(engine.evaluate(&pay("$5")).passed() && engine.evaluate(&pay("$5")).passed());
        engine.end(pay("$5").session.as_ref().unwrap()).unwrap();
        assert_eq!(engine.evaluate(&pay("$5")).decision, Decision::Ask);
    }

    #[test]
    fn a_no_stands_and_the_agent_cannot_nag() {
        let store = store();
        let engine = engine_at(&store, 1000, b"p");
        let _ = engine.evaluate(&pay("$5"));
        let id = engine.approvals().pending(Timestamp(1000)).unwrap()[0].id.clone();
        engine.approvals().deny(&id, who(1000), Some("not this month".to_owned())).unwrap();
        let again = engine.evaluate(&pay("$5"));
        assert_eq!(again.decision, Decision::Block);
        assert!(again.reason().contains("a person said no to this: not this month"), "{}", again.reason());
        assert!(engine.approvals().pending(Timestamp(1000)).unwrap().is_empty());
        let late = engine.approvals().approve(&id, who(1001), Lifetime::Once, 1);
        assert!(matches!(late, Err(ApprovalError::NotPending { .. })));
    }

    #[test]
    fn with_nobody_to_ask_it_blocks_and_says_how_to_go_on() {
        let store = store();
        let engine = engine_at(&store, 1000, b"p");
        let mode = Mode { asking: Asking::Nobody, ..Mode::default() };
        let blocked = engine.evaluate_with(&pay("$5"), mode.clone());
        assert_eq!(blocked.decision, Decision::Block);
        let id = engine.approvals().pending(Timestamp(1000)).unwrap()[0].id.clone();
        assert!(blocked.fix().contains("`lictor approve`"), "{}", blocked.fix());
        assert!(!blocked.fix().contains(&id), "the agent does not learn what approves it");
        let again = engine.evaluate_with(&pay("$5"), mode);
        assert_eq!(again.decision, Decision::Block);
        assert_eq!(
            engine.approvals().pending(Timestamp(1000)).unwrap().len(),
            1,
            "one question, however often"
        );
        let session = again.session;
        assert_eq!(
            (session.action_count, session.ask_count, session.block_count),
            (2, 2, 2),
            "asked and held back"
        );
        engine.approvals().approve(&id, who(1000), Lifetime::Once, 1000).unwrap();
        assert!(engine.evaluate(&pay("$5")).passed());
    }

    #[test]
    fn a_block_is_never_asked_about_and_no_grant_lifts_it() {
        let store = store();
        let engine = engine_at(&store, 1000, b"p");
        let forbidden = Action::task("forbidden").in_session("s");
        assert_eq!(engine.evaluate(&forbidden).decision, Decision::Block);
        assert!(engine.approvals().pending(Timestamp(1000)).unwrap().is_empty());
        let mut asked = 0;
        let resolved = engine.resolve(
            &forbidden,
            engine.evaluate(&forbidden),
            Some(&mut |questions| {
                asked += 1;
                vec![Answer::yes(); questions.len()]
            }),
        );
        assert_eq!((resolved.decision, asked), (Decision::Block, 0));
    }

    #[test]
    fn answers_on_the_spot_are_recorded_and_close_the_question() {
        let store = store();
        let engine = engine_at(&store, 1000, b"p");
        let approved = engine.resolve(
            &pay("$5"),
            engine.evaluate(&pay("$5")),
            Some(&mut |questions| {
                assert_eq!(questions[0].given.verdict.reason(), "pay $5?");
                vec![Answer::yes(); questions.len()]
            }),
        );
        assert_eq!(approved.decision, Decision::Pass);
        assert!(engine.approvals().pending(Timestamp(1000)).unwrap().is_empty());
        assert_eq!(engine.post_action(&pay("$5"), Outcome::success()).unwrap(), Standing::Governed);

        let denied =
            engine.resolve(&pay("$6"), engine.evaluate(&pay("$6")), Some(&mut |_| vec![Answer::no()]));
        assert_eq!(denied.decision, Decision::Block);
        assert_eq!(engine.post_action(&pay("$6"), Outcome::success()).unwrap(), Standing::Bypass);
        assert_eq!(kinds(&store).iter().filter(|kind| *kind == kind::RESOLVED).count(), 2);
    }

    #[test]
    fn an_approver_that_hangs_or_panics_blocks() {
        let engine = engine_at(&store(), 1000, b"p");
        let (release, hold) = std::sync::mpsc::channel::<()>();
        let late = engine.resolve_within(
            &pay("$5"),
            engine.evaluate(&pay("$5")),
            Duration::from_millis(30),
            move |questions| {
                let _ = hold.recv();
                vec![Answer::yes(); questions.len()]
            },
        );
        assert_eq!(late.decision, Decision::Block);
        assert!(late.reason().contains("nobody answered in time"), "{}", late.reason());
        drop(release);
        let wait = Duration::from_secs(60);
        let crashed =
            engine.resolve_within(&pay("$6"), engine.evaluate(&pay("$6")), wait, |_| panic!("dialog"));
        assert!(crashed.reason().contains("the approver panicked"), "{}", crashed.reason());
        let quick = engine.resolve_within(&pay("$7"), engine.evaluate(&pay("$7")), wait, |questions| {
            vec![Answer::yes(); questions.len()]
        });
        assert_eq!(quick.decision, Decision::Pass);
    }

    #[test]
    fn what_happened_was_answered_elsewhere() {
        let engine = engine_at(&store(), 1000, b"p");
        let _ = engine.evaluate(&pay("$5"));
        assert_eq!(engine.post_action(&pay("$5"), Outcome::success()).unwrap(), Standing::Governed);
        assert!(engine.approvals().pending(Timestamp(1000)).unwrap().is_empty());
    }

    #[test]
    fn dry_and_observed_evaluations_use_no_grant_and_ask_nobody() {
        let store = store();
        let engine = engine_at(&store, 1000, b"p");
        for mode in [Mode { dry: true, ..Mode::default() }, Mode { observe: true, ..Mode::default() }] {
            assert_eq!(engine.evaluate_with(&pay("$5"), mode).decision, Decision::Ask);
        }
        assert!(engine.approvals().pending(Timestamp(1000)).unwrap().is_empty());
        let _ = engine.evaluate(&pay("$5"));
        let id = engine.approvals().pending(Timestamp(1000)).unwrap()[0].id.clone();
        engine.approvals().approve(&id, who(1000), Lifetime::Once, 1000).unwrap();
        assert_eq!(
            engine.evaluate_with(&pay("$5"), Mode { dry: true, ..Mode::default() }).decision,
            Decision::Ask
        );
        assert_eq!(engine.evaluate(&pay("$5")).decision, Decision::Pass);
    }

    #[test]
    fn an_id_may_be_shortened_but_not_guessed() {
        let engine = engine_at(&store(), 1000, b"p");
        let _ = (engine.evaluate(&pay("$5")), engine.evaluate(&pay("$6")));
        let pending = engine.approvals().pending(Timestamp(1000)).unwrap();
        let start: String = pending[0].id.chars().take(11).collect();
        assert_eq!(engine.approvals().find(&start).unwrap().id, pending[0].id);
        assert!(matches!(engine.approvals().find(""), Err(ApprovalError::Unknown { .. })));
        assert!(matches!(engine.approvals().find("zzz"), Err(ApprovalError::Unknown { .. })));
    }
}
