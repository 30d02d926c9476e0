//! The guard that evaluates rule packs.

mod fill;
mod pack;

use lictor_core::facts::{Command, Effect, Facts, Opaque, Place};
use lictor_core::tools::{Except, Excepted};
use lictor_core::{Action, ActionKind, Context, Decision, Fixable, Guard, Layer, Value, Verdict};

pub(crate) use fill::turned;
pub(crate) use pack::Way;
pub use pack::{Pack, Rule, Unmet};

use crate::normal::Line;
use crate::pattern::{Pattern, PatternError};
use pack::Kind;

/// The configuration of the rule packs.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RulesConfig {
    /// The active packs, by name.
    #[serde(default)]
    pub packs: Vec<String>,
    /// Simple commands that no pack rule stops: regular expressions that match the whole command. Input from a
    /// pipe or a redirection is covered only by an entry that equals the whole line.
    #[serde(default)]
    pub allow: Vec<String>,
    /// The decision for opaque commands, instead of that of the packs.
    #[serde(default)]
    pub opaque: Option<Decision>,
    /// Rules that do not hold for some files or tools.
    #[serde(default)]
    pub except: Vec<RuleException>,
}

/// An exception to a rule for a file, a tool or a command.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RuleException {
    /// The rule's id.
    pub rule: String,
    /// A file, by its absolute or project-relative path. Its link target must be the same path.
    #[serde(default)]
    pub file: Option<String>,
    /// A tool, by its full name.
    #[serde(default)]
    pub tool: Option<String>,
    /// The exact text of a command; only for history rules.
    #[serde(default)]
    pub command: Option<String>,
}

impl RuleException {
    /// The same for a history rule, which is not part of a pack.
    #[must_use]
    pub fn of_tools(&self) -> Option<Except> {
        let what = match (&self.file, &self.tool, &self.command) {
            (Some(file), ..) => Excepted::File(file.clone()),
            (_, Some(tool), _) => Excepted::Tool(tool.clone()),
            (.., Some(command)) => Excepted::Command(command.clone()),
            _ => return None,
        };
        Self::is_about_the_past(&self.rule).then(|| Except { rule: self.rule.clone(), what })
    }

    /// Whether a rule is one of `tools`, by its id.
    #[must_use]
    pub fn is_about_the_past(rule: &str) -> bool {
        rule == "read_before_write" || rule == "require_first" || rule.starts_with("require_first.")
    }

    /// Whether it covers the file of an effect, or the tool.
    fn covers(&self, effect: &Effect<Place>, action: &Action) -> bool {
        let tool = matches!(action.kind, ActionKind::Tool | ActionKind::Other(_)).then_some(&action.tool);
        match (&self.file, effect) {
            (Some(file), Effect::File { target, recursive: false, .. }) => target.is_named(file),
            (Some(_), _) => false,
            (None, _) => self.tool.is_some() && self.tool.as_ref() == tool,
        }
    }
}

/// Why the configuration is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// No such pack.
    #[error("there is no pack `{0}`; the packs are {1}")]
    UnknownPack(String, String),
    /// A bad exception.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

impl RulesError {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::UnknownPack(..) => ("unknown_pack", "name one of the packs that are shipped"),
            Self::Pattern(error) => (error.kind(), error.fix()),
        }
    }
}

impl Fixable for RulesError {
    fn kind(&self) -> &'static str {
        self.words().0
    }

    fn fix(&self) -> &'static str {
        self.words().1
    }
}

/// Judges effects by the rules of packs.
#[derive(Debug)]
pub struct Rules {
    packs: Vec<&'static Pack>,
    allow: Vec<Pattern>,
    opaque: Option<Decision>,
    except: Vec<RuleException>,
}

impl Rules {
    /// The default pack.
    #[must_use]
    pub fn recommended() -> Self {
        let packs = Pack::named("recommended").into_iter().collect();
        Self { packs, allow: Vec::new(), opaque: None, except: Vec::new() }
    }

    /// The packs of this configuration and those they extend.
    ///
    /// # Errors
    /// A pack that does not exist or an exception that is not a regular expression.
    pub fn new(config: &RulesConfig) -> Result<Self, RulesError> {
        let mut packs: Vec<&'static Pack> = Vec::new();
        let mut wanted: Vec<&str> = config.packs.iter().map(String::as_str).collect();
        while let Some(name) = wanted.pop() {
            let Some(pack) = Pack::named(name) else {
                let known: Vec<String> = Pack::all().iter().map(|pack| format!("`{}`", pack.name)).collect();
                return Err(RulesError::UnknownPack(name.to_owned(), known.join(", ")));
            };
            if !packs.iter().any(|known| known.name == pack.name) {
                packs.push(pack);
                wanted.extend(pack.extends);
            }
        }
        let allow = config.allow.iter().map(|pattern| Pattern::whole(pattern)).collect::<Result<_, _>>()?;
        Ok(Self { packs, allow, opaque: config.opaque, except: config.except.clone() })
    }

    /// Rules with a configuration that [`Rules::new`] has accepted before; it is not checked again. A pack that
    /// does not exist is still an error.
    ///
    /// # Errors
    /// A pack that does not exist.
    pub fn accepted(config: &RulesConfig) -> Result<Self, RulesError> {
        let unchecked = RulesConfig { allow: Vec::new(), ..config.clone() };
        let allow = config.allow.iter().map(|pattern| Pattern::accepted_whole(pattern)).collect();
        Ok(Self { allow, ..Self::new(&unchecked)? })
    }

