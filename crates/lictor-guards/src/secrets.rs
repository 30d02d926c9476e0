//! Secrets: reading them, writing them into files, sending them out.

use lictor_core::facts::{Access, Effect, FlowSource, Place};
use lictor_core::{Action, ActionKind, Context, Decision, Guard, Layer, Verdict};
use serde::{Deserialize, Serialize};

mod scan;

/// The configuration of `secrets:`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct SecretsConfig {
    /// Further files that hold secrets: globs relative to the project's root.
    pub files: Vec<String>,
    /// The decision for reading a secret. Default: `ask`.
    pub read: Option<Decision>,
    /// The decision for writing text with a key or token into a file. Default: `ask`.
    pub write: Option<Decision>,
    /// The decision for sending a secret out. Default: `block`.
    pub send: Option<Decision>,
}

/// Judges the use of secrets.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    config: SecretsConfig,
}

impl Secrets {
    /// A guard with that configuration.
    #[must_use]
    pub fn new(config: SecretsConfig) -> Self {
        Self { config }
    }

    fn is_secret(&self, place: &Place) -> bool {
        let inside = place.in_project.as_deref().unwrap_or(&place.path);
        place.secret || self.config.files.iter().any(|glob| fast_glob::glob_match(glob, inside))
    }

    fn judge(&self, effect: &Effect<Place>) -> Option<Verdict> {
        match effect {
            Effect::File { access: Access::Read, target, .. } if self.is_secret(target) => Some(
                Verdict::of(
                    self.config.read.unwrap_or(Decision::Ask).into(),
                    format!("`{}` holds secrets and would be read", target.text),
                    "read its template or public half instead, for example `cat .env.example`",
                )
                .by_rule("read"),
            ),
            Effect::Flow { from: FlowSource::Secret, text, .. } => Some(
                Verdict::of(
                    self.config.send.unwrap_or(Decision::Block).into(),
                    format!("`{text}` would pass secrets on"),
                    "send only what is public",
                )
                .by_rule("send"),
            ),
            _ => None,
        }
    }

    /// Keys and tokens in what a write action puts into a file.
    fn written(&self, action: &Action) -> Option<Verdict> {
        if action.kind != ActionKind::Write {
            return None;
        }
        let fields = ["content", "new", "new_string", "patch", "new_source"];
        let found = fields.iter().filter_map(|field| action.text(field)).find_map(scan::find)?;
        let path = action.text("path").or_else(|| action.text("file_path")).unwrap_or("a file");
        Some(
            Verdict::of(
                self.config.write.unwrap_or(Decision::Ask).into(),
                format!("{found} would be written into `{path}`"),
                "write the name of an environment variable instead of its value",
            )
            .by_rule("write"),
        )
    }
}

impl Guard for Secrets {
    fn name(&self) -> &str {
        "secrets"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let mut found: Vec<Verdict> =
            context.facts().effects.iter().filter_map(|effect| self.judge(effect)).take(8).collect();
        found.extend(self.written(action));
        found.retain(|verdict| {
            !verdict.passed() || !verdict.reason().is_empty() && verdict.value() > lictor_core::Value::Pass
        });
        found.sort_by_key(|verdict| std::cmp::Reverse(verdict.value()));
        if !found.is_empty() {
            context.tag("secret");
        }
        context.report(found)
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

#[cfg(test)]
mod tests;
