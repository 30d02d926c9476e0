//! What a grant covers: exactly what was asked, and nothing that was changed since.

use lictor_core::approval::{Mismatch, Point};
use lictor_core::{
    Action, All, Approval, ApprovalState, Digest, Evaluation, Facts, Graph, Lifetime, SessionKey,
    SessionState, Timestamp, Verdict, Who, guard_fn,
};
use serde_json::json;

fn evaluation(action: &Action) -> Evaluation {
    let root = All::new((
        guard_fn("payments", |action, _| {
            Verdict::ask(format!("pay {}?", action.text("amount").unwrap_or("?"))).by_rule("transfer")
        }),
        guard_fn("hours", |_, _| Verdict::ask("it is late, go on?")),
    ));
    let graph = Graph::new(root).unwrap();
    let judged = graph.judge(action, &Facts::none(), &SessionState::default(), Timestamp(0));
    Evaluation::new(judged, action.digest(), Digest::of(b"policy"))
}

fn pay(amount: &str) -> Action {
    let mut action = Action::task("payment").in_session("s");
    action.payload.insert("amount".to_owned(), json!(amount));
    action
}

fn who() -> Who {
    Who { by: "ada".to_owned(), at: Timestamp(10), from: "cli".to_owned() }
}

fn approval() -> Approval {
    let action = pay("$82,000");
    Approval::of(&evaluation(&action), action.session.clone(), Timestamp(0), 1000)
}

#[test]
fn an_approval_lists_every_point_in_order() {
    let asked: Vec<_> =
        approval().asked.into_iter().map(|point| (point.guard, point.rule, point.message)).collect();
    assert_eq!(
        asked,
        [
            ("payments".to_owned(), Some("transfer".to_owned()), "pay $82,000?".to_owned()),
            ("hours".to_owned(), None, "it is late, go on?".to_owned()),
        ]
    );
}

#[test]
fn a_grant_covers_exactly_what_was_asked() {
    let grant = approval().grant(who(), Lifetime::Once, Timestamp(500));
    let same = approval();
    assert_eq!(grant.covers(&same.request, same.asked.clone().into_iter(), Timestamp(499)), Ok(()));
    assert_eq!(
        grant.covers(&same.request, same.asked.clone().into_iter(), Timestamp(500)),
        Err(Mismatch::Expired)
    );

    let other = pay("$820,000");
    let other = Approval::of(&evaluation(&other), other.session.clone(), Timestamp(0), 1000);
    assert_ne!(other.id, same.id);
    assert_eq!(grant.covers(&other.request, other.asked.into_iter(), Timestamp(1)), Err(Mismatch::Action));

    let mut elsewhere = same.request.clone();
    elsewhere.session = Some(SessionKey { agent: String::new(), id: "t".to_owned() });
    assert_eq!(grant.covers(&elsewhere, std::iter::empty(), Timestamp(1)), Err(Mismatch::Session));

    let mut later = same.request.clone();
    later.policy = Digest::of(b"another policy");
    assert_eq!(grant.covers(&later, std::iter::empty(), Timestamp(1)), Err(Mismatch::Policy));

    let more =
        Point { guard: "new".to_owned(), path: "/".to_owned(), rule: None, message: "and this?".to_owned() };
    let asked = same.asked.iter().cloned().chain([more]);
    assert_eq!(grant.covers(&same.request, asked, Timestamp(1)), Err(Mismatch::Points));
}

#[test]
fn a_question_lapses_and_is_answered_once() {
    let mut approval = approval();
    assert!(approval.is_pending(Timestamp(999)) && !approval.is_pending(Timestamp(1000)));
    approval.state = ApprovalState::Granted(who());
    assert!(!approval.is_pending(Timestamp(1)));
    let back: Approval = serde_json::from_value(serde_json::to_value(&approval).unwrap()).unwrap();
    assert_eq!(back, approval);
}
