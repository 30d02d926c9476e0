//! The sections of a policy file: one file for each, with its keys, its reader and its guards, and one entry in
//! the list below, with its typed value.

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
pub(crate) mod redact;
pub(crate) mod risk;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod section;
pub(crate) mod team;
pub(crate) mod tenant;
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

/// Declares the sections: the module and the typed value. An absent section has the default.
macro_rules! sections {
    ($($module:ident { $($(#[$meta:meta])* $vis:vis $field:ident: $type:ty,)* })*) => {
        static SECTIONS: &[&Section] = &[$(&$module::SECTION),*];

        /// The sections of one file. An absent section has the default.
        #[derive(Debug, Clone, Default, Serialize, Deserialize)]
        pub struct Sections {
            $($($(#[$meta])* $vis $field: $type,)*)*
        }
    };
}

// In the order in which they are read and the reference shows them. Guards are judged in this order when no graph names
// them.
sections! {
    general {
        /// Packs, if the file names any. An empty list is different from none.
        pub extends: Option<Vec<String>>,
        /// Whether decisions are enforced.
        pub mode: Option<Mode>,
        /// What an `ask` becomes when no person is present.
        pub ask_when_unattended: Option<Decision>,
        /// Whether findings stop commits where no council is set up.
        pub findings_without_council: Option<bool>,
    }
    access {
        /// `people:`, `roles:`, `access:` and `tools.scopes`.
        pub access: Option<AccessConfig>,
    }
    boundaries {
        /// `boundaries:`.
        pub boundaries: Option<FileBoundaryConfig>,
    }
    bash_safety {
        /// `bash_safety:`.
        pub bash_safety: Option<BashSafetyConfig>,
    }
    exceptions {
        /// `exceptions:`.
        pub exceptions: Vec<RuleException>,
    }
    layers {
        /// `layers:`.
        pub layers: Option<LayersSection>,
    }
    sandbox {
        /// `sandbox:`.
        pub sandbox: Option<SandboxConfig>,
    }
    network {
        /// `network:`.
        pub network: Option<NetworkConfig>,
        /// `secrets:`.
        pub secrets: Option<SecretsConfig>,
    }
    known_tools {
        /// `known_tools:`.
        pub known_tools: Option<KnownToolsConfig>,
        /// `known_tools.opaque`: the decision for commands whose effects cannot be determined.
        pub opaque: Option<Decision>,
        /// `known_tools.ungrounded`: the decision for deeds that are not in the catalogue.
        pub ungrounded: Option<Ungrounded>,
    }
    describe {
        /// `describe:`.
        pub describe: Option<DescribeSection>,
    }
    limits {
        /// `budget:`.
        pub budget: Option<BudgetConfig>,
        /// Budgets that are for some only.
        pub scoped_budgets: Vec<(Audience, BudgetConfig)>,
        /// `rate_limit:`.
        pub rate_limit: Option<RateLimitConfig>,
    }
    tenant {
        /// `tenant.budget`.
        pub tenant_budget: Option<BudgetConfig>,
        /// `tenant.rate_limit`.
        pub tenant_rate_limit: Option<RateLimitConfig>,
    }
    intent {
        /// `intent:`.
        pub intent: Option<IntentSection>,
    }
    tools {
        /// `tools:`.
        pub tools: Option<ToolsSection>,
        /// Tool policies that are for some only.
        pub scoped_tools: Vec<(Audience, ToolsSection)>,
    }
    policies {
        /// `policies:`.
        pub policies: Vec<PolicyRule>,
    }
    risk {
        /// `risk:`.
        pub risk: Option<RiskConfig>,
    }
    guards {
        /// `guards:`.
        #[serde(deserialize_with = "crate::shared::many")]
        pub guards: Vec<Arc<NamedGuard>>,
        /// Names below `guards:` whose definition was refused: they are not reported as missing too.
        #[serde(skip)]
        pub(crate) refused_guards: Vec<String>,
    }
    graph {
        /// `policy:`.
        pub policy: Option<GraphNode>,
    }
    feedback {
        /// `feedback:`.
        pub feedback: Vec<Provider>,
    }
    completion {
        /// `completion:`.
        pub completion: Option<Completion>,
        /// Completion checks that apply to some agents or tasks only.
        pub scoped_completions: Vec<(Audience, Completion)>,
    }
    councils {
        /// `councils:`.
        pub councils: Councils,
    }
    team {
        /// `store:`, when it is a database.
        pub store: Option<String>,
        /// `server:`.
        pub server: Option<ServerConfig>,
        /// `retention:`.
        pub retention: Option<RetentionConfig>,
    }
    approvals {
        /// `approvals:`.
        pub approvals: Option<ApprovalsConfig>,
    }
    command {
        /// `notify:`.
        pub notify: Option<Command>,
    }
    run {
        /// `run:`.
        pub run: Option<RunConfig>,
    }
    redact {
        /// `redact:`.
        pub redact: Vec<String>,
    }
}

/// The whole file.
pub(crate) static FILE: Table =
    Table { name: "", about: "Every section is optional.", keys: &keys::<{ count(SECTIONS) }>(SECTIONS) };

/// The built-in guards, in the order in which they are judged when no graph names them.
pub(crate) fn built_in() -> impl Iterator<Item = &'static BuiltIn> {
    SECTIONS.iter().flat_map(|section| section.guards)
}

/// Reads a whole file.
pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<Sections> {
    let file = r.fields(tree, &FILE)?;
    let mut said = Sections::default();
    for section in SECTIONS {
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
