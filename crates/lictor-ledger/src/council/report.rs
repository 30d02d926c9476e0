//! Parses a reviewer's output into claims.

use super::attestation::State;
use super::config::{Format, Preset, Reviewer};
use super::preset::{grade_ruff, read_clippy};
use crate::finding::Claim;
use crate::level::Level;
use crate::process::{Ended, Output};
use crate::{jsonl, sarif};

#[cfg(test)]
mod tests;

/// The state of a reviewer and its claims. Readable claims count even when the rest is invalid.
pub(super) fn read(reviewer: &Reviewer, output: &Output, root: &std::path::Path) -> (State, Vec<Claim>) {
    let code = match &output.ended {
        Ended::Code(code) => *code,
        Ended::TimedOut => {
            let after_millis = u64::try_from(reviewer.patience().as_millis()).unwrap_or(u64::MAX);
            return (State::Timeout { after_millis }, Vec::new());
        }
        Ended::Signal => return (error("it was ended by a signal", output), Vec::new()),
        Ended::TooMuchOutput => return (error("it printed too much", output), Vec::new()),
        Ended::NotStarted(why) => return (State::Error { why: why.clone() }, Vec::new()),
    };
    let Ok(text) = std::str::from_utf8(&output.stdout) else {
        return (error("its output is not UTF-8", output), Vec::new());
    };
    let agent = reviewer.name.as_str();
    let (claims, wrong) = match (reviewer.preset, reviewer.format) {
        (Some(Preset::Clippy), _) => match read_clippy(text, agent) {
            Ok(claims) => (claims, None),
            Err(why) => (Vec::new(), Some(why)),
        },
        (Some(Preset::Ruff), _) | (None, Some(Format::Sarif)) => {
            if text.trim().is_empty() {
                let state =
                    if code == 0 { State::Missing } else { error(&format!("it ended with {code}"), output) };
                return (state, Vec::new());
            }
            match sarif::import(text, Some(agent), Some(root)) {
                Ok(claims) if reviewer.preset == Some(Preset::Ruff) => {
                    (claims.into_iter().map(grade_ruff).collect(), None)
                }
                Ok(claims) => (claims, None),
                Err(problem) => (Vec::new(), Some(problem.to_string())),
            }
        }
        (None, Some(Format::ExitCode)) => return exit_code(reviewer, code, output, text),
        (None, Some(Format::Jsonl) | None) => {
            let (claims, problems) = jsonl::read_lenient(text, agent);
            (claims, problems.into_iter().next().map(|problem| problem.to_string()))
        }
    };
    let claims = Claim::coalesce(claims);
    let state = match wrong {
        Some(why) => error(&why, output),
        None if !claims.is_empty() => State::Findings { count: claims.len() },
        None if code == 0 => State::Clean,
        None => error(&format!("it ended with {code} and reported nothing"), output),
    };
    (state, claims)
}

fn exit_code(reviewer: &Reviewer, code: i32, output: &Output, text: &str) -> (State, Vec<Claim>) {
    if code == 0 {
        return (State::Clean, Vec::new());
    }
    let said: String = tail(text).into_iter().chain(tail(&output.stderr)).collect::<Vec<_>>().join("\n");
    let claim = Claim::new(
        reviewer.level.unwrap_or(Level::High),
        format!("{} failed", reviewer.name),
        &reviewer.name,
    )
    .and_then(|claim| claim.with_rationale(format!("exit code {code}\n{said}")));
    match claim {
        Ok(claim) => (State::Findings { count: 1 }, vec![claim]),
        Err(problem) => (error(&problem.to_string(), output), Vec::new()),
    }
}

/// The last lines of a text.
fn tail(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().rev().filter(|line| !line.trim().is_empty()).take(20).collect();
    lines.into_iter().rev().collect()
}

fn error(why: &str, output: &Output) -> State {
    let said = output.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let why: String = if said.is_empty() { why.to_owned() } else { format!("{why}; it said: {said}") };
    State::Error { why: why.chars().take(500).collect() }
}
