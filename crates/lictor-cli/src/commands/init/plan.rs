//! The plan of changes, which is shown before it is applied.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use lictor::diff;
use lictor_agents::Agent;
use lictor_agents::install::{Change, Receipt};
use lictor_ledger::hooks::{FileChange, HookFile, HookPlan};
use serde_json::{Value, json};

use super::receipts::Receipts;
use crate::output::Style;

/// How many lines of a created or removed file are shown.
const WHOLE_ROWS: usize = 24;

/// All changes, and notes for a person.
#[derive(Debug, Default)]
pub struct Plan {
    files: Vec<FileStep>,
    /// Files that can be changed and restored without a receipt.
    edits: Vec<Change>,
    hooks: HookPlan,
    /// Notes for a person.
    pub notes: Vec<String>,
    /// Agents whose hooks are, or will be, installed.
    pub agents: Vec<Agent>,
    /// Which agents read a settings file afterwards, and which no longer do.
    pub readers: Vec<(PathBuf, Agent, bool)>,
}

/// One file of text.
#[derive(Debug)]
pub struct FileStep {
    /// Before and after.
    pub change: Change,
    /// The receipt for undoing it; `None` drops the receipt.
    pub receipt: Option<Receipt>,
}

/// A file that changes, whatever wrote it.
#[derive(Debug, Clone, Copy)]
pub enum Shown<'a> {
    /// Text.
    Text(&'a Change),
    /// A git hook.
    Hook(&'a FileChange),
}

impl Plan {
    /// Adds a file, unless it is unchanged or already planned: a home directory that is a project has one file
    /// for both.
    pub fn add(&mut self, step: FileStep) {
        let planned = self.files.iter().any(|other| other.change.path == step.change.path);
        if !planned && !step.change.is_empty() {
            self.files.push(step);
        }
    }

    /// Adds a file change that can be undone without a receipt.
    pub fn rewrite(&mut self, change: Change) {
        if !change.is_empty() {
            self.edits.push(change);
        }
    }

    /// Changes the new text of a planned file; `false` when it is not planned.
    pub fn edit(&mut self, path: &Path, change: impl Fn(&str) -> String) -> bool {
        let Some(step) = self.files.iter_mut().find(|step| step.change.path == path) else { return false };
        step.change.after = step.change.after.as_deref().map(change);
        true
    }

    /// Adds git hooks.
    pub fn add_hooks(&mut self, hooks: HookPlan) {
        self.notes.extend(hooks.notes.iter().cloned());
        self.hooks.changes.extend(hooks.changes);
    }

    /// Whether everything is as it should be.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.edits.is_empty() && self.hooks.changes.is_empty()
    }

    /// Every file that changes.
    pub fn changes(&self) -> impl Iterator<Item = Shown<'_>> {
        let files = self.files.iter().map(|step| Shown::Text(&step.change));
        let files = files.chain(self.edits.iter().map(Shown::Text));
        files.chain(self.hooks.changes.iter().map(Shown::Hook))
    }

    /// The plan as a diff.
    pub fn show(&self, style: Style) -> String {
        self.changes().map(|change| change.diff(style)).collect::<Vec<_>>().join("\n")
    }

    /// Applies it. Created directories are recorded, so that undoing removes them.
    pub fn apply(&self, receipts: &mut Receipts) -> Result<()> {
        for step in &self.files {
            let path = &step.change.path;
            let missing = missing_directories(path);
            step.change.apply().with_context(|| format!("cannot write `{}`", path.display()))?;
            match &step.receipt {
                Some(receipt) => receipts.keep(path, receipt.clone(), missing),
                None => receipts.drop_file(path),
            }
            // A crash between two files must not lose the receipt of the first.
            receipts.save()?;
        }
        for (file, agent, still) in &self.readers {
            receipts.reads(file, *agent, *still);
        }
        for change in &self.edits {
            change.apply().with_context(|| format!("cannot write `{}`", change.path.display()))?;
        }
        for change in &self.hooks.changes {
            receipts.made(missing_directories(&change.path));
        }
        Ok(self.hooks.apply()?)
    }
}

/// The directories above a file that do not exist yet, the deepest first.
fn missing_directories(file: &Path) -> Vec<PathBuf> {
    file.ancestors()
        .skip(1)
        .take_while(|dir| fs::symlink_metadata(dir).is_err())
        .map(Path::to_owned)
        .collect()
}

impl<'a> Shown<'a> {
    /// Which file.
    pub fn path(self) -> &'a Path {
        match self {
            Self::Text(change) => &change.path,
            Self::Hook(change) => &change.path,
        }
    }

    fn texts(self) -> (Option<String>, Option<String>) {
        let hook = |file: &HookFile| String::from_utf8_lossy(&file.bytes).into_owned();
        match self {
            Self::Text(change) => (change.before.clone(), change.after.clone()),
            Self::Hook(change) => (change.before.as_ref().map(hook), change.after.as_ref().map(hook)),
        }
    }

    /// What happened to it.
    pub fn verb(self) -> &'static str {
        match self.texts() {
            (None, _) => "created",
            (_, None) => "removed",
            _ => "changed",
        }
    }

    fn diff(self, style: Style) -> String {
        let (before, after) = self.texts();
        let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
        let mut text =
            format!("{} {}\n", style.bold(self.verb()), style.bold(&self.path().display().to_string()));
        // Of a file that is all Lictor's own, only the beginning is shown, so that the plan fits on a screen.
        let mut rows = if self.verb() == "changed" { usize::MAX } else { WHOLE_ROWS };
        let all = old.lines().count().max(new.lines().count());
        for (index, hunk) in diff::hunks(&old, &new, 2).iter().enumerate() {
            if index > 0 {
                text += &style.dim("  …\n");
            }
            for (change, line) in &hunk.lines {
                if rows == 0 {
                    break;
                }
                rows -= 1;
                let line = format!("{} {line}", change.sign());
                text += &match change {
                    diff::Change::Removed => style.red(&line),
                    diff::Change::Added => style.green(&line),
                    diff::Change::Kept => style.dim(&line),
                };
                text.push('\n');
            }
        }
        if rows == 0 && all > WHOLE_ROWS {
            text += &style.dim(&format!("  … {} more lines; `--json` has all of them\n", all - WHOLE_ROWS));
        }
        text
    }

    /// For programs.
    pub fn to_json(self) -> Value {
        let (before, after) = self.texts();
        json!({"path": self.path(), "what": self.verb(), "before": before, "after": after})
    }
}
