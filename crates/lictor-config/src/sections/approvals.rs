//! `approvals:`.

use serde::{Deserialize, Serialize};

use crate::reader::Reader;
use crate::table::{Key, Shape, Table};
use crate::yaml::Tree;

pub(crate) static TABLE: Table = Table {
    name: "approvals",
    about: "What becomes of a question where the agent has no prompt of its own: it is left in `lictor approvals`.",
    keys: &[
        Key::new(
            "wait",
            Shape::Duration,
            "50s",
            "How long the call is held while a person is asked. An answer counts at once. Always ends before the agent \
             would give up on the hook. The call is refused at once when it is not said.",
        ),
        Key::new(
            "notify_blocks",
            Shape::Bool,
            "true",
            "Whether `notify` is told about blocks too, not only about questions.",
        ),
    ],
};

/// How questions are handled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalsConfig {
    /// How long a call is held, in milliseconds.
    pub wait: Option<u64>,
    /// Whether people are told about blocks too.
    pub notify_blocks: bool,
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<ApprovalsConfig> {
    let f = r.fields(tree, &TABLE)?;
    Some(ApprovalsConfig {
        wait: r.field(&f, "wait", Reader::duration),
        notify_blocks: r.field(&f, "notify_blocks", Reader::boolean).unwrap_or_default(),
    })
}
