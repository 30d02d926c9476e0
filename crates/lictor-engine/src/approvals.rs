//! Pending questions and people's answers. Works on the store alone, without a policy.

use std::borrow::Cow;
use std::sync::Arc;

use lictor_core::approval::NoVote;
use lictor_core::{Approval, ApprovalState, Fixable, Grant, Lifetime, SessionKey, Sign, Timestamp, Who};
use lictor_store::{Draft, Durability, Keys, Query, Space, Store, StoreError, StoreExt, Transaction, View};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::log::{Approving, kind};

/// How long a question is pending: a working day.
pub(crate) const QUESTION_LASTS_MS: i64 = 8 * 60 * 60 * 1000;
/// The default lifetime of a grant.
pub const GRANT_LASTS_MS: i64 = 10 * 60 * 1000;

/// Pending approvals, and how to answer them.
#[derive(Clone)]
pub struct Approvals {
    store: Arc<dyn Store>,
    signer: Option<Arc<dyn Sign>>,
}

/// Why an approval could not be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// There is no such question.
    #[error("there is no approval `{id}`; `lictor approvals` lists those that wait")]
    Unknown {
        /// The given id.
        id: String,
    },
    /// Answered or lapsed already.
    #[error("the approval `{id}` does not wait any more; let the agent try again, and it is asked anew")]
    NotPending {
        /// Its id.
        id: String,
    },
    /// Several begin like that.
    #[error("`{id}` fits several approvals; give more of the id")]
    Ambiguous {
        /// The given id.
        id: String,
    },
    /// The question has changed since the person saw it.
    #[error("the approval `{id}` asks something else by now; look at it again with `lictor approvals`")]
    Changed {
        /// Its id.
        id: String,
    },
    /// The same person approved before; others have to approve.
    #[error("you have said yes to `{id}` already; {} more must say so", people(*.missing))]
    SaidBefore {
        /// Its id.
        id: String,
        /// How many more people.
        missing: u32,
    },
    /// The requester may not approve.
    #[error("`{id}` would be done for you, so somebody else must say yes")]
    Own {
        /// Its id.
        id: String,
    },
    /// The entry was changed behind Lictor's back.
    #[error("the approval `{id}` is not what was asked; `lictor audit verify` looks for what was changed")]
    NotWhole {
        /// Its id.
        id: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ApprovalError {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Unknown { .. } => ("unknown", "look with `lictor approvals` at those that wait"),
            Self::NotPending { .. } => ("not_pending", "let the agent try again; it is asked anew"),
            Self::Ambiguous { .. } => ("ambiguous", "give more of the id"),
            Self::Changed { .. } => ("changed", "look at the question again, then answer it"),
            Self::SaidBefore { .. } => ("said_before", "let other people say yes"),
            Self::Own { .. } => ("own", "let somebody else answer it"),
            Self::NotWhole { .. } => ("not_whole", "run `lictor audit verify`"),
            Self::Store(error) => (error.kind(), error.fix()),
        }
    }
}

impl Fixable for ApprovalError {
    fn kind(&self) -> &'static str {
        self.words().0
    }

    fn fix(&self) -> &'static str {
        self.words().1
    }
}

/// The result of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It is allowed.
    Granted(Grant),
    /// It counts, but more people have to approve.
    Counted(Approval),
}

impl Said {
    /// The grant, when it is allowed by now.
    #[must_use]
    pub fn grant(self) -> Option<Grant> {
        match self {
            Self::Granted(grant) => Some(grant),
            Self::Counted(_) => None,
        }
    }

    /// How many more people have to approve.
    #[must_use]
    pub fn missing(&self) -> u32 {
        match self {
            Self::Granted(_) => 0,
            Self::Counted(approval) => approval.quorum.missing(approval.yes.len()),
        }
    }
}

/// A number of people, in words.
fn people(count: u32) -> String {
    if count == 1 { "one person".to_owned() } else { format!("{count} people") }
}

