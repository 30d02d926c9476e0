//! The history operators of expressions, evaluated on the session.

use lictor_core::Timestamp;
use lictor_core::history::{Ended, History, Past, Pattern, What};
use lictor_expr::{HistoryOp, HistoryValue, Outcome, Program};

/// Converts a pattern of the expression language to the core type.
pub(crate) fn pattern(pattern: &lictor_expr::Pattern) -> Pattern {
    let what = match &pattern.what {
        lictor_expr::What::Name(name) => What::Name(name.clone()),
        lictor_expr::What::Fact { verb, object } => What::Deed { verb: verb.clone(), object: object.clone() },
        lictor_expr::What::Bash(words) => What::Bash(words.clone()),
    };
    let ended = pattern.outcome.map(|outcome| match outcome {
        Outcome::Ok => Ended::Ok,
        Outcome::Failed => Ended::Failed,
        Outcome::Blocked => Ended::Blocked,
    });
    Pattern {
        what,
        ended,
        path: pattern.path.clone(),
        with: pattern.with.clone(),
        vars: pattern.vars.clone(),
    }
}

/// One history operator with its history keys.
#[derive(Debug, Clone)]
pub(crate) enum Question {
    Formerly { key: String, within: Option<u64> },
    Previous { key: String },
    Since { held: String, negated: bool, start: String },
    Count { key: String, within: Option<u64> },
}

/// The history operators of a program, in order. Their patterns are registered in `history`.
pub(crate) fn questions(program: &Program, history: &mut History) -> Vec<Question> {
    let millis = |within: &Option<std::time::Duration>| {
        within.map(|within| u64::try_from(within.as_millis()).unwrap_or(u64::MAX))
    };
    program
        .history()
        .iter()
        .enumerate()
        .map(|(index, operator)| match operator {
            HistoryOp::Formerly { pattern: asked, within } => {
                Question::Formerly { key: history.track(pattern(asked), None), within: millis(within) }
            }
            HistoryOp::Previous { pattern: asked } => {
                Question::Previous { key: history.track(pattern(asked), None) }
            }
            HistoryOp::Since { held, negated, start } => Question::Since {
                held: history.track(pattern(held), None),
                negated: *negated,
                start: history.track(pattern(start), None),
            },
            HistoryOp::Count { pattern: asked, within } => {
                let within = millis(within);
                let key = match within {
                    Some(window) => history.count(pattern(asked), window, program.counts_to(index)),
                    None => history.track(pattern(asked), None),
                };
                Question::Count { key, within }
            }
        })
        .collect()
}

impl Question {
    pub(crate) fn answer(&self, past: &Past, now: Timestamp) -> HistoryValue {
        match self {
            Self::Formerly { key, within } => HistoryValue::Bool(past.formerly(key, *within, now)),
            Self::Previous { key } => HistoryValue::Bool(past.previous(key)),
            Self::Since { held, negated: false, start } => HistoryValue::Bool(past.since(held, start)),
            Self::Since { held, negated: true, start } => HistoryValue::Bool(past.undisturbed(held, start)),
            Self::Count { key, within } => {
                HistoryValue::Int(i64::try_from(past.count(key, *within, now)).unwrap_or(i64::MAX))
            }
        }
    }
}
