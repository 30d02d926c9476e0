//! Commands that a policy forbids by pattern or by name.

use lictor_core::facts::{Command, Facts, OpaqueWhat};
use lictor_core::{Action, ActionKind, Context, Decision, Guard, Layer, Verdict};
use serde::{Deserialize, Serialize};

use crate::normal;
use crate::pattern::{Pattern, PatternError};

/// What `bash_safety:` may say.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct BashSafetyConfig {
    /// Regular expressions. They run on the text as written and on every simple command in it.
    pub blocked_patterns: Vec<String>,
    /// Programs by base name.
    pub blocked_programs: Vec<String>,
    /// Regular expressions that fit one whole simple command and lift the block of this guard for it.
    pub allow: Vec<String>,
    /// What a command gets that could not be read to its end. `ask` when it is not said.
    pub unreadable: Option<Decision>,
}

/// Blocks commands by pattern and by program.
#[derive(Debug)]
pub struct BashSafety {
    patterns: Vec<Pattern>,
    programs: Vec<String>,
    allow: Vec<Pattern>,
    unreadable: Decision,
}

impl BashSafety {
    /// A guard with that configuration.
    ///
    /// # Errors
    /// A pattern that is not a regular expression.
    pub fn new(config: BashSafetyConfig) -> Result<Self, PatternError> {
        let patterns = config.blocked_patterns.iter().map(|pattern| Pattern::anywhere(pattern));
        let allow = config.allow.iter().map(|pattern| Pattern::whole(pattern));
        Ok(Self {
            patterns: patterns.collect::<Result<_, _>>()?,
            programs: config.blocked_programs,
            allow: allow.collect::<Result<_, _>>()?,
            unreadable: config.unreadable.unwrap_or(Decision::Ask),
        })
    }

    /// The same configuration again, after [`BashSafety::new`] has accepted it: nothing is checked twice.
    #[must_use]
    pub fn accepted(config: BashSafetyConfig) -> Self {
        Self {
            patterns: config.blocked_patterns.iter().map(|pattern| Pattern::accepted(pattern)).collect(),
            programs: config.blocked_programs,
            allow: config.allow.iter().map(|pattern| Pattern::accepted_whole(pattern)).collect(),
            unreadable: config.unreadable.unwrap_or(Decision::Ask),
        }
    }

    fn is_excepted(&self, command: &Command) -> bool {
        !self.allow.is_empty()
            && normal::whole(command)
                .is_some_and(|text| self.allow.iter().any(|pattern| pattern.is_match(&text)))
    }

    /// Whether the pattern finds anything on the line that no exception covers.
    fn finds(&self, pattern: &Pattern, text: &str, facts: &Facts) -> bool {
        let mut excepted = 0;
        for command in facts.commands() {
            if normal::spellings(command).iter().any(|spelling| pattern.is_match(spelling)) {
                if !self.is_excepted(command) {
                    return true;
                }
                excepted += 1;
            }
        }
        // What the raw text shows beyond the excepted commands is not covered by them.
        pattern.count(text, excepted + 1) > excepted
    }
}

impl Guard for BashSafety {
    fn name(&self) -> &str {
        "bash_safety"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        if action.kind != ActionKind::Bash {
            return Verdict::pass();
        }
        let Some(text) = action.text("command") else {
            return Verdict::error(
                "the action is a shell command without its text",
                "send the command as `payload.command`",
            );
        };
        let facts = context.facts();
        let mut found = Vec::new();
        for pattern in self.patterns.iter().filter(|pattern| self.finds(pattern, text, facts)) {
            found.push(Verdict::block(
                format!("Command matches blocked pattern: {}", pattern.source()),
                "reach the goal with a command that the pattern does not forbid",
            ));
        }
        let blocked =
            |command: &&Command| self.programs.contains(&command.program) && !self.is_excepted(command);
        for command in facts.commands().filter(blocked) {
            found.push(Verdict::block(
                format!("`{}` is a program that this policy blocks", command.program),
                "reach the goal with another program",
            ));
        }
        let unread =
            facts.opaque.iter().find(|opaque| matches!(opaque.what, OpaqueWhat::Syntax | OpaqueWhat::Limit));
        if let Some(unread) = unread.filter(|_| !(self.patterns.is_empty() && self.programs.is_empty())) {
            found.push(Verdict::of(
                self.unreadable.into(),
                format!("the command could not be read to its end, at `{}`", unread.text),
                "write it as a plain, complete command",
            ));
        }
        let Some(first) = (!found.is_empty()).then(|| found.remove(0)) else { return Verdict::pass() };
        for verdict in found {
            context.also(verdict);
        }
        first
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

#[cfg(test)]
mod tests;
