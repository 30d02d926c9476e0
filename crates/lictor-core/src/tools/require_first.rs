use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::except::{self, Except};
use crate::action::Action;
use crate::context::Context;
use crate::facts::Facts;
use crate::guard::{Guard, Layer};
use crate::history::{Ended, History, Pattern, What};
use crate::verdict::Verdict;

/// One rule: before an action that matches `gated`, all of `needs` must have succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequireFirst {
    /// The gated action.
    pub gated: Pattern,
    /// Its needs.
    pub needs: Vec<Need>,
    /// Whether `needs && gated` on one line counts: the first then runs before the second or not at all.
    pub same_line: bool,
}

/// An action that must have succeeded, and how long it counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    /// What must have succeeded. Its `ended` is set to success.
    pub what: Pattern,
    /// For how many milliseconds it counts; `None`: as long as the session.
    pub within: Option<u64>,
    /// Actions that invalidate it.
    pub undone_by: Vec<Pattern>,
}

/// Sequencing rules that can never be satisfied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SequenceError {
    /// A tool that needs itself.
    #[error("`{0}` requires itself first, so it could never run")]
    Itself(String),
    /// Tools that need each other.
    #[error("these require each other, so none of them could ever run: {}", .0.join(" → "))]
    Cycle(Vec<String>),
    /// A variable that `gated` does not have.
    #[error("`{pattern}` names `${variable}`, which `{gated}` does not have; give both the same variable")]
    Unbound {
        /// The gated action.
        gated: String,
        /// The pattern with the variable.
        pattern: String,
        /// The variable.
        variable: String,
    },
    /// The action that satisfies it also invalidates it.
    #[error("`{need}` is undone by itself, so `{gated}` could never run")]
    Undone {
        /// The gated action.
        gated: String,
        /// The need.
        need: String,
    },
}

/// Sequential dependencies between actions. All rules must be met; all missing needs are reported at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    name: String,
    rules: Vec<Rule>,
    except: Vec<Except>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Rule {
    gated: Pattern,
    needs: Vec<Keyed>,
    same_line: bool,
}

/// A need with the history keys of its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Keyed {
    what: Pattern,
    shown: String,
    words: Option<Vec<String>>,
    key: String,
    /// Whether it ran, whatever the outcome.
    seen: String,
    /// Whether it ran without a reported success; only for commands, whose lines can hide their exit status.
    #[serde(default)]
    failed: Option<String>,
    within: Option<u64>,
    undone_by: Vec<(Pattern, String)>,
}

/// Why a need is not met.
enum Lack {
    Never,
    /// It ran, but whether it succeeded is unknown.
    Unclear,
    /// Its line ended without a reported success.
    Failed,
    Expired,
    Undone(String),
    /// The call has no value for a variable.
    NoValue(Vec<(String, String)>),
}

impl Sequence {
    /// Checks the rules and registers their patterns in `history`.
    ///
    /// # Errors
    /// Every rule that can never be satisfied.
    pub fn new(
        name: impl Into<String>,
        rules: Vec<RequireFirst>,
        history: &mut History,
    ) -> Result<Self, Vec<SequenceError>> {
        let problems = problems(&rules);
        if !problems.is_empty() {
            return Err(problems);
        }
        let rules = rules
            .into_iter()
            .map(|rule| Rule {
                needs: rule.needs.into_iter().map(|need| Keyed::new(need, history)).collect(),
                gated: Pattern { ended: None, ..rule.gated },
                same_line: rule.same_line,
            })
            .collect();
        Ok(Self { name: name.into(), rules, except: Vec::new() })
    }

    /// The same with exceptions for some actions.
    #[must_use]
    pub fn except(self, except: Vec<Except>) -> Self {
        Self { except, ..self }
    }

