//! The combined policy of all files.

use std::sync::Arc;

use lictor_core::feedback::Source;
use lictor_core::{Audience, Decision, Digest, Quorum};
use lictor_guards::{Pack, RememberedTool};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::sections::{
    Command, GuardDecides, Mode, PolicyCallback, RetentionConfig, RunConfig, Sections, ServerConfig,
    ToolsSection,
};
use crate::source::{self, Origin};

mod cache;
mod guardrails;

/// A policy that can build graphs. It can be stored: see [`PolicyBundle::to_cache`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PolicyBundle {
    pub(crate) key: Digest,
    /// Shared, so that a copy costs nothing.
    #[serde(deserialize_with = "crate::shared::one")]
    pub(crate) layers: Arc<Vec<Layered>>,
}

/// The sections of one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Layered {
    /// The origin of the file.
    pub origin: Origin,
    /// Its path.
    pub path: String,
    /// Its sections.
    pub sections: Sections,
}

/// A program that a policy runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// What it is for: `guard deploy_checklist`.
    pub what: String,
    /// The origin of the file that names it. A repository's programs run only when a person has trusted them.
    pub origin: Origin,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The project files that determine what it does, as the file declares.
    pub reads: Vec<String>,
}

impl Program {
    /// Whether a person has to trust it before it runs.
    #[must_use]
    pub fn needs_trust(&self) -> bool {
        self.origin == Origin::Repository
    }
}

impl PolicyBundle {
    /// The policy without any file: the base.
    #[must_use]
    pub fn base() -> Self {
        Self { key: Self::key_of(Vec::new()), layers: Arc::default() }
    }

