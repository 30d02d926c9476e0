//! Programs as guards and callbacks: their input and how their output is parsed.

use std::sync::Arc;

use lictor_core::policy::{Call, CallbackResult};
use lictor_core::{Action, Context, Decision, Guard, Layer, Remarks, Verdict, called};
use serde_json::Value as Json;

use crate::sections::Command;
use crate::source::Origin;

/// A program to run.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// What it is for: `guard deploy_checklist`.
    pub what: &'a str,
    /// The origin of the file that names it.
    pub origin: Origin,
    /// What to run and for how long.
    pub command: &'a Command,
}

/// Runs the programs that a policy names.
///
/// An implementation must run a repository's program only when a person has trusted its bytes, without a shell,
/// with a scrubbed environment, and not longer than its timeout.
pub trait Runner: Send + Sync {
    /// Runs the program with `input` on its standard input and returns its standard output.
    ///
    /// # Errors
    /// Why there is no output: not trusted, not started, failed, late.
    fn run(&self, asked: &Asked<'_>, input: &[u8]) -> Result<Vec<u8>, String>;
}

/// Runs a program and parses its output. Any output other than the one allowed object is a fault.
fn ask(runner: &dyn Runner, asked: &Asked<'_>, input: &Json) -> Result<CallbackResult, String> {
    called::answer(&runner.run(asked, input.to_string().as_bytes())?)
}

/// A guard that asks a program.
pub(crate) struct CommandGuard {
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) origin: Origin,
    pub(crate) command: Command,
    pub(crate) decision: Decision,
    pub(crate) reason: String,
    pub(crate) fix: String,
    pub(crate) layer: Layer,
    /// The annotations and tags that it adds when it objects.
    pub(crate) remarks: Remarks,
    pub(crate) runner: Arc<dyn Runner>,
}

impl Guard for CommandGuard {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let asked = Asked { what: &self.what, origin: self.origin, command: &self.command };
        let input = called::guard(&self.name, action, context);
        match ask(self.runner.as_ref(), &asked, &input) {
            Ok(answer) => self.verdict(answer, context),
            Err(why) => Verdict::error(
                format!("{} gave no answer: {why}", self.what),
                "ask a person to look at the program; `lictor trust` lists those of this project",
            ),
        }
    }

    fn layer(&self) -> Layer {
        self.layer
    }
}

impl CommandGuard {
    fn verdict(&self, answer: CallbackResult, context: &mut Context<'_>) -> Verdict {
        let CallbackResult { passed, message, decision, fix, remarks, evidence } = answer;
        remarks.leave(context);
        let objects = decision.map_or(!passed, |decision| decision > Decision::Pass);
        let verdict = if objects {
            self.remarks.leave(context);
            let reason = message.unwrap_or_else(|| self.reason.clone());
            let fix = fix.unwrap_or_else(|| self.fix.clone());
            Verdict::of(decision.unwrap_or(self.decision).into(), reason, fix)
        } else {
            message.map_or_else(Verdict::pass, Verdict::pass_because)
        };
        match evidence {
            Some(evidence) => verdict.with_evidence(evidence),
            None => verdict,
        }
    }
}

/// A callback that asks a program.
pub(crate) fn callback(
    runner: Arc<dyn Runner>,
    what: String,
    origin: Origin,
    command: Command,
) -> impl Fn(&Call<'_>) -> Result<CallbackResult, String> + Send + Sync {
    move |call| {
        let asked = Asked { what: &what, origin, command: &command };
        ask(runner.as_ref(), &asked, &called::callback(call))
    }
}
