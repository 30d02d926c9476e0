use proptest::prelude::*;

use super::*;
use crate::action::Action;
use crate::event::{Continuation, Outcome};
use crate::history::{Ended, Mark};
use crate::scope::Limit;

fn judged(number: u8, decision: Decision) -> Judgement {
    Judgement { action: Digest::of(&[number]), ..Judgement::new(&Action::bash(""), decision) }
}

fn happened(number: u8, id: Option<&str>, standing: Standing) -> SessionEvent {
    SessionEvent::Happened(Happened {
        action: Digest::of(&[number]),
        tool_use_id: id.map(str::to_owned),
        standing,
        outcome: Outcome::success(),
        marks: Vec::new(),
        learned: Vec::new(),
        left: Vec::new(),
        notes: Vec::new(),
    })
}

fn spending(amount: u64) -> BTreeMap<String, u64> {
    BTreeMap::from([("tasks".to_owned(), amount)])
}

fn apply(state: &mut SessionState, judgement: Judgement) {
    state.apply(&SessionEvent::Judged(judgement), Timestamp(1000));
}

#[test]
fn everything_is_bounded() {
    let mut state = SessionState::default();
    for number in 0..10_000_u32 {
        let mut judgement = judged(0, Decision::Pass);
        judgement.action = Digest::of(&number.to_be_bytes());
        judgement.tool_use_id = Some(format!("call-{number}"));
        judgement.tags = vec![format!("tag-{number}"), "same".to_owned()];
        judgement.spends = BTreeMap::from([(format!("budget-{number}"), 1)]);
        let event = SessionEvent::Judged(judgement);
        state.apply(&event, Timestamp(i64::from(number) * 100));
        state.apply_below(&event, Timestamp(i64::from(number) * 100));
    }
    assert_eq!(state.action_count, 20_000);
    assert!(state.open.len() <= OPEN_KEPT);
    assert!(state.streaks.len() <= STREAKS_KEPT);
    assert!(state.spent.len() <= BUDGETS_KEPT + 1 && state.reserved.len() <= BUDGETS_KEPT + 1);
    let size = state.to_bytes().unwrap().len();
    assert!(size < 48 * 1024, "{size} bytes");
}

#[test]
fn a_streak_counts_consecutive_actions_with_a_tag_and_blocked_ones_keep_it() {
    let mut state = SessionState::default();
    let tagged = |decision| Judgement { tags: vec!["sensitive".to_owned()], ..judged(1, decision) };
    apply(&mut state, tagged(Decision::Pass));
    apply(&mut state, tagged(Decision::Block));
    assert_eq!(state.streak("sensitive"), 2);
    apply(&mut state, Judgement { dry: true, ..judged(2, Decision::Pass) });
    assert_eq!(state.streak("sensitive"), 2, "a dry run ends nothing");
    state.apply_below(&SessionEvent::Judged(judged(3, Decision::Pass)), Timestamp(0));
    assert_eq!(state.streak("sensitive"), 2, "a subagent cannot end it");
    state.apply_below(&SessionEvent::Judged(tagged(Decision::Pass)), Timestamp(0));
    assert_eq!(state.streak("sensitive"), 3, "but it can go on with it");
    apply(&mut state, judged(4, Decision::Pass));
    assert_eq!(state.streak("sensitive"), 0);
}

#[test]
fn a_budget_is_reserved_settled_and_given_back() {
    let mut state = SessionState::default();
    apply(&mut state, Judgement { spends: spending(2), ..judged(1, Decision::Pass) });
    apply(&mut state, Judgement { spends: spending(5), ..judged(2, Decision::Block) });
    assert_eq!((state.used("tasks"), state.spent.get("tasks")), (2, None), "a block reserves nothing");
    state.apply(&happened(1, None, Standing::Governed), Timestamp(0));
    assert_eq!((state.used("tasks"), state.reserved.get("tasks")), (2, None));
    apply(&mut state, Judgement { spends: spending(3), ..judged(3, Decision::Ask) });
    assert_eq!(state.used("tasks"), 5, "an ask may still happen");
    let no = SessionEvent::Resolved {
        action: Digest::of(&[3]),
        tool_use_id: None,
        decision: Decision::Block,
        returned: spending(3),
    };
    state.apply(&no, Timestamp(0));
    assert_eq!(state.used("tasks"), 2);
    assert_eq!(
        state.standing(&Digest::of(&[3]), None),
        Standing::Bypass,
        "a rejected ask that happens is a bypass"
    );
    apply(&mut state, Judgement { spends: spending(4), ..judged(5, Decision::Pass) });
    state.apply(&SessionEvent::Ended { returned: spending(4) }, Timestamp(0));
    assert_eq!(state.used("tasks"), 2, "what was never reported is given back at the end");
}