    /// The active packs.
    pub fn packs(&self) -> impl Iterator<Item = &'static Pack> + '_ {
        self.packs.iter().copied()
    }

    /// The rules for the kinds of effects of an action that do not match, each with the first condition that
    /// fails; the closest first.
    #[must_use]
    pub fn near(&self, facts: &Facts) -> Vec<(&'static Rule, Unmet)> {
        let mut near: Vec<(&'static Rule, Unmet)> = Vec::new();
        for effect in &facts.effects {
            let Some(kind) = Kind::of(effect) else { continue };
            for rule in self.packs.iter().flat_map(|pack| pack.of_kind(kind)) {
                match rule.when.meets(effect, facts) {
                    Err(unmet) if unmet.held > 0 && !near.iter().any(|(known, _)| known.id == rule.id) => {
                        near.push((rule, unmet));
                    }
                    _ => {}
                }
            }
        }
        near.sort_by_key(|(_, unmet)| std::cmp::Reverse(unmet.held));
        near
    }

    /// The strictest rule that matches an effect and has no exception for it.
    fn rule_for(&self, effect: &Effect<Place>, facts: &Facts, action: &Action) -> Option<&'static Rule> {
        let kind = Kind::of(effect)?;
        let fitting = self
            .packs
            .iter()
            .flat_map(|pack| pack.of_kind(kind))
            .filter(|rule| rule.when.fits(effect, facts))
            .filter(|rule| {
                !self.except.iter().any(|except| except.rule == rule.id && except.covers(effect, action))
            });
        strictest(fitting)
    }

    fn rule_for_opaque(&self, opaque: &Opaque) -> Option<&'static Rule> {
        let rules = self.packs.iter().flat_map(|pack| pack.of_kind(Kind::Opaque));
        strictest(rules.filter(|rule| rule.when.fits_opaque(opaque)))
    }

    fn verdicts(&self, line: Line<'_>, action: &Action) -> Vec<Verdict> {
        let facts = line.facts;
        let whole = line.is_excepted(&self.allow);
        let mut given: Vec<(&'static str, Verdict)> = Vec::new();
        let mut file = |rule: &'static Rule, decision: Decision, reason: String, fix: String| {
            // One verdict per rule: ten operands of one `rm` are one objection.
            if decision > Decision::Pass && !given.iter().any(|(id, _)| *id == rule.id) {
                given.push((rule.id, Verdict::of(decision.into(), reason, fix).by_rule(rule.id)));
            }
        };
        let mut running: Option<&Command> = None;
        let mut trees: Vec<&str> = Vec::new();
        for effect in facts.effects.iter().filter(|_| !whole) {
            if let Effect::Run(command) = effect {
                running = Some(command);
                trees.clear();
            }
            // A blocked tree is one objection, whatever it contains.
            if matches!(effect, Effect::File { target, .. } if trees.iter().any(|tree| lies_in(target, tree)))
            {
                continue;
            }
            if let Some(rule) = self.rule_for(effect, facts, action)
                && !running.is_some_and(|command| self.is_excepted(command) && line.is_own(effect, command))
            {
                if let Effect::File { target, recursive: true, .. } = effect
                    && rule.decision == Decision::Block
                {
                    trees.push(&target.path);
                }
                let reason = fill::reason(rule.reason, effect, running);
                file(rule, rule.decision, reason, fill::fix(rule, effect, running));
            }
        }
        for opaque in &facts.opaque {
            if let Some(rule) = self.rule_for_opaque(opaque) {
                let (reason, fix) = fill::opaque(rule, opaque);
                file(rule, self.opaque.unwrap_or(rule.decision), reason, fix);
            }
        }
        given.into_iter().map(|(_, verdict)| verdict).collect()
    }

    fn is_excepted(&self, command: &Command) -> bool {
        !self.allow.is_empty()
            && crate::normal::whole(command)
                .is_some_and(|text| self.allow.iter().any(|pattern| pattern.is_match(&text)))
    }
}

impl Guard for Rules {
    fn name(&self) -> &str {
        "rules"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        if action.kind == ActionKind::Bash && action.text("command").is_none() {
            return Verdict::error(
                "the action is a shell command without its text",
                "send the command as `payload.command`",
            );
        }
        let text = action.text("command").unwrap_or_default();
        let mut verdicts = self.verdicts(Line { text, facts: context.facts() }, action);
        let strictest = verdicts
            .iter()
            .enumerate()
            .max_by_key(|(index, verdict)| (verdict.value(), std::cmp::Reverse(*index)));
        let Some((index, _)) = strictest else { return Verdict::pass() };
        let first = verdicts.remove(index);
        if first.value() >= Value::Ask {
            context.add_risk(if first.value() == Value::Block { 0.5 } else { 0.3 });
        }
        for verdict in verdicts {
            context.also(verdict);
        }
        first
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

fn lies_in(place: &Place, tree: &str) -> bool {
    let below = place.path.strip_prefix(tree.trim_end_matches('/'));
    below.is_some_and(|below| below.starts_with('/') && below.len() > 1)
}

fn strictest(rules: impl Iterator<Item = &'static Rule>) -> Option<&'static Rule> {
    rules.fold(None, |best: Option<&Rule>, rule| match best {
        Some(best) if best.decision >= rule.decision => Some(best),
        _ => Some(rule),
    })
}

#[cfg(test)]
mod tests;
