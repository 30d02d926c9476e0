//! What a command prints, as far as it is known.

use std::rc::Rc;

use super::simple::Context;
use super::{Output, Walker};
use crate::call::{Call, Report};
use crate::operand::{Arg, Cwd, Known, Taint};
use crate::programs;

impl Walker<'_> {
    /// The output of commands that print nothing, or only text of the line itself.
    pub(super) fn known_output(&self, context: &Context<'_>) -> Option<String> {
        match context.program {
            "true" | "false" | "test" | "[" | "sleep" | "wait" => Some(String::new()),
            "grep" | "egrep" | "fgrep" | "rg"
                if context
                    .args
                    .iter()
                    .any(|arg| matches!(arg.known(), Some("-q" | "--quiet" | "-qs" | "-qE" | "-qF"))) =>
            {
                Some(String::new())
            }
            "git" if is_top_level(context.args) => {
                let inside = match context.cwd {
                    Cwd::Start => true,
                    Cwd::Known(path) | Cwd::Glob(path) => !path.starts_with(['/', '.', '~']),
                    Cwd::Unknown => false,
                };
                self.outside().project_root().filter(|_| inside).map(|root| root + "\n")
            }
            "pyenv" | "rbenv" | "nodenv" | "goenv" | "asdf" | "mise" | "rustup" => match context.args {
                [which, name] if which.known() == Some("which") => {
                    Some(format!("/usr/local/bin/{}\n", name.known()?))
                }
                _ => None,
            },
            "jq" | "gojq" | "jaq" => {
                let words: Vec<&str> = context.args.iter().filter_map(Arg::known).collect();
                programs::edited_scripts("jq", &words)
            }
            "cat" if !context.args.is_empty() => {
                let mut all = String::new();
                for arg in context.args {
                    match arg.known()? {
                        "/dev/null" => {}
                        path => all.push_str(self.written_content(path)?.text.as_deref()?),
                    }
                }
                Some(all)
            }
            _ => None,
        }
    }
}

/// What a command prints, as far as it is known.
pub(super) fn printed(
    stdout: Option<String>,
    names: Vec<Arg>,
    taint: Taint,
    context: &Context<'_>,
) -> Output {
    match (stdout, names.is_empty()) {
        (None, false) if context.program == "mktemp" => fresh_name(&names),
        (Some(text), _) if text.is_empty() || !context.args.iter().any(|arg| arg.glob) => Output::Text(text),
        // Names are tracked only if nothing else is known about the output.
        (_, false) if taint == Taint::default() => Output::Names(names),
        _ => Output::Unknown(taint),
    }
}

/// The name of a new file, which differs from all existing ones.
fn fresh_name(names: &[Arg]) -> Output {
    match names {
        [Arg { value: Known::Partly { prefix, suffix }, .. }] => {
            Output::Text(format!("{prefix}XXXXXXXXXX{suffix}\n"))
        }
        names => Output::Names(names.to_vec()),
    }
}

/// `git rev-parse --show-toplevel`.
fn is_top_level(args: &[Arg]) -> bool {
    matches!(args, [command, option] if command.known() == Some("rev-parse") && option.known() == Some("--show-toplevel"))
}

/// Text with gaps that `echo` and `printf` print is kept for the next command in the pipe.
pub(super) fn complete_stdout(call: &Call<'_>, templates: &[Option<Rc<str>>], report: &mut Report) {
    if report.stdout.is_some()
        || !matches!(call.program, "echo" | "printf")
        || call.args.iter().any(|arg| arg.glob)
    {
        return;
    }
    let taints = call
        .args
        .iter()
        .any(|arg| arg.taint != Taint::default() || arg.value == Known::Nothing && arg.splits);
    if taints {
        return;
    }
    let args: Vec<Arg> = call
        .args
        .iter()
        .zip(templates)
        .map(|(arg, template)| {
            template.as_ref().map_or_else(|| arg.clone(), |text| Arg::literal(text.as_ref()))
        })
        .collect();
    let mut again = Report::default();
    programs::judge(&Call { args: &args, ..*call }, &mut again);
    report.stdout = again.stdout;
}
