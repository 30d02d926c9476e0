//! Policy tests: steps of a simulated session, and the expected decision for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use lictor_config::policy_tests::{PolicyTest, Step};
use lictor_core::{Clock, Decision, Evaluation, Outcome, Timestamp};

use crate::error::Error;
use crate::policy_files::Snapshot;
use crate::project::Project;
use crate::runtime::Runtime;

/// Time as the tests tell it.
#[derive(Clone, Default)]
struct TestClock(Arc<AtomicI64>);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// Runs one test in a new session with an in-memory store; returns where and how it failed. `seen` is called with
/// the runtime and every evaluation.
///
/// # Errors
/// When the policy does not give a graph.
pub fn run(
    project: &Project,
    current: &Arc<Snapshot>,
    test: &PolicyTest,
    mut seen: impl FnMut(&Runtime, &Evaluation),
) -> Result<Option<String>, Error> {
    let clock = TestClock::default();
    let runtime = Runtime::in_memory(project, Arc::clone(current), clock.clone())?;
    for (number, step) in test.steps.iter().enumerate() {
        let after = i64::try_from(step.after).unwrap_or(i64::MAX);
        // Time always advances, so that no two steps have the same timestamp.
        clock.0.fetch_add(after.max(1), Ordering::Relaxed);
        let mut action = step.action.clone();
        action.cwd = project.root.to_string_lossy().into_owned();
        action.at = clock.now();
        let action = action.in_session("test");
        let evaluation = runtime.engine().evaluate(&action);
        seen(&runtime, &evaluation);
        let place = format!("{}:{}", step.span.line, step.span.column);
        if let Some(problem) = compare(step, &evaluation) {
            return Ok(Some(format!("{place}: `{}`, step {}: {problem}", test.name, number + 1)));
        }
        if evaluation.decision != Decision::Block {
            let outcome =
                if step.success { Outcome::success() } else { Outcome::failure("as the test says") };
            if let Err(error) = runtime.engine().post_action(&action, outcome) {
                return Ok(Some(format!("{place}: {error}")));
            }
        }
    }
    Ok(None)
}

fn compare(step: &Step, evaluation: &Evaluation) -> Option<String> {
    let reason = evaluation.reason();
    let shown = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    if evaluation.decision != step.expect {
        return Some(format!("expected {}, got {}{shown}", step.expect, evaluation.decision));
    }
    if let Some(rule) = &step.rule {
        let decided: Vec<String> = evaluation
            .active()
            .iter()
            .flat_map(|given| [Some(given.guard().to_owned()), given.verdict.rule().map(str::to_owned)])
            .flatten()
            .collect();
        // `require_first` matches every rule of that family.
        let family = format!("{rule}.");
        if !decided.iter().any(|name| name == rule || name.starts_with(&family)) {
            return Some(format!("expected rule `{rule}`, but {} decided", decided.join(", ")));
        }
    }
    match &step.message {
        Some(message) if !reason.contains(message.as_str()) => {
            Some(format!("expected a reason that contains `{message}`, got `{reason}`"))
        }
        _ => None,
    }
}
