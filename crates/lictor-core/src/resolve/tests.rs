use super::*;
use crate::digest::Digest;
use crate::evaluation::Judged;

fn given(verdict: Verdict) -> GivenVerdict {
    GivenVerdict::active("g", "/", Layer::Intent, verdict)
}

fn asking() -> Evaluation {
    Evaluation::new(Judged::refused(given(Verdict::ask("really?"))), Digest::ZERO, Digest::ZERO)
}

#[test]
fn a_panicking_approver_blocks_and_the_question_stays() {
    let resolved = resolve(asking(), Some(&mut |_| panic!("dialog crashed")));
    assert_eq!(resolved.decision, Decision::Block);
    assert!(resolved.reason().contains("the approver panicked"));
    assert!(resolved.reason().contains("really?"));
}

#[test]
fn no_answer_in_time_blocks_with_its_cause() {
    let settled = settle(asking(), Err("nobody answered in time"));
    assert_eq!(settled.decision, Decision::Block);
    assert_eq!(
        settled.active()[0].verdict.reason(),
        "this needs a person's yes, but nobody answered in time"
    );
}

#[test]
fn nobody_to_ask_blocks_with_a_way_on() {
    let resolved = resolve(asking(), None);
    assert_eq!(resolved.decision, Decision::Block);
    assert!(!resolved.fix().is_empty());
}

#[test]
fn an_evaluation_that_asks_although_something_blocks_is_never_approved() {
    let mut forged = asking();
    forged.verdicts.push(given(Verdict::block("no", "yes")));
    let resolved = resolve(forged, Some(&mut |questions| vec![Answer::yes(); questions.len()]));
    assert_eq!(resolved.decision, Decision::Block);
}
