//! Rules that no action can satisfy, or that none can break, each with the shortest example.

use super::Lint;
use crate::diagnostic::Span;
use crate::sections::GuardDecides;

pub(super) fn look(lint: &mut Lint<'_>) {
    limits(lint);
    files(lint);
    patterns(lint);
    conditions(lint);
}

fn zero(lint: &mut Lint<'_>, path: &[&str], message: &str) {
    let place = lint.file.tree.at(path).filter(|tree| tree.scalar() == Some("0")).map(|tree| tree.span);
    if let Some(span) = place {
        lint.warn(span, message, "absent means unlimited, 0 means nothing");
    }
}

fn limits(lint: &mut Lint<'_>) {
    zero(lint, &["budget", "max_actions"], "no action can pass, not even `ls`");
    zero(lint, &["budget", "max_minutes"], "no action can pass, not even `ls`");
    zero(lint, &["budget", "max_tasks"], "no task can be submitted");
    zero(lint, &["rate_limit", "max_per_minute"], "no action can pass, not even `ls`");
    if let Some(tree) = lint.file.tree.at(&["risk", "block_at"]).filter(|tree| tree.scalar() == Some("0")) {
        lint.warn(
            tree.span,
            "no action can pass, not even `ls`: every risk is 0 or more",
            "use a number above 0",
        );
    }
}

fn files(lint: &mut Lint<'_>) {
    let Some(section) = &lint.file.sections.boundaries else { return };
    if section.allowed_dirs.as_ref().is_some_and(Vec::is_empty)
        && let Some(tree) = lint.file.tree.at(&["boundaries", "allowed_dirs"])
    {
        lint.warn(
            tree.span,
            "no file can be touched, not even by `cat README.md`",
            "absent means everywhere, an empty list means nowhere",
        );
    }
    for key in ["red_line_files", "blocked_paths"] {
        let Some(tree) = lint.file.tree.at(&["boundaries", key]) else { continue };
        for item in tree.items() {
            if matches!(item.scalar(), Some("**" | "**/*" | "." | "./" | "/" | "/**")) {
                lint.warn(
                    item.span,
                    "no file can be touched, not even by `cat README.md`",
                    "name what is meant",
                );
            }
        }
    }
}

/// Whether a regular expression finds something in every text.
fn finds_everywhere(pattern: &str) -> bool {
    regex_syntax::parse(pattern).is_ok_and(|hir| {
        let anchored = !hir.properties().look_set().is_empty();
        hir.properties().minimum_len() == Some(0) && !anchored
    })
}

fn patterns(lint: &mut Lint<'_>) {
    for (key, message) in [
        ("blocked_patterns", "it is found in every command, so that none can be run, not even `ls`"),
        ("allow", "it fits every command, so that nothing of this section is blocked"),
    ] {
        let Some(tree) = lint.file.tree.at(&["bash_safety", key]) else { continue };
        for item in tree.items() {
            let text = item.scalar().unwrap_or_default();
            let all =
                if key == "allow" { matches!(text, ".*" | ".+" | "(?s).*") } else { finds_everywhere(text) };
            if all {
                lint.warn(item.span, message, "say more of what is meant");
            }
        }
    }
}

fn conditions(lint: &mut Lint<'_>) {
    let sections = &lint.file.sections;
    let mut found: Vec<(Span, String, &str)> = Vec::new();
    for guard in &sections.guards {
        let GuardDecides::Expr(program) = &guard.by else { continue };
        let place = lint.file.tree.at(&["guards", &guard.name, "expr"]).map(|tree| tree.span);
        match (program.constant(), place) {
            (Some(true), Some(span)) => {
                found.push((
                    span,
                    format!("`{}` is always true, so the guard never objects", program.source()),
                    "leave it out",
                ));
            }
            (Some(false), Some(span)) => {
                let message =
                    format!("`{}` is always false: no action can pass, not even `ls`", program.source());
                found.push((span, message, "say what must hold"));
            }
            _ => {}
        }
    }
    let places = lint.file.tree.at(&["intent"]).map(crate::yaml::Tree::items).unwrap_or_default();
    let mut rules = sections.intent.iter().flat_map(|section| &section.rules);
    for place in places.into_iter().filter_map(|item| item.get("require")) {
        let Some(rule) = rules.next() else { break };
        let tasks = rule.tasks.join("`, `");
        match rule.require.constant() {
            Some(true) => found.push((
                place.span,
                "it always holds, so the rule never objects".to_owned(),
                "leave `require` out",
            )),
            Some(false) => found.push((
                place.span,
                format!("it never holds: no `{tasks}` can be submitted"),
                "say what must hold",
            )),
            None => {}
        }
    }
    for (span, message, help) in found {
        lint.warn(span, message, help);
    }
}
