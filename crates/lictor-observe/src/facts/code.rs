//! `execute_code`: the code itself for the sandbox guard, and its effects as far as Lictor supports the language.

use lictor_core::Action;
use lictor_core::facts::{Access, Effect, Facts, OpaqueWhat};
use lictor_shell::call::{Call, Next, Report, Stdin};
use lictor_shell::{Cwd, Reading};

use super::opaque;
use crate::place::Looker;

pub(super) fn execute(action: &Action, looker: &Looker<'_>, facts: &mut Facts) {
    let Some(body) = action.text("code") else {
        facts.opaque.push(opaque(OpaqueWhat::Syntax, "no code"));
        return;
    };
    run_body(action.text("language").unwrap_or("python"), body, looker, facts);
}

/// The effects of code in a language.
pub(super) fn run_body(language: &str, body: &str, looker: &Looker<'_>, facts: &mut Facts) {
    let language = language.to_ascii_lowercase();
    let language = match language.as_str() {
        "py" | "python3" => "python",
        "js" | "node" | "nodejs" => "javascript",
        "ts" => "typescript",
        "sh" | "bash" | "zsh" | "shell" => {
            looker.add(facts, lictor_shell::read(body, looker));
            return;
        }
        other => other,
    };
    if language == "python" {
        magics(body, looker, facts);
    }
    let call = interpreter(language, looker);
    let mut report = Report::default();
    lictor_shell::languages::judge(language, body, &call, &mut report);
    if !report.effects.iter().any(|effect| matches!(effect, Effect::Code { .. })) {
        // Too long to be analysed: the sandbox guard still has to see that there is code.
        facts.effects.push(Effect::Code { language: language.to_owned(), body: body.to_owned() });
    }
    for next in report.next {
        match next {
            Next::Shell { text, .. } => match text.known() {
                Some(text) => looker.add(facts, lictor_shell::read(text, looker)),
                None => facts.opaque.push(opaque(OpaqueWhat::Code, &text.text)),
            },
            Next::Argv { argv, .. } => run(&argv, looker, facts),
            Next::Code { body, .. } => facts.opaque.push(opaque(OpaqueWhat::Code, &body.text)),
            Next::Script { .. } | Next::Recipe { .. } => {}
        }
    }
    let mentions = lictor_shell::programs::strings_in_code(language, body, &call);
    looker.add(
        facts,
        Reading { effects: report.effects, opaque: report.opaque, mentions, ..Reading::default() },
    );
}

/// The interpreter of that language without arguments, as if it got the text on its input.
pub(super) fn interpreter<'a>(language: &'a str, looker: &'a Looker<'_>) -> Call<'a> {
    Call {
        program: language,
        path: language,
        args: &[],
        cwd: &Cwd::Start,
        stdin: &Stdin::Inherited,
        source: None,
        assignments: &[],
        env: looker,
    }
}

/// Lines of a notebook that are no Python: `!command`, `%%bash`, `%%writefile path`, `%save path`.
fn magics(body: &str, looker: &Looker<'_>, facts: &mut Facts) {
    let mut rest = body;
    while let Some((line, behind)) = rest.split_once('\n').or((!rest.is_empty()).then_some((rest, ""))) {
        rest = behind;
        // `files = !ls` keeps what the command prints.
        let line = line.trim();
        let kept = line.split_once("= !").map(|(_, command)| command);
        if let Some(command) = line.strip_prefix('!').or(kept) {
            looker.add(facts, lictor_shell::read(command.trim_start_matches('!'), looker));
        }
        let (magic, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match magic {
            "%sx" | "%system" | "%%sx" => looker.add(facts, lictor_shell::read(argument, looker)),
            "%%bash" | "%%sh" | "%%script" | "%%system" | "%%!" => {
                looker.add(facts, lictor_shell::read(rest, looker));
                return;
            }
            "%%writefile" | "%%file" | "%save" | "%notebook" | "%logstart" => {
                let words = argument.split_whitespace().filter(|word| !word.starts_with('-'));
                for path in words {
                    let place = looker.path(path, Access::Write, false);
                    looker.add_place(facts, place, Access::Write, false, None);
                }
            }
            "%cd" | "%run" | "%load" => {
                if let Some(path) = argument.split_whitespace().next() {
                    let access = if magic == "%cd" { Access::List } else { Access::Execute };
                    looker.add_place(facts, looker.path(path, access, false), access, false, None);
                }
            }
            _ => {}
        }
    }
}

/// An argument vector that code starts: read as the shell would read the quoted words.
fn run(argv: &[lictor_shell::Arg], looker: &Looker<'_>, facts: &mut Facts) {
    let words: Option<Vec<String>> = argv.iter().map(|arg| arg.known().map(quote)).collect();
    match words {
        Some(words) => looker.add(facts, lictor_shell::read(&words.join(" "), looker)),
        None => {
            let text: Vec<&str> = argv.iter().map(|arg| &*arg.text).collect();
            facts.opaque.push(opaque(OpaqueWhat::Program, &text.join(" ")));
        }
    }
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
