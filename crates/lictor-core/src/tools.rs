//! Tool policies: preconditions of tool calls.
//!
//! Both guards judge facts, not tool names alone: `cat x` counts as reading `x`, `sed -i` as writing it, and a
//! test run counts on any command line. [`ToolPolicy`] is for rules that neither can express.

mod custom;
mod except;
mod knowledge;
mod read_before_write;
mod require_first;

pub use custom::{ToolCall, ToolDecision, ToolGuard, ToolPolicy};
pub use except::{Except, Excepted};
pub use knowledge::{FILES_KEPT, Group, Knowledge, KnownFiles, NotAGroup, asked};
pub use read_before_write::ReadBeforeWrite;
pub use require_first::{Need, RequireFirst, Sequence, SequenceError, UNSUCCESSFUL};

#[cfg(test)]
mod tests;