#[test]
fn a_second_report_of_one_call_counts_for_nothing() {
    let mut state = SessionState::default();
    apply(&mut state, Judgement { tool_use_id: Some("t1".to_owned()), ..judged(1, Decision::Pass) });
    let event = happened(1, Some("t1"), Standing::Governed);
    state.apply(&event, Timestamp(0));
    state.apply(&event, Timestamp(0));
    assert_eq!(state.success_count, 1);
    assert!(state.has_happened(Some("t1")));
}

#[test]
fn an_outcome_is_held_against_its_own_call() {
    let mut state = SessionState::default();
    let call = |id: &str, decision| Judgement { tool_use_id: Some(id.to_owned()), ..judged(1, decision) };
    apply(&mut state, call("a", Decision::Block));
    apply(&mut state, call("b", Decision::Pass));
    let action = Digest::of(&[1]);
    assert_eq!(state.standing(&action, Some("a")), Standing::Bypass);
    assert_eq!(state.standing(&action, Some("b")), Standing::Governed);
    assert_eq!(state.standing(&action, Some("c")), Standing::Ungoverned, "another call of the same action");
    assert_eq!(state.standing(&action, None), Standing::Governed, "without an id, the newest");
    assert_eq!(state.standing(&Digest::of(&[2]), None), Standing::Ungoverned);
}

#[test]
fn one_call_through_two_hooks_is_recognised() {
    let mut state = SessionState::default();
    let seen = |id: Option<&str>, dialect: Option<&str>| Judgement {
        tool_use_id: id.map(str::to_owned),
        dialect: dialect.map(str::to_owned),
        ..judged(1, Decision::Pass)
    };
    let action = Digest::of(&[1]);
    apply(&mut state, seen(Some("t1"), Some("cursor")));
    let same = |id, dialect, at| state.same_call(&action, id, dialect, Timestamp(at)).is_some();
    assert!(same(Some("t1"), Some("cursor"), 9_000_000), "the same id");
    assert!(!same(Some("t2"), Some("cursor"), 1001), "another call of the same dialect");
    assert!(same(Some("t2"), Some("claude-code"), 2500), "another dialect, shortly after");
    assert!(!same(Some("t2"), Some("claude-code"), 3500), "another dialect, too late");
    assert!(!same(None, None, 1001), "nothing to tell by");
    let other = Digest::of(&[2]);
    assert!(state.same_call(&other, Some("t1"), Some("cursor"), Timestamp(1001)).is_none(), "another action");
}

#[test]
fn a_fork_goes_on_from_where_the_original_stood() {
    let mut original = SessionState::default();
    let scope = Scope::unlimited().narrow(Limit { read_only: true, ..Limit::default() });
    let started = SessionEvent::Started { policy: Digest::of(b"p"), parent: None, scope: scope.clone() };
    original.apply(&started, Timestamp(5));
    apply(
        &mut original,
        Judgement { spends: spending(1), tags: vec!["t".to_owned()], ..judged(1, Decision::Pass) },
    );
    let from = SessionKey { agent: String::new(), id: "a".to_owned() };
    let mut fork = SessionState::default();
    let event = SessionEvent::Forked { from, state: Box::new(original.clone()) };
    fork.apply(&event, Timestamp(9000));
    assert_eq!((fork.action_count, fork.streak("t"), fork.started), (1, 1, Some(Timestamp(5))));
    assert_eq!((fork.policy, &fork.scope), (Some(Digest::of(b"p")), &scope));
    assert!(fork.open.is_empty(), "what is under way belongs to the original");
    apply(&mut fork, judged(2, Decision::Pass));
    assert_eq!((fork.action_count, original.action_count), (2, 1));
    fork.apply(&event, Timestamp(9001));
    assert_eq!(fork.action_count, 2, "only the first event can be a fork");
}

