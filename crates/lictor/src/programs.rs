//! Runs the programs that a policy names.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lictor_config::{Asked, BuildEnv, Origin, Runner};
use lictor_ledger::process::{self, Ended, Output};
use lictor_store::Store;

use crate::trust::Program;

/// The most that an answer may have.
const MAX_ANSWER: usize = 64 * 1024;

/// Runs programs in the project's root; a repository's only with the content that a person has trusted.
#[derive(Clone)]
pub(crate) struct Programs {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) root: PathBuf,
}

impl Programs {
    /// Refuses a repository's program unless a person has trusted its current content.
    ///
    /// # Errors
    /// The fix if no person has, or why it cannot be determined.
    pub(crate) fn refuse_untrusted(
        &self,
        what: &str,
        argv: &[String],
        reads: &[String],
    ) -> Result<(), String> {
        let program = Program { what: what.to_owned(), argv: argv.to_vec(), reads: reads.to_vec() };
        match program.is_trusted(&*self.store, &self.root) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let shown = program.argv.join(" ");
                Err(format!(
                    "nobody has trusted `{shown}` as it is; a person can look at it and run `lictor trust`"
                ))
            }
            Err(error) => Err(error.chain()),
        }
    }

    /// Runs a program in the project's root to its end or to its time limit.
    pub(crate) fn start(&self, argv: &[String], input: &[u8], patience: Duration) -> Output {
        let mut argv = argv.to_vec();
        // A relative program path is resolved against the project's root, wherever Lictor was started.
        if let Some(first) = argv.first_mut().filter(|first| first.contains('/')) {
            *first = self.root.join(&*first).to_string_lossy().into_owned();
        }
        process::run(&argv, &self.root, input, patience)
    }
}

impl Runner for Programs {
    fn run(&self, asked: &Asked<'_>, input: &[u8]) -> Result<Vec<u8>, String> {
        if asked.origin == Origin::Repository {
            self.refuse_untrusted(asked.what, &asked.command.argv, &asked.command.reads)?;
        }
        let patience = Duration::from_millis(asked.command.timeout);
        let output = self.start(&asked.command.argv, input, patience);
        match output.ended {
            Ended::Code(0) if output.stdout.len() <= MAX_ANSWER => Ok(output.stdout),
            Ended::Code(0) | Ended::TooMuchOutput => Err("it printed too much".to_owned()),
            Ended::Code(code) => {
                let said = output.stderr.lines().next().unwrap_or_default();
                let said = if said.is_empty() { String::new() } else { format!(": {said}") };
                Err(format!("it ended with exit code {code}{said}"))
            }
            Ended::Signal => Err("it was killed".to_owned()),
            Ended::TimedOut => Err(format!("it took longer than {} ms", patience.as_millis())),
            Ended::NotStarted(why) => Err(why),
        }
    }
}

/// Runs nothing: for inspecting a policy without its programs.
pub struct NoPrograms;

impl NoPrograms {
    /// The environment of a graph that is only inspected.
    #[must_use]
    pub fn around(root: String) -> BuildEnv {
        BuildEnv { root, runner: Arc::new(Self) }
    }
}

impl Runner for NoPrograms {
    fn run(&self, _asked: &Asked<'_>, _input: &[u8]) -> Result<Vec<u8>, String> {
        Err("programs are not run to look at a policy".to_owned())
    }
}
