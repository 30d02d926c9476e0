//! Redacts the texts of reviewers, agents and people before the ledger stores them.
//!
//! Identifiers are not redacted: plans, ids, trees, commits, and the policy's names of councils and reviewers.

use lictor_core::Redact;
use lictor_core::redact::text;

use super::event::{Answered, Event, Purged, Regraded, Reopened, Ruled};
use crate::council::{Attestation, State};
use crate::evidence::Evidence;
use crate::finding::{Disposition, Ruling};
use crate::gate::Judgement;

impl Event {
    /// The redacted event. A report has been redacted before, as a claim: its identity is that of the redacted
    /// text.
    pub(super) fn redacted(mut self, redactor: &dyn Redact) -> Self {
        match &mut self {
            Self::Reported(..)
            | Self::Opened(_)
            | Self::Invited(_)
            | Self::Heard(_)
            | Self::Summoned(_)
            | Self::Bypassed(_) => {}
            Self::Purged(Purged { by, reason, .. }) => {
                text(by, redactor);
                text(reason, redactor);
            }
            Self::Cleared(Ruled { disposition, .. }) | Self::Ruled(Ruled { disposition, .. }) => {
                if let Some(Ruling { by, reason, .. }) = ruling_mut(disposition) {
                    text(by, redactor);
                    text(reason, redactor);
                }
            }
            Self::Reopened(Reopened { by, reason, .. }) | Self::Regraded(Regraded { by, reason, .. }) => {
                text(by, redactor);
                text(reason, redactor);
            }
            Self::Answered(Answered { why, .. }) => text(why, redactor),
            Self::Attested(attestation) => attestation.redact(redactor),
            Self::Judged(Judgement { reasons, .. }) => {
                reasons.iter_mut().for_each(|reason| text(reason, redactor));
            }
        }
        self
    }
}

fn ruling_mut(disposition: &mut Disposition) -> Option<&mut Ruling> {
    match disposition {
        Disposition::Open => None,
        Disposition::Acknowledged(ruling)
        | Disposition::Fixed(ruling)
        | Disposition::FalsePositive(ruling)
        | Disposition::AcceptedRisk(ruling) => Some(ruling),
    }
}

impl Attestation {
    /// Redacts the texts.
    pub(crate) fn redact(&mut self, redactor: &dyn Redact) {
        for reported in &mut self.reviewers {
            match &mut reported.state {
                State::Skipped { why } | State::Error { why } => text(why, redactor),
                State::Clean | State::Findings { .. } | State::Timeout { .. } | State::Missing => {}
            }
        }
    }
}

impl Evidence {
    /// Redacts the evidence. If the file name is redacted, the evidence is unbound, and so stays active whatever
    /// is committed.
    pub(crate) fn redact(&mut self, redactor: &dyn Redact) {
        text(&mut self.note, redactor);
        let mut file = self.file.clone();
        text(&mut file, redactor);
        if file != self.file {
            self.file = file;
            self.bound = None;
        }
    }
}
