//! Isolation between layers of a code base.

use std::collections::BTreeMap;

use lictor_core::facts::{Access, Effect, Place};
use lictor_core::{Action, Context, Fixable, Guard, Layer, Verdict};
use serde::Deserialize;

/// The configuration of `layers:`, by layer name.
pub type LayersConfig = BTreeMap<String, LayerConfig>;

/// One layer.
#[derive(Debug, Clone, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct LayerConfig {
    /// Its files: globs relative to the project's root.
    pub files: Vec<String>,
    /// Layers whose files may be touched from this one.
    #[serde(default)]
    pub may_touch: MayTouch,
    /// Agents that work in this layer, by name. Default: the agent with the layer's name.
    #[serde(default)]
    pub agents: Vec<String>,
}

/// Edges out of a layer: the same for every access, or one list for each kind.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(untagged, deny_unknown_fields)]
pub enum MayTouch {
    /// For reading and writing.
    Any(Vec<String>),
    /// Apart.
    Apart {
        /// Layers that may be read.
        #[serde(default)]
        read: Vec<String>,
        /// Layers that may be written.
        #[serde(default)]
        write: Vec<String>,
    },
}

impl Default for MayTouch {
    fn default() -> Self {
        Self::Any(Vec::new())
    }
}

impl MayTouch {
    fn allows(&self, layer: &str, access: Access) -> bool {
        let list = match self {
            Self::Any(list) => list,
            Self::Apart { read, .. } if access.is_read_only() => read,
            Self::Apart { write, .. } => write,
        };
        list.iter().any(|allowed| allowed == layer)
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        let (first, second): (&[String], &[String]) = match self {
            Self::Any(list) => (list, &[]),
            Self::Apart { read, write } => (read, write),
        };
        first.iter().chain(second)
    }
}

/// Why the layers are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayersError {
    /// An edge to a layer that does not exist.
    #[error("layer `{from}` may touch `{to}`, but there is no layer `{to}`")]
    UnknownLayer {
        /// The layer with the edge.
        from: String,
        /// The target layer.
        to: String,
    },
    /// One agent in two layers.
    #[error("agent `{agent}` works in two layers, `{first}` and `{second}`; name it in one")]
    AgentTwice {
        /// The agent.
        agent: String,
        /// One layer.
        first: String,
        /// The other.
        second: String,
    },
}

impl LayersError {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::UnknownLayer { .. } => ("unknown_layer", "add the layer, or correct its name"),
            Self::AgentTwice { .. } => ("agent_twice", "name the agent in one layer"),
        }
    }
}

impl Fixable for LayersError {
    fn kind(&self) -> &'static str {
        self.words().0
    }

    fn fix(&self) -> &'static str {
        self.words().1
    }
}

/// Blocks access from one layer to files of another that it may not touch.
#[derive(Debug)]
pub struct LayerIsolation {
    layers: LayersConfig,
    strict: bool,
}

impl LayerIsolation {
    /// A guard for these layers.
    ///
    /// # Errors
    /// An edge to a layer that does not exist, or an agent in two layers.
    pub fn new(layers: LayersConfig) -> Result<Self, LayersError> {
        let mut homes: BTreeMap<&str, &str> = BTreeMap::new();
        for (from, layer) in &layers {
            if let Some(to) = layer.may_touch.names().find(|to| !layers.contains_key(*to)) {
                return Err(LayersError::UnknownLayer { from: from.clone(), to: to.clone() });
            }
            for agent in &layer.agents {
                if let Some(first) = homes.insert(agent, from) {
                    return Err(LayersError::AgentTwice {
                        agent: agent.clone(),
                        first: first.to_owned(),
                        second: from.clone(),
                    });
                }
            }
        }
        Ok(Self { layers, strict: false })
    }

    /// The same, blocking files of the project that are in no layer.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// The acting layer: that of the innermost agent that has one, else that of the action's directory. Both are
    /// set by the runtime, not by the agent.
    fn actor<'a>(&'a self, action: &Action, root_relative_cwd: Option<&str>) -> Option<&'a str> {
        let agents = action.actor.chain.iter().rev().chain(std::iter::once(&action.actor.agent));
        for agent in agents.filter(|agent| !agent.is_empty()) {
            let home = self.layers.iter().find(|(name, layer)| {
                layer.agents.contains(agent) || layer.agents.is_empty() && *name == agent
            });
            if let Some((name, _)) = home {
                return Some(name);
            }
        }
        let inside = format!("{}/x", root_relative_cwd?);
        self.layers_of(&inside).next()
    }

    fn layers_of<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a str> {
        self.layers
            .iter()
            .filter(move |(_, layer)| layer.files.iter().any(|glob| fast_glob::glob_match(glob, path)))
            .map(|(name, _)| name.as_str())
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn judge(&self, actor: Option<&str>, access: Access, place: &Place) -> Option<Verdict> {
        let path = place.in_project.as_deref()?;
        let mut in_a_layer = false;
        for layer in self.layers_of(path) {
            in_a_layer = true;
            let Some(actor) = actor else {
                return Some(Verdict::block(
                    format!(
                        "`{}` belongs to layer `{layer}`, and it is not known which layer acts",
                        place.text
                    ),
                    format!("let an agent of layer `{layer}` do it, or start inside that layer's directory"),
                ));
            };
            let edges = self.layers.get(actor).map(|layer| &layer.may_touch);
            if actor != layer && !edges.is_some_and(|edges| edges.allows(layer, access)) {
                let open: Vec<String> =
                    edges.into_iter().flat_map(MayTouch::names).map(|name| format!("`{name}`")).collect();
                let open =
                    if open.is_empty() { String::new() } else { format!(" or in {}", open.join(", ")) };
                return Some(Verdict::block(
                    format!(
                        "`{}` belongs to layer `{layer}`, which layer `{actor}` may not touch",
                        place.text
                    ),
                    format!("make the change in layer `{actor}`{open}"),
                ));
            }
        }
        (self.strict && !in_a_layer && access != Access::Execute).then(|| {
            Verdict::block(
                format!("`{}` belongs to no layer", place.text),
                "work on files that belong to a layer, or let a person add the file to one",
            )
        })
    }
}

impl Guard for LayerIsolation {
    fn name(&self) -> &str {
        "layer_isolation"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let facts = context.facts();
        let cwd = facts.effects.iter().find_map(|effect| relative_cwd(effect, &action.cwd));
        let actor = self.actor(action, cwd);
        let found = facts.files().filter_map(|(access, place)| self.judge(actor, access, place));
        let found: Vec<Verdict> = found.take(8).collect();
        context.report(found)
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

/// The directory of the action relative to the project, derived from a place below it.
fn relative_cwd<'a>(effect: &Effect<Place>, cwd: &'a str) -> Option<&'a str> {
    let Effect::File { target, .. } = effect else { return None };
    let inside = target.in_project.as_deref()?;
    let root = target.path.strip_suffix(inside)?;
    cwd.strip_prefix(root)
}

#[cfg(test)]
mod tests;
