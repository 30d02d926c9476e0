//! Builds the graph of a policy.
//!
//! `All(base packs, managed, user, repository, self_protection, risk)`. Each file is a separate subtree, so that
//! a later file can add objections and never remove one. It contains the BOUNDARY guards (the first block ends
//! them), RESOURCE, INTENT, then the file's `policy:`. A section that the file's graph names occurs only there.

mod layer;

use std::sync::Arc;

use lictor_core::history::History;
use lictor_core::policy::{Catalogue, PolicyError, Ungrounded};
use lictor_core::tools::SequenceError;
use lictor_core::{All, Decision, GraphError, Node};
use lictor_guards::{
    KnownTools, KnownToolsConfig, LayersError, RiskError, Rules, RulesConfig, RulesError, SelfProtection,
};

use crate::command::Runner;
use crate::policy::{BASE, PolicyBundle};
use crate::sections::Sections;
use crate::source::Origin;
pub(crate) use layer::LayerBuilder;

/// The inputs of a graph besides the policy.
#[derive(Clone)]
pub struct BuildEnv {
    /// The project's root, absolute.
    pub root: String,
    /// Runs programs.
    pub runner: Arc<dyn Runner>,
}

/// A graph that is not validated yet, with what the engine has to track for it.
pub struct Built {
    /// The root.
    pub root: Node,
    /// The history that it needs.
    pub history: History,
    /// Whether it asks which files the agent has read.
    pub knows_files: bool,
    /// Paths and globs that must be detected inside globs and trees.
    pub watched: Vec<String>,
}

/// Why an accepted policy gives no graph: it was stored by another version, or Lictor has a bug.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Packs.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// Layers of the code base.
    #[error(transparent)]
    Layers(#[from] LayersError),
    /// Risk thresholds.
    #[error(transparent)]
    Risk(#[from] RiskError),
    /// Policies.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Policies(Vec<PolicyError>),
    /// Tool policies.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Sequence(Vec<SequenceError>),
    /// A guard that the graph names is not there.
    #[error("the graph names the guard `{0}`, which the policy does not have; delete the cached policy")]
    NoGuard(String),
    /// The graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl PolicyBundle {
    /// Builds the graph.
    ///
    /// # Errors
    /// Only for a policy that [`load`](crate::load) did not make.
    pub fn build(&self, env: &BuildEnv) -> Result<Built, BuildError> {
        let mut history = History::default();
        let mut children: Vec<Node> = Vec::new();
        let mut last: Vec<Node> = Vec::new();
        let mut watched = Vec::new();
        let said_extends = self.trusted().any(|layer| layer.sections.extends.is_some());
        if !said_extends {
            children.push(self.base_rules()?);
        }
        if !self.trusted().any(|layer| layer.sections.known_tools.is_some()) {
            let guard = KnownTools::new(KnownToolsConfig::default());
            children.push(Node::from(guard).named("base.known_tools"));
        }
        let catalogue = || self.catalogue();
        for layer in self.layers.iter() {
            let sections = &layer.sections;
            let mut builder = LayerBuilder {
                origin: layer.origin,
                sections,
                env,
                ungrounded: self.ungrounded(sections),
                catalogue: &catalogue,
                history: &mut history,
            };
            let mut first: Vec<Node> = Vec::new();
            if let Some((name, config)) = self.rules_of(layer.origin, sections) {
                first.push(Node::from(Rules::accepted(&config)?).named(&name));
            }
            if let Some(decision) = self.own_opaque(layer.origin, sections, said_extends) {
                first.push(builder.opaque(decision));
            }
            let (tree, risk) = builder.build(first)?;
            children.extend(tree);
            last.extend(risk);
            if let Some(boundaries) = &sections.boundaries {
                watched.extend(boundaries.red_line_files.iter().chain(&boundaries.blocked_paths).cloned());
            }
        }
        // After the sections, so that a policy's own reason for the same action comes first.
        children.push(SelfProtection.into());
        children.append(&mut last);
        let knows_files = self
            .layers
            .iter()
            .flat_map(|layer| {
                let scoped = layer.sections.scoped_tools.iter().map(|(_, tools)| tools);
                layer.sections.tools.iter().chain(scoped)
            })
            .any(|tools| tools.read_before_write);
        Ok(Built { root: All::new(children).into(), history, knows_files, watched })
    }

    /// The verbs and objects of all files: a word from a description in another file is known here too.
    fn catalogue(&self) -> Catalogue {
        let described = self.layers.iter().filter_map(|layer| layer.sections.describe.as_ref());
        described.fold(Catalogue::default(), |catalogue, describe| describe.extend(catalogue))
    }

    /// The effect of a file's policies on deeds outside the catalogue: that of the trusted files, or a stricter
    /// one.
    fn ungrounded(&self, sections: &Sections) -> Ungrounded {
        let trusted = self.trusted().filter_map(|layer| layer.sections.ungrounded).max();
        trusted.unwrap_or_default().max(sections.ungrounded.unwrap_or(Ungrounded::Ask))
    }

    /// The packs that apply when no trusted file selects any; exceptions of trusted files apply to them.
    fn base_rules(&self) -> Result<Node, BuildError> {
        let exceptions = self.trusted().filter_map(|layer| layer.sections.bash_safety.as_ref());
        let config = RulesConfig {
            packs: vec![BASE.to_owned()],
            allow: exceptions.flat_map(|section| section.allow.iter().cloned()).collect(),
            opaque: self.trusted().filter_map(|layer| layer.sections.opaque).max(),
            except: self.trusted().flat_map(|layer| layer.sections.exceptions.iter().cloned()).collect(),
        };
        Ok(Node::from(Rules::accepted(&config)?).named("rules"))
    }

    /// The packs that a file itself selects; only its own exceptions apply to them.
    fn rules_of(&self, origin: Origin, sections: &Sections) -> Option<(String, RulesConfig)> {
        let packs = match origin {
            Origin::Repository => self.added_packs(),
            _ => sections.extends.clone().unwrap_or_default(),
        };
        let allow = sections.bash_safety.as_ref().map(|section| section.allow.clone()).unwrap_or_default();
        // A repository's setting for opaque commands is a separate guard: it may be stricter, not more lenient.
        let opaque = sections.opaque.filter(|_| origin != Origin::Repository);
        let name = format!("{}.rules", origin.as_str());
        (!packs.is_empty())
            .then_some((name, RulesConfig { packs, allow, opaque, except: sections.exceptions.clone() }))
    }

    /// A file's setting for opaque commands, if no packs use it.
    fn own_opaque(&self, origin: Origin, sections: &Sections, said_extends: bool) -> Option<Decision> {
        let taken_up = origin != Origin::Repository
            && (!said_extends || sections.extends.as_ref().is_some_and(|packs| !packs.is_empty()));
        sections.opaque.filter(|decision| !taken_up && *decision > Decision::Pass)
    }
}

#[cfg(test)]
mod tests;
