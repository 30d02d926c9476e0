//! The interface through which feedback and the stop gate read files and run programs, and its default.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lictor_core::Digest;
use lictor_core::completion::{Checked, CommandCheck, Found, Ran, Situation, Surveyor};
use lictor_core::feedback::{Consulted, Provider};
use lictor_core::level::Level;
use lictor_store::Store;

use crate::extend::{Checker, CompletionContext, FeedbackContext};

/// Files, programs and findings for feedback and the stop gate.
pub trait Probe: Surveyor + Send + Sync {
    /// The result of a provider that needs a lookup or a program: findings, a command.
    ///
    /// # Errors
    /// When it fails. The failure is logged, not sent to the agent.
    fn consult(&self, provider: &Provider, context: &FeedbackContext<'_>) -> Result<Consulted, String>;

    /// The same for one operation: the time limit for all programs together starts here. `None` if there is no
    /// such limit.
    fn begin(&self) -> Option<Arc<dyn Probe>> {
        None
    }

    /// The same, which also runs these command lines without a trust check. `None` if that makes no difference.
    fn trusting(&self, _commands: &[Vec<String>]) -> Option<Arc<dyn Probe>> {
        None
    }
}

/// The probe, with the engine's own checks.
pub(crate) struct WithCheckers<'a> {
    pub(crate) probe: &'a dyn Probe,
    pub(crate) checkers: &'a [Box<dyn Checker>],
    pub(crate) store: &'a dyn Store,
}

impl Surveyor for WithCheckers<'_> {
    fn look(&self, pattern: &str) -> Result<Vec<Found>, String> {
        self.probe.look(pattern)
    }

    fn fingerprint(&self, pattern: &str) -> Result<Option<Digest>, String> {
        self.probe.fingerprint(pattern)
    }

    fn tree(&self) -> Result<Option<Digest>, String> {
        self.probe.tree()
    }

    fn run(&self, command: &CommandCheck, situation: &Situation<'_>) -> Ran {
        self.probe.run(command, situation)
    }

    fn ask(&self, name: &str, situation: &Situation<'_>) -> Result<Checked, String> {
        let Some(checker) = self.checkers.iter().find(|checker| checker.name() == name) else {
            return self.probe.ask(name, situation);
        };
        let context = CompletionContext::new(self.store, situation, self);
        catch_unwind(AssertUnwindSafe(|| checker.check(&context)))
            .unwrap_or_else(|_| Err("it panicked".to_owned()))
    }

    fn open_findings(&self, at_least: Level) -> Result<Vec<String>, String> {
        self.probe.open_findings(at_least)
    }
}

/// The default probe: reads nothing, and every check is unmet.
pub(crate) struct Unseen;

const NOBODY: &str = "No filesystem, store or program can be looked at here";

impl Surveyor for Unseen {
    fn look(&self, _pattern: &str) -> Result<Vec<Found>, String> {
        Err(NOBODY.to_owned())
    }

    fn fingerprint(&self, _pattern: &str) -> Result<Option<Digest>, String> {
        Err(NOBODY.to_owned())
    }

    fn tree(&self) -> Result<Option<Digest>, String> {
        Err(NOBODY.to_owned())
    }

    fn run(&self, _command: &CommandCheck, _situation: &Situation<'_>) -> Ran {
        Ran::NotRun(NOBODY.to_owned())
    }

    fn open_findings(&self, _at_least: Level) -> Result<Vec<String>, String> {
        Err(NOBODY.to_owned())
    }
}

impl Probe for Unseen {
    fn consult(&self, _provider: &Provider, _context: &FeedbackContext<'_>) -> Result<Consulted, String> {
        Err(NOBODY.to_owned())
    }
}
