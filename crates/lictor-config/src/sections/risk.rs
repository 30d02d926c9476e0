//! `risk:`.

use lictor_core::Layer;
use lictor_guards::{RiskConfig, RiskLimit};

use super::section::{BuiltIn, Section, share, value};
use crate::reader::Reader;
use crate::table::{Key, Shape, Table};
use crate::yaml::Tree;

/// The risk that all other guards have raised.
pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "risk",
        Shape::Fields(&RISK),
        "{ask_at: 0.5}",
        "Asks or blocks when other guards have raised the risk. Guard `risk`, judged last.",
    )],
    read: |r, file, said| said.risk = value(r, file, "risk", risk),
    guards: &[BuiltIn {
        name: "risk",
        section: "risk",
        layer: Layer::Intent,
        configured: |said| said.risk.is_some(),
        build: |layer| share(layer.sections.risk.map(RiskLimit::new).transpose()?),
        last: true,
    }],
};

pub(crate) static RISK: Table = Table {
    name: "risk",
    about: "Other guards raise the risk of an action; this one stops it at a score from 0 to 1.",
    keys: &[
        Key::new("ask_at", Shape::Fraction, "0.5", "From here on a person is asked."),
        Key::new("block_at", Shape::Fraction, "0.9", "From here on it is blocked."),
    ],
};

pub(crate) fn risk(r: &mut Reader<'_>, tree: &Tree) -> Option<RiskConfig> {
    let f = r.fields(tree, &RISK)?;
    let ask_at = r.field(&f, "ask_at", Reader::fraction);
    let block_at = r.field(&f, "block_at", Reader::fraction);
    if let (Some(ask), Some(block), Some(place)) = (ask_at, block_at, f.get("ask_at"))
        && ask >= block
    {
        r.error(
            place.span,
            format!("nobody is ever asked: what reaches {ask} is already blocked from {block} on"),
            "let `ask_at` be below `block_at`",
        );
    }
    Some(RiskConfig { ask_at, block_at })
}
