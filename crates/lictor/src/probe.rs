//! The project for feedback and the stop gate: its files, its tree, its programs, its open findings.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use lictor_core::completion::{CommandCheck, Found, Left, Ran, Situation, Surveyor};
use lictor_core::feedback::{Consulted, Feedback, Observation, Provider, Severity, Source};
use lictor_core::level::Level;
use lictor_core::{Digest, called, text};
use lictor_engine::{FeedbackContext, Probe};
use lictor_ledger::Ledger;
use lictor_ledger::gate::standing_findings;
use lictor_ledger::process::{Ended, Output};
use lictor_ledger::repository::{Git, Repository as _, RepositoryError};
use lictor_store::Store;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::files;
use crate::options::SharedClock;
use crate::programs::Programs;

/// How many entries of the project a glob scans.
const MAX_ENTRIES: usize = 50_000;
/// Files larger than this are compared by size and time instead of content.
const MAX_CONTENT: u64 = 16 * 1024 * 1024;
/// How many lines at the end of a command's output are shown.
const TAIL_LINES: usize = 20;
const TAIL_CHARS: usize = 1_500;
/// The time limit for all programs after one call: the hook itself has to answer in time.
const AFTER_A_CALL: Duration = Duration::from_millis(3_000);
/// The time limit for all commands before an agent stops: below the timeout that the installer sets for agents.
const BEFORE_A_STOP: Duration = Duration::from_secs(220);
/// How many open findings are counted.
const MAX_FINDINGS: usize = 1_000;

/// Looks at one project.
#[derive(Clone)]
pub(crate) struct ProjectProbe {
    clock: SharedClock,
    root: PathBuf,
    programs: Programs,
    /// Command lines of the user's or the managed file: those need no trust check.
    trusted: Vec<Vec<String>>,
    /// When the look began that it is for.
    opened: Instant,
}

impl ProjectProbe {
    /// Looks at the project with that root.
    pub(crate) fn new(root: &Path, store: Arc<dyn Store>, clock: SharedClock) -> Self {
        Self {
            clock,
            programs: Programs { store, root: root.to_owned() },
            root: root.to_owned(),
            trusted: Vec::new(),
            opened: Instant::now(),
        }
    }

    fn run_program(
        &self,
        what: &str,
        argv: &[String],
        reads: &[String],
        input: &[u8],
        patience: Duration,
    ) -> Result<Output, String> {
        if !self.trusted.iter().any(|trusted| trusted == argv) {
            self.programs.refuse_untrusted(what, argv, reads)?;
        }
        Ok(self.programs.start(argv, input, patience))
    }

    fn content(&self, path: &str) -> io::Result<Vec<u8>> {
        let file = self.root.join(path);
        let metadata = fs::metadata(&file)?;
        if metadata.is_file() && metadata.len() <= MAX_CONTENT {
            return files::read(&file, files::PROGRAM);
        }
        let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{} {}", metadata.len(), changed.as_nanos()).into_bytes())
    }
}

