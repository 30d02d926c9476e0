//! Session events: begin, continue, fork, end; and prompts.

use lictor_agents::{EventKind, Reply, SessionSource};
use lictor_core::event::Continuation;
use lictor_core::{Limit, SessionKey};
use lictor_engine::Prompt;
use lictor_store::StoreError;

use super::{Heard, after, review};
use crate::keeping;

/// Records a session event. A failure never stops anything: the next call will report the store's error.
pub(super) fn note(heard: &Heard<'_>, kind: &EventKind) -> Reply {
    review::at_session(heard, kind);
    if matches!(kind, EventKind::SessionEnd(_)) {
        keeping::after_session(heard.runtime);
    }
    let Some(session) = &heard.event.session else { return Reply::Silence };
    match record(heard, session, kind) {
        Ok(true) => after::tell(heard, String::new()),
        Ok(false) | Err(_) => Reply::Silence,
    }
}

/// Records the event. Returns whether held remarks can be delivered.
fn record(heard: &Heard<'_>, session: &SessionKey, kind: &EventKind) -> Result<bool, StoreError> {
    let engine = heard.runtime.engine();
    match kind {
        EventKind::SessionStart(source) => {
            if let (SessionSource::Fork, Some(from)) = (source, &heard.event.parent_session) {
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
        EventKind::Prompt { text, .. } => {
            let prompt = Prompt { name: command_of(text), text: text.clone() };
            engine.prompted(session, &prompt).map(|_| true)
        }
        EventKind::SubagentStart { child, .. } => {
            engine.delegate(session, child, Limit::default()).map(|_| true)
        }
        EventKind::Compaction => engine.continued(session, Continuation::Compact).map(|_| false),
        EventKind::SessionEnd(_) => engine.end(session).map(|_| false),
        _ => Ok(false),
    }
}

/// The name of a prompt that is an agent command: `/deploy staging`.
fn command_of(text: &str) -> Option<String> {
    let name = text.trim_start().strip_prefix('/')?.split_whitespace().next()?;
    // A path is not a command.
    (!name.contains('/')).then(|| name.to_owned())
}
