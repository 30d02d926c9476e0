//! Code that does not parse. It would not run either, but our grammar may be wrong about that, and an agent that
//! puts a shell command where code belongs meant the command.

use lictor_core::facts::OpaqueWhat;

use crate::call::{Next, Report};
use crate::operand::Arg;

/// Words that destroy or run something, in shell or in code.
const DANGER: [&str; 33] = [
    "rm",
    "rmdir",
    "unlink",
    "rmtree",
    "rmSync",
    "unlinkSync",
    "system",
    "exec",
    "execSync",
    "spawn",
    "popen",
    "subprocess",
    "child_process",
    "eval",
    "shutil",
    "mkfs",
    "dd",
    "shred",
    "reset",
    "clean",
    "checkout",
    "rm_rf",
    "FileUtils",
    "passthru",
    "shell_exec",
    "remove",
    "curl",
    "wget",
    "delete",
    "truncate",
    "removeItem",
    "deleteRecursively",
    "execute_process",
];

/// Whether a word destroys or runs something.
pub(super) fn is_danger(name: &str) -> bool {
    name.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| DANGER.contains(&word))
}

/// Reports a body that did not parse, when it holds anything that could matter.
pub(super) fn judge(body: &str, report: &mut Report) {
    if is_danger(body) {
        report.opaque(OpaqueWhat::Syntax, body);
        if body.len() < 4096 {
            report.next.push(Next::Shell {
                text: Arg::literal(body),
                args: Vec::new(),
                through: "code".to_owned(),
                elsewhere: false,
            });
        }
    }
}
