//! Open actions as they are stored. Every hook reads and writes all of them, so what each has is one short text, and an
//! object only around those of which there is more to say.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Open;
use crate::clock::Timestamp;
use crate::decision::Decision;
use crate::digest::Digest;
use crate::digits;
use crate::history::Mark;

/// The decisions, each in its place.
const DECISIONS: [Decision; 4] = [Decision::Pass, Decision::Warn, Decision::Ask, Decision::Block];
/// How many hexadecimal digits a digest has.
const DIGEST: usize = Digest::DIGITS;

/// What every open action has: the digest of the action, then as [`digits`] its decision and whether it was only
/// observed, its time, its position, the length of its dialect and of its id (each one more than it is; nothing is 0),
/// then these two.
fn text(open: &Open) -> String {
    let mut text = String::with_capacity(DIGEST + 96);
    text.push_str(open.action.text(&mut [0; DIGEST]));
    let decision = DECISIONS.iter().position(|known| *known == open.decision).unwrap_or_default() as u64;
    let length = |part: &Option<String>| part.as_ref().map_or(0, |part| part.len() as u64 + 1);
    let numbers = [
        decision << 1 | u64::from(open.observed),
        open.at.0.cast_unsigned(),
        open.position,
        length(&open.dialect),
        length(&open.tool_use_id),
    ];
    numbers.into_iter().for_each(|number| digits::push(&mut text, number));
    [&open.dialect, &open.tool_use_id].into_iter().flatten().for_each(|part| text.push_str(part));
    text
}

fn read(text: &str) -> Option<Open> {
    let (action, text) = text.split_at_checked(DIGEST)?;
    let mut rest = text;
    let mut number = || {
        let (number, after) = digits::first(rest)?;
        rest = after;
        Some(number)
    };
    let (decision, at, position, dialect, id) = (number()?, number()?, number()?, number()?, number()?);
    let mut part = |length: u64| match length.checked_sub(1) {
        None => Some(None),
        Some(length) => {
            let (part, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            rest = after;
            Some(Some(part.to_owned()))
        }
    };
    let (dialect, tool_use_id) = (part(dialect)?, part(id)?);
    rest.is_empty().then_some(Open {
        action: action.parse().ok()?,
        tool_use_id,
        decision: *DECISIONS.get(usize::try_from(decision >> 1).ok()?)?,
        observed: decision & 1 == 1,
        dialect,
        at: Timestamp(at.cast_signed()),
        position,
        marks: Vec::new(),
        spends: BTreeMap::new(),
    })
}

/// Writes all of them.
pub(in crate::session) fn serialize<S: Serializer>(
    queue: &VecDeque<Open>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(queue.iter().map(Writing))
}

/// Reads all of them.
pub(in crate::session) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<VecDeque<Open>, D::Error> {
    let all = Vec::<Reading>::deserialize(deserializer)?;
    Ok(all.into_iter().map(|Reading(open)| open).collect())
}

struct Writing<'a>(&'a Open);

impl Serialize for Writing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(open) = self;
        let text = text(open);
        if open.marks.is_empty() && open.spends.is_empty() {
            return serializer.serialize_str(&text);
        }
        let mut object = serializer.serialize_struct("Open", 3)?;
        object.serialize_field("call", &text)?;
        if !open.marks.is_empty() {
            object.serialize_field("marks", &open.marks)?;
        }
        if !open.spends.is_empty() {
            object.serialize_field("spends", &open.spends)?;
        }
        object.end()
    }
}

/// An object. Older versions wrote what is now in `call` field by field.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    call: Option<Cow<'a, str>>,
    action: Option<Digest>,
    tool_use_id: Option<String>,
    decision: Option<Decision>,
    #[serde(default)]
    observed: bool,
    dialect: Option<String>,
    #[serde(default)]
    at: Timestamp,
    #[serde(default)]
    position: u64,
    #[serde(default)]
    marks: Vec<Mark>,
    #[serde(default)]
    spends: BTreeMap<String, u64>,
}

struct Reading(Open);

impl<'de> Deserialize<'de> for Reading {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Stored;

        impl<'de> Visitor<'de> for Stored {
            type Value = Open;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an action whose outcome has not been seen")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Open, E> {
                read(text).ok_or_else(|| E::custom("not an open action"))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Open, A::Error> {
                let Fields {
                    call,
                    action,
                    tool_use_id,
                    decision,
                    observed,
                    dialect,
                    at,
                    position,
                    marks,
                    spends,
                } = Fields::deserialize(MapAccessDeserializer::new(map))?;
                if let Some(call) = call {
                    return Ok(Open { marks, spends, ..self.visit_str::<A::Error>(&call)? });
                }
                let action = action.ok_or_else(|| A::Error::missing_field("action"))?;
                let decision = decision.ok_or_else(|| A::Error::missing_field("decision"))?;
                let tool_use_id = tool_use_id.map(|id| super::short(&id).into_owned());
                Ok(Open { action, tool_use_id, decision, observed, dialect, at, position, marks, spends })
            }
        }

        deserializer.deserialize_any(Stored).map(Self)
    }
}
