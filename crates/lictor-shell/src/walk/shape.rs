//! What the syntax of a chain or a pipeline determines: for example whether it succeeds, fails, or ends the line.

use crate::ast::{Compound, Node, Part, Pipeline, Word};

/// A command that reads a secret from its input for authentication (`docker login --password-stdin`).
pub(super) fn takes_secret(stage: &Node) -> bool {
    let Node::Simple(simple) = stage else { return false };
    simple
        .words
        .iter()
        .filter_map(|word| word.literal())
        .any(|word| matches!(word, "--password-stdin" | "--with-token" | "--token-stdin"))
}

/// A pipeline that cannot fail.
pub(super) fn always_succeeds(pipeline: &Pipeline, exists: &dyn Fn(&str) -> bool) -> bool {
    let [Node::Simple(simple)] = pipeline.stages.as_slice() else { return false };
    if pipeline.negated || !simple.redirects.is_empty() {
        return false;
    }
    match simple.words.as_slice() {
        [] => simple.assignments.iter().all(|assignment| {
            matches!(&assignment.value, crate::ast::Assigned::Scalar(word) if word.literal().is_some())
        }),
        [program, rest @ ..] => match (program.literal(), rest) {
            (Some("true" | ":"), []) => true,
            (Some("echo"), words) => words.iter().all(|word| word.literal().is_some()),
            (Some("cd"), [directory]) => directory.literal().is_some_and(exists),
            _ => false,
        },
    }
}

/// A pipeline that ends the line with a failure (`exit 1`, `false`).
pub(super) fn always_fails(pipeline: &Pipeline) -> bool {
    let [node] = pipeline.stages.as_slice() else { return false };
    if pipeline.negated {
        return false;
    }
    match node {
        Node::Simple(simple) => {
            let mut words = simple.words.iter().map(|word| word.literal());
            let (program, status) = (words.next().flatten(), words.next());
            match program {
                Some("false") => true,
                Some("exit" | "return") => status != Some(Some("0")),
                _ => false,
            }
        }
        Node::Compound { body, .. } => match body.as_ref() {
            Compound::Group(script) | Compound::Subshell(script) => script.items.last().is_some_and(|item| {
                item.rest.is_empty()
                    && !item.background
                    && always_fails(&item.first)
                    && exits_explicitly(&item.first)
            }),
            _ => false,
        },
        Node::Function(_) => false,
    }
}

/// A pipeline that ends the shell or the function.
pub(super) fn leaves(pipeline: &Pipeline) -> bool {
    match pipeline.stages.as_slice() {
        [Node::Simple(simple)] => {
            matches!(
                simple.words.first().and_then(|word| word.literal()),
                Some("exit" | "return" | "continue" | "break")
            )
        }
        [Node::Compound { body, .. }] => match body.as_ref() {
            Compound::Group(script) => script
                .items
                .last()
                .is_some_and(|item| item.rest.is_empty() && !item.background && leaves(&item.first)),
            _ => false,
        },
        _ => false,
    }
}

/// `exit` without a status keeps that of the command before it, which in a group is not the failed one.
fn exits_explicitly(pipeline: &Pipeline) -> bool {
    match pipeline.stages.as_slice() {
        [Node::Simple(simple)] => {
            simple.words.first().and_then(|word| word.literal()) == Some("false") || simple.words.len() > 1
        }
        _ => true,
    }
}

/// `$(whoami)` in the place of a program: its output is not the name of a program.
pub(super) fn names_no_program(word: &Word) -> bool {
    let [Part::Command(script)] = word.parts.as_slice() else { return false };
    let [item] = script.items.as_slice() else { return false };
    match item.first.stages.as_slice() {
        [Node::Simple(simple)] => {
            matches!(
                simple.words.first().and_then(Word::bare),
                Some("whoami" | "id" | "hostname" | "date" | "seq")
            )
        }
        _ => false,
    }
}

/// `docker ps -q --filter …`.
pub(super) fn picks_containers(stage: &Node) -> bool {
    let Node::Simple(simple) = stage else { return false };
    let mut words = simple.words.iter().map(|word| word.literal().unwrap_or_else(|| word.written()));
    matches!(words.next(), Some("docker" | "podman" | "nerdctl"))
        && words.clone().any(|word| matches!(word, "ps" | "ls" | "images"))
        && words.any(|word| word.starts_with("--filter") || word == "-f")
}

/// `NAME=…` or `-x` after `export` and similar builtins.
pub(super) fn assigns_or_option(word: &Word) -> bool {
    let written = word.written();
    let name = written.split('=').next().unwrap_or_default();
    written.starts_with('-')
        || written.contains('=') && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// `export $(…)`: every word after it is the output of a command; `env $(…) program`: the first one is.
pub(super) fn exports_what_is_printed(words: &[Word]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let printed = |word: &Word| matches!(word.parts.as_slice(), [Part::Command(_)]);
    match first.bare() {
        Some("export") => !rest.is_empty() && rest.iter().all(printed),
        Some("env") => rest.len() > 1 && rest.first().is_some_and(printed),
        _ => false,
    }
}