impl Approvals {
    /// Those in that store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, signer: None }
    }

    /// The same, whose yes is signed.
    #[must_use]
    pub fn signing(mut self, signer: Arc<dyn Sign>) -> Self {
        self.signer = Some(signer);
        self
    }

    /// The pending questions, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn pending(&self, now: Timestamp) -> Result<Vec<Approval>, StoreError> {
        let mut pending = self.store.view(|view| all(view))?;
        pending.retain(|approval| approval.is_pending(now) && approval.is_whole());
        pending.sort_by(|a, b| (a.requested_at, &a.id).cmp(&(b.requested_at, &b.id)));
        Ok(pending)
    }

    /// The question whose id is, or begins with, this text.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find(&self, id: &str) -> Result<Approval, ApprovalError> {
        self.store.view(|view| Ok(find(view, id)))?
    }

    /// Approves every point of a question.
    ///
    /// # Errors
    /// When it is no longer pending, or the store fails.
    pub fn approve(
        &self,
        id: &str,
        who: Who,
        lifetime: Lifetime,
        lasts_ms: i64,
    ) -> Result<Said, ApprovalError> {
        self.approve_seen(&self.find(id)?, who, lifetime, lasts_ms)
    }

    /// Approves every point of this question, as the person saw it.
    ///
    /// # Errors
    /// When it is no longer pending or has changed, or the store fails.
    pub fn approve_seen(
        &self,
        seen: &Approval,
        who: Who,
        lifetime: Lifetime,
        lasts_ms: i64,
    ) -> Result<Said, ApprovalError> {
        self.answer(&seen.id, who, |tx, mut approval, who| {
            if (&approval.request, &approval.asked, &approval.pins)
                != (&seen.request, &seen.asked, &seen.pins)
            {
                return Err(ApprovalError::Changed { id: seen.short().to_owned() });
            }
            vote(&mut approval, &who)?;
            if approval.quorum.missing(approval.yes.len()) > 0 {
                write(tx, Space::Approval, &approval.id, &approval)?;
                let logged = approval.for_the_log();
                let body = about(&approval.id, Some(&logged), None);
                append(tx, approval.request.session.clone(), kind::APPROVAL_COUNTED, who.at, &body)?;
                return Ok(Said::Counted(approval));
            }
            let expires = who.at.plus_millis(lasts_ms);
            let mut grant = approval.grant(who.clone(), lifetime, expires, tx.head()?.seq);
            if let Some(signer) = &self.signer {
                grant = grant.signed(&**signer);
            }
            approval.state = ApprovalState::Granted(who);
            approval.shown = None;
            write(tx, Space::Grant, &approval.id, &grant)?;
            write(tx, Space::Approval, &approval.id, &approval)?;
            // The question itself is already on record, redacted.
            let body = about(&approval.id, None, Some(&grant));
            append(tx, approval.request.session.clone(), kind::APPROVAL_GRANTED, grant.who.at, &body)?;
            Ok(Said::Granted(grant))
        })
    }

    /// Denies a question. The same action is refused with the same answer until the question expires.
    ///
    /// # Errors
    /// When it is no longer pending, or the store fails.
    pub fn deny(&self, id: &str, who: Who, reason: Option<String>) -> Result<Approval, ApprovalError> {
        self.answer(id, who, |tx, mut approval, who| {
            let at = who.at;
            approval.state = ApprovalState::Denied { who, reason };
            approval.shown = None;
            write(tx, Space::Approval, &approval.id, &approval)?;
            let logged = Approval { asked: Vec::new(), ..approval.clone() };
            let body = about(&approval.id, Some(&logged), None);
            append(tx, approval.request.session.clone(), kind::APPROVAL_DENIED, at, &body)?;
            Ok(approval)
        })
    }

    /// Withdraws the grants that last as long as this session.
    pub(crate) fn withdraw(&self, session: &SessionKey, now: Timestamp) -> Result<(), StoreError> {
        self.store.update(Durability::Power, |tx| {
            expire(tx, now, |grant| {
                grant.lifetime == Lifetime::Session && grant.request.session.as_ref() == Some(session)
            })
        })
    }

    fn answer<T>(
        &self,
        id: &str,
        who: Who,
        f: impl FnOnce(&mut dyn Transaction, Approval, Who) -> Result<T, ApprovalError>,
    ) -> Result<T, ApprovalError> {
        self.store.try_update(Durability::Power, |tx| {
            let approval = find(tx, id)?;
            if !approval.is_pending(who.at) {
                return Err(ApprovalError::NotPending { id: approval.short().to_owned() });
            }
            if !approval.is_whole() || approval.shown.is_none() {
                return Err(ApprovalError::NotWhole { id: approval.short().to_owned() });
            }
            tidy(tx, who.at)?;
            f(tx, approval, who)
        })
    }
}

/// Counts a yes, where it does.
fn vote(approval: &mut Approval, who: &Who) -> Result<(), ApprovalError> {
    let id = || approval.short().to_owned();
    if let Err(why) = approval.quorum.counts(who, &approval.yes, approval.own()) {
        return Err(match why {
            NoVote::Own => ApprovalError::Own { id: id() },
            NoVote::Again => {
                ApprovalError::SaidBefore { id: id(), missing: approval.quorum.missing(approval.yes.len()) }
            }
        });
    }
    approval.yes.push(who.clone());
    Ok(())
}

