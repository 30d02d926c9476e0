//! `budget:` and `rate_limit:`.

use lictor_core::{Audience, Layer};
use lictor_guards::{Budget, BudgetConfig, RateLimit, RateLimitConfig};

use super::audience;
use super::section::{BuiltIn, Section, share, value};
use crate::reader::{Fields, Reader};
use crate::table::{Key, Shape, Table};
use crate::yaml::Tree;

/// Budgets and rates.
pub(crate) static SECTION: Section = Section {
    keys: &[
        Key::new(
            "budget",
            Shape::OneOf(&[Shape::Fields(&BUDGET), Shape::List(&Shape::Fields(&BUDGET))]),
            "{max_actions: 500}",
            "How much one session may do. Guard `budget`. A list has several, each `for` somebody.",
        ),
        Key::new(
            "rate_limit",
            Shape::Fields(&RATE_LIMIT),
            "{max_per_minute: 30}",
            "How fast one session may go. Guard `rate_limit`.",
        ),
    ],
    read: |r, file, said| {
        if let Some(tree) = file.get("budget") {
            (said.budget, said.scoped_budgets) = audience::each(r, tree, "`budget`", budget);
        }
        said.rate_limit = value(r, file, "rate_limit", rate_limit);
    },
    guards: &[
        BuiltIn {
            name: "budget",
            section: "budget",
            layer: Layer::Resource,
            configured: |said| said.budget.is_some(),
            build: |layer| share(layer.sections.budget.clone().map(Budget::new)),
            last: false,
        },
        BuiltIn {
            name: "rate_limit",
            section: "rate_limit",
            layer: Layer::Resource,
            configured: |said| said.rate_limit.is_some(),
            build: |layer| share(layer.sections.rate_limit.map(RateLimit::new)),
            last: false,
        },
    ],
};

pub(crate) static BUDGET: Table = Table {
    name: "budget",
    about: "How much one session may do, its subagents included. What is absent is unlimited; 0 allows nothing. A \
            blocked attempt uses nothing up.",
    keys: &[
        MAX_ACTIONS,
        MAX_TASKS,
        Key::new("max_minutes", Shape::Integer, "120", "Minutes since the session's first event."),
        MAX_TOKENS,
        MAX_COST,
        audience::FOR,
        WARN_AT,
    ],
};

pub(super) const MAX_ACTIONS: Key =
    Key::new("max_actions", Shape::Integer, "500", "Actions that are not blocked.");
pub(super) const MAX_TASKS: Key = Key::new("max_tasks", Shape::Integer, "100", "Submitted tasks.");
pub(super) const MAX_TOKENS: Key = Key::new(
    "max_tokens",
    Shape::Integer,
    "2000000",
    "Tokens of models, in and out, as far as somebody reports them: a program with `post`, or an agent whose \
     transcript says so (`lictor agents`).",
);
pub(super) const MAX_COST: Key = Key::new(
    "max_cost",
    Shape::Number,
    "25",
    "What models cost, in the currency that the reporter counts in, as far as somebody reports it.",
);
pub(super) const WARN_AT: Key = Key::new(
    "warn_at",
    Shape::Fraction,
    "0.8",
    "The fraction of a limit from which on the agent is told. 0.8 when it is not said.",
);

pub(crate) fn budget(r: &mut Reader<'_>, tree: &Tree) -> Option<(Audience, BudgetConfig)> {
    let f = r.fields(tree, &BUDGET)?;
    let audience = audience::of(r, &f);
    for key in ["max_tokens", "max_cost"] {
        if let Some(place) = f.get(key).filter(|_| !(audience.prompt.is_empty() && audience.task.is_empty()))
        {
            let message = format!("`{key}` is reported for a session, not for a prompt or a task");
            r.error(place.span, message, "say for which `agent` or `subagent` it is, or leave out `for`");
        }
    }
    let config = BudgetConfig { max_minutes: r.field(&f, "max_minutes", Reader::integer), ..amounts(r, &f) };
    Some((audience, config))
}

/// What may be counted for anybody.
pub(super) fn amounts(r: &mut Reader<'_>, f: &Fields<'_>) -> BudgetConfig {
    BudgetConfig {
        max_actions: r.field(f, "max_actions", Reader::integer),
        max_tasks: r.field(f, "max_tasks", Reader::integer),
        max_minutes: None,
        max_tokens: r.field(f, "max_tokens", Reader::integer),
        max_cost: r.field(f, "max_cost", Reader::number),
        warn_at: r.field(f, "warn_at", Reader::fraction),
    }
}

pub(crate) static RATE_LIMIT: Table = Table {
    name: "rate_limit",
    about: "How fast one session may go.",
    keys: &[Key::new("max_per_minute", Shape::Integer, "30", "Allowed actions in any minute.").required()],
};

pub(crate) fn rate_limit(r: &mut Reader<'_>, tree: &Tree) -> Option<RateLimitConfig> {
    let f = r.fields(tree, &RATE_LIMIT)?;
    Some(RateLimitConfig { max_per_minute: r.field(&f, "max_per_minute", Reader::integer)? })
}
