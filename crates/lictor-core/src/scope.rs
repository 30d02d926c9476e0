//! The scope of an agent. A subagent gets its parent's scope or a smaller one; it cannot get a larger one.

use serde::{Deserialize, Serialize};

use crate::action::{Action, ActionKind};
use crate::facts::{Facts, Place, Zone};
use crate::text;

/// The limits of one level of delegation. An absent field is not limited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limit {
    /// Only these kinds of action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ActionKind>>,
    /// Only tools that match one of these globs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Only files in these directories (absolute paths).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirs: Option<Vec<String>>,
    /// Only hosts that match one of these globs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Nothing that changes a file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Only these of the person's scopes. Naming a scope that the person lacks does not grant it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
}

/// The limits of an agent: its own, its parent's, and so on. All of them must permit an action, so adding one can
/// only narrow the scope.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scope {
    limits: Vec<Limit>,
}

impl Scope {
    /// Without limits.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Whether there are no limits.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        self.limits.is_empty()
    }

    /// The scope of a child: this scope with one more limit.
    #[must_use]
    pub fn narrow(&self, limit: Limit) -> Self {
        let mut scope = self.clone();
        if limit != Limit::default() && !scope.limits.contains(&limit) {
            scope.limits.push(limit);
        }
        scope
    }

    /// Whether that limit is among those that hold.
    #[must_use]
    pub fn holds(&self, limit: &Limit) -> bool {
        *limit == Limit::default() || self.limits.contains(limit)
    }

    /// Whether every delegation on the way here has passed on this scope of the person.
    #[must_use]
    pub fn passes_on(&self, scope: &str) -> bool {
        let named =
            |limit: &Limit| limit.scopes.as_ref().is_none_or(|all| all.iter().any(|one| one == scope));
        self.limits.iter().all(named)
    }

    /// Whether an action is within the scope.
    ///
    /// # Errors
    /// What is outside the scope.
    pub fn permits(&self, action: &Action, facts: &Facts) -> Result<(), String> {
        self.limits.iter().try_for_each(|limit| limit.permits(action, facts))
    }
}

impl Limit {
    fn permits(&self, action: &Action, facts: &Facts) -> Result<(), String> {
        if self.kinds.as_ref().is_some_and(|kinds| !kinds.contains(&action.kind)) {
            return Err(format!("actions of kind `{}`", action.kind));
        }
        if let Some(tools) = &self.tools {
            let tool = if action.tool.is_empty() { action.kind.as_str() } else { &action.tool };
            if !tools.iter().any(|glob| fast_glob::glob_match(glob, tool)) {
                return Err(format!("the tool {}", text::quote(tool, 80)));
            }
        }
        let limits_effects = self.dirs.is_some() || self.hosts.is_some() || self.read_only;
        if limits_effects && !facts.understood() {
            return Err("something whose effects are not known".to_owned());
        }
        for (access, place) in facts.files() {
            if self.read_only && !access.is_read_only() && place.zone != Zone::HarmlessDevice {
                return Err(format!("changing {}", text::quote(&place.text, 120)));
            }
            if self.dirs.as_ref().is_some_and(|dirs| !is_in_one(place, dirs)) {
                return Err(format!("the place {}", text::quote(&place.text, 120)));
            }
        }
        if let Some(hosts) = &self.hosts {
            for reach in facts.hosts() {
                let host = reach.host.as_deref().unwrap_or_default();
                if host.is_empty() || !hosts.iter().any(|glob| fast_glob::glob_match(glob, host)) {
                    return Err(format!("the host {}", text::quote(&reach.text, 120)));
                }
            }
        }
        Ok(())
    }
}

/// Both the path as written and its resolved target must be inside.
fn is_in_one(place: &Place, dirs: &[String]) -> bool {
    if place.zone == Zone::HarmlessDevice && place.real_zone == Zone::HarmlessDevice {
        return true;
    }
    !place.path.is_empty() && place.paths().all(|path| dirs.iter().any(|dir| is_in(path, dir)))
}

fn is_in(path: &str, dir: &str) -> bool {
    let dir = dir.trim_end_matches('/');
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
