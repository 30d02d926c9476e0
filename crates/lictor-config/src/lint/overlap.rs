//! Entries that another entry of the same list already covers, and rules that an earlier rule makes redundant.

use lictor_core::policy::ANY;

use super::Lint;
use super::lists::entries;
use crate::diagnostic::Span;
use crate::history::pattern;
use crate::sections::{PolicyEffect, PolicyRule};
use crate::yaml::Tree;

/// Whether the first covers everything that the second covers. `false` if unknown.
type Covers = fn(&str, &str) -> bool;

/// Lists in which one entry that fits is enough.
const LISTS: [(&[&str], Covers); 9] = [
    (&["boundaries", "allowed_dirs"], paths),
    (&["boundaries", "red_line_files"], paths),
    (&["boundaries", "blocked_paths"], paths),
    (&["secrets", "files"], globs),
    (&["bash_safety", "blocked_patterns"], lictor_expr::pattern_covers),
    (&["network", "allow"], hosts),
    (&["network", "deny"], hosts),
    (&["known_tools", "known"], globs),
    (&["known_tools", "blocked"], globs),
];

pub(super) fn look(lint: &mut Lint<'_>) {
    for (path, covers) in LISTS {
        let entries = entries(lint, path);
        for (index, (text, span)) in entries.iter().enumerate() {
            let stands_for = |(other, wide): &(usize, &(&str, Span))| {
                wide.0 != *text && covers(wide.0, text) && (*other < index || !covers(text, wide.0))
            };
            if let Some((_, (wide, place))) = entries.iter().enumerate().find(stands_for) {
                let help = format!("`{wide}` in line {} already stands for it", place.line);
                lint.warn(*span, format!("`{text}` adds nothing"), help);
            }
        }
    }
    contradictions(lint, ["network", "allow"], ["network", "deny"], "denied", hosts);
    contradictions(lint, ["known_tools", "known"], ["known_tools", "blocked"], "blocked", globs);
    prerequisites(lint);
    policies(lint);
}

