//! Derives from the sealed records which entries must exist.

use serde::{Deserialize, Serialize};

use crate::seal::Effects;
use crate::{Draft, Fault, Head, KeyId, Keyring, Keys, Query, Record, Seal, Space, StoreError, View};

/// Read at a time.
const PAGE: usize = 500;

/// The body of the record that starts sealing, or starts sealing with another key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sealing {
    /// The key.
    key: String,
    /// The previous key; `None` when the earlier records have no seal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

impl Sealing {
    pub(crate) const KIND: &str = "log.sealed";

    pub(crate) fn draft(
        key: KeyId,
        before: Option<KeyId>,
        newest: Option<&Record>,
    ) -> Result<Draft, StoreError> {
        let body = Self { key: key.to_string(), before: before.map(|key| key.to_string()) };
        Ok(Draft {
            at: newest.map(|record| record.at).unwrap_or_default(),
            session: None,
            kind: Self::KIND.to_owned(),
            body: serde_json::to_string(&body).map_err(StoreError::other)?,
        })
    }

    /// Whether `record` states that no earlier record has a seal.
    fn begins(record: &Record) -> bool {
        let body: Option<Self> = serde_json::from_str(&record.body).ok();
        record.kind == Self::KIND && body.is_some_and(|body| body.before.is_none())
    }
}

/// Checks the seals of a log from its base to its end.
#[derive(Debug)]
pub(crate) struct Account<'k> {
    keys: &'k Keyring,
    effects: Effects,
    /// The key of the last seal.
    key: Option<KeyId>,
    /// The last record that may have no seal.
    unsealed: Option<u64>,
}

impl<'k> Account<'k> {
    pub(crate) fn new(keys: &'k Keyring) -> Self {
        Self { keys, effects: Effects::default(), key: None, unsealed: None }
    }

    /// The last record from before the store had a key.
    pub(crate) fn unsealed(&self) -> Option<u64> {
        self.unsealed
    }

    /// Whether the newest record has a seal.
    pub(crate) fn is_sealed(&self) -> bool {
        self.key.is_some()
    }

    /// The accumulated effects of the checked records, for the next one.
    pub(crate) fn into_effects(self) -> Effects {
        self.effects
    }

    /// The next record.
    pub(crate) fn follow(
        &mut self,
        view: &dyn View,
        head: Head,
        seal: Option<&Seal>,
    ) -> Result<Option<Fault>, StoreError> {
        let Some(seal) = seal else {
            if self.key.is_some() {
                return Ok(Some(Fault::Unsealed { seq: head.seq }));
            }
            self.unsealed = Some(head.seq);
            return Ok(None);
        };
        let forged = Ok(Some(Fault::Forged { seq: head.seq }));
        let Some(key) = self.keys.get(seal.key()) else {
            return Ok(Some(Fault::UnknownKey { seq: head.seq, key: seal.key() }));
        };
        let Some(effects) = seal.effects().filter(|_| seal.fits(key, &head.hash)) else { return forged };
        // The effects under another key cannot be read with this one: the new key must start with a full list of
        // entries.
        match (self.key, self.unsealed) {
            (None, Some(last)) => {
                let query = Query::all().after(head.seq.saturating_sub(1)).limit(1);
                if !effects.is_whole() || !view.records(&query)?.first().is_some_and(Sealing::begins) {
                    return Ok(Some(Fault::Unsealed { seq: last }));
                }
            }
            (Some(before), _) if before != seal.key() && !effects.is_whole() => return forged,
            _ => {}
        }
        self.key = Some(seal.key());
        self.effects.then(effects);
        Ok(None)
    }

    /// Checks every record from the base; stops at the first fault.
    pub(crate) fn of(view: &dyn View, keys: &'k Keyring) -> Result<Result<Self, Fault>, StoreError> {
        let mut account = Self::new(keys);
        let mut after = view.base()?.seq;
        loop {
            let page = view.seals(&Query::all().after(after).limit(PAGE))?;
            let Some((last, _)) = page.last() else { return Ok(Ok(account)) };
            after = last.seq;
            for (head, seal) in &page {
                if let Some(fault) = account.follow(view, *head, seal.as_ref())? {
                    return Ok(Err(fault));
                }
            }
        }
    }

    /// The first entry that does not match the records.
    pub(crate) fn entries(mut self, view: &dyn View) -> Result<Option<Fault>, StoreError> {
        let Some(key) = self.key.and_then(|id| self.keys.get(id)) else { return Ok(None) };
        for space in Space::ALL {
            let mut keys = Keys::all().limit(PAGE);
            loop {
                let page = match view.scan(space, &keys) {
                    Ok(page) => page,
                    Err(StoreError::Forged { what, .. }) => return Ok(Some(Fault::Entry { what })),
                    Err(error) => return Err(error),
                };
                let Some((last, _)) = page.last() else { break };
                keys = keys.beyond(last.clone());
                for (name, value) in &page {
                    if !self.effects.take(key, space, name, value) {
                        return Ok(Some(Fault::Entry { what: entry_name(space, name) }));
                    }
                }
            }
        }
        let gone = self.effects.left();
        Ok((gone > 0).then_some(Fault::EntriesMissing { count: gone }))
    }
}

/// An entry in a message.
pub(crate) fn entry_name(space: Space, key: &[u8]) -> String {
    format!("the entry `{}` in `{space}`", String::from_utf8_lossy(key).escape_debug())
}
