//! What to do with tools nobody described.

use lictor_core::facts::{Effect, OpaqueWhat};
use lictor_core::{Action, Context, Decision, Guard, Layer, Verdict};
use serde::{Deserialize, Serialize};

/// What `known_tools:` may say. Names may be globs (`mcp__github__get_*`).
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct KnownToolsConfig {
    /// Tools that may be used.
    pub known: Vec<String>,
    /// Tools that may not.
    pub blocked: Vec<String>,
    /// What every other tool gets. `ask` when it is not said.
    pub unknown: Option<Decision>,
}

/// Asks about tools that nobody described.
#[derive(Debug, Clone, Default)]
pub struct KnownTools {
    config: KnownToolsConfig,
}

impl KnownTools {
    /// A guard with these names.
    #[must_use]
    pub fn new(config: KnownToolsConfig) -> Self {
        Self { config }
    }

    fn judge(&self, action: &Action, name: &str, described: bool, sends: bool) -> Verdict {
        let full = if action.tool.is_empty() { name } else { action.tool.as_str() };
        let fits = |globs: &[String]| globs.iter().any(|glob| fast_glob::glob_match(glob, full));
        if fits(&self.config.blocked) {
            return Verdict::block(
                format!("the tool `{full}` is blocked by this policy"),
                "use another tool",
            );
        }
        if fits(&self.config.known) {
            return Verdict::pass();
        }
        if sends {
            return Verdict::of(
                Decision::Ask.into(),
                format!("`{full}` would send something to other people, or move money, in a person's name"),
                "prepare a draft and let a person send it, or let a person add the tool to `known_tools`",
            )
            .by_rule("sends");
        }
        if described {
            return Verdict::pass();
        }
        Verdict::of(
            self.config.unknown.unwrap_or(Decision::Ask).into(),
            format!("nobody has said what the tool `{full}` does"),
            "use a built-in tool, or let a person add the tool to `known_tools`",
        )
    }
}

impl Guard for KnownTools {
    fn name(&self) -> &str {
        "known_tools"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let facts = context.facts();
        let unclear = facts.opaque.iter().any(|opaque| opaque.what == OpaqueWhat::Tool);
        // A tool whose whole effect is on files and commands is described by them.
        let shown = facts.effects.iter().any(|effect| matches!(effect, Effect::File { .. } | Effect::Run(_)));
        let tool = facts.effects.iter().find_map(|effect| match effect {
            Effect::Tool { name, described, .. } => Some((name.as_str(), described.is_some())),
            _ => None,
        });
        tool.map_or_else(Verdict::pass, |(name, described)| {
            let sends = |effect: &Effect<_>| {
                matches!(effect, Effect::Deed { verb, object, .. } if verb == "send" && object == "data")
            };
            let sends = facts.effects.iter().any(sends);
            self.judge(action, name, described || shown && !unclear, sends)
        })
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

#[cfg(test)]
mod tests;
