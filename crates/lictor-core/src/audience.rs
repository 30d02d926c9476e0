//! To whom a rule applies: agents, subagents, prompts, tasks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::action::{Action, SessionKey};
use crate::session::SessionState;

/// To whom a rule applies. An empty list applies to all; if several lists are given, each has to match. Names may
/// be globs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Audience {
    /// Agent programs: `claude-code`.
    pub agent: Vec<String>,
    /// Kinds of subagents, in the agent's words: `explorer`.
    pub subagent: Vec<String>,
    /// Names of prompts: `deploy` for `/deploy`.
    pub prompt: Vec<String>,
    /// Types of tasks.
    pub task: Vec<String>,
}

impl Audience {
    /// Whether it applies to all.
    #[must_use]
    pub fn is_everybody(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a rule may apply to this agent.
    #[must_use]
    pub fn includes_agent(&self, agent: &str) -> bool {
        fits(&self.agent, Some(agent))
    }

    /// Whether a rule applies to this action. An unknown agent, subagent, prompt or task never matches.
    #[must_use]
    pub fn includes(&self, action: &Action, session: &SessionState) -> bool {
        let named = action.session.as_ref().map(|key| key.agent.as_str()).filter(|name| !name.is_empty());
        let agent = named.or_else(|| Some(action.actor.agent.as_str()).filter(|name| !name.is_empty()));
        fits(&self.agent, agent)
            && fits(&self.subagent, subagent(action))
            && fits(&self.prompt, session.prompt.as_deref())
            && fits(&self.task, action.task_type.as_deref())
    }

    /// Whether a rule applies to this session, where there is no action.
    #[must_use]
    pub fn includes_session(&self, key: &SessionKey, session: &SessionState, subagent: Option<&str>) -> bool {
        fits(&self.agent, Some(key.agent.as_str()).filter(|name| !name.is_empty()))
            && fits(&self.subagent, subagent)
            && fits(&self.prompt, session.prompt.as_deref())
            && self.task.is_empty()
    }
}

/// The kind of subagent that acts; `None` for a main agent.
fn subagent(action: &Action) -> Option<&str> {
    let chain = &action.actor.chain;
    let below = action.parent_session.is_some() || chain.len() > 1;
    chain.last().filter(|_| below).map(String::as_str)
}

fn fits(globs: &[String], name: Option<&str>) -> bool {
    globs.is_empty()
        || name.is_some_and(|name| globs.iter().any(|glob| glob == name || fast_glob::glob_match(glob, name)))
}

/// `agent=claude-code subagent=explorer|tester`; nothing for everybody.
impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [
            ("agent", &self.agent),
            ("subagent", &self.subagent),
            ("prompt", &self.prompt),
            ("task", &self.task),
        ];
        let mut first = true;
        for (word, names) in named.into_iter().filter(|(_, names)| !names.is_empty()) {
            write!(f, "{}{word}={}", if first { "" } else { " " }, names.join("|"))?;
            first = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