    fn lacking(&self, rule: &Rule, action: &Action, context: &Context<'_>) -> Vec<(String, Lack)> {
        let past = &context.session().past;
        let values = rule.gated.values(action);
        let mut lacking = Vec::new();
        for need in &rule.needs {
            if rule.same_line && need.is_met_on_the_line(rule, context.facts()) {
                continue;
            }
            if values.is_none() && !need.what.vars.is_empty() {
                lacking.push((need.shown.clone(), Lack::NoValue(rule.gated.vars.clone())));
                continue;
            }
            let of = |pattern: &Pattern, key: &str| pattern.key_for(key, values.as_ref());
            let (key, seen) = (of(&need.what, &need.key), of(&need.what, &need.seen));
            let lack = if !past.formerly(&key, None, context.now()) {
                let failed = need.failed.as_deref().is_some_and(|key| {
                    let last = past.last(&of(&need.what, key));
                    last.is_some() && last == past.last(&seen)
                });
                Some(match past.formerly(&seen, None, context.now()) {
                    true if failed => Lack::Failed,
                    true => Lack::Unclear,
                    false => Lack::Never,
                })
            } else if !past.formerly(&key, need.within, context.now()) {
                Some(Lack::Expired)
            } else {
                // An action without a value for the variable may have concerned this one.
                let disturbs = |(by, tracked): &&(Pattern, String)| {
                    !past.undisturbed(&of(by, tracked), &key)
                        || !past.undisturbed(&by.key_for(tracked, None), &key)
                };
                need.undone_by.iter().find(disturbs).map(|(by, _)| Lack::Undone(by.to_string()))
            };
            let missing = if need.what.vars.is_empty() {
                need.shown.clone()
            } else {
                shown(&need.what, values.as_ref())
            };
            lacking.extend(lack.map(|lack| (missing, lack)));
        }
        lacking.sort_by(|(a, _), (b, _)| a.cmp(b));
        lacking
    }
}

impl Keyed {
    fn new(need: Need, history: &mut History) -> Self {
        let undone_by = need.undone_by.into_iter().map(|pattern| {
            let tracked = history.track(pattern.clone(), None);
            (pattern, tracked)
        });
        Self {
            undone_by: undone_by.collect(),
            what: need.what.clone(),
            shown: Pattern { ended: None, ..need.what.clone() }.to_string(),
            words: match &need.what.what {
                What::Bash(words) => Some(words.clone()),
                _ => None,
            },
            seen: history.track(Pattern { ended: None, ..need.what.clone() }, None),
            failed: matches!(need.what.what, What::Bash(_))
                .then(|| history.track(need.what.clone().ended(Ended::Failed), None)),
            key: history.track(need.what.ended(Ended::Ok), None),
            within: need.within,
        }
    }

    /// `cargo test && git push`: the first comes before the second, and the line fails when it fails.
    fn is_met_on_the_line(&self, rule: &Rule, facts: &Facts) -> bool {
        let (Some(words), What::Bash(gated)) = (&self.words, &rule.gated.what) else { return false };
        let starts = |found: &[String], wanted: &[String]| found.get(..wanted.len()) == Some(wanted);
        let mut met = false;
        for command in facts.commands() {
            if starts(&command.words, gated) {
                return met;
            }
            met |= starts(&command.words, words) && command.attributable && command.certain;
        }
        false
    }
}

impl Guard for Sequence {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        if self.rules.is_empty() {
            return Verdict::pass();
        }
        let facts = context.facts();
        let deeds = facts.deeds();
        let mut refusals = Vec::new();
        for rule in &self.rules {
            if !rule.gated.matches(action, facts, &deeds) {
                continue;
            }
            let lacking = self.lacking(rule, action, context);
            if lacking.is_empty() {
                continue;
            }
            let gated = shown(&rule.gated, rule.gated.values(action).as_ref());
            let id = format!("require_first.{gated}");
            if !except::lifted(&self.except, &id, &rule.gated, action, facts) {
                refusals.push(refuse(&gated, &lacking).by_rule(id));
            }
        }
        context.report(refusals)
    }

    fn layer(&self) -> Layer {
        Layer::Intent
    }
}

/// A call with its values: `read_table(table: "users")`; an unknown value is shown as written in the rule.
fn shown(pattern: &Pattern, values: Option<&BTreeMap<&str, String>>) -> String {
    if pattern.vars.is_empty() {
        return pattern.to_string();
    }
    let value = |var: &String| match values.and_then(|values| values.get(var.as_str())) {
        Some(value) => format!("{value:?}"),
        None => format!("${var}"),
    };
    let fields = pattern.vars.iter().map(|(field, var)| format!("{field}: {}", value(var)));
    format!("{}({})", pattern.what, fields.collect::<Vec<_>>().join(", "))
}

/// Why a command that ran does not count. Whether this agent reports exit statuses at all is not known here.
pub const UNSUCCESSFUL: &str = "its line failed, or this agent does not report how commands end";

