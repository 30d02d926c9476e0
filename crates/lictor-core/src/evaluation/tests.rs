use super::*;
use crate::guard::Layer;
use crate::verdict::Verdict;

fn given(guard: &str, verdict: Verdict) -> GivenVerdict {
    GivenVerdict::active(guard, "/", Layer::Intent, verdict)
}

fn evaluation(verdicts: Vec<GivenVerdict>) -> Evaluation {
    let first = given("first", Verdict::pass());
    let mut evaluation = Evaluation::new(Judged::refused(first), Digest::ZERO, Digest::ZERO);
    evaluation.verdicts = verdicts;
    evaluation
}

#[test]
fn reasons_come_strictest_first_and_once() {
    let evaluation = evaluation(vec![
        given("a", Verdict::warn("careful")),
        given("b", Verdict::block("no", "do b")),
        given("c", Verdict::block("never", "do b")),
        given("d", Verdict::block("no", "do d")),
        given("e", Verdict::pass_because("fine")),
    ]);
    assert_eq!(evaluation.reason(), "no\nnever\ncareful");
    assert_eq!(evaluation.fix(), "do b\ndo d");
}

#[test]
fn an_agent_is_told_that_a_check_failed_but_not_how() {
    let evaluation = evaluation(vec![
        given("policy", Verdict::error("governance.yaml:3:5: unknown key `redline`", "correct line 3")),
        given("files", Verdict::block("outside", "stay inside")),
    ]);
    assert!(evaluation.reason().contains("governance.yaml:3:5"));
    assert_eq!(evaluation.reason_for_agent(), "outside\nthe check `policy` could not be carried out");
    assert!(evaluation.fix_for_agent().starts_with("stay inside\nnothing was done"));
    assert!(!evaluation.fix_for_agent().contains("line 3"));
}
