use std::sync::Arc;

use lictor_core::Companion;

/// How an action is judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mode {
    /// A dry run: recorded, but nothing is counted or spent and no person is asked.
    pub dry: bool,
    /// Judged and recorded, not enforced.
    pub observe: bool,
    /// Who can be asked.
    pub asking: Asking,
    /// The hook dialect that reported the action. A call that two dialects report counts once.
    pub dialect: Option<Arc<str>>,
    /// Why the caller wants a person to review this action whatever the policy decides: the result is at least an
    /// `ask`.
    pub caution: Option<Arc<str>>,
    /// The input of a running command is not visible: a command that waits for code asks.
    pub unseen_input: bool,
    /// A value of the caller for the guards, callbacks and tracers of this evaluation.
    pub companion: Option<Companion>,
}

/// Who can be asked for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asking {
    /// The caller: an `ask` is returned, to be shown or resolved.
    #[default]
    Caller,
    /// Nobody now: an `ask` blocks and stays pending for later approval.
    Nobody,
}