impl Surveyor for ProjectProbe {
    fn look(&self, pattern: &str) -> Result<Vec<Found>, String> {
        if is_glob(pattern) {
            return matching(&self.root, pattern);
        }
        match fs::metadata(self.root.join(pattern)) {
            Ok(metadata) => Ok(vec![found(pattern.to_owned(), &metadata)]),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Vec::new())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn fingerprint(&self, pattern: &str) -> Result<Option<Digest>, String> {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        for found in self.look(pattern)?.into_iter().filter(|found| found.is_file) {
            let content = self.content(&found.path).map_err(|error| format!("`{}`: {error}", found.path))?;
            parts.push(found.path.into_bytes());
            parts.push(Digest::of(&content).as_bytes().to_vec());
        }
        Ok((!parts.is_empty()).then(|| Digest::of_parts(parts.iter().map(Vec::as_slice))))
    }

    fn tree(&self) -> Result<Option<Digest>, String> {
        let git = match Git::rooted(&self.root) {
            Ok(git) => git,
            Err(RepositoryError::NotARepository(_) | RepositoryError::NoGit(_)) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        // Without a tree no pass can be remembered, but the check can still run.
        Ok(git.work_tree().ok().map(|tree| Digest::of(tree.as_bytes())))
    }

    fn run(&self, command: &CommandCheck, situation: &Situation<'_>) -> Ran {
        let left = BEFORE_A_STOP.saturating_sub(self.opened.elapsed());
        let patience = Duration::from_millis(command.timeout).min(left);
        let input = self.completion_form(situation).to_string();
        let (argv, reads) = (&command.argv, &command.reads);
        let output = match self.run_program("completion", argv, reads, input.as_bytes(), patience) {
            Ok(output) => output,
            Err(why) => return Ran::NotRun(why),
        };
        let tail = tail(&output);
        match output.ended {
            Ended::Code(_) if let Some(missing) = missing(&output.stdout) => Ran::Incomplete(missing),
            Ended::Code(code) => Ran::Ended { code: Some(code), tail },
            Ended::Signal => Ran::Ended { code: None, tail },
            Ended::TimedOut => Ran::TimedOut { tail },
            Ended::NotStarted(why) => Ran::NotRun(why),
            Ended::TooMuchOutput => Ran::NotRun("it printed more than is read".to_owned()),
        }
    }

    fn open_findings(&self, at_least: Level) -> Result<Vec<String>, String> {
        let git = match Git::rooted(&self.root) {
            Ok(git) => git,
            // Findings belong to a repository.
            Err(RepositoryError::NotARepository(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error.to_string()),
        };
        let ledger = Ledger::new(&*self.programs.store, git.id(), &self.clock);
        let standing = standing_findings(&ledger, &git, at_least, MAX_FINDINGS);
        let standing = standing.map_err(|error| error.to_string())?;
        Ok(standing.iter().map(|finding| text::clean(&finding.title, 120)).collect())
    }
}

impl Probe for ProjectProbe {
    fn begin(&self) -> Option<Arc<dyn Probe>> {
        Some(Arc::new(Self { opened: Instant::now(), ..self.clone() }))
    }

    fn trusting(&self, commands: &[Vec<String>]) -> Option<Arc<dyn Probe>> {
        let trusted = self.trusted.iter().chain(commands).cloned().collect();
        (!commands.is_empty()).then(|| Arc::new(Self { trusted, ..self.clone() }) as Arc<dyn Probe>)
    }

    fn consult(&self, provider: &Provider, context: &FeedbackContext<'_>) -> Result<Consulted, String> {
        match &provider.source {
            Source::Findings { at_least } => {
                Ok(Consulted::Said(findings(*at_least, self.open_findings(*at_least)?)))
            }
            Source::Command { argv, timeout, reads } => {
                let left = AFTER_A_CALL.saturating_sub(self.opened.elapsed());
                let patience = Duration::from_millis(*timeout).min(left);
                if patience.is_zero() {
                    return Err("there was no time left for it".to_owned());
                }
                let input = self.feedback_form(provider, context).to_string();
                let what = format!("feedback {}", provider.name);
                let output = self.run_program(&what, argv, reads, input.as_bytes(), patience)?;
                match output.ended {
                    Ended::Code(0) => said(&output.stdout),
                    Ended::Code(code) => Err(format!("it ended with exit code {code}")),
                    Ended::Signal => Err("it was killed".to_owned()),
                    Ended::TimedOut => Err(format!("it took longer than {} ms", patience.as_millis())),
                    Ended::NotStarted(why) => Err(why),
                    Ended::TooMuchOutput => Err("it printed too much".to_owned()),
                }
            }
            _ => Ok(Consulted::Said(None)),
        }
    }
}

/// How many calls programs are shown.
const RECENT_CALLS: usize = 10;
/// How many characters of an agent's last message programs get.
const OUTPUT_CHARS: usize = 20_000;

impl ProjectProbe {
    /// The input of a feedback program.
    fn feedback_form(&self, provider: &Provider, context: &FeedbackContext<'_>) -> Value {
        let session = called::session(context.key(), context.session(), context.now());
        json!({
            "lictor": called::FORM,
            "for": "feedback",
            "name": provider.name,
            "provider": provider.name,
            "project": self.root,
            "calls": context.calls(),
            "failures_in_a_row": context.session().feedback.failures_in_a_row,
            "elapsed_ms": session.get("elapsed_ms"),
            "session": session,
            "calls_since_own": context.calls_since_own(),
            "calls_since_any": context.calls_since_any(),
            "last_feedback": context.last_feedback(),
            "own_last_feedback": context.last_feedback_of(&provider.name),
            "recent_calls": context.recent_calls(RECENT_CALLS),
            "prompt": context.prompt(),
            "left": left_form(context.left()),
        })
    }

    /// The input of a completion program.
    fn completion_form(&self, situation: &Situation<'_>) -> Value {
        let Situation { stop, key, session, now, round, of, left } = *situation;
        json!({
            "lictor": called::FORM,
            "for": "completion",
            "name": "completion",
            "project": self.root,
            "agent": key.agent,
            "session": called::session(key, session, now),
            "output": stop.output.as_deref().map(|output| output.chars().take(OUTPUT_CHARS).collect::<String>()),
            "reason": stop.reason,
            "subagent": stop.subagent,
            "hook_active": stop.hook_active,
            "background": stop.background,
            "aborted": stop.aborted,
            "round": round,
            "of": of,
            "left": left_form(left),
        })
    }
}

/// What is left of deadline and budget, with money as a number.
fn left_form(left: Left) -> Value {
    let mut form = json!(left);
    if let Some(fields) = form.as_object_mut()
        && fields.remove("cost_micros").is_some()
    {
        #[expect(clippy::cast_precision_loss, reason = "an amount for programs")]
        let cost = left.cost_micros.map(|micros| micros as f64 / 1e6);
        fields.insert("cost".to_owned(), json!(cost));
    }
    form
}

/// What a program reports as missing: one JSON object with `complete`. Any other output is ignored, so that a
/// check can be a test run; an exit code other than 0 is never complete.
fn missing(printed: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Answer {
        complete: bool,
        #[serde(default, alias = "feedback")]
        reason: Option<String>,
    }
    let answer: Answer = serde_json::from_slice(printed.trim_ascii()).ok()?;
    let reason = answer.reason.unwrap_or_else(|| "The check says that the work is not done.".to_owned());
    (!answer.complete).then(|| reason.chars().take(TAIL_CHARS).collect())
}

/// Parses a program's output: one JSON object with a `summary`, or plain text. Empty output is no feedback;
/// `{"run": false}` means not now.
fn said(printed: &[u8]) -> Result<Consulted, String> {
    let words = String::from_utf8_lossy(printed);
    let words = words.trim();
    if words.is_empty() {
        return Ok(Consulted::Said(None));
    }
    if words.starts_with('{') {
        let value: Value = serde_json::from_str(words)
            .map_err(|error| format!("what it printed is not feedback: {error}"))?;
        if value == json!({"run": false}) {
            return Ok(Consulted::NotNow);
        }
        return serde_json::from_value(value)
            .map(|feedback| Consulted::Said(Some(feedback)))
            .map_err(|error| format!("what it printed is not feedback: {error}"));
    }
    Ok(Consulted::Said(Some(Feedback::say(words))))
}

fn findings(at_least: Level, titles: Vec<String>) -> Option<Feedback> {
    if titles.is_empty() {
        return None;
    }
    let summary = format!("{} finding(s) of level {at_least} or above are open.", titles.len());
    let observations = titles.into_iter().take(3).map(|title| Observation {
        category: "Open".to_owned(),
        description: title,
        evidence: None,
    });
    Some(Feedback {
        summary,
        observations: observations.collect(),
        suggestions: vec!["Deal with them before you stop; `lictor verdict show` lists them.".to_owned()],
        severity: Severity::Warning,
    })
}

fn tail(output: &Output) -> String {
    let printed = String::from_utf8_lossy(&output.stdout);
    let all = format!("{}\n{}", printed.trim_end(), output.stderr.trim_end());
    let lines: Vec<&str> = all.trim().lines().collect();
    let last = lines.get(lines.len().saturating_sub(TAIL_LINES)..).unwrap_or_default().join("\n");
    let skip = last.chars().count().saturating_sub(TAIL_CHARS);
    last.chars().skip(skip).collect()
}

fn found(path: String, metadata: &fs::Metadata) -> Found {
    Found { path, is_file: metadata.is_file(), bytes: metadata.len() }
}

pub(crate) fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '{'])
}

