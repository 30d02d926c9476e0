//! Unsent messages, and when they are retried.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lictor_core::{Approval, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Message, Target, send};
use crate::http::Shared;
use crate::tenants::{Open, now};

/// The first wait after a failure; it doubles.
const FIRST_MS: i64 = 2_000;
/// The longest wait.
const LONGEST_MS: i64 = 10 * 60_000;
/// How long nothing may be known to have changed before it is looked anyway.
const LOOK: Duration = Duration::from_secs(2);
/// How many characters of an action are sent.
const SUMMARY: usize = 160;

/// One message for one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Letter {
    pub(crate) message: Message,
    pub(crate) tries: u32,
    pub(crate) next: Timestamp,
    /// It went.
    pub(crate) sent: bool,
}

/// Failed messages, by tenant and target.
#[derive(Debug, Default)]
pub struct Outbox {
    failing: Mutex<BTreeMap<(String, String), String>>,
    /// Where people reach the page: `https://lictor.example.com`.
    pub link: Mutex<String>,
}

impl Outbox {
    /// The targets of a tenant with failures, and why.
    #[must_use]
    pub fn failing(&self, tenant: &str) -> Vec<(String, String)> {
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let own = failing.iter().filter(|((of, _), _)| of == tenant);
        own.map(|((_, target), why)| (target.clone(), why.clone())).collect()
    }

    /// Sends a message that is about no question.
    ///
    /// # Errors
    /// Why it did not go.
    pub(crate) fn test(&self, target: &Target, tenant: &str) -> Result<(), String> {
        let base = self.link.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let message = Message {
            id: "test".to_owned(),
            tenant: tenant.to_owned(),
            summary: "this is a test; nobody has to do anything".to_owned(),
            agent: "lictor".to_owned(),
            expires: now(),
            link: format!("{}/approvals", base.trim_end_matches('/')),
        };
        let sent = send::send(&target.way, &message, now());
        sent.map_err(|why| lictor_core::text::clean(&why, 200))
    }

    fn note(&self, tenant: &str, target: &str, failed: Option<String>) {
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (tenant.to_owned(), target.to_owned());
        match failed {
            Some(why) => failing.insert(key, why),
            None => failing.remove(&key),
        };
    }
}

/// The delay after this many failures.
pub(super) fn wait_ms(tries: u32) -> i64 {
    FIRST_MS.saturating_mul(1_i64.checked_shl(tries.min(20)).unwrap_or(i64::MAX)).min(LONGEST_MS)
}

/// Sends notifications until the server ends. Never during a judgement.
pub(crate) fn run(server: &Arc<Shared>) {
    let mut seen = u64::MAX;
    while !server.stopping.load(std::sync::atomic::Ordering::Relaxed) {
        // Failures are retried in the next round.
        for tenant in server.tenants.registry.told().unwrap_or_default() {
            let _ = round(server, &tenant);
        }
        // Pauses first: a busy server always has something new.
        for _ in 0..LOOK.as_millis() / 100 {
            std::thread::sleep(Duration::from_millis(100));
            let count = *server.tenants.changes.borrow();
            if count != seen {
                seen = count;
                break;
            }
        }
    }
}

fn round(server: &Arc<Shared>, tenant: &str) -> Result<(), crate::tenants::CallError> {
    let registry = &server.tenants.registry;
    let targets = registry.targets(tenant)?;
    if targets.is_empty() {
        return Ok(());
    }
    let open = server.tenants.open(tenant)?;
    let waiting = open.runtime.approvals().pending(now()).map_err(crate::stores::StoresError::from)?;
    for target in &targets {
        for question in &waiting {
            let known = registry.letter(tenant, &target.name, &question.id)?;
            let letter = known.unwrap_or_else(|| Letter {
                message: message(server, &open, tenant, question),
                tries: 0,
                next: now(),
                sent: false,
            });
            deliver(server, tenant, target, letter)?;
        }
    }
    registry
        .forget_letters(tenant, &waiting.iter().map(|question| question.id.clone()).collect::<Vec<_>>())?;
    Ok(())
}

/// At least once: it is noted as sent after it went.
fn deliver(
    server: &Arc<Shared>,
    tenant: &str,
    target: &Target,
    mut letter: Letter,
) -> Result<(), crate::tenants::CallError> {
    if letter.sent || letter.next > now() {
        return Ok(());
    }
    match send::send(&target.way, &letter.message, now()) {
        Ok(()) => {
            letter.sent = true;
            server.outbox.note(tenant, &target.name, None);
        }
        Err(why) => {
            letter.next = now().plus_millis(wait_ms(letter.tries));
            letter.tries += 1;
            let why = lictor_core::text::clean(&why, 200);
            server.outbox.note(tenant, &target.name, Some(format!("{why}; tried {} times", letter.tries)));
        }
    }
    server.tenants.registry.put_letter(tenant, &target.name, &letter)?;
    Ok(())
}

fn message(server: &Arc<Shared>, open: &Open, tenant: &str, question: &Approval) -> Message {
    let action = question.shown.as_deref().map(|shown| &shown.action);
    let title = action.map(lictor::past::title).unwrap_or_default();
    let base = server.outbox.link.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Message {
        id: question.id.clone(),
        tenant: tenant.to_owned(),
        summary: lictor_core::text::clean(&open.runtime.redacted(&title), SUMMARY),
        agent: question.request.session.as_ref().map(|key| key.agent.clone()).unwrap_or_default(),
        expires: question.expires,
        link: format!("{}/approvals/{}", base.trim_end_matches('/'), question.id),
    }
}