    /// Identifies the files of a policy without reading them as YAML.
    #[must_use]
    pub fn key_of<'a>(sources: impl IntoIterator<Item = &'a source::Source>) -> Digest {
        Self::key_in(VERSION, sources)
    }

    /// As [`PolicyBundle::key_of`] in another version of Lictor.
    #[must_use]
    pub fn key_in<'a>(version: &'a str, sources: impl IntoIterator<Item = &'a source::Source>) -> Digest {
        Digest::of_parts(parts_of(version, sources))
    }

    /// The same as [`PolicyBundle::key_of`] of the files it was made from.
    #[must_use]
    pub fn key(&self) -> Digest {
        self.key
    }

    /// Identifies the policy with the programs it runs. `hash` gives the digest of a file that a command line
    /// names, `None` when the word is not a file.
    #[must_use]
    pub fn digest(&self, hash: impl Fn(&str) -> Option<Digest>) -> Digest {
        self.digest_of(self.key, hash)
    }

    /// As [`PolicyBundle::digest`], with the files' key in another version of Lictor.
    #[must_use]
    pub fn digest_of(&self, key: Digest, hash: impl Fn(&str) -> Option<Digest>) -> Digest {
        let programs = self.programs();
        if programs.is_empty() {
            return key;
        }
        let mut parts: Vec<Vec<u8>> = vec![key.as_bytes().to_vec()];
        for word in programs.iter().flat_map(|program| &program.argv) {
            parts.extend(hash(word).map(|digest| digest.as_bytes().to_vec()));
        }
        Digest::of_parts(parts.iter().map(Vec::as_slice))
    }

    /// The files that it was made from, strongest first.
    #[must_use]
    pub fn layers(&self) -> &[Layered] {
        &self.layers
    }

    /// Whether nothing is enforced. The managed file overrides the user's.
    #[must_use]
    pub fn is_observing(&self) -> bool {
        self.trusted().find_map(|layer| layer.sections.mode) == Some(Mode::Observe)
    }

    /// What an `ask` becomes when no person is present.
    #[must_use]
    pub fn ask_when_unattended(&self) -> Decision {
        let said = self.trusted().filter_map(|layer| layer.sections.ask_when_unattended);
        said.max().unwrap_or(Decision::Block)
    }

    /// Whether a command counts as a success on this agent, if the agent does not report exit statuses.
    #[must_use]
    pub fn counts_unreported(&self, agent: &str) -> bool {
        let here =
            |(audience, tools): &(Audience, ToolsSection)| tools.unreported && audience.includes_agent(agent);
        self.trusted().any(|layer| {
            let sections = &layer.sections;
            sections.tools.as_ref().is_some_and(|tools| tools.unreported)
                || sections.scoped_tools.iter().any(here)
        })
    }

    /// Whether open findings stop commits where no council is set up. The managed file overrides the user's.
    #[must_use]
    pub fn findings_block_alone(&self) -> bool {
        self.trusted().find_map(|layer| layer.sections.findings_without_council).unwrap_or(true)
    }

    /// How long a call is held while a person is asked, in milliseconds; 0: not at all.
    #[must_use]
    pub fn approval_wait(&self) -> u64 {
        let said = self.trusted().filter_map(|layer| layer.sections.approvals.as_ref()?.wait);
        said.max().unwrap_or_default()
    }

    /// Whether the notification programs for questions run for blocks too.
    #[must_use]
    pub fn notifies_blocks(&self) -> bool {
        self.trusted().any(|layer| layer.sections.approvals.as_ref().is_some_and(|said| said.notify_blocks))
    }

    /// The sandbox of `lictor run`. Restrictions of all files apply; only trusted files can grant access.
    #[must_use]
    pub fn run(&self) -> RunConfig {
        let mut all = RunConfig::default();
        for said in self.layers.iter().filter_map(|layer| layer.sections.run.as_ref()) {
            all.sockets.extend(&said.sockets);
            all.hide.extend(said.hide.iter().cloned());
            all.network = all.network.max(said.network);
        }
        all.sockets.sort();
        all.sockets.dedup();
        all
    }

    /// Whether a tool with this name is blocked for every input.
    #[must_use]
    pub fn is_tool_blocked(&self, name: &str) -> bool {
        let blocked = self
            .layers
            .iter()
            .filter_map(|layer| layer.sections.known_tools.as_ref())
            .flat_map(|said| &said.blocked);
        blocked.into_iter().any(|glob| fast_glob::glob_match(glob, name))
    }

    /// Tools that people approved, with the file that remembers each.
    pub fn remembered_tools(&self) -> impl Iterator<Item = (&str, &RememberedTool)> {
        self.trusted().flat_map(|layer| {
            let said = layer.sections.known_tools.iter().flat_map(|said| &said.remembered);
            said.map(|tool| (layer.path.as_str(), tool))
        })
    }

    /// Whether an answer in an MCP client's own form counts as a person's answer.
    #[must_use]
    pub fn elicitation_counts(&self) -> bool {
        self.trusted()
            .any(|layer| layer.sections.approvals.as_ref().is_some_and(|said| said.elicitation_counts))
    }

    /// The address of the approvals page, from the first file that has one.
    #[must_use]
    pub fn approvals_page(&self) -> Option<&str> {
        self.trusted().find_map(|layer| layer.sections.approvals.as_ref()?.page.as_deref())
    }

    /// The quorum for approvals that satisfies every file.
    #[must_use]
    pub fn quorum(&self) -> Quorum {
        let said = self.layers.iter().filter_map(|layer| layer.sections.approvals.as_ref());
        said.fold(Quorum::default(), |all, said| all.and(said.quorum))
    }

    /// The programs that are notified of questions and blocks.
    #[must_use]
    pub fn notify(&self) -> Vec<&Command> {
        self.layers.iter().filter_map(|layer| layer.sections.notify.as_ref()).collect()
    }

    /// The database of the record, if it is not a file in the state directory. The strongest file decides.
    #[must_use]
    pub fn database(&self) -> Option<&str> {
        self.own().find_map(|layer| layer.sections.store.as_deref())
    }

    /// The team's server. The strongest file decides.
    #[must_use]
    pub fn server(&self) -> Option<&ServerConfig> {
        self.own().find_map(|layer| layer.sections.server.as_ref())
    }

    /// How long records stay in the store. The strongest file decides.
    #[must_use]
    pub fn retention(&self) -> RetentionConfig {
        self.trusted().find_map(|layer| layer.sections.retention).unwrap_or_default()
    }

    /// The files of this machine: a policy that a server publishes may not set the location of the record or the
    /// server.
    fn own(&self) -> impl Iterator<Item = &Layered> {
        self.trusted().filter(|layer| layer.origin != Origin::Team)
    }

    /// The councils of all files in the format of the ledger, with their origins.
    #[must_use]
    pub fn councils(&self) -> Vec<(String, Origin, Json)> {
        let all = self.layers.iter();
        all.flat_map(|layer| {
            let councils = layer.sections.councils.iter();
            councils.map(|(name, council)| (name.clone(), layer.origin, council.to_json()))
        })
        .collect()
    }

    /// The packs that apply besides the repository's own file.
    #[must_use]
    pub fn base_packs(&self) -> Vec<&str> {
        let mut said = self.trusted().filter_map(|layer| layer.sections.extends.as_ref()).peekable();
        if said.peek().is_none() {
            return vec![BASE];
        }
        said.flatten().map(String::as_str).collect()
    }

    /// The packs that the repository's file adds to the base.
    pub(crate) fn added_packs(&self) -> Vec<String> {
        let mut in_force: Vec<&str> = Vec::new();
        let mut open = self.base_packs();
        while let Some(name) = open.pop() {
            if !in_force.contains(&name) {
                in_force.push(name);
                open.extend(Pack::named(name).into_iter().flat_map(|pack| pack.extends.iter().copied()));
            }
        }
        let repository = self.layers.iter().filter(|layer| layer.origin == Origin::Repository);
        let named = repository.filter_map(|layer| layer.sections.extends.as_ref()).flatten();
        named.filter(|name| !in_force.contains(&name.as_str())).cloned().collect()
    }

    /// Every program that the policy runs, presets of reviewers apart.
    #[must_use]
    pub fn programs(&self) -> Vec<Program> {
        let mut programs = Vec::new();
        for Layered { origin, sections, .. } in self.layers.iter() {
            let mut add = |what: String, argv: &[String], reads: &[String]| {
                programs.push(Program { what, origin: *origin, argv: argv.to_vec(), reads: reads.to_vec() });
            };
            for guard in &sections.guards {
                if let GuardDecides::Command(command) = &guard.by {
                    add(format!("guard {}", guard.name), &command.argv, &command.reads);
                }
            }
            for rule in &sections.policies {
                if let Some(PolicyCallback::Command(command)) = &rule.callback {
                    add(format!("callback of policy {}", rule.name), &command.argv, &command.reads);
                }
            }
            for feedback in &sections.feedback {
                if let Source::Command { argv, reads, .. } = &feedback.source {
                    add(format!("feedback {}", feedback.name), argv, reads);
                }
            }
            let scoped = sections.scoped_completions.iter().map(|(_, one)| one);
            for command in sections.completion.iter().chain(scoped).flat_map(|one| one.commands()) {
                add("completion".to_owned(), &command.argv, &command.reads);
            }
            for (name, council) in &sections.councils {
                for reviewer in &council.reviewers {
                    if let Some(command) = &reviewer.command {
                        let what = format!("council {name}, reviewer {}", reviewer.name);
                        add(what, &command.argv, &command.reads);
                    }
                }
            }
            if let Some(command) = &sections.notify {
                add("notify".to_owned(), &command.argv, &command.reads);
            }
        }
        programs
    }

    /// The tools that the files describe, with the file and whether it may make a tool usable.
    #[must_use]
    pub fn described_tools(&self) -> Vec<lictor_observe::DescribedTool> {
        let mut all = Vec::new();
        for Layered { origin, path, sections } in self.layers.iter() {
            let tools = sections.describe.as_ref().map(|describe| describe.tools()).unwrap_or_default();
            let trusted = *origin != Origin::Repository;
            all.extend(tools.into_iter().map(|tool| lictor_observe::DescribedTool {
                tool,
                from: path.clone(),
                trusted,
            }));
        }
        all
    }

    /// Programs that the files describe.
    #[must_use]
    pub fn described_programs(&self) -> Vec<lictor_shell::describe::Program> {
        self.layers
            .iter()
            .filter_map(|layer| layer.sections.describe.as_ref())
            .flat_map(|describe| describe.programs())
            .collect()
    }

    pub(crate) fn trusted(&self) -> impl Iterator<Item = &Layered> {
        self.layers.iter().filter(|layer| layer.origin != Origin::Repository)
    }
}

/// The parts that identify the files of a policy: the version of Lictor, and the origin and bytes of each file.
fn parts_of<'a>(version: &'a str, sources: impl IntoIterator<Item = &'a source::Source>) -> Vec<&'a [u8]> {
    let mut sources: Vec<&source::Source> = sources.into_iter().collect();
    sources.sort_by_key(|source| source.origin);
    let head = [b"lictor policy 1".as_slice(), version.as_bytes()];
    let files = sources.into_iter().flat_map(|source| [source.origin.as_str().as_bytes(), &source.bytes]);
    head.into_iter().chain(files).collect()
}

/// The version that keys are made in.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The pack that applies unless a trusted file selects others.
pub(crate) const BASE: &str = "recommended";

#[cfg(test)]
mod tests;
