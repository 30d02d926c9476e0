//! `exceptions:`.

use lictor_guards::{Pack, RuleException};

use super::section::{Section, value};
use crate::diagnostic::suggest;
use crate::reader::{Fields, Reader};
use crate::table::{Key, Shape, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "exceptions",
        Shape::List(&Shape::Fields(&TABLE)),
        "[{rule: secret.read, file: tests/fixtures/.env}]",
        "Rules that do not hold for one file, one tool or one command.",
    )],
    read: |r, file, said| said.exceptions = value(r, file, "exceptions", read).unwrap_or_default(),
    guards: &[],
};

static TABLE: Table = Table {
    name: "exceptions[]",
    about: "One rule that does not hold for a file, a tool or a command; `lictor allow` writes it. A repository's exceptions \
            lift only rules of packs that the repository itself adds; those of the user's or managed file also lift the \
            base. Rules of `tools` are lifted by their own file.",
    keys: &[
        Key::new("rule", Shape::Text, "secret.read", "The rule's id, as `lictor explain` shows it.")
            .required(),
        Key::new(
            "file",
            Shape::Path,
            "tests/fixtures/.env",
            "The file, by its whole path or from the project's root. No globs.",
        ),
        Key::new("tool", Shape::Text, "mcp__postgres__query", "The tool, by its full name."),
        Key::new(
            "command",
            Shape::Text,
            "git push --tags",
            "The command, word for word. Only for `require_first` rules; for those of the packs there is \
             `bash_safety.allow`.",
        ),
    ],
};

fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<Vec<RuleException>> {
    let mut exceptions = Vec::new();
    for item in r.maps(tree, "`exceptions`") {
        let Some(f) = r.fields(item, &TABLE) else { continue };
        exceptions.extend(exception(r, &f));
    }
    Some(exceptions)
}

fn exception(r: &mut Reader<'_>, f: &Fields<'_>) -> Option<RuleException> {
    let rule = r.field(f, "rule", rule)?;
    let file = r.field(f, "file", file);
    let tool = r.field(f, "tool", Reader::sentence);
    let command = r.field(f, "command", Reader::sentence);
    let given: Vec<&Tree> = ["file", "tool", "command"].into_iter().filter_map(|key| f.get(key)).collect();
    match given.as_slice() {
        [] if f.misspelt => return None,
        [] => {
            r.error(
                f.span,
                "it is about no file, tool or command",
                "add `file: …`, `tool: …` or `command: …`",
            );
            return None;
        }
        [_] => {}
        [_, second, ..] => {
            r.error(second.span, "an exception is about a file, a tool or a command", "make two of it");
            return None;
        }
    }
    // Invalid values have been reported already.
    let read = [&file, &tool, &command].into_iter().flatten().count();
    let only_for_sequences = command.is_some() && !rule.starts_with("require_first");
    if only_for_sequences {
        let place = f.get("command").map_or(f.span, |tree| tree.span);
        let help = "put the command into `bash_safety.allow`";
        r.error(place, format!("`{rule}` is not lifted for a command here"), help);
    }
    (read == 1 && !only_for_sequences).then_some(RuleException { rule, file, tool, command })
}

fn rule(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<String> {
    let text = r.sentence(tree, what)?;
    if RuleException::is_about_the_past(&text) {
        return Some(text);
    }
    let ids = || Pack::all().iter().flat_map(|pack| pack.rules()).map(|rule| rule.id);
    if !ids().any(|id| id == text) {
        let group = text.split('.').next().unwrap_or_default();
        let near: Vec<&str> = ids().filter(|id| id.split('.').next() == Some(group)).collect();
        let all: Vec<&str> = if near.is_empty() { ids().collect() } else { near };
        let help = suggest(&text, "for example", all.iter().copied().take(8));
        r.error(tree.span, format!("no pack has a rule `{text}`"), help);
        return None;
    }
    let base = Pack::named("recommended").into_iter().flat_map(Pack::rules);
    if !r.is_trusted() && base.into_iter().any(|known| known.id == text) {
        let help = "put it into your own file (`~/.config/lictor/governance.yaml`)";
        r.warning(tree.span, format!("a repository's file cannot lift `{text}`, a rule of the base"), help);
    }
    Some(text)
}

fn file(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<String> {
    let path = r.path(tree, what)?;
    if path.contains(['*', '?']) {
        r.error(tree.span, format!("{what} takes one file, not a glob"), "write one exception for each file");
        return None;
    }
    Some(path.trim_start_matches("./").to_owned())
}

#[cfg(test)]
mod tests;
