//! The sections of a policy file: one file for each, with its keys, its reader and its guards, and one line in
//! [`SECTIONS`].

pub(crate) mod access;
pub(crate) mod approvals;
pub(crate) mod audience;
pub(crate) mod bash_safety;
pub(crate) mod boundaries;
pub(crate) mod command;
pub(crate) mod completion;
pub(crate) mod councils;
pub(crate) mod describe;
pub(crate) mod exceptions;
pub(crate) mod feedback;
pub(crate) mod general;
pub(crate) mod graph;
pub(crate) mod guards;
pub(crate) mod intent;
pub(crate) mod known_tools;
pub(crate) mod layers;
pub(crate) mod limits;
pub(crate) mod network;
pub(crate) mod policies;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod section;
pub(crate) mod team;
pub(crate) mod tools;

use std::sync::Arc;

use lictor_core::feedback::Provider;
use lictor_core::policy::Ungrounded;
use lictor_core::{Audience, Decision};
use lictor_guards::{
    AccessConfig, BashSafetyConfig, BudgetConfig, FileBoundaryConfig, KnownToolsConfig, NetworkConfig,
    RateLimitConfig, RiskConfig, RuleException, SandboxConfig, SecretsConfig,
};
use serde::{Deserialize, Serialize};

use crate::reader::Reader;
use crate::table::{Key, Shape, Table};
use crate::yaml::Tree;
use section::{BuiltIn, Section};

pub use approvals::ApprovalsConfig;
pub use command::Command;
pub use completion::Completion;
pub use councils::{Council, Councils, Reviewer};
pub use describe::DescribeSection;
pub use general::Mode;
pub use graph::GraphNode;
pub use guards::{GuardDecides, NamedGuard};
pub use intent::{IntentSection, TaskRule};
pub use layers::{LayerSection, LayersSection};
pub use policies::{PolicyCallback, PolicyEffect, PolicyRule};
pub use run::{RunConfig, RunNetwork, Socket};
pub use team::{Away, RetentionConfig, ServerConfig};
pub use tools::ToolsSection;

/// All sections, in the order in which they are read and the reference shows them. Guards are judged in this order when no
/// graph names them.
static SECTIONS: [&Section; 25] = [
    &general::SECTION,
    &access::SECTION,
    &boundaries::SECTION,
    &bash_safety::SECTION,
    &exceptions::SECTION,
    &layers::SECTION,
    &sandbox::SECTION,
    &network::SECTION,
    &known_tools::SECTION,
    &describe::SECTION,
    &limits::SECTION,
    &intent::SECTION,
    &tools::SECTION,
    &policies::SECTION,
    &limits::RISK_SECTION,
    &guards::SECTION,
    &graph::SECTION,
    &feedback::SECTION,
    &completion::SECTION,
    &councils::SECTION,
    &team::SECTION,
    &approvals::SECTION,
    &command::SECTION,
    &run::SECTION,
    &general::REDACT_SECTION,
];

/// The whole file.
pub(crate) static FILE: Table =
    Table { name: "", about: "Every section is optional.", keys: &keys::<{ count(&SECTIONS) }>(&SECTIONS) };

/// The built-in guards, in the order in which they are judged when no graph names them.
pub(crate) fn built_in() -> impl Iterator<Item = &'static BuiltIn> {
    SECTIONS.iter().flat_map(|section| section.guards)
}

/// Reads a whole file.
pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<Sections> {
    let file = r.fields(tree, &FILE)?;
    let mut said = Sections::default();
    for section in &SECTIONS {
        (section.read)(r, &file, &mut said);
    }
    Some(said)
}

const fn count(mut sections: &[&Section]) -> usize {
    let mut count = 0;
    while let [first, rest @ ..] = sections {
        count += first.keys.len();
        sections = rest;
    }
    count
}

/// The keys of all sections, one after the other.
const fn keys<const COUNT: usize>(mut sections: &[&Section]) -> [Key; COUNT] {
    let mut all = [const { Key::new("", Shape::Text, "", "") }; COUNT];
    let mut free = all.as_mut_slice();
    while let [section, others @ ..] = sections {
        let (place, rest) = free.split_at_mut(section.keys.len());
        place.copy_from_slice(section.keys);
        (free, sections) = (rest, others);
    }
    all
}

/// What one file says, section by section. A section that is absent says nothing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Sections {
    /// Packs, when the file names any. An empty list is a statement.
    pub extends: Option<Vec<String>>,
    /// Whether decisions are enforced.
    pub mode: Option<Mode>,
    /// What an `ask` becomes when nobody is there.
    pub ask_when_unattended: Option<Decision>,
    /// `people:`, `roles:`, `access:` and `tools.scopes`.
    pub access: Option<AccessConfig>,
    /// Whether findings stop commits where no council is set up.
    pub findings_without_council: Option<bool>,
    /// `boundaries:`.
    pub boundaries: Option<FileBoundaryConfig>,
    /// `bash_safety:`.
    pub bash_safety: Option<BashSafetyConfig>,
    /// `exceptions:`.
    pub exceptions: Vec<RuleException>,
    /// `layers:`.
    pub layers: Option<LayersSection>,
    /// `sandbox:`.
    pub sandbox: Option<SandboxConfig>,
    /// `budget:`.
    pub budget: Option<BudgetConfig>,
    /// Budgets that are for some only.
    pub scoped_budgets: Vec<(Audience, BudgetConfig)>,
    /// `rate_limit:`.
    pub rate_limit: Option<RateLimitConfig>,
    /// `risk:`.
    pub risk: Option<RiskConfig>,
    /// `network:`.
    pub network: Option<NetworkConfig>,
    /// `secrets:`.
    pub secrets: Option<SecretsConfig>,
    /// `known_tools:`.
    pub known_tools: Option<KnownToolsConfig>,
    /// `describe:`.
    pub describe: Option<DescribeSection>,
    /// `known_tools.opaque`: what a command gets whose effects cannot be told.
    pub opaque: Option<Decision>,
    /// `known_tools.ungrounded`: what a deed gets that is not in the catalogue.
    pub ungrounded: Option<Ungrounded>,
    /// `intent:`.
    pub intent: Option<IntentSection>,
    /// `tools:`.
    pub tools: Option<ToolsSection>,
    /// Tool policies that are for some only.
    pub scoped_tools: Vec<(Audience, ToolsSection)>,
    /// `policies:`.
    pub policies: Vec<PolicyRule>,
    /// `guards:`.
    #[serde(deserialize_with = "crate::shared::many")]
    pub guards: Vec<Arc<NamedGuard>>,
    /// `policy:`.
    pub policy: Option<GraphNode>,
    /// `feedback:`.
    pub feedback: Vec<Provider>,
    /// `completion:`.
    pub completion: Option<Completion>,
    /// What must hold before some may stop.
    pub scoped_completions: Vec<(Audience, Completion)>,
    /// `councils:`.
    pub councils: Councils,
    /// Names below `guards:` whose definition was refused: they are not missing too.
    #[serde(skip)]
    pub(crate) refused_guards: Vec<String>,
    /// `approvals:`.
    pub approvals: Option<ApprovalsConfig>,
    /// `notify:`.
    pub notify: Option<Command>,
    /// `redact:`.
    pub redact: Vec<String>,
    /// `run:`.
    pub run: Option<RunConfig>,
    /// `store:`, when it is a database.
    pub store: Option<String>,
    /// `server:`.
    pub server: Option<ServerConfig>,
    /// `retention:`.
    pub retention: Option<RetentionConfig>,
}
