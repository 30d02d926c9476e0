//! `tenant:`: what all sessions of a tenant may do together.

use lictor_core::Layer;
use lictor_guards::{Budget, BudgetConfig, RateLimit};

use super::limits::{self, RATE_LIMIT};
use super::section::{BuiltIn, Section, share};
use crate::reader::Reader;
use crate::table::{Key, Shape, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "tenant",
        Shape::Fields(&TENANT),
        "{rate_limit: {max_per_minute: 600}}",
        "How much and how fast all people and programs of a tenant together, where a server judges. Guards \
         `tenant_budget` and `tenant_rate_limit`.",
    )],
    read: |r, file, said| {
        let Some(f) = file.get("tenant").and_then(|tree| r.fields(tree, &TENANT)) else { return };
        said.tenant_budget = f.get("budget").and_then(|tree| budget(r, tree));
        said.tenant_rate_limit = f.get("rate_limit").and_then(|tree| limits::rate_limit(r, tree));
    },
    guards: &[
        BuiltIn {
            name: "tenant_budget",
            section: "tenant",
            layer: Layer::Resource,
            configured: |said| said.tenant_budget.is_some(),
            build: |layer| share(layer.sections.tenant_budget.clone().map(Budget::of_tenant)),
            last: false,
        },
        BuiltIn {
            name: "tenant_rate_limit",
            section: "tenant",
            layer: Layer::Resource,
            configured: |said| said.tenant_rate_limit.is_some(),
            build: |layer| share(layer.sections.tenant_rate_limit.map(RateLimit::of_tenant)),
            last: false,
        },
    ],
};

pub(crate) static TENANT: Table = Table {
    name: "tenant",
    about: "Counted from the first action on that is judged under it, over all sessions of all people, machines and \
            services of the tenant. Hooks judge on their own machine: there each session counts alone.",
    keys: &[
        Key::new("budget", Shape::Fields(&BUDGET), "{max_actions: 100000}", "How much."),
        Key::new("rate_limit", Shape::Fields(&RATE_LIMIT), "{max_per_minute: 600}", "How fast."),
    ],
};

/// As `budget`, without minutes: a tenant has no end.
pub(crate) static BUDGET: Table = Table {
    name: "tenant.budget",
    about: "How much a tenant may do. What is absent is unlimited; 0 allows nothing. A blocked attempt uses nothing up.",
    keys: &[limits::MAX_ACTIONS, limits::MAX_TASKS, limits::MAX_TOKENS, limits::MAX_COST, limits::WARN_AT],
};

fn budget(r: &mut Reader<'_>, tree: &Tree) -> Option<BudgetConfig> {
    let f = r.fields(tree, &BUDGET)?;
    Some(limits::amounts(r, &f))
}
