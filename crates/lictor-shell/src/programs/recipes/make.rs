//! Makefiles: rules, recipes and the variables in them.

use std::collections::BTreeMap;

use super::{Rule, Rules};
use crate::walk::conventional;

/// The placeholder for an unknown value: an irrelevant path.
const UNKNOWN: &str = "x";
/// Deepest nesting of variables in variables.
const DEEPEST: usize = 8;
/// Longest line after its variables were filled in.
const LONGEST: usize = 16 * 1024;

/// The rules of a makefile; `given` are `NAME=value` words of the command line.
pub(super) fn rules(text: &str, given: &[&str]) -> Rules {
    let text = text.replace("\\\n", " ");
    // The command line overrides the file.
    let fixed: Vec<(&str, &str)> = given.iter().filter_map(|word| word.split_once('=')).collect();
    let mut variables: BTreeMap<String, String> =
        fixed.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut rules = Rules::default();
    let mut current: Vec<String> = Vec::new();
    for line in text.lines() {
        if let Some(recipe) = line.strip_prefix('\t').or_else(|| line.strip_prefix("    ")) {
            let recipe = recipe.trim_start().trim_start_matches(['@', '-', '+', ' ']);
            for name in &current {
                if let Some(rule) = rules.named.get_mut(name) {
                    let line = fill(recipe, &variables, name, &rule.needs, 0);
                    rule.lines.push(line);
                }
            }
            continue;
        }
        let line = line.split('#').next().unwrap_or_default().trim_end();
        if let Some((name, value)) = assignment(line) {
            let value = if value.contains("$(shell ") {
                rules.always.push(fill(value, &variables, "", &[], 0));
                UNKNOWN.to_owned()
            } else {
                value.to_owned()
            };
            if !fixed.iter().any(|(given, _)| *given == name) {
                variables.insert(name.to_owned(), value);
            }
            continue;
        }
        let Some((names, rest)) = line.split_once(':') else { continue };
        let (needs, inline) = rest.split_once(';').unwrap_or((rest, ""));
        let needs: Vec<String> = fill(needs.trim_start_matches(':'), &variables, "", &[], 0)
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        current = fill(names, &variables, "", &[], 0).split_whitespace().map(str::to_owned).collect();
        for name in &current {
            if rules.first.is_none() && !name.starts_with('.') && !name.contains('%') {
                rules.first = Some(name.clone());
            }
            let rule: &mut Rule = rules.named.entry(name.clone()).or_default();
            rule.needs.extend(needs.iter().cloned());
            if !inline.trim().is_empty() {
                rule.lines.push(fill(
                    inline.trim().trim_start_matches(['@', '-', '+']),
                    &variables,
                    name,
                    &needs,
                    0,
                ));
            }
        }
    }
    rules
}

/// `NAME = value`, `NAME := value`, `NAME ?= value`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").or_else(|| line.strip_prefix("override ")).unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    plain.then_some((name, value.trim()))
}

/// Fills in variables. `$$` is a dollar for the shell.
fn fill(
    text: &str,
    variables: &BTreeMap<String, String>,
    target: &str,
    needs: &[String],
    depth: usize,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if out.len() > LONGEST {
            return out;
        }
        let Some(next) = after.chars().next() else { break };
        let behind = after.get(next.len_utf8()..).unwrap_or_default();
        rest = match next {
            '$' => {
                out.push('$');
                behind
            }
            '(' | '{' => {
                let (name, tail) = closed(behind, next);
                out.push_str(&value(name, variables, target, needs, depth));
                tail
            }
            '@' | '*' => {
                out.push_str(target);
                behind
            }
            '<' => {
                out.push_str(needs.first().map(String::as_str).unwrap_or_default());
                behind
            }
            '^' | '+' | '?' => {
                out.push_str(&needs.join(" "));
                behind
            }
            _ => {
                let name = after.get(..next.len_utf8()).unwrap_or_default();
                out.push_str(&value(name, variables, target, needs, depth));
                behind
            }
        };
    }
    out.push_str(rest);
    out
}

/// The text up to the closing bracket, and what follows it.
fn closed(text: &str, open: char) -> (&str, &str) {
    let close = if open == '(' { ')' } else { '}' };
    let mut depth = 0_u32;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            if depth == 0 {
                return (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
            }
            depth -= 1;
        }
    }
    (text, "")
}

fn value(
    name: &str,
    variables: &BTreeMap<String, String>,
    target: &str,
    needs: &[String],
    depth: usize,
) -> String {
    if let Some(command) = name.strip_prefix("shell ") {
        return format!("$({})", command.replace("$$", "$"));
    }
    if let Some(pattern) = name.strip_prefix("wildcard ") {
        return pattern.to_owned();
    }
    match (variables.get(name), name) {
        (Some(value), _) if depth < DEEPEST => fill(value, variables, target, needs, depth + 1),
        (None, "CURDIR") => ".".to_owned(),
        (None, "MAKE") => "make".to_owned(),
        (None, "RM") => "rm -f".to_owned(),
        (None, "@") => target.to_owned(),
        (None, "HOME" | "USER" | "PWD" | "TMPDIR") => format!("${name}"),
        // Make has default values for known programs; other unset variables are empty.
        (None, name) if is_name(name) => conventional::program_of(name).unwrap_or_default().to_owned(),
        _ => UNKNOWN.to_owned(),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
