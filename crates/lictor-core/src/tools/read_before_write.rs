use super::except::{Except, file_lifted};
use super::knowledge::{identity, overwrites};
use crate::action::Action;
use crate::context::Context;
use crate::facts::{Existence, Place, Zone};
use crate::guard::{Guard, Layer};
use crate::verdict::Verdict;

/// An existing file must have been read in this session, with its current content, before it is overwritten or
/// edited. New files can be created freely; the agent knows what it wrote itself.
#[derive(Debug, Clone)]
pub struct ReadBeforeWrite {
    name: String,
    except: Vec<Except>,
}

const RULE: &str = "read_before_write";

impl ReadBeforeWrite {
    /// Under that name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), except: Vec::new() }
    }

    /// The same with exceptions for some files.
    #[must_use]
    pub fn except(self, except: Vec<Except>) -> Self {
        Self { except, ..self }
    }

    fn judge(&self, place: &Place, context: &Context<'_>) -> Option<Verdict> {
        let exempt = |zone: Zone| matches!(zone, Zone::Temp | Zone::HarmlessDevice | Zone::Device);
        if exempt(place.real_zone) || file_lifted(&self.except, RULE, place) {
            return None;
        }
        let shown = &place.text;
        if place.zone == Zone::Unknown || place.glob || place.existence == Existence::Unknown {
            return Some(refuse(
                format!(
                    "which file `{shown}` stands for cannot be told, so it cannot be known to have been read"
                ),
                "name the file, read it, then write it",
            ));
        }
        if place.existence == Existence::Missing {
            return None;
        }
        match context.session().files.content(identity(place)) {
            None => Some(refuse(
                format!("File '{shown}' must be read before overwriting."),
                &format!("read `{shown}` first, then try again"),
            )),
            Some(seen) if seen.is_none() || seen != place.content => Some(refuse(
                format!(
                    "File '{shown}' has changed since it was read; it must be read again before overwriting."
                ),
                &format!("read `{shown}` again, then try again"),
            )),
            Some(_) => None,
        }
    }
}

fn refuse(reason: String, fix: &str) -> Verdict {
    Verdict::block(reason, fix).by_rule(RULE)
}

impl Guard for ReadBeforeWrite {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, _action: &Action, context: &mut Context<'_>) -> Verdict {
        let written = context.facts().files().filter(|(access, _)| overwrites(*access));
        let refusals: Vec<Verdict> = written.filter_map(|(_, place)| self.judge(place, context)).collect();
        context.report(refusals)
    }

    fn layer(&self) -> Layer {
        Layer::Intent
    }
}