/// Removes expired entries. A person is waiting here, not a hook, so the cost does not matter; the log keeps
/// everything.
fn tidy(tx: &mut dyn Transaction, now: Timestamp) -> Result<(), StoreError> {
    for approval in all(tx)?.iter().filter(|approval| approval.expires <= now) {
        tx.delete(Space::Approval, approval.id.as_bytes())?;
    }
    expire(tx, now, |grant| grant.expires <= now)
}

/// Takes back the grants that are over.
fn expire(tx: &mut dyn Transaction, now: Timestamp, over: impl Fn(&Grant) -> bool) -> Result<(), StoreError> {
    for (key, value) in tx.scan(Space::Grant, &Keys::all().limit(usize::MAX))? {
        let id = String::from_utf8_lossy(&key);
        // An unreadable grant allows nothing.
        let Ok(grant) = parse::<Grant>(&id, &value) else {
            tx.delete(Space::Grant, &key)?;
            continue;
        };
        if over(&grant) {
            tx.delete(Space::Grant, &key)?;
            let session = grant.request.session.clone();
            append(tx, session, kind::GRANT_EXPIRED, now, &about(&id, None, Some(&grant)))?;
        }
    }
    Ok(())
}

fn all(view: &(impl View + ?Sized)) -> Result<Vec<Approval>, StoreError> {
    let entries = view.scan(Space::Approval, &Keys::all().limit(usize::MAX))?;
    entries.iter().map(|(key, value)| parse(&String::from_utf8_lossy(key), value)).collect()
}

fn find(view: &(impl View + ?Sized), id: &str) -> Result<Approval, ApprovalError> {
    let unknown = || ApprovalError::Unknown { id: id.to_owned() };
    if id.is_empty() {
        return Err(unknown());
    }
    let mut fitting = view.scan(Space::Approval, &Keys::prefix(id).limit(2))?.into_iter();
    match (fitting.next(), fitting.next()) {
        (None, _) => Err(unknown()),
        (Some(_), Some(_)) => Err(ApprovalError::Ambiguous { id: id.to_owned() }),
        (Some((key, value)), None) => Ok(parse(&String::from_utf8_lossy(&key), &value)?),
    }
}

/// Whether the log contains this grant, and, if it can be used once, no use of it.
pub(crate) fn is_on_record(view: &(impl View + ?Sized), id: &str, grant: &Grant) -> Result<bool, StoreError> {
    let tells = |kind: &str| -> Result<bool, StoreError> {
        let mut after = grant.after;
        loop {
            let page = view.records(&Query::all().kind(kind).after(after))?;
            let Some(last) = page.last() else { return Ok(false) };
            after = last.seq;
            for record in &page {
                let Ok(told) = serde_json::from_str::<Approving<'_>>(&record.body) else { continue };
                if told.id == id && told.grant.is_some_and(|told| told.after == grant.after) {
                    return Ok(true);
                }
            }
        }
    };
    Ok(tells(kind::APPROVAL_GRANTED)? && !(grant.lifetime == Lifetime::Once && tells(kind::GRANT_USED)?))
}

/// An entry of the projection; a damaged one is a fault, not an absence.
pub(crate) fn read<T: DeserializeOwned>(
    view: &(impl View + ?Sized),
    space: Space,
    id: &str,
) -> Result<Option<T>, StoreError> {
    view.get(space, id.as_bytes())?.map(|value| parse(id, &value)).transpose()
}

fn parse<T: DeserializeOwned>(id: &str, value: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(value)
        .map_err(|error| StoreError::other(format!("the entry `{id}` is damaged: {error}")))
}

pub(crate) fn write(
    tx: &mut dyn Transaction,
    space: Space,
    id: &str,
    value: &impl Serialize,
) -> Result<(), StoreError> {
    let value = serde_json::to_vec(value).map_err(StoreError::other)?;
    tx.put(space, id.as_bytes(), &value)
}

pub(crate) fn about<'a>(
    id: &'a str,
    approval: Option<&'a Approval>,
    grant: Option<&'a Grant>,
) -> Approving<'a> {
    Approving {
        id: Cow::Borrowed(id),
        approval: approval.map(Cow::Borrowed),
        grant: grant.map(Cow::Borrowed),
    }
}

fn append(
    tx: &mut dyn Transaction,
    session: Option<SessionKey>,
    kind: &str,
    at: Timestamp,
    body: &impl Serialize,
) -> Result<(), StoreError> {
    let body = serde_json::to_string(body).map_err(StoreError::other)?;
    tx.append(Draft { at, session, kind: kind.to_owned(), body }).map(|_| ())
}
