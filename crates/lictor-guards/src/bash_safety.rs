//! Commands that a policy forbids by pattern or by name.

use lictor_core::facts::{Command, Facts, OpaqueWhat};
use lictor_core::{Action, ActionKind, Context, Decision, Fixable, Guard, Layer, Value, Verdict};
use serde::{Deserialize, Serialize};

use crate::normal::{self, Line};
use crate::pattern::{Pattern, PatternError};
use crate::rules::{Rules, RulesConfig};

/// The configuration of `bash_safety:`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct BashSafetyConfig {
    /// Regular expressions. They run on the text as written and on every simple command in it.
    pub blocked_patterns: Vec<String>,
    /// Programs by base name.
    pub blocked_programs: Vec<String>,
    /// Regular expressions that match one whole simple command, or the exact text of the whole line, and exempt
    /// it from this guard.
    pub allow: Vec<String>,
    /// The decision for a command that could not be parsed to its end. Default: `ask`.
    pub unreadable: Option<Decision>,
}

/// Why a configuration is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BashSafetyError {
    /// A pattern that is not a regular expression.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A program that no command can have.
    #[error(
        "`{0}` can never be the name of a program: programs are named without directory and arguments; use a pattern for the rest"
    )]
    NotAProgram(String),
}

impl BashSafetyError {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Pattern(error) => (error.kind(), error.fix()),
            Self::NotAProgram(_) => (
                "not_a_program",
                "name the program without directory and arguments; use a pattern for the rest",
            ),
        }
    }
}

impl Fixable for BashSafetyError {
    fn kind(&self) -> &'static str {
        self.words().0
    }

    fn fix(&self) -> &'static str {
        self.words().1
    }
}

/// Blocks commands by pattern and by program, and those that the `recommended` rules stop.
#[derive(Debug)]
pub struct BashSafety {
    patterns: Vec<Pattern>,
    programs: Vec<String>,
    allow: Vec<Pattern>,
    unreadable: Decision,
    /// The underlying rules; `None` if they are elsewhere in the graph.
    rules: Option<Rules>,
    /// Whether the patterns only describe what the rules stop.
    describes: bool,
}

/// Well-known patterns.
const FAMILIAR: [&str; 2] = [r"rm\s+-rf\s+/", r"DROP\s+TABLE"];

/// Blocks what the `recommended` rules stop, and names a well-known pattern in the reason where one matches.
impl Default for BashSafety {
    fn default() -> Self {
        Self {
            patterns: FAMILIAR.into_iter().map(Pattern::accepted).collect(),
            programs: Vec::new(),
            allow: Vec::new(),
            unreadable: Decision::Ask,
            rules: Some(Rules::recommended()),
            describes: true,
        }
    }
}

impl BashSafety {
    /// A guard with this configuration and the `recommended` rules; `allow` applies to both.
    ///
    /// # Errors
    /// A pattern that is not a regular expression, or a program that could never match.
    pub fn new(config: BashSafetyConfig) -> Result<Self, BashSafetyError> {
        let packs = RulesConfig {
            packs: vec!["recommended".to_owned()],
            allow: config.allow.clone(),
            ..RulesConfig::default()
        };
        let rules = Rules::accepted(&packs).unwrap_or_else(|_| Rules::recommended());
        Ok(Self { rules: Some(rules), ..Self::only(config)? })
    }

    /// A guard with only this configuration.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn only(config: BashSafetyConfig) -> Result<Self, BashSafetyError> {
        let impossible =
            |name: &&String| name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '/');
        if let Some(name) = config.blocked_programs.iter().find(impossible) {
            return Err(BashSafetyError::NotAProgram(name.clone()));
        }
        let all = config.blocked_patterns.iter().map(|pattern| Pattern::anywhere(pattern));
        let whole = config.allow.iter().map(|pattern| Pattern::whole(pattern));
        all.chain(whole).try_for_each(|pattern| pattern.map(drop))?;
        Ok(Self::accepted(config))
    }

    /// A guard with a configuration that [`BashSafety::only`] has accepted before; it is not checked again.
    #[must_use]
    pub fn accepted(config: BashSafetyConfig) -> Self {
        Self {
            patterns: config.blocked_patterns.iter().map(|pattern| Pattern::accepted(pattern)).collect(),
            programs: config.blocked_programs,
            allow: config.allow.iter().map(|pattern| Pattern::accepted_whole(pattern)).collect(),
            unreadable: config.unreadable.unwrap_or(Decision::Ask),
            rules: None,
            describes: false,
        }
    }

    fn is_excepted(&self, command: &Command) -> bool {
        !self.allow.is_empty()
            && normal::whole(command)
                .is_some_and(|text| self.allow.iter().any(|pattern| pattern.is_match(&text)))
    }

    /// Whether the pattern matches anything on the line that no exception covers.
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
        // Matches in the raw text beyond the excepted commands are not covered by them.
        pattern.count(text, excepted + 1) > excepted
    }
}

impl BashSafety {
    /// The verdict of the rules, with a well-known pattern as the reason where they block and one matches.
    fn described(&self, action: &Action, text: &str, context: &mut Context<'_>) -> Verdict {
        let facts = context.facts();
        let verdict = self.rules.as_ref().map_or_else(Verdict::pass, |rules| rules.check(action, context));
        if verdict.value() != Value::Block {
            return verdict;
        }
        match self.patterns.iter().find(|pattern| self.finds(pattern, text, facts)) {
            None => verdict,
            Some(pattern) => {
                let reason = format!("Command matches blocked pattern: {}", pattern.source());
                let same = Verdict::block(reason, verdict.fix());
                match verdict.rule() {
                    Some(rule) => same.by_rule(rule),
                    None => same,
                }
            }
        }
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
        if self.describes {
            return self.described(action, text, context);
        }
        if (Line { text, facts }).is_excepted(&self.allow) {
            return self.rules.as_ref().map_or_else(Verdict::pass, |rules| rules.check(action, context));
        }
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
        let Some(first) = (!found.is_empty()).then(|| found.remove(0)) else {
            return self.rules.as_ref().map_or_else(Verdict::pass, |rules| rules.check(action, context));
        };
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
