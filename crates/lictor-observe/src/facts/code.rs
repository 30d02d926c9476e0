//! `execute_code`: the code itself for the sandbox guard, and what it does as far as Lictor reads the language.

use lictor_core::Action;
use lictor_core::facts::{Effect, Facts, OpaqueWhat};
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

/// What code of a language does.
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
    let call = Call {
        program: language,
        path: language,
        args: &[],
        cwd: &Cwd::Start,
        stdin: &Stdin::Inherited,
        source: None,
        assignments: &[],
        surroundings: looker,
    };
    let mut report = Report::default();
    lictor_shell::languages::judge(language, body, &call, &mut report);
    if !report.effects.iter().any(|effect| matches!(effect, Effect::Code { .. })) {
        // Too long to be read: the sandbox guard still has to see that there is code.
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
    looker.add(facts, Reading { effects: report.effects, opaque: report.opaque });
}

/// An argument vector that code starts: read as the shell would read the quoted words.
fn run(argv: &[lictor_shell::Arg], looker: &Looker<'_>, facts: &mut Facts) {
    let words: Option<Vec<String>> = argv.iter().map(|arg| arg.known().map(quote)).collect();
    match words {
        Some(words) => looker.add(facts, lictor_shell::read(&words.join(" "), looker)),
        None => {
            let text: Vec<&str> = argv.iter().map(|arg| arg.text.as_str()).collect();
            facts.opaque.push(opaque(OpaqueWhat::Program, &text.join(" ")));
        }
    }
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
