//! `approvals:`.

use lictor_core::Quorum;
use serde::{Deserialize, Serialize};

use super::section::{Section, value};
use super::team;
use crate::reader::Reader;
use crate::table::{Key, Shape, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "approvals",
        Shape::Fields(&TABLE),
        "{wait: 50s}",
        "How a question to a person is handled where the agent has no prompt of its own.",
    )
    .trusted()],
    read: |r, file, said| said.approvals = value(r, file, "approvals", read),
    guards: &[],
};

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
        Key::new(
            "elicitation_counts",
            Shape::Bool,
            "true",
            "Whether an answer in an MCP client's own form counts as a person's. Some clients let programs answer their \
             forms, so it does not when it is not said. Only in files of the user or the machine.",
        ),
        Key::new(
            "page",
            Shape::Text,
            "http://127.0.0.1:4750",
            "Where people answer: the address of `lictor ui --port 4750`, or of the team's server. MCP clients that show \
             addresses are given it, and the call is held meanwhile. The page asks for sign-in: the address alone answers \
             nothing. Only in files of the user or the machine.",
        ),
        Key::new(
            "quorum",
            Shape::Integer,
            "2",
            "How many different people must say yes. The agent's own prompt counts for nobody then: the question waits on \
             the server's page and in `lictor approvals`. Of several files the largest number counts. 1 when it is not said.",
        ),
        Key::new(
            "four_eyes",
            Shape::Bool,
            "true",
            "Whether the person for whom an agent works may not be the one who says yes.",
        ),
    ],
};

/// How questions are handled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalsConfig {
    /// How long a call is held, in milliseconds.
    pub wait: Option<u64>,
    /// Whether people are notified of blocks too.
    pub notify_blocks: bool,
    /// Whether an MCP client's form counts as a person.
    pub elicitation_counts: bool,
    /// The address of the page where people answer.
    pub page: Option<String>,
    /// Who has to approve.
    pub quorum: Quorum,
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<ApprovalsConfig> {
    let f = r.fields(tree, &TABLE)?;
    let people = r.field(&f, "quorum", Reader::integer);
    if let Some(place) = f.get("quorum").filter(|_| people == Some(0)) {
        r.error(place.span, "with `quorum: 0` nobody would have to say yes", "use 1 or more");
    }
    let people = people.map_or(1, |number| u32::try_from(number).unwrap_or(u32::MAX));
    let four_eyes = r.field(&f, "four_eyes", Reader::boolean).unwrap_or_default();
    Some(ApprovalsConfig {
        wait: r.field(&f, "wait", Reader::duration),
        notify_blocks: r.field(&f, "notify_blocks", Reader::boolean).unwrap_or_default(),
        elicitation_counts: r.field(&f, "elicitation_counts", Reader::boolean).unwrap_or_default(),
        page: r.field(&f, "page", page),
        quorum: Quorum { people, four_eyes },
    })
}

fn page(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<String> {
    let page = r.sentence(tree, what)?;
    if !team::is_private(&page) || page.contains(['?', '#', '@', ' ']) {
        r.error(
            tree.span,
            "the page has no such address",
            "use `https://HOST`, or `http://127.0.0.1:PORT` on this machine",
        );
        return None;
    }
    Some(page.trim_end_matches('/').to_owned())
}
