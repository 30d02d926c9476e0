//! Generates `docs/reference.md` from the tables.

use std::fmt::Write as _;

use lictor_guards::Pack;

use crate::sections::FILE;
use crate::sections::built_in;
use crate::sections::graph::COMBINATORS;
use crate::table::{Shape, Table};

/// The reference of the format as Markdown.
#[must_use]
pub fn reference_markdown() -> String {
    let mut out = String::from(
        "# governance.yaml\n\nMade from the tables that the reader uses; `lictor schema` prints the same as JSON Schema.\n\n\
         A policy is found in three places: `/etc/lictor/governance.yaml` (managed), \
         `$XDG_CONFIG_HOME/lictor/governance.yaml` (user) and `governance.yaml` at the repository's root. All that are \
         there count together: a later one can forbid more, never less. `lictor check --show-merged` says where each \
         setting comes from.\n\nA value alone may stand where a list is expected. Lengths of time have a unit: `500ms`, \
         `30s`, `10m`, `2h`, `1d`. Unknown keys, duplicate keys, anchors, aliases and tags are refused.\n",
    );
    section(&mut out, "The file", &FILE);
    let mut seen = Vec::new();
    for key in FILE.keys {
        below(&mut out, &key.shape, &mut seen);
    }
    out.push_str("\n## policy\n\nA node is the name of a guard or a combinator.\n\n| guard | from | layer |\n|---|---|---|\n");
    for guard in built_in() {
        let _ = writeln!(out, "| `{}` | `{}:` | {} |", guard.name, guard.section, guard.layer);
    }
    out.push_str("| any name | an entry of `guards:` | as it says |\n");
    for combinator in COMBINATORS {
        section(&mut out, &format!("policy: {}", combinator.name), combinator);
        for key in combinator.keys {
            below(&mut out, &key.shape, &mut seen);
        }
    }
    out.push_str("\n## Packs\n\n| pack | for |\n|---|---|\n");
    for pack in Pack::all() {
        let _ = writeln!(out, "| `{}` | {} |", pack.name, pack.about);
    }
    out
}

fn section(out: &mut String, title: &str, table: &Table) {
    let _ =
        write!(out, "\n## {title}\n\n{}\n\n| key | value | example | |\n|---|---|---|---|\n", table.about);
    for key in table.keys {
        let needed = if key.required { " (needed)" } else { "" };
        let trusted = if key.trusted { " *Only in the user's or the managed file.*" } else { "" };
        let example = key.example.replace('|', "\\|");
        let _ = writeln!(
            out,
            "| `{}`{needed} | {} | `{example}` | {}{trusted} |",
            key.name,
            describe(&key.shape),
            key.about
        );
    }
}

fn below(out: &mut String, shape: &'static Shape, seen: &mut Vec<*const Table>) {
    match shape {
        Shape::List(inner) | Shape::Names(inner) | Shape::ByActions(inner) => below(out, inner, seen),
        Shape::OneOf(shapes) => shapes.iter().for_each(|inner| below(out, inner, seen)),
        Shape::Fields(table) => {
            let table: &'static Table = table;
            if seen.contains(&std::ptr::from_ref(table)) {
                return;
            }
            seen.push(std::ptr::from_ref(table));
            section(out, table.name, table);
            for key in table.keys {
                below(out, &key.shape, seen);
            }
        }
        _ => {}
    }
}

fn describe(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Bool => "`true` or `false`".to_owned(),
        Shape::Integer => "whole number".to_owned(),
        Shape::Fraction => "number from 0 to 1".to_owned(),
        Shape::Duration => "length of time".to_owned(),
        Shape::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Shape::Regex => "regular expression".to_owned(),
        Shape::Path => "path or glob".to_owned(),
        Shape::Expression => "[expression](expressions.md)".to_owned(),
        Shape::Actions => "action".to_owned(),
        Shape::Argv => "program and arguments".to_owned(),
        Shape::List(inner) => format!("list: {}", describe(inner)),
        Shape::Names(inner) => format!("map from names: {}", describe(inner)),
        Shape::ByActions(inner) => format!("map from actions: {}", describe(inner)),
        Shape::Fields(table) => format!("`{}`, see below", table.name),
        Shape::OneOf(shapes) => shapes.iter().map(describe).collect::<Vec<_>>().join("; or "),
        Shape::Number => "number".to_owned(),
        Shape::Data => "map of your own".to_owned(),
        Shape::Node => "node".to_owned(),
    }
}

#[cfg(test)]
mod tests;
