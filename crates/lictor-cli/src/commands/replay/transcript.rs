//! Reads single transcripts instead of Lictor's own log.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use lictor_agents::transcripts::{Entry, find_in};
use lictor_core::{Action, Decision};

use super::Past;
use crate::exit;
use crate::output;

/// Calls `f` with the tool calls of these files, in order. Unreadable lines are skipped and counted.
pub(super) fn each(files: &[PathBuf], mut f: impl FnMut(Past)) -> Result<()> {
    let mut damaged = 0;
    for file in files {
        std::fs::File::open(file).map_err(|error| exit::unreadable(file, &error))?;
        for transcript in find_in(file) {
            let mut open: HashMap<String, Action> = HashMap::new();
            let tally = transcript.read(|entry| {
                match entry {
                    Entry::Call(action) => {
                        if let Some(id) = &action.tool_use_id {
                            open.insert(id.clone(), (*action).clone());
                        }
                        let at = action.at;
                        f(Past::Judged {
                            id: None,
                            action,
                            facts: None,
                            was: Decision::Pass,
                            lifted: false,
                            at,
                        });
                    }
                    Entry::Done { id, success } => {
                        if let Some(action) = open.remove(&id) {
                            let at = action.at;
                            f(Past::Happened { action: Box::new(action), success, at });
                        }
                    }
                }
                ControlFlow::Continue(())
            });
            damaged += tally.map_err(|error| exit::unreadable(file, &error))?.damaged;
        }
    }
    if damaged > 0 {
        output::tell(&format!("note: {} could not be read\n", output::count(damaged, "line")));
    }
    Ok(())
}
