//! Lists whose entries repeat or contradict each other.

use super::Lint;
use super::overlap::paths;
use crate::diagnostic::Span;
use crate::source::Origin;

/// Entries of the list at a path, with their places.
pub(super) fn entries<'a>(lint: &Lint<'a>, path: &[&str]) -> Vec<(&'a str, Span)> {
    let items = lint.file.tree.at(path).map(crate::yaml::Tree::items).unwrap_or_default();
    items.into_iter().filter_map(|item| item.scalar().map(|text| (text, item.span))).collect()
}

pub(super) fn look(lint: &mut Lint<'_>) {
    const LISTS: [&[&str]; 14] = [
        &["boundaries", "allowed_dirs"],
        &["boundaries", "red_line_files"],
        &["boundaries", "blocked_paths"],
        &["bash_safety", "blocked_patterns"],
        &["bash_safety", "blocked_programs"],
        &["bash_safety", "allow"],
        &["network", "allow"],
        &["network", "deny"],
        &["known_tools", "known"],
        &["known_tools", "blocked"],
        &["secrets", "files"],
        &["sandbox", "forbid", "imports"],
        &["sandbox", "forbid", "calls"],
        &["redact"],
    ];
    for path in LISTS {
        repeated(lint, path);
    }
    red_lines_over_the_rest(lint);
    exceptions_without_rules(lint);
    exceptions_from_no_sequence(lint);
    files_in_two_layers(lint);
}

fn repeated(lint: &mut Lint<'_>, path: &[&str]) {
    let entries = entries(lint, path);
    for (index, (text, span)) in entries.iter().enumerate() {
        if let Some((_, first)) = entries.iter().take(index).find(|(other, _)| other == text) {
            lint.warn(
                *span,
                format!("`{text}` is given twice"),
                format!("it is already in line {}", first.line),
            );
        }
    }
}

/// A red line wins: a path that it covers need not be blocked and cannot be allowed.
fn red_lines_over_the_rest(lint: &mut Lint<'_>) {
    let red = entries(lint, &["boundaries", "red_line_files"]);
    if lint.file.sections.boundaries.as_ref().is_some_and(|it| it.red_line_mode != Default::default()) {
        return;
    }
    for (text, span) in entries(lint, &["boundaries", "blocked_paths"]) {
        if let Some((wide, _)) = red.iter().find(|(wide, _)| *wide == text || paths(wide, text)) {
            lint.warn(
                span,
                format!("`{text}` adds nothing"),
                format!("the red line `{wide}` already forbids it"),
            );
        }
    }
    for (text, span) in entries(lint, &["boundaries", "allowed_dirs"]) {
        if let Some((wide, _)) = red.iter().find(|(wide, _)| *wide == text || paths(wide, text)) {
            lint.warn(
                span,
                format!("nothing in `{text}` can be touched"),
                format!("the red line `{wide}` wins over it; take one of them away"),
            );
        }
    }
}

fn exceptions_without_rules(lint: &mut Lint<'_>) {
    let Some(section) = &lint.file.sections.bash_safety else { return };
    let brings_packs =
        lint.file.sections.extends.as_ref().is_some_and(|packs| packs.iter().any(|it| it != "recommended"));
    let idle = section.blocked_patterns.is_empty() && section.blocked_programs.is_empty() && !brings_packs;
    let place = lint.file.tree.at(&["bash_safety", "allow"]).map(|tree| tree.span);
    if let Some(span) =
        place.filter(|_| idle && lint.file.origin == Origin::Repository && !section.allow.is_empty())
    {
        lint.warn(
            span,
            "these exceptions lift nothing",
            "a repository's exceptions lift only rules of its own file; those for the packs belong into the user's file",
        );
    }
}

/// Only the file that defines a history rule can make exceptions to it.
fn exceptions_from_no_sequence(lint: &mut Lint<'_>) {
    let sections = &lint.file.sections;
    if sections.tools.is_some() || !sections.scoped_tools.is_empty() {
        return;
    }
    let idle = sections.exceptions.iter().filter(|one| one.of_tools().is_some());
    let idle: Vec<String> = idle.map(|one| one.rule.clone()).collect();
    let Some(span) = lint.file.tree.at(&["exceptions"]).map(|tree| tree.span) else { return };
    for rule in idle {
        lint.warn(
            span,
            format!("the exception from `{rule}` lifts nothing"),
            "rules of `tools` are lifted by the file that says them; put it there",
        );
    }
}

fn files_in_two_layers(lint: &mut Lint<'_>) {
    let Some(section) = &lint.file.sections.layers else { return };
    for (index, layer) in section.layers.iter().enumerate() {
        for glob in &layer.files {
            let Some(other) = section.layers.iter().take(index).find(|other| other.files.contains(glob))
            else {
                continue;
            };
            let Some(tree) = lint.file.tree.at(&["layers", &layer.name, "files"]) else { continue };
            let span = tree
                .items()
                .into_iter()
                .find(|item| item.scalar() == Some(glob))
                .map_or(tree.span, |it| it.span);
            lint.warn(
                span,
                format!("`{glob}` is in two layers, `{}` and `{}`", other.name, layer.name),
                "both must then allow what is done to it; give each file one layer",
            );
        }
    }
}
