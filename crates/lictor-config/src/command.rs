//! Programs as guards and callbacks: what they are given and how their answer is read.

use std::sync::Arc;

use lictor_core::policy::{Call, CallbackResult};
use lictor_core::{Action, Context, Decision, Guard, Layer, Verdict};
use serde_json::{Value as Json, json};

use crate::sections::Command;
use crate::source::Origin;

/// A program that is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// What it is for: `guard deploy_checklist`.
    pub what: &'a str,
    /// Whose file names it.
    pub origin: Origin,
    /// What to run and for how long.
    pub command: &'a Command,
}

/// Whoever runs the programs that a policy names.
///
/// Its part is that a repository's program runs only when a person has trusted its bytes, without a shell, with a
/// scrubbed environment, and not longer than its timeout.
pub trait Runner: Send + Sync {
    /// Runs the program with that on its standard input and gives back its standard output.
    ///
    /// # Errors
    /// Why there is no output: not trusted, not started, failed, late.
    fn run(&self, asked: &Asked<'_>, input: &[u8]) -> Result<Vec<u8>, String>;
}

/// Asks a program and reads its answer. Anything but the one object it may print is a fault.
fn ask(runner: &dyn Runner, asked: &Asked<'_>, input: &Json) -> Result<CallbackResult, String> {
    let output = runner.run(asked, input.to_string().as_bytes())?;
    serde_json::from_slice(&output).map_err(|_| {
        let shown: String = String::from_utf8_lossy(&output).chars().filter(|c| !c.is_control()).take(80).collect();
        format!("it printed `{shown}` instead of {{\"passed\": true}} or {{\"passed\": false, \"message\": \"…\"}}")
    })
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
    pub(crate) runner: Arc<dyn Runner>,
}

impl Guard for CommandGuard {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let asked = Asked { what: &self.what, origin: self.origin, command: &self.command };
        let input = json!({
            "guard": self.name,
            "action": action,
            "facts": context.facts(),
            "risk": context.risk().as_fraction(),
            "annotations": context.annotations(),
        });
        match ask(self.runner.as_ref(), &asked, &input) {
            Ok(CallbackResult { passed: true, message }) => {
                message.map_or_else(Verdict::pass, Verdict::pass_because)
            }
            Ok(CallbackResult { passed: false, message }) => {
                let reason = message.unwrap_or_else(|| self.reason.clone());
                Verdict::of(self.decision.into(), lictor_core::text::clean(&reason, 500), self.fix.as_str())
            }
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

/// A callback that asks a program.
pub(crate) fn callback(
    runner: Arc<dyn Runner>,
    what: String,
    origin: Origin,
    command: Command,
) -> impl Fn(&Call<'_>) -> Result<CallbackResult, String> + Send + Sync {
    move |call| {
        let asked = Asked { what: &what, origin, command: &command };
        let input = json!({
            "policy": call.policy,
            "deed": call.deed,
            "action": call.context.action,
            "facts": call.facts,
        });
        ask(runner.as_ref(), &asked, &input)
    }
}
