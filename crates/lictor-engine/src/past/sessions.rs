//! Sessions, and how to find them by name.

use std::cmp::Reverse;

use lictor_core::SessionKey;
use lictor_store::{Query, Store, StoreError, StoreExt as _};

use crate::log::kind;

/// So many sessions are named when several fit.
const NAMED: usize = 5;

/// Why no session has this name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// None fits.
    #[error("there is no session `{text}`; `lictor session list` shows them")]
    Unknown {
        /// The given name.
        text: String,
    },
    /// Several fit.
    #[error("`{text}` fits {count} sessions; name one of: {}", shown(.some, *.count))]
    Ambiguous {
        /// The given name.
        text: String,
        /// How many match.
        count: usize,
        /// The newest of them.
        some: Vec<SessionKey>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn shown(some: &[SessionKey], count: usize) -> String {
    let mut names: Vec<String> = some.iter().map(|key| format!("`{key}`")).collect();
    if count > some.len() {
        names.push(format!("… {} more", count - some.len()));
    }
    names.join(", ")
}

/// Every session on record, the latest first.
///
/// # Errors
/// When the store cannot be read.
pub fn sessions(store: &dyn Store) -> Result<Vec<SessionKey>, StoreError> {
    let mut begun = Vec::new();
    for kind in [kind::SESSION_STARTED, kind::SESSION_FORKED] {
        let query = Query::all().kind(kind).newest_first().limit(usize::MAX);
        begun.extend(store.view(|view| view.records(&query))?);
    }
    begun.sort_by_key(|record| Reverse(record.seq));
    let mut keys: Vec<SessionKey> = Vec::new();
    for key in begun.into_iter().filter_map(|record| record.session) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// The session with this `id`, `agent:id`, or unique prefix of an id.
///
/// # Errors
/// When none or several match.
pub fn find_session(store: &dyn Store, text: &str) -> Result<SessionKey, SessionError> {
    let all = sessions(store)?;
    choose(&all, text).cloned()
}

fn choose<'a>(all: &'a [SessionKey], text: &str) -> Result<&'a SessionKey, SessionError> {
    // `agent:id`, if the part before the colon is an agent on record; ids may contain colons themselves.
    let named = text.split_once(':').filter(|(agent, _)| all.iter().any(|key| key.agent == *agent));
    let fits = |key: &SessionKey, whole: bool| {
        let id = |wanted: &str| if whole { key.id == wanted } else { key.id.starts_with(wanted) };
        id(text) || named.is_some_and(|(agent, rest)| key.agent == agent && id(rest))
    };
    for whole in [true, false] {
        let fitting: Vec<&SessionKey> =
            all.iter().filter(|key| !text.is_empty() && fits(key, whole)).collect();
        match fitting.as_slice() {
            [] => {}
            [only] => return Ok(only),
            several => {
                return Err(SessionError::Ambiguous {
                    text: text.to_owned(),
                    count: several.len(),
                    some: several.iter().take(NAMED).map(|key| (*key).clone()).collect(),
                });
            }
        }
    }
    Err(SessionError::Unknown { text: text.to_owned() })
}

#[cfg(test)]
mod tests;