/// The files that match a glob, sorted. Links are not followed and `.git` is not entered.
pub(crate) fn matching(root: &Path, glob: &str) -> Result<Vec<Found>, String> {
    let fixed: PathBuf = glob.split('/').take_while(|part| !is_glob(part)).collect();
    let mut open = vec![fixed];
    let mut seen = 0_usize;
    let mut matching = Vec::new();
    while let Some(directory) = open.pop() {
        let entries = match fs::read_dir(root.join(&directory)) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                continue;
            }
            Err(error) => return Err(format!("`{}`: {error}", directory.display())),
        };
        for entry in entries {
            let entry = entry.map_err(|error| error.to_string())?;
            seen += 1;
            if seen > MAX_ENTRIES {
                return Err(format!("`{glob}` looks at more than {MAX_ENTRIES} files; name a directory"));
            }
            let path = directory.join(entry.file_name());
            let metadata = entry.metadata().map_err(|error| error.to_string())?;
            let shown = path.to_string_lossy().into_owned();
            if metadata.is_dir() && entry.file_name() != ".git" {
                open.push(path);
            }
            if fast_glob::glob_match(glob, &shown) {
                matching.push(found(shown, &metadata));
            }
        }
    }
    matching.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(matching)
}

#[cfg(test)]
mod tests;