#[test]
fn resuming_compacting_and_clearing_forget_nothing_and_policy_is_fixed() {
    let mut state = SessionState::default();
    let started = |policy: &[u8]| SessionEvent::Started {
        policy: Digest::of(policy),
        parent: None,
        scope: Scope::unlimited(),
    };
    state.apply(&started(b"one"), Timestamp(0));
    apply(&mut state, Judgement { tags: vec!["t".to_owned()], ..judged(1, Decision::Pass) });
    let before = state.clone();
    for how in [Continuation::Resume, Continuation::Compact, Continuation::Clear] {
        state.apply(&SessionEvent::Continued { how }, Timestamp(1000));
    }
    assert_eq!(state, before);
    state.apply(&started(b"two"), Timestamp(1000));
    assert_eq!(state.policy, Some(Digest::of(b"one")), "a second start cannot change the policy");
    state.apply(&SessionEvent::Refreshed { policy: Digest::of(b"two"), recalled: None }, Timestamp(1000));
    assert_eq!(state.policy, Some(Digest::of(b"two")));
}

#[test]
fn the_pace_looks_back_one_minute_and_a_clock_that_goes_back_makes_no_room() {
    let mut state = SessionState::default();
    let at = |state: &mut SessionState, second: i64| {
        state.apply(&SessionEvent::Judged(judged(1, Decision::Pass)), Timestamp(second * 1000));
    };
    at(&mut state, 100);
    at(&mut state, 130);
    assert_eq!(state.allowed_in_last_minute(Timestamp(159_999)), 2);
    assert_eq!(state.allowed_in_last_minute(Timestamp(160_000)), 1);
    at(&mut state, 20);
    assert_eq!(state.allowed_in_last_minute(Timestamp(131_000)), 3);
    apply(&mut state, judged(2, Decision::Block));
    assert_eq!(state.allowed_in_last_minute(Timestamp(131_000)), 3, "blocked retries do not lock anyone out");
}

#[test]
fn a_past_told_again_keeps_its_place() {
    let mark = |key: &str| Mark { key: key.to_owned(), ended: Some(Ended::Ok), window: None, most: None };
    let mut told = SessionState::default();
    apply(&mut told, Judgement { marks: vec![mark("tests")], ..judged(1, Decision::Pass) });
    told.apply(&happened(1, None, Standing::Governed), Timestamp(0));
    apply(&mut told, Judgement { marks: vec![mark("lint")], ..judged(2, Decision::Pass) });
    let mut state = SessionState::default();
    for id in [8, 9, 1, 2] {
        apply(&mut state, judged(id, Decision::Pass));
        if id == 1 {
            state.apply(&happened(1, None, Standing::Governed), Timestamp(0));
        }
    }
    let recalled = Some(Box::new(Recalled::from(&told, state.past.position)));
    state.apply(&SessionEvent::PolicyChanged { policy: Digest::of(b"two"), recalled }, Timestamp(0));
    assert_eq!(state.past.tracks.get("tests").map(|track| track.last), Some(3), "the third of four actions");
    assert!(!state.past.formerly("lint", None, Timestamp(0)));
    state.apply(&happened(2, None, Standing::Governed), Timestamp(0));
    assert!(state.past.formerly("lint", None, Timestamp(0)), "what was under way counts for the new policy");
}

#[test]
fn a_change_of_policy_is_told_until_it_is_over() {
    let (one, two) = (Digest::of(b"one"), Digest::of(b"two"));
    let changed = |policy| SessionEvent::PolicyChanged { policy, recalled: None };
    let mut state = SessionState { policy: Some(one), ..SessionState::default() };
    state.apply(&changed(two), Timestamp(0));
    state.apply(&changed(Digest::of(b"three")), Timestamp(0));
    assert_eq!((state.policy, state.feedback.held.len()), (Some(one), 1));
    state.apply(&changed(one), Timestamp(0));
    assert_eq!(
        (state.policy_now, state.feedback.held.len()),
        (None, 1),
        "what was seen meanwhile still holds"
    );
    state.apply(&changed(two), Timestamp(0));
    state.apply(&SessionEvent::Refreshed { policy: two, recalled: None }, Timestamp(0));
    assert_eq!((state.policy, state.policy_now, state.feedback.held.len()), (Some(two), None, 0));
}

