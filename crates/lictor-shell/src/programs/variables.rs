//! Environment variables that make programs run something else: `programs/sets/variables.yaml`.

use lictor_core::facts::OpaqueWhat;

use super::described::fits;
use super::shells::{language_named, run_script};
use super::table::VARIABLES;
use crate::call::{Next, Report};
use crate::operand::Arg;

/// The kind of a variable's value.
fn kind(name: &str) -> Option<&'static str> {
    let capital = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    // Most names are none of these.
    if !name.bytes().next().is_some_and(capital) && !name.starts_with("npm_") {
        return None;
    }
    let begins = |pattern: &str| match pattern.bytes().next() {
        Some(b'*') => true,
        first => first == name.bytes().next(),
    };
    VARIABLES.iter().find(|(pattern, _)| begins(pattern) && fits(pattern, name)).map(|(_, kind)| *kind)
}

/// Whether the value of a variable is a command that other programs run.
pub(super) fn is_command(name: &str) -> bool {
    kind(name) == Some("command")
}

/// The same for a variable that stays set, for whatever is started later.
pub(crate) fn stays(name: &str, value: &Arg, report: &mut Report) {
    runs(name, value, "", report);
}

/// Reports what a variable makes programs run. `program` is the program after it; empty when the variable stays
/// set.
pub(super) fn runs(name: &str, value: &Arg, program: &str, report: &mut Report) {
    let Some(kind) = kind(name) else { return };
    let text = value.known().unwrap_or_default();
    match kind {
        "library" => {
            let installed = ["/usr/", "/lib", "/opt/"].iter().any(|top| value.prefix().starts_with(top));
            if !text.is_empty() && !installed {
                report.opaque(OpaqueWhat::Code, &format!("{name}={}", value.text));
            }
        }
        "command" => command(name, value, program, report),
        // The text of a function, as shells hand it on: `() { …; }`.
        "function" => {
            if let Some(body) = text.trim_start().strip_prefix("()") {
                report.then_shell(&Arg::literal(body.trim_start()), &[], name);
            }
        }
        // A function that is called with what the code passes to it; debuggers are the usual ones.
        "callable" => {
            let debugs = ["", "0", "set_trace", "embed", "breakpoint"].iter();
            let last = text.rsplit('.').next().unwrap_or_default();
            if !debugs.into_iter().any(|usual| *usual == last) {
                report.opaque(OpaqueWhat::Code, &format!("{name}={}", value.text));
            }
        }
        // A man in the middle can send anything.
        "source" => {
            let own =
                ["localhost", "127.0.0.1", "host.docker.internal"].iter().any(|host| text.contains(host));
            if text.starts_with("http://") && !own {
                report.deed("trust", "source");
            }
        }
        // A shell handles its own variables.
        "shell" if super::is_shell(program) => {}
        "shell" | "python" | "other" if !text.is_empty() && !text.contains(['$', '`']) => {
            let language = if kind == "shell" { Some("shell") } else { language_named(kind) };
            run_script(report, value, language);
        }
        _ => match kind.split_once('-') {
            Some(("code", language)) => match (text.strip_prefix('@'), language_named(language)) {
                (Some(file), language) => run_script(report, &Arg::literal(file), language),
                (None, Some(language)) if !text.is_empty() => report.then_code(language, value),
                _ => {}
            },
            Some(("options", "pager")) => {
                if let Some((_, command)) = text.split_once('!').filter(|(front, _)| front.contains('+')) {
                    report.then_shell(&Arg::literal(command), &[], name);
                }
            }
            Some(("options", language)) => options(name, text, language_named(language), report),
            _ => {}
        },
    }
}

/// A command line is followed; a single word when it names a file, which the line may have written.
fn command(name: &str, value: &Arg, program: &str, report: &mut Report) {
    let prefix = value.prefix();
    // `|tool %s` of `LESSOPEN`.
    let bare = prefix.trim_start_matches(['|', '-']);
    let mut words = bare.split_whitespace();
    let acts =
        |word: &str| super::is_run_by_wrappers(word) || word.rsplit('/').next() == Some(super::lictor::NAME);
    let destroys = words.next().is_some_and(acts) && words.next().is_some();
    let shown = value.known().map_or_else(|| value.clone(), |_| Arg::literal(bare));
    let spaced = prefix.contains(char::is_whitespace);
    if destroys || spaced && !program.is_empty() {
        report.then_shell(&shown, &[], name);
    } else if !spaced && bare.contains('/') && value.known().is_some() {
        run_script(report, &shown, None);
    }
}

/// The files of code among options, and code in them.
fn options(name: &str, text: &str, language: Option<&'static str>, report: &mut Report) {
    let mut before = "";
    for word in text.split_whitespace() {
        let attached = crate::words::CODE_FILE_OPTIONS.iter().find_map(|option| {
            let rest = word.strip_prefix(option)?;
            (!rest.is_empty()).then(|| rest.trim_start_matches('='))
        });
        let file = attached.or_else(|| crate::words::CODE_FILE_OPTIONS.contains(&before).then_some(word));
        before = word;
        let Some(file) = file else { continue };
        if let Some(command) = file.strip_prefix("exec=") {
            report.then_shell(&Arg::literal(command), &[], name);
        } else if file.starts_with("data:") {
            report.opaque(OpaqueWhat::Code, &format!("{name}={text}"));
        } else if file.starts_with(['.', '/', '~']) {
            let file = file.split('=').next().unwrap_or(file);
            report.next.push(Next::Script { path: Arg::literal(file), language });
        }
    }
    // `-Mmodule;code` is a statement like any other.
    if language == Some("perl")
        && let Some((_, code)) = text.split_once(';')
    {
        report.then_code("perl", &Arg::literal(code));
    }
}
