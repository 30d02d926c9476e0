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
    Approval::of(&evaluation(&action), &action, &Facts::none(), Vec::new(), Timestamp(0), 1000)
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
    let grant = approval().grant(who(), Lifetime::Once, Timestamp(500), 7);
    let same = approval();
    assert_eq!(grant.covers(&same.request, same.asked.clone().into_iter(), &[], Timestamp(499)), Ok(()));
    assert_eq!(
        grant.covers(&same.request, same.asked.clone().into_iter(), &[], Timestamp(500)),
        Err(Mismatch::Expired)
    );

    let other = pay("$820,000");
    let other = Approval::of(&evaluation(&other), &other, &Facts::none(), Vec::new(), Timestamp(0), 1000);
    assert_ne!(other.id, same.id);
    assert_eq!(
        grant.covers(&other.request, other.asked.into_iter(), &[], Timestamp(1)),
        Err(Mismatch::Action)
    );

    let mut elsewhere = same.request.clone();
    elsewhere.session = Some(SessionKey { agent: String::new(), id: "t".to_owned() });
    assert_eq!(grant.covers(&elsewhere, std::iter::empty(), &[], Timestamp(1)), Err(Mismatch::Session));

    let mut later = same.request.clone();
    later.policy = Digest::of(b"another policy");
    assert_eq!(grant.covers(&later, std::iter::empty(), &[], Timestamp(1)), Err(Mismatch::Policy));

    let more =
        Point { guard: "new".to_owned(), path: "/".to_owned(), rule: None, message: "and this?".to_owned() };
    let asked = same.asked.iter().cloned().chain([more]);
    assert_eq!(grant.covers(&same.request, asked, &[], Timestamp(1)), Err(Mismatch::Points));
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

/// Signs by echoing the message, which shows what is signed.
struct Echo;

impl lictor_core::Sign for Echo {
    fn sign(&self, message: &[u8]) -> lictor_core::Seal {
        lictor_core::Seal { key: String::new(), signature: Digest::of(message).to_string() }
    }
}

impl lictor_core::CheckSeal for Echo {
    fn is_theirs(&self, message: &[u8], seal: &lictor_core::Seal) -> bool {
        seal.signature == Digest::of(message).to_string()
    }
}

#[test]
fn a_signature_is_under_everything_that_a_grant_says() {
    use lictor_core::{Grant, Pin};
    let grant = approval().grant(who(), Lifetime::Once, Timestamp(500), 7);
    assert!(!grant.is_signed(&Echo));
    let grant = grant.signed(&Echo);
    assert!(grant.is_signed(&Echo));
    let changes: [fn(&mut Grant); 8] = [
        |grant| grant.request.action = Digest::of(b"other"),
        |grant| grant.request.session = None,
        |grant| grant.request.policy = Digest::of(b"other"),
        |grant| grant.asked.clear(),
        |grant| grant.pins.push(Pin { path: "/a".to_owned(), content: Digest::ZERO }),
        |grant| grant.lifetime = Lifetime::Session,
        |grant| grant.expires = Timestamp(501),
        |grant| grant.after = 8,
    ];
    for change in changes {
        let mut changed = grant.clone();
        change(&mut changed);
        assert!(!changed.is_signed(&Echo), "{changed:?}");
    }
}

#[test]
fn a_question_that_shows_another_action_is_not_whole() {
    let whole = approval();
    assert!(whole.is_whole());
    let mut other = whole.clone();
    if let Some(shown) = &mut other.shown {
        shown.action = pay("$1");
    }
    assert!(!other.is_whole());
    let other = Approval { id: whole.id.chars().rev().collect(), ..whole };
    assert!(!other.is_whole());
}
