//! Files that programs generate from other files: a filled template, an old version from git, the output of a
//! project script. Running them is like running the project's own scripts. Text that the line itself contains is
//! different: it is analysed as part of the line.

use crate::ast::{Node, Word};
use crate::describe::Trait;

/// Whether what a command prints comes from files: it is a filter, or an interpreter that runs a script.
pub(super) fn from_files(stage: &Node) -> bool {
    let Node::Simple(simple) = stage else { return false };
    let Some(program) = simple.words.first().and_then(Word::literal) else { return false };
    let name = program.rsplit('/').next().unwrap_or_default();
    let texts = simple.words.iter().skip(1).map(|word| word.literal().unwrap_or_else(|| word.written()));
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let script = || {
        let first = simple.words.get(1).and_then(Word::literal);
        first.is_some_and(|word| !word.starts_with('-') && word.contains('.'))
    };
    let here = simple.redirects.iter().any(|redirect| {
        matches!(redirect.kind, crate::ast::RedirectKind::HereDocument | crate::ast::RedirectKind::HereString)
    });
    let known = match bare {
        "perl" | "ruby" => script() || simple.words.iter().any(edits_in_place),
        _ if crate::programs::is_interpreter(bare) => script(),
        _ => crate::programs::is(name, Trait::Filters) || program.starts_with("./"),
    };
    !here
        && (known || crate::harmless::is_setup_command(name, texts.clone()))
        && texts.into_iter().all(|text| !says_command(text))
}

/// `perl -pi -e`.
fn edits_in_place(word: &Word) -> bool {
    word.literal().is_some_and(|text| {
        text.strip_prefix('-')
            .is_some_and(|flags| !flags.starts_with('-') && flags.contains('i') && flags.len() <= 4)
    })
}

/// Whether a text contains the name of a harmful program, as a word.
fn says_command(text: &str) -> bool {
    // `script.sh` is a file.
    let file = |ending: &str| text.strip_suffix(ending).filter(|name| !name.contains(char::is_whitespace));
    let text = [".sh", ".bash", ".zsh"].into_iter().find_map(file).unwrap_or(text);
    text.contains(['`', '|'])
        || text.contains("$(")
        || text
            .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .any(|word| crate::words::COMMAND_WORDS.contains(&word))
}
