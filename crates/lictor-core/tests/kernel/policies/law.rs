//! Law 11: the graph with a policy set, resolved, implements the safe interpretation of the multi-policy issue,
//! and is never more permissive than its literal text or its shipped implementation.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use lictor_core::decision::Decision;
use lictor_core::policy::{Catalogue, NOBODY, Violation};
use lictor_core::{
    Action, Answer, CallContext, Digest, Evaluation, Graph, PolicySet, Question, SessionState, Timestamp,
    resolve,
};

use super::{callbacks, facts, policy};

/// The kinds of violation: whether confirmation is required, and what the callback says.
const KINDS: [(&str, bool, Option<Option<bool>>); 7] = [
    ("auto+passed", false, Some(Some(true))),
    ("auto+failed", false, Some(Some(false))),
    ("auto+faults", false, Some(None)),
    ("confirm+passed", true, Some(Some(true))),
    ("confirm+failed", true, Some(Some(false))),
    ("confirm+faults", true, Some(None)),
    ("confirm", true, None),
];

type Kind = (&'static str, bool, Option<Option<bool>>);

/// A handler's answers to a number of violations. `None`: there is no handler.
type Handler = (&'static str, Option<fn(usize) -> Vec<bool>>);

const HANDLERS: [Handler; 6] = [
    ("nobody", None),
    ("yes", Some(|count| vec![true; count])),
    ("no", Some(|count| vec![false; count])),
    ("yes but the last", Some(|count| (1..=count).map(|place| place != count).collect())),
    ("nothing", Some(|_| Vec::new())),
    ("one too many", Some(|count| vec![true; count + 1])),
];

/// The safe reading, written down directly.
fn safe(kinds: &[Kind], handler: Handler) -> bool {
    let hard = kinds.iter().any(|(_, confirm, callback)| {
        matches!((confirm, callback), (_, Some(None)) | (false, Some(Some(false))))
    });
    if hard {
        return false;
    }
    if !kinds.iter().any(|(_, confirm, _)| *confirm) {
        return true;
    }
    let Some(answer) = handler.1 else { return false };
    let answers = answer(kinds.len());
    answers.len() == kinds.len() && answers.iter().all(|yes| *yes)
}

/// The literal text of the issue: answers are paired with violations, and confirmed ones decide alone.
fn literal(kinds: &[Kind], handler: Handler) -> bool {
    if kinds.iter().any(|(_, confirm, _)| *confirm) {
        return handler.1.is_some_and(|answer| kinds.iter().zip(answer(kinds.len())).all(|(_, yes)| yes));
    }
    kinds.iter().all(|(_, _, callback)| *callback != Some(Some(false)) && *callback != Some(None))
}

/// What was shipped: a passing callback removes the violation, the rest is one yes or no.
fn shipped(kinds: &[Kind], handler: Handler) -> bool {
    let left: Vec<&Kind> = kinds.iter().filter(|(_, _, callback)| *callback != Some(Some(true))).collect();
    if left.iter().any(|(_, confirm, _)| !confirm) {
        return false;
    }
    left.is_empty() || handler.1.is_some_and(|answer| answer(left.len()).iter().all(|yes| *yes))
}

fn lists() -> Vec<Vec<Kind>> {
    let mut lists: Vec<Vec<Kind>> = vec![Vec::new()];
    let mut longest = lists.clone();
    for _ in 0..3 {
        longest =
            longest.iter().flat_map(|list| KINDS.map(|kind| [list.clone(), vec![kind]].concat())).collect();
        lists.extend(longest.clone());
    }
    lists
}

fn set(kinds: &[Kind]) -> PolicySet {
    let policies = kinds.iter().enumerate().map(|(index, (words, ..))| policy(index, words));
    PolicySet::new(policies, &callbacks(&Arc::new(AtomicUsize::new(0))), Catalogue::default()).unwrap()
}

fn by_the_graph(kinds: &[Kind], handler: Handler) -> bool {
    let (action, session, facts) =
        (Action::bash("rm x"), SessionState::default(), facts(&[("delete", "file")]));
    let judged = Graph::new(set(kinds)).unwrap().judge(&action, &facts, &session, Timestamp(0));
    assert_eq!(judged.violations.len(), kinds.len(), "all violations are in the evaluation");
    let evaluation = Evaluation::new(judged, Digest::ZERO, Digest::ZERO);
    let mut approver = |questions: &[Question<'_>]| {
        assert_eq!(questions.len(), kinds.len(), "all violations are shown");
        assert!(questions.iter().all(|question| question.violation.is_some()));
        handler
            .1
            .map(|answer| answer(questions.len()))
            .unwrap_or_default()
            .into_iter()
            .map(Answer::from)
            .collect()
    };
    let resolved = resolve(evaluation, if handler.1.is_some() { Some(&mut approver) } else { None });
    assert_ne!(resolved.decision, Decision::Ask);
    resolved.decision.allows()
}

fn by_check_policy(kinds: &[Kind], handler: Handler) -> bool {
    let (action, session, facts) =
        (Action::bash("rm x"), SessionState::default(), facts(&[("delete", "file")]));
    let context = CallContext::new(&action, &session, Timestamp(0));
    let result = match handler.1 {
        None => set(kinds).check_policy(&facts, None, Some(&context), NOBODY),
        Some(answer) => set(kinds).check_policy(
            &facts,
            None,
            Some(&context),
            Some(|violations: &[Violation]| answer(violations.len()).into_iter().map(Answer::from).collect()),
        ),
    };
    result.action.allows()
}

fn equivalent(implementation: fn(&[Kind], Handler) -> bool) -> Result<(), String> {
    for kinds in lists() {
        for handler in HANDLERS {
            let allowed = implementation(&kinds, handler);
            let told = |what: &str| {
                Err(format!(
                    "{what}: {:?} with {}",
                    kinds.iter().map(|it| it.0).collect::<Vec<_>>(),
                    handler.0
                ))
            };
            if allowed != safe(&kinds, handler) {
                return told("differs from the safe reading");
            }
            if allowed && !literal(&kinds, handler) {
                return told("laxer than the issue");
            }
            if allowed && !shipped(&kinds, handler) {
                return told("laxer than what was shipped");
            }
        }
    }
    Ok(())
}

#[test]
fn law_11_the_graph_is_the_safe_reading() {
    equivalent(by_the_graph).unwrap();
}

#[test]
fn law_11_check_policy_is_the_safe_reading() {
    equivalent(by_check_policy).unwrap();
}

#[test]
fn planted_faults_break_law_11() {
    assert!(equivalent(literal).is_err(), "the issue to the letter goes unnoticed");
    assert!(equivalent(shipped).is_err(), "what was shipped goes unnoticed");
}
