//! Limits and lists that no action can satisfy, each with the shortest example.

use super::Lint;

pub(super) fn look(lint: &mut Lint<'_>) {
    limits(lint);
    files(lint);
    patterns(lint);
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
    zero(lint, &["budget", "max_tokens"], "nothing can be done");
    zero(lint, &["rate_limit", "max_per_minute"], "no action can pass, not even `ls`");
    zero(lint, &["tenant", "budget", "max_actions"], "no action can pass, not even `ls`");
    zero(lint, &["tenant", "budget", "max_tasks"], "no task can be submitted");
    zero(lint, &["tenant", "budget", "max_tokens"], "nothing can be done");
    zero(lint, &["tenant", "rate_limit", "max_per_minute"], "no action can pass, not even `ls`");
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
