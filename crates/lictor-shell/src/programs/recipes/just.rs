//! Justfiles.

use std::collections::BTreeMap;

use super::Rules;

/// The recipes of a justfile.
pub(super) fn rules(text: &str) -> Rules {
    let mut rules = Rules::default();
    let mut variables: BTreeMap<&str, &str> = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            let recipe = line.trim_start().trim_start_matches(['@', '-']);
            if let Some(rule) = current.as_ref().and_then(|name| rules.named.get_mut(name)) {
                rule.lines.push(fill(recipe, &variables));
            }
            continue;
        }
        if line.starts_with('#') {
            continue;
        }
        if let Some((name, value)) = line.split_once(":=") {
            let name = name.trim().strip_prefix("export ").unwrap_or(name.trim());
            variables.insert(name, value.trim().trim_matches(['"', '\'']));
            continue;
        }
        let Some((head, needs)) = line.split_once(':') else { continue };
        let Some(name) = head.trim_start_matches('@').split_whitespace().next() else { continue };
        rules.first.get_or_insert_with(|| name.to_owned());
        let rule = rules.named.entry(name.to_owned()).or_default();
        let needs = needs.split_whitespace().filter(|need| *need != "&&");
        rule.needs.extend(needs.map(|need| need.trim_matches(['(', ')']).to_owned()));
        current = Some(name.to_owned());
    }
    rules
}

/// Fills in `{{name}}`; what the file does not tell is no path that matters.
fn fill(text: &str, variables: &BTreeMap<&str, &str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, tail) = after.split_once("}}").unwrap_or((after, ""));
        out.push_str(variables.get(name.trim()).copied().unwrap_or("x"));
        rest = tail;
    }
    out.push_str(rest);
    out
}
