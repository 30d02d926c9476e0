//! Code that does not parse. It probably would not run either, but our grammar may be wrong, and an agent that
//! wrote a shell command in place of code meant the command.

use lictor_core::facts::OpaqueWhat;

use crate::call::{Next, Report};
use crate::operand::Arg;

/// Whether a word destroys or runs something.
pub(super) fn is_danger(name: &str) -> bool {
    name.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|word| crate::words::DANGEROUS_WORDS.contains(&word))
}

/// Reports a body that did not parse, if it contains anything relevant.
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
