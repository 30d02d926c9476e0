//! Code that manipulates processes which it did not start: Lictor's, the agent's, or its parent.

use lictor_agents::launch;
use lictor_core::facts::{GuardOff, OpaqueWhat};

use crate::call::Report;
use crate::programs::GUARD;

/// Functions that find other processes.
const FINDS: [&str; 7] = ["process_iter", "pgrep", "pidof", "psutil.pids", "ps aux", "/proc", "ps-list"];

/// Names of the parent process.
const PARENTS: [&str; 3] = ["ppid", ".parent()", ".parents()"];

pub(super) fn judge(body: &str, report: &mut Report) {
    let contains = |words: &[&str]| words.iter().any(|word| body.contains(word));
    if contains(&["ptrace(", "process_vm_writev("]) {
        report.opaque(OpaqueWhat::Code, body);
    }
    if !contains(crate::words::CODE_PROCESS_ACTS) {
        return;
    }
    let named = || {
        body.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
            .any(|word| word == GUARD || launch::agent_of(word).is_some())
    };
    if contains(&PARENTS) || contains(&FINDS) && named() {
        report.guard_off(GuardOff::LictorBinary, body);
    }
}
