//! Sessions that begin, go on, split and end; prompts.

use lictor::StoreError;
use lictor_agents::{Event, EventKind, Reply, SessionSource};
use lictor_core::event::Continuation;
use lictor_core::{Limit, SessionKey};

use super::{after, review};
use crate::runtime::Runtime;

/// Records what the event means for its session. It is never a reason to stop anything: what cannot be recorded now
/// meets the same store at the next call.
pub fn note(runtime: &Runtime, event: &Event, kind: &EventKind) -> Reply {
    review::at_session(runtime, event, kind);
    let Some(session) = &event.session else { return Reply::Silence };
    match record(runtime, event, session, kind) {
        Ok(true) => after::tell(runtime, event, String::new()),
        Ok(false) | Err(_) => Reply::Silence,
    }
}

/// Whether the agent may be told what waits.
fn record(
    runtime: &Runtime,
    event: &Event,
    session: &SessionKey,
    kind: &EventKind,
) -> Result<bool, StoreError> {
    let engine = &runtime.engine;
    match kind {
        EventKind::SessionStart(source) => {
            if let (SessionSource::Fork, Some(from)) = (source, &event.parent_session) {
                engine.fork(from, session)?;
            }
            engine.begin(session)?;
            let how = match source {
                SessionSource::Resume => Continuation::Resume,
                SessionSource::Clear => Continuation::Clear,
                SessionSource::Compact => Continuation::Compact,
                SessionSource::Startup | SessionSource::Fork | SessionSource::Other(_) => return Ok(true),
            };
            engine.continued(session, how)?;
            Ok(true)
        }
        EventKind::Prompt { .. } => engine.prompted(session).map(|_| true),
        EventKind::SubagentStart { child, .. } => {
            engine.delegate(session, child, Limit::default()).map(|_| true)
        }
        EventKind::Compaction => engine.continued(session, Continuation::Compact).map(|_| false),
        EventKind::SessionEnd(_) => engine.end(session).map(|_| false),
        _ => Ok(false),
    }
}
