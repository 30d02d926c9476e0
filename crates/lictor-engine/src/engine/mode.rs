use std::sync::Arc;

use lictor_core::Companion;

/// How an action is judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mode {
    /// Only to see what would be said: recorded, but nothing counts, nothing is used up and nobody is asked.
    pub dry: bool,
    /// Judged and recorded, not enforced.
    pub observe: bool,
    /// Who can be asked.
    pub asking: Asking,
    /// The hook dialect through which the action was seen. One call seen through two of them counts once.
    pub dialect: Option<Arc<str>>,
    /// Why the caller wants a person to look at this action, whatever the policy says: it asks, or what is stricter.
    pub caution: Option<Arc<str>>,
    /// What is typed into a command that runs already is not seen: one that waits for code is asked about.
    pub unseen_input: bool,
    /// What guards, callbacks and tracers of this evaluation get from the caller.
    pub companion: Option<Companion>,
}

/// Who can be asked when a person's word is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asking {
    /// Whoever called: an `ask` is handed back, to be shown or resolved.
    #[default]
    Caller,
    /// Nobody is there now: an `ask` blocks and is left for a person to approve later.
    Nobody,
}
