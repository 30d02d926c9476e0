//! Laws 9, 10, 12 and 13: about context, answers, risk and repetition.

use std::cell::Cell;
use std::collections::BTreeSet;

use lictor_core::decision::{Decision, Value};
use lictor_core::graph::reference::{RULES, Said, Tree, evaluate, evaluate_with};
use lictor_core::{
    Action, All, Answer, Digest, Evaluation, Facts, Graph, Node, Question, Risk, SessionState, Timestamp,
    Verdict, guard_fn, resolve,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRng, TestRunner};

use crate::trees::{Shapes, any_tree, judge, path};

fn run<S: Strategy>(
    strategy: S,
    check: impl Fn(S::Value) -> Result<(), TestCaseError>,
) -> Result<(), String> {
    let config = Config { cases: 3000, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    TestRunner::new_with_rng(config, rng).run(&strategy, check).map_err(|error| error.to_string())
}

fn evaluation(tree: &Tree) -> Evaluation {
    Evaluation::new(judge(tree), Digest::ZERO, Digest::ZERO)
}

// ---- 9: context ----------------------------------------------------------------------------------------------

/// A guard whose verdict depends on the risk so far and which raises it: order matters to it.
fn nervous(name: &'static str, step: f64, limit: u16) -> Node {
    guard_fn(name, move |_, context| {
        let before = context.risk();
        context.add_risk(step);
        context.annotate("before", before.in_thousandths());
        if before >= Risk::thousandths(limit) {
            Verdict::ask(format!("risk was {before}"))
        } else {
            Verdict::pass()
        }
    })
    .into()
}

fn outcome(root: impl Into<Node>) -> (Value, Risk, Vec<(String, String)>) {
    let judged = Graph::new(root).unwrap().judge(
        &Action::bash("ls"),
        &Facts::none(),
        &SessionState::default(),
        Timestamp(0),
    );
    let said =
        judged.verdicts.iter().map(|given| (given.guard().to_owned(), given.verdict.reason().to_owned()));
    (judged.value, judged.risk, said.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Law 9, second half: flattening changes nothing even for guards that read the context.
    #[test]
    fn flattening_all_keeps_order_and_outcome(steps in prop::array::uniform3(0_u16..600), limits in prop::array::uniform3(0_u16..1000)) {
        let guard = |index: usize| nervous(["a", "b", "c"][index], f64::from(steps[index]) / 1000.0, limits[index]);
        let nested = All::new((All::new([guard(0), guard(1)]), guard(2)));
        let flat = All::new([guard(0), guard(1), guard(2)]);
        prop_assert_eq!(outcome(nested), outcome(flat));
    }
}

#[test]
fn with_guards_that_read_the_context_only_the_given_order_is_defined() {
    let one = || nervous("one", 0.5, 1000);
    let two = || nervous("two", 0.0, 500);
    assert_eq!(outcome(All::new([one(), two()])).0, Value::Ask);
    assert_eq!(outcome(All::new([two(), one()])).0, Value::Pass);
}

// ---- 10: approval --------------------------------------------------------------------------------------------

/// A function that settles an evaluation with an approver.
type Settle = fn(Evaluation, &mut dyn FnMut(&[Question<'_>]) -> Vec<Answer>) -> Evaluation;

fn ours(evaluation: Evaluation, approver: &mut dyn FnMut(&[Question<'_>]) -> Vec<Answer>) -> Evaluation {
    resolve(evaluation, Some(approver))
}

/// The verdicts that a person was asked about, found again in the reference tree.
fn pending(tree: &Tree) -> BTreeSet<Said> {
    evaluate(tree, &RULES).active.into_iter().filter(|said| said.value == Value::Ask).collect()
}

fn approval(settle: Settle) -> Result<(), String> {
    run((any_tree(Shapes::All), any::<prop::sample::Index>(), any::<bool>()), |(tree, which, longer)| {
        let asked = evaluation(&tree);
        let calls = Cell::new(0);
        let mut yes = |questions: &[Question<'_>]| {
            calls.set(calls.get() + 1);
            questions.iter().map(|_| Answer::yes()).collect::<Vec<_>>()
        };
        let approved = settle(asked.clone(), &mut yes);
        if asked.decision != Decision::Ask {
            prop_assert_eq!(&approved, &asked, "an answer changed what was not asked");
            prop_assert_eq!(calls.get(), 0);
            return Ok(());
        }
        prop_assert_eq!(calls.get(), 1);
        prop_assert!(approved.decision.allows(), "approving everything gave {}", approved.decision);
        let refolded = evaluate_with(&tree, &RULES, &pending(&tree)).value.settle();
        prop_assert_eq!(approved.decision, refolded, "a real re-fold says otherwise");
        prop_assert!(approved.verdicts.len() >= asked.verdicts.len(), "a verdict was dropped");

        let shown = asked.questions().len();
        let no = which.index(shown);
        let mut veto =
            |questions: &[Question<'_>]| (0..questions.len()).map(|at| Answer::from(at != no)).collect();
        prop_assert_eq!(settle(asked.clone(), &mut veto).decision, Decision::Block, "a no was not final");
        let wrong = if longer { shown + 1 } else { shown - 1 };
        let mut miscounted = |_: &[Question<'_>]| vec![Answer::yes(); wrong];
        prop_assert_eq!(
            settle(asked.clone(), &mut miscounted).decision,
            Decision::Block,
            "a miscount passed"
        );
        prop_assert_eq!(resolve(asked, None).decision, Decision::Block, "nobody was asked");
        Ok(())
    })
}

#[test]
fn law_10_approvals() {
    approval(ours).unwrap();
}

#[test]
fn planted_faults_break_law_10() {
    /// Pairs answers with questions and drops the tail: too few answers pass.
    fn zips(
        mut evaluation: Evaluation,
        approver: &mut dyn FnMut(&[Question<'_>]) -> Vec<Answer>,
    ) -> Evaluation {
        if evaluation.decision == Decision::Ask {
            let answers = approver(&evaluation.questions());
            let warned = evaluation.questions().iter().any(|it| it.given.verdict.value() == Value::Warn);
            let refused = answers.iter().take(evaluation.questions().len()).any(|answer| !answer.approved);
            evaluation.decision = if refused {
                Decision::Block
            } else if warned {
                Decision::Warn
            } else {
                Decision::Pass
            };
        }
        evaluation
    }
    /// Lets a person lift a block.
    fn solvent(
        mut evaluation: Evaluation,
        approver: &mut dyn FnMut(&[Question<'_>]) -> Vec<Answer>,
    ) -> Evaluation {
        if evaluation.decision == Decision::Block
            && approver(&evaluation.questions()).iter().all(|it| it.approved)
        {
            evaluation.decision = Decision::Pass;
            return evaluation;
        }
        ours(evaluation, approver)
    }
    /// Ignores answers about points that needed no approval.
    fn deaf(evaluation: Evaluation, approver: &mut dyn FnMut(&[Question<'_>]) -> Vec<Answer>) -> Evaluation {
        let needed: Vec<bool> = evaluation.questions().iter().map(|it| it.needs_approval).collect();
        ours(evaluation, &mut |questions| {
            let mut answers = approver(questions);
            answers.iter_mut().zip(&needed).for_each(|(answer, needed)| answer.approved |= !needed);
            answers
        })
    }
    for (name, settle) in [("zips", zips as Settle), ("solvent", solvent), ("deaf", deaf)] {
        assert!(approval(settle).is_err(), "`{name}` goes unnoticed");
    }
}

/// The answers stay with their verdicts.
#[test]
fn answers_are_kept_with_their_verdicts() {
    let tree = Tree::All(
        vec![Tree::leaf(Value::Warn), Tree::leaf(Value::Ask), Tree::leaf(Value::Ask)],
        lictor_core::graph::reference::ShortCircuit::Off,
    );
    let mut answers =
        vec![Answer::yes(), Answer::yes().because("fine"), Answer::no().because("not that one")];
    let settled = resolve(evaluation(&tree), Some(&mut |_| std::mem::take(&mut answers)));
    assert_eq!(settled.decision, Decision::Block);
    assert!(settled.reason().contains("a person said no: not that one"), "{}", settled.reason());
    let kept: Vec<_> = settled.verdicts.iter().filter_map(|given| given.answer.as_ref()).collect();
    assert_eq!(kept.len(), 3);
    assert_eq!(kept[1].reason.as_deref(), Some("fine"));
    assert_eq!(path(&tree, &[2]), settled.verdicts[2].path());
}

// ---- 12: risk ------------------------------------------------------------------------------------------------

fn risk(add: fn(Risk, Risk) -> Risk) -> Result<(), String> {
    run(prop::collection::vec(0_u16..700, 0..8), |steps| {
        let mut sum = Risk::NONE;
        for step in &steps {
            let after = add(sum, Risk::thousandths(*step));
            prop_assert!(after >= sum && after <= Risk::MAX, "{sum} and {step} made {after}");
            sum = after;
        }
        let backwards = steps.iter().rev().fold(Risk::NONE, |sum, step| add(sum, Risk::thousandths(*step)));
        prop_assert_eq!(sum, backwards);
        let halves = steps
            .chunks(2)
            .map(|pair| pair.iter().fold(Risk::NONE, |sum, step| add(sum, Risk::thousandths(*step))));
        prop_assert_eq!(sum, halves.fold(Risk::NONE, add));
        Ok(())
    })
}

#[test]
fn law_12_risk_is_bounded_monotone_and_independent_of_order() {
    risk(Risk::plus).unwrap();
}

#[test]
fn planted_faults_break_law_12() {
    assert!(
        risk(|a, b| Risk::thousandths((a.in_thousandths() + b.in_thousandths()) % 1001)).is_err(),
        "wraps"
    );
    assert!(risk(|a, b| Risk::thousandths(a.in_thousandths() / 2 + b.in_thousandths())).is_err(), "decays");
}

#[test]
fn risk_never_falls_along_a_trace() {
    let guards = ["a", "b", "c"].map(|name| nervous(name, 0.4, 0));
    let graph = Graph::new(All::new(guards)).unwrap();
    let judged = graph.judge(&Action::bash("ls"), &Facts::none(), &SessionState::default(), Timestamp(0));
    assert!(judged.trace.iter().all(|entry| entry.risk_before <= entry.risk_after));
    assert_eq!(judged.risk, Risk::MAX);
}

#[test]
fn what_is_not_a_risk_is_the_guards_error_and_full_risk() {
    for nonsense in [-0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (value, risk, said) = outcome(guard_fn("bad", move |_, context| {
            context.add_risk(nonsense);
            Verdict::pass()
        }));
        assert_eq!((value, risk), (Value::Error, Risk::MAX), "{nonsense}");
        assert!(said[0].1.contains("not a risk"), "{}", said[0].1);
    }
}

// ---- 13: determinism -----------------------------------------------------------------------------------------

fn determinism(evaluate: impl Fn(&Tree) -> Evaluation) -> Result<(), String> {
    run(any_tree(Shapes::All), |tree| {
        let bytes = |evaluation: &Evaluation| serde_json::to_vec(evaluation).unwrap();
        prop_assert_eq!(bytes(&evaluate(&tree)), bytes(&evaluate(&tree)));
        Ok(())
    })
}

#[test]
fn law_13_the_same_input_gives_the_same_bytes() {
    determinism(evaluation).unwrap();
}

#[test]
fn planted_faults_break_law_13() {
    let calls = Cell::new(0);
    let counting = |tree: &Tree| {
        calls.set(calls.get() + 1);
        let mut evaluation = evaluation(tree);
        evaluation.annotations.insert("calls".to_owned(), calls.get().into());
        evaluation
    };
    assert!(determinism(counting).is_err());
}

#[test]
fn an_evaluation_survives_being_written_down() {
    run(any_tree(Shapes::All), |tree| {
        let given = evaluation(&tree);
        let back: Evaluation = serde_json::from_slice(&serde_json::to_vec(&given).unwrap()).unwrap();
        prop_assert_eq!(back, given);
        Ok(())
    })
    .unwrap();
}
