//! The only place where a person decides. A person can lift an `ask` and can veto; nobody can lift a `block`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::approval::{Answer, Point, all_yes};
use crate::decision::{Decision, Value};
use crate::evaluation::Evaluation;
use crate::guard::Layer;
use crate::policy::Violation;
use crate::trace::GivenVerdict;
use crate::verdict::Verdict;

/// One point that is shown to a person: an active verdict, with its violation if it has one.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The verdict.
    pub given: &'a GivenVerdict,
    /// The policy that was triggered, with the result of its callback.
    pub violation: Option<&'a Violation>,
    /// Approval is needed. Otherwise the point is only shown, but a no is still a veto.
    pub needs_approval: bool,
}

/// Returns one answer for each question, in order.
pub type Approver<'a> = &'a mut dyn FnMut(&[Question<'_>]) -> Vec<Answer>;

/// Why an `ask` became a `block` here.
const FIX: &str = "ask a person to approve this action, or reach the goal another way";

impl Evaluation {
    /// Everything that is shown to a person: all active verdicts, and policies that their callback resolved.
    #[must_use]
    pub fn questions(&self) -> Vec<Question<'_>> {
        self.asked_about()
            .map(|given| Question {
                given,
                violation: given.violation.and_then(|index| self.violations.get(index as usize)),
                needs_approval: given.verdict.value() == Value::Ask,
            })
            .collect()
    }

    /// The points that need approval, in order. Approving all of them allows the action.
    pub fn pending(&self) -> impl Iterator<Item = Point> {
        self.asked_about().filter(|given| given.verdict.value() == Value::Ask).map(|given| Point {
            guard: given.guard().to_owned(),
            path: given.path().to_owned(),
            rule: given.verdict.rule().map(str::to_owned),
            message: given.verdict.reason().to_owned(),
        })
    }

    fn asked_about(&self) -> impl Iterator<Item = &GivenVerdict> {
        self.verdicts.iter().filter(|given| is_asked_about(given))
    }
}

fn is_asked_about(given: &GivenVerdict) -> bool {
    given.counts() || (given.violation.is_some() && given.status == crate::trace::Status::Active)
}

/// Settles an evaluation: the result is `pass`, `warn` or `block`.
///
/// The approver is called at most once, and only for an `ask`. Any no is final, even for a point that needed no
/// approval; too few or too many answers, or a panic, block. All verdicts and violations stay, with their
/// answers.
#[must_use]
pub fn resolve(evaluation: Evaluation, approver: Option<Approver<'_>>) -> Evaluation {
    if evaluation.decision != Decision::Ask {
        return evaluation;
    }
    let Some(approver) = approver else {
        return refuse(evaluation, "this needs a person's yes, and there is nobody to ask");
    };
    let questions = evaluation.questions();
    let answers = catch_unwind(AssertUnwindSafe(|| approver(&questions)));
    settle(evaluation, answers.map_err(|_| "the approver panicked"))
}

/// As [`resolve`], with the answers given, or the reason why there are none (`no answer within 30 s`).
#[must_use]
pub fn settle(mut evaluation: Evaluation, answers: Result<Vec<Answer>, &str>) -> Evaluation {
    if evaluation.decision != Decision::Ask {
        return evaluation;
    }
    let answers = match answers {
        Ok(answers) => answers,
        Err(why) => return refuse(evaluation, &format!("this needs a person's yes, but {why}")),
    };
    if evaluation.asked_about().any(|given| given.verdict.value() > Value::Ask) {
        return refuse(
            evaluation,
            "this evaluation contradicts itself: it asks although something in it blocks",
        );
    }
    let refusal = all_yes(&answers, evaluation.asked_about().count());
    let mut left = Decision::Pass;
    let asked = evaluation.verdicts.iter_mut().filter(|given| is_asked_about(given));
    for (given, answer) in asked.zip(answers) {
        if given.verdict.value() == Value::Warn {
            left = Decision::Warn;
        }
        if let Some(violation) =
            given.violation.and_then(|index| evaluation.violations.get_mut(index as usize))
        {
            violation.answer = Some(answer.clone());
        }
        given.answer = Some(answer);
    }
    match refusal {
        Err(why) => refuse(evaluation, &why),
        Ok(()) => {
            evaluation.decision = left;
            evaluation
        }
    }
}

fn refuse(evaluation: Evaluation, reason: &str) -> Evaluation {
    let verdict = Verdict::block(reason, FIX);
    evaluation.blocked_by(GivenVerdict::active("resolve", "/resolve", Layer::Boundary, verdict))
}

#[cfg(test)]
mod tests;
