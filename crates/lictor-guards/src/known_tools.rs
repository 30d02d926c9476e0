//! What to do with tools nobody described.

use lictor_core::facts::{Effect, OpaqueWhat};
use lictor_core::{Action, Context, Decision, Digest, Guard, Layer, Value, Verdict};
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
    /// Servers that are believed when they say that a tool of theirs only reads.
    pub trusted_servers: Vec<String>,
}

/// What the server of a tool says about it, given along with the action. Servers say what they like: it makes the
/// judgement stricter, and milder only for those in `trusted_servers`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServersWord {
    /// It may destroy something.
    pub destructive: bool,
    /// It changes nothing.
    pub read_only: bool,
}

/// The rule of a question that only a server's own word gave rise to.
pub const DESTRUCTIVE: &str = "destructive";

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

    /// What the policy says of the tool; a server's word against its own tool can only make that stricter.
    fn judge(&self, action: &Action, name: &str, known: &Known<'_>, sends: bool) -> Verdict {
        let full = if action.tool.is_empty() { name } else { action.tool.as_str() };
        let verdict = self.by_name(full, known, sends);
        let in_full = self.is_remembered(full, known) || self.config.known.iter().any(|name| name == full);
        let raised = known.word.destructive && !known.described && !in_full;
        if raised && verdict.value() < Value::Ask { destructive(full) } else { verdict }
    }

    /// Whether a person said yes to the tool, as its server is configured now.
    fn is_remembered(&self, full: &str, known: &Known<'_>) -> bool {
        self.config.remembered.iter().any(|one| one.tool == full && one.server == known.definition)
    }

    fn by_name(&self, full: &str, known: &Known<'_>, sends: bool) -> Verdict {
        let fits = |globs: &[String]| globs.iter().any(|glob| fast_glob::glob_match(glob, full));
        // A colon is in no tool's name: a pattern for tools says nothing about what a server asks for itself.
        let named = |glob: &&String| glob.contains(':') || !full.contains(':');
        let fits_known =
            || self.config.known.iter().filter(named).any(|glob| fast_glob::glob_match(glob, full));
        if fits(&self.config.blocked) {
            return Verdict::block(
                format!("the tool `{full}` is blocked by this policy"),
                "use another tool",
            );
        }
        if fits_known() {
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
        let believed =
            known.word.read_only && !known.word.destructive && known.is_of(&self.config.trusted_servers);
        if known.described || self.is_remembered(full, known) || believed {
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

/// What is asked when only the server's word speaks against a tool that a pattern lets through.
fn destructive(full: &str) -> Verdict {
    Verdict::of(
        Decision::Ask.into(),
        format!("the server of `{full}` says that this tool may destroy something"),
        "use another tool, or let a person name this one in full in `known_tools`",
    )
    .by_rule(DESTRUCTIVE)
}

/// What is known of the tool at hand.
struct Known<'a> {
    server: Option<&'a str>,
    described: bool,
    definition: Option<Digest>,
    word: ServersWord,
}

impl Known<'_> {
    fn is_of(&self, servers: &[String]) -> bool {
        self.server.is_some_and(|own| servers.iter().any(|server| server == own))
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
            Effect::Tool { server, name, described, definition } => {
                Some((server.as_deref(), name.as_str(), described.is_some(), *definition))
            }
            _ => None,
        });
        let word = context.companion().and_then(|companion| companion.get::<ServersWord>()).copied();
        tool.map_or_else(Verdict::pass, |(server, name, described, definition)| {
            let sends = |effect: &Effect<_>| {
                matches!(effect, Effect::Deed { verb, object, .. } if verb == "send" && object == "data")
            };
            let sends = facts.effects.iter().any(sends);
            let described = described || shown && !unclear;
            let known = Known { server, described, definition, word: word.unwrap_or_default() };
            self.judge(action, name, &known, sends)
        })
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

#[cfg(test)]
mod tests;
