//! The decision for tools without a description.

use lictor_core::facts::{Effect, OpaqueWhat};
use lictor_core::{Action, Context, Decision, Digest, Guard, Layer, Value, Verdict};
use serde::{Deserialize, Serialize};

/// The configuration of `known_tools:`. Names may be globs (`mcp__github__get_*`).
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct KnownToolsConfig {
    /// Tools that may be used.
    pub known: Vec<String>,
    /// Tools that may not.
    pub blocked: Vec<String>,
    /// The decision for every other tool. Default: `ask`.
    pub unknown: Option<Decision>,
    /// Tools that a person approved.
    pub remembered: Vec<RememberedTool>,
    /// Servers whose claim that a tool is read-only is trusted.
    pub trusted_servers: Vec<String>,
}

/// A server's annotations of its own tool, passed along with the action. They are not trusted: they can make the
/// decision stricter, and more lenient only for servers in `trusted_servers`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServersWord {
    /// It may destroy something.
    pub destructive: bool,
    /// It changes nothing.
    pub read_only: bool,
}

/// The rule of an `ask` that only a server's own annotation caused.
pub const DESTRUCTIVE: &str = "destructive";

/// A tool without a description that a person approved. Its arguments are still judged.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct RememberedTool {
    /// Its full name (`mcp__server__tool`).
    pub tool: String,
    /// The digest of its server's configuration at that time. The same name on another server is another tool.
    #[serde(default)]
    pub server: Option<Digest>,
}

/// Asks about tools without a description.
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

    /// The policy's decision for the tool; a server's annotation can only make it stricter.
    fn judge(&self, action: &Action, name: &str, known: &Known<'_>, sends: bool) -> Verdict {
        let full = if action.tool.is_empty() { name } else { action.tool.as_str() };
        let verdict = self.by_name(full, known, sends);
        let in_full = self.is_remembered(full, known) || self.config.known.iter().any(|name| name == full);
        let raised = known.word.destructive && !known.described && !in_full;
        if raised && verdict.value() < Value::Ask { destructive(full) } else { verdict }
    }

    /// Whether a person approved the tool with the current configuration of its server.
    fn is_remembered(&self, full: &str, known: &Known<'_>) -> bool {
        self.config.remembered.iter().any(|one| one.tool == full && one.server == known.definition)
    }

    fn by_name(&self, full: &str, known: &Known<'_>, sends: bool) -> Verdict {
        let fits = |globs: &[String]| globs.iter().any(|glob| fast_glob::glob_match(glob, full));
        // A tool's name has no colon: a pattern for tools does not match a server's own requests.
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

/// The question when only the server's annotation objects to a tool that a pattern allows.
fn destructive(full: &str) -> Verdict {
    Verdict::of(
        Decision::Ask.into(),
        format!("the server of `{full}` says that this tool may destroy something"),
        "use another tool, or let a person name this one in full in `known_tools`",
    )
    .by_rule(DESTRUCTIVE)
}

/// What is known about the tool.
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