/// Paths and globs: a path covers everything below it.
pub(super) fn paths(wide: &str, narrow: &str) -> bool {
    let tidy = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    let (wide, narrow) = (tidy(wide), tidy(narrow));
    if wide == narrow {
        return false;
    }
    if matches!(wide.as_str(), "" | "." | "**" | "**/*") {
        return true;
    }
    if !is_glob(&wide) {
        return narrow.strip_prefix(&wide).is_some_and(|rest| rest.starts_with('/'));
    }
    globs(&wide, &narrow)
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{', '\\', '!'])
}

/// Globs of files and tools. Two globs are compared only by their text.
fn globs(wide: &str, narrow: &str) -> bool {
    if !is_glob(narrow) {
        return fast_glob::glob_match(wide, narrow);
    }
    if let Some(tail) = wide.strip_prefix("**/") {
        return narrow.strip_suffix(tail).is_some_and(|front| front.ends_with('/'));
    }
    if let Some(front) = wide.strip_suffix("**").filter(|front| !is_glob(front) && front.ends_with('/')) {
        return narrow.starts_with(front);
    }
    let front = wide.strip_suffix('*').filter(|front| !is_glob(front));
    front.is_some_and(|front| {
        narrow.starts_with(front) && !narrow.contains(['/', '{', '\\', '!']) && !narrow.contains("**")
    })
}

/// Hosts: `*.domain` covers everything below the domain.
fn hosts(wide: &str, narrow: &str) -> bool {
    let tidy = |host: &str| host.trim_end_matches('.').to_ascii_lowercase();
    let (wide, narrow) = (tidy(wide), tidy(narrow));
    match wide.strip_prefix("*.") {
        Some(domain) => {
            narrow.strip_suffix(domain).is_some_and(|front| front.ends_with('.') && front != "*.")
        }
        None => wide == "*",
    }
}

fn contradictions(lint: &mut Lint<'_>, good: [&str; 2], bad: [&str; 2], word: &str, covers: Covers) {
    let refused = entries(lint, &bad);
    for (text, span) in entries(lint, &good) {
        let Some((wide, _)) = refused.iter().find(|(wide, _)| *wide == text || covers(wide, text)) else {
            continue;
        };
        let by = if *wide == text { String::new() } else { format!(" by `{wide}`") };
        let help = format!("take it out of `{}` or of `{}`", good.join("."), bad.join("."));
        lint.warn(span, format!("`{text}` is also {word}{by}, and that wins"), help);
    }
}

/// Prerequisites that are listed twice, or together with a special case.
fn prerequisites(lint: &mut Lint<'_>) {
    let Some(Tree { value: crate::yaml::Yaml::Map(rules), .. }) =
        lint.file.tree.at(&["tools", "require_first"])
    else {
        return;
    };
    // A prerequisite that is invalidated or expires may be needed again although the other still counts.
    if ["invalidate", "expire"].iter().any(|key| lint.file.tree.at(&["tools", key]).is_some()) {
        return;
    }
    let mut found = Vec::new();
    for (gated, needs) in rules {
        let needs: Vec<_> = needs
            .items()
            .into_iter()
            .filter_map(|item| Some((item, pattern(&lictor_expr::Pattern::parse(item.scalar()?).ok()?))))
            .collect();
        for (index, (item, need)) in needs.iter().enumerate() {
            let special = needs.iter().enumerate().find(|(other, (_, special))| {
                *other != index && need.covers(special) && (*other < index || !special.covers(need))
            });
            if let Some((_, (other, _))) = special {
                let text = |tree: &Tree| tree.scalar().unwrap_or_default().to_owned();
                let help = format!("whoever has done `{}` has done it", text(other));
                found.push((
                    item.span,
                    format!("`{}` adds nothing before `{}`", text(item), gated.text),
                    help,
                ));
            }
        }
    }
    for (span, message, help) in found {
        lint.warn(span, message, help);
    }
}

/// A policy that is triggered only where an earlier one already refuses, or that repeats one.
fn policies(lint: &mut Lint<'_>) {
    let places = lint.file.tree.at(&["policies"]).map(Tree::items).unwrap_or_default();
    let rules: Vec<(&PolicyRule, &Tree)> = lint.file.sections.policies.iter().zip(places).collect();
    let mut found = Vec::new();
    for (index, (rule, place)) in rules.iter().enumerate() {
        let refused = rules.iter().enumerate().find(|(other, (earlier, _))| {
            let refuses = earlier.effect == Some(PolicyEffect::Block);
            *other != index
                && refuses
                && triggers(earlier, rule)
                && (*other < index || !triggers(rule, earlier))
        });
        let repeated = rules.iter().take(index).find(|(earlier, _)| {
            let plain = earlier.callback.is_none() && rule.callback.is_none();
            let same =
                (earlier.effect, earlier.requires_confirmation) == (rule.effect, rule.requires_confirmation);
            plain
                && same
                && earlier.message == rule.message
                && triggers(earlier, rule)
                && triggers(rule, earlier)
        });
        let span = place.get("name").map_or(place.span, |name| name.span);
        if let Some((_, (earlier, at))) = refused {
            let message = format!("`{}` never matters", rule.name);
            let help = format!(
                "`{}` in line {} already blocks everything that it is about",
                earlier.name, at.span.line
            );
            found.push((span, message, help));
        } else if let Some((earlier, at)) = repeated {
            let help = format!(
                "`{}` in line {} says the same about the same; leave one out",
                earlier.name, at.span.line
            );
            found.push((span, format!("`{}` adds nothing", rule.name), help));
        }
    }
    for (span, message, help) in found {
        lint.warn(span, message, help);
    }
}

/// Whether everything that triggers the second triggers the first.
fn triggers(wide: &PolicyRule, narrow: &PolicyRule) -> bool {
    let word = |wide: &str, narrow: &str| wide == ANY || wide == narrow;
    let list = |wide: &[String], narrow: &[String]| {
        wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(|entry| wide.contains(entry)))
    };
    // Paths and hosts are one filter: an effect passes when one of either matches.
    let places = |rule: &PolicyRule| rule.paths.iter().chain(&rule.hosts).cloned().collect::<Vec<_>>();
    word(&wide.verb, &narrow.verb)
        && word(&wide.object, &narrow.object)
        && (wide.cardinality.is_none() || wide.cardinality == narrow.cardinality)
        && list(&places(wide), &places(narrow))
        && list(&wide.tools, &narrow.tools)
}

#[cfg(test)]
mod tests;
