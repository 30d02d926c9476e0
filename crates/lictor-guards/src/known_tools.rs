//! What to do with tools nobody described.

use lictor_core::facts::{Effect, OpaqueWhat};
use lictor_core::{Action, Context, Decision, Digest, Guard, Layer, Verdict};
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
    /// Tools that a person said yes to.
    pub remembered: Vec<RememberedTool>,
}

/// A tool that nobody described and a person said yes to. What it is called with is judged as before.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RememberedTool {
    /// Its full name (`mcp__server__tool`).
    pub tool: String,
    /// How its server was configured then. Behind another one, the same name is another tool.
    #[serde(default)]
    pub server: Option<Digest>,
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

    fn judge(&self, action: &Action, name: &str, known: Known, sends: bool) -> Verdict {
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
        let remembered = |one: &RememberedTool| one.tool == full && one.server == known.definition;
        if known.described || self.config.remembered.iter().any(remembered) {
            return Verdict::pass();
        }
        if self.config.remembered.iter().any(|one| one.tool == full) {
            return Verdict::of(
                self.config.unknown.unwrap_or(Decision::Ask).into(),
                format!(
                    "the server of `{full}` is configured in another way than when a person said yes to it"
                ),
                "use a built-in tool, or let a person look at the server and say yes again",
            );
        }
        Verdict::of(
            self.config.unknown.unwrap_or(Decision::Ask).into(),
            format!("nobody has said what the tool `{full}` does"),
            "use a built-in tool, or let a person remember this one (`lictor approve`)",
        )
    }
}

/// What is known of the tool at hand.
struct Known {
    described: bool,
    definition: Option<Digest>,
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
            Effect::Tool { name, described, definition, .. } => {
                Some((name.as_str(), described.is_some(), *definition))
            }
            _ => None,
        });
        tool.map_or_else(Verdict::pass, |(name, described, definition)| {
            let sends = |effect: &Effect<_>| {
                matches!(effect, Effect::Deed { verb, object, .. } if verb == "send" && object == "data")
            };
            let sends = facts.effects.iter().any(sends);
            let known = Known { described: described || shown && !unclear, definition };
            self.judge(action, name, known, sends)
        })
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

#[cfg(test)]
mod tests;