fn refuse(gated: &str, lacking: &[(String, Lack)]) -> Verdict {
    let names: Vec<&str> = lacking.iter().map(|(name, _)| name.as_str()).collect();
    let mut reason = format!("Tool '{gated}' requires: {}", names.join(", "));
    for (name, lack) in lacking {
        match lack {
            Lack::Never => {}
            // Only a command has an exit code that a line can lose.
            Lack::Unclear if name.starts_with("bash(") => reason.push_str(&format!(
                "; `{name}` was seen, but the line that it stood on does not tell how it ended: with `;`, `&`, `|` or `||` \
                 that is lost"
            )),
            Lack::Unclear => {}
            Lack::Failed => reason.push_str(&format!("; `{name}` was seen, but {UNSUCCESSFUL}")),
            Lack::Expired => reason.push_str(&format!("; the last `{name}` was too long ago")),
            Lack::NoValue(vars) => {
                let fields: Vec<&str> = vars.iter().map(|(field, _)| field.as_str()).collect();
                reason.push_str(&format!("; the call does not say for which `{}`", fields.join("`, `")));
            }
            Lack::Undone(by) => reason.push_str(&format!("; the last `{name}` does not count since `{by}`")),
        }
    }
    let fields: Vec<&str> = lacking
        .iter()
        .flat_map(|(_, lack)| if let Lack::NoValue(vars) = lack { vars.as_slice() } else { &[] })
        .map(|(field, _)| field.as_str())
        .collect();
    let lost = |(name, lack): &(String, Lack)| matches!(lack, Lack::Unclear) && name.starts_with("bash(");
    let how = if lacking.iter().any(lost) {
        " on a line of its own, or in a pipe after `set -o pipefail`"
    } else {
        ""
    };
    let needed: Vec<String> = names.iter().map(|name| plainly(name)).collect();
    let needed = needed.join(" and ");
    let fix = match fields.is_empty() {
        true => format!("let {needed} succeed first{how}, then try {} again", plainly(gated)),
        false => format!("say `{}` in the call, once {needed} has succeeded", fields.join("`, `")),
    };
    Verdict::block(reason, fix)
}

/// The required call as an agent would write it: a command without the pattern syntax.
fn plainly(name: &str) -> String {
    let command = name.strip_prefix("bash(\"").and_then(|rest| rest.strip_suffix("\")"));
    let plain = command.filter(|command| !command.contains(['\\', '"']));
    format!("`{}`", plain.unwrap_or(name))
}

/// Self-dependencies, cycles, and needs that are invalidated by their own satisfaction.
fn problems(rules: &[RequireFirst]) -> Vec<SequenceError> {
    let mut problems = Vec::new();
    for rule in rules {
        let gated = rule.gated.what.to_string();
        for need in &rule.needs {
            let bound = |var: &String| rule.gated.vars.iter().any(|(_, known)| known == var);
            for pattern in std::iter::once(&need.what).chain(&need.undone_by) {
                if let Some((_, variable)) = pattern.vars.iter().find(|(_, var)| !bound(var)) {
                    problems.push(SequenceError::Unbound {
                        gated: gated.clone(),
                        pattern: pattern.what.to_string(),
                        variable: variable.clone(),
                    });
                }
            }
            if rule.gated.covers(&need.what) {
                problems.push(SequenceError::Itself(gated.clone()));
            }
            if need.undone_by.iter().any(|by| by.covers(&need.what)) {
                problems
                    .push(SequenceError::Undone { gated: gated.clone(), need: need.what.what.to_string() });
            }
        }
    }
    if problems.is_empty() {
        problems.extend(cycle(rules).map(SequenceError::Cycle));
    }
    problems
}

/// A cycle of needs.
fn cycle(rules: &[RequireFirst]) -> Option<Vec<String>> {
    for start in rules {
        let mut chain = vec![&start.gated];
        let mut seen: Vec<&Pattern> = Vec::new();
        let mut open: Vec<(&Pattern, usize)> = needs_of(rules, &start.gated).map(|need| (need, 1)).collect();
        while let Some((need, depth)) = open.pop() {
            chain.truncate(depth);
            chain.push(need);
            if start.gated.covers(need) {
                return Some(chain.into_iter().map(|pattern| pattern.what.to_string()).collect());
            }
            if !seen.contains(&need) {
                seen.push(need);
                open.extend(needs_of(rules, need).map(|need| (need, depth + 1)));
            }
        }
    }
    None
}

fn needs_of<'a>(rules: &'a [RequireFirst], what: &'a Pattern) -> impl Iterator<Item = &'a Pattern> {
    rules
        .iter()
        .filter(move |rule| rule.gated.covers(what))
        .flat_map(|rule| rule.needs.iter().map(|need| &need.what))
}
