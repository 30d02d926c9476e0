//! What conditions can read: the action, its facts, the session.

mod env;
mod guard;

use lictor_expr::{Schema, Type};

pub use guard::Condition;
pub(crate) use guard::{ExprCallback, ExprGuard};

/// Counters of the session that conditions can read.
const COUNTERS: [&str; 11] = [
    "action_count",
    "pass_count",
    "warn_count",
    "ask_count",
    "block_count",
    "escalation_count",
    "task_count",
    "success_count",
    "failure_count",
    "ungoverned_count",
    "bypass_count",
];

/// The roots of every expression in a policy, with their types.
#[must_use]
pub fn schema() -> Schema {
    let text = || Type::String;
    let maybe = || Type::optional(Type::String);
    let texts = || Type::list(Type::String);
    let file = Type::record([
        ("path", text()),
        ("text", text()),
        ("access", text()),
        ("zone", text()),
        ("in_project", maybe()),
        ("exists", Type::Bool),
        ("secret", Type::Bool),
        ("own", Type::Bool),
        ("glob", Type::Bool),
        ("recursive", Type::Bool),
    ]);
    let command = Type::record([("program", text()), ("words", texts()), ("through", texts())]);
    let deed = Type::record([
        ("verb", text()),
        ("object", text()),
        ("cardinality", text()),
        ("count", Type::optional(Type::Int)),
        ("targets", texts()),
    ]);
    let counters = COUNTERS.map(|name| (name, Type::Int));
    let session = counters.into_iter().chain([("minutes", Type::Int), ("streaks", Type::map(Type::Int))]);
    Schema::builder()
        .record(
            "action",
            [
                ("kind", text()),
                ("tool", text()),
                ("cwd", text()),
                ("agent", text()),
                ("chain", texts()),
                // Empty when there is none, so that every action can be routed by it.
                ("task_type", text()),
                ("session_id", maybe()),
                ("user", maybe()),
                ("tenant", maybe()),
                ("tier", maybe()),
            ],
        )
        // Empty if the action has no actor.
        .record(
            "user",
            [("id", text()), ("email", text()), ("role", text()), ("scopes", texts()), ("groups", texts())],
        )
        .root("payload", Type::map(Type::Dyn))
        .record(
            "facts",
            [
                ("files", Type::list(file)),
                ("programs", texts()),
                ("commands", Type::list(command)),
                ("hosts", texts()),
                ("deeds", Type::list(deed)),
                ("opaque", Type::Bool),
            ],
        )
        .record("session", session)
        .root("risk", Type::Double)
        .root("annotations", Type::map(Type::Dyn))
        .build()
}

#[cfg(test)]
mod tests;