#[test]
fn every_policy_that_was_seen_is_remembered_or_known_to_be_missing() {
    let policy = |n: usize| Digest::of(&n.to_le_bytes());
    let changed = |n| SessionEvent::PolicyChanged { policy: policy(n), recalled: None };
    let mut state = SessionState { policy: Some(policy(0)), ..SessionState::default() };
    for n in [1, 2, 1, 0] {
        state.apply(&changed(n), Timestamp(0));
    }
    assert_eq!(state.policies(), Some(vec![policy(0), policy(1), policy(2)]));
    for n in 0..=POLICIES_KEPT {
        assert!(state.policies().is_some(), "{n}");
        state.apply(&changed(n), Timestamp(0));
    }
    assert_eq!(state.policies().map(|seen| seen.len()), Some(POLICIES_KEPT + 1));
    for n in [POLICIES_KEPT + 1, 3, POLICIES_KEPT + 9] {
        state.apply(&changed(n), Timestamp(0));
        assert_eq!((state.policies(), state.policies_since.len()), (None, POLICIES_KEPT + 1), "{n}");
    }
    state.apply(&SessionEvent::Refreshed { policy: policy(3), recalled: None }, Timestamp(0));
    assert_eq!(state.policies(), Some(vec![policy(3)]), "a person starts anew");
}

proptest! {
    #[test]
    fn an_open_action_is_read_as_it_was_written(
        number: u8, id in prop::option::of(".{0,80}"), dialect in prop::option::of(".{0,12}"),
        decision in prop::sample::select(vec![Decision::Pass, Decision::Warn, Decision::Ask, Decision::Block]), observed: bool, at: i64, position: u64, marked: bool,
    ) {
        let judgement = Judgement { tool_use_id: id, dialect, observed, ..judged(number, decision) };
        let mut open = Open::of(&judgement, position, Timestamp(at));
        if marked {
            open.marks = vec![Mark { key: "k".into(), ended: None, window: Some(5), most: Some(3) }];
            open.spends = spending(7);
        }
        let state = SessionState { open: VecDeque::from([open]), ..SessionState::default() };
        prop_assert_eq!(SessionState::from_bytes(&state.to_bytes().unwrap()).unwrap(), state);
    }
}

proptest! {
    #[test]
    fn the_pace_is_read_as_it_was_written(
        start in prop_oneof![Just(i64::MIN), Just(-5_000), 0..2_000_000_000_000_i64],
        gaps in prop::collection::vec(0..3_000_i64, 0..80),
    ) {
        let mut state = SessionState::default();
        let mut at = Timestamp(start);
        for gap in gaps {
            at = at.plus_millis(gap);
            state.apply(&SessionEvent::Judged(judged(1, Decision::Pass)), at);
        }
        prop_assert_eq!(SessionState::from_bytes(&state.to_bytes().unwrap()).unwrap().pace, state.pace);
    }
}

#[test]
fn blocked_actions_leave_room_for_those_under_way() {
    let mut state = SessionState::default();
    apply(&mut state, Judgement { tool_use_id: Some("long".into()), ..judged(0, Decision::Pass) });
    for number in 1..=200 {
        let id = Some(format!("blocked {number}"));
        apply(&mut state, Judgement { tool_use_id: id, ..judged(number, Decision::Block) });
    }
    assert_eq!(state.open.len(), 1 + BLOCKED_KEPT);
    assert_eq!(state.standing(&Digest::of(&[0]), Some("long")), Standing::Governed);
    assert_eq!(state.standing(&Digest::of(&[200]), Some("blocked 200")), Standing::Bypass);
}

#[test]
fn an_id_of_any_length_is_recognised() {
    let id = "x".repeat(100_000);
    let mut state = SessionState::default();
    apply(&mut state, Judgement { tool_use_id: Some(id.clone()), ..judged(1, Decision::Pass) });
    assert_eq!(state.standing(&Digest::of(&[1]), Some(&id)), Standing::Governed);
    assert!(state.same_call(&Digest::of(&[1]), Some(&id), None, Timestamp(9_000_000)).is_some());
    state.apply(&happened(1, Some(&id), Standing::Governed), Timestamp(0));
    assert!(state.has_happened(Some(&id)) && state.open.is_empty());
    assert!(state.to_bytes().unwrap().len() < 1_000);
}
