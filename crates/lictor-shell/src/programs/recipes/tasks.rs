//! Task files in YAML, parsed line by line: Taskfiles and playbooks.

use super::Rules;

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(text)
}

/// The tasks of a Taskfile: every command of a task is one line below it.
pub(super) fn rules(text: &str) -> Rules {
    let mut rules = Rules::default();
    let mut tasks = false;
    let mut level = None;
    let mut current: Option<String> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        let deep = indent(line);
        let content = line.trim();
        if deep == 0 {
            tasks = content == "tasks:";
            continue;
        }
        if !tasks {
            continue;
        }
        if deep <= *level.get_or_insert(deep) {
            let (name, rest) = content.split_once(':').unwrap_or((content, ""));
            let name = unquoted(name).to_owned();
            rules.first =
                rules.first.filter(|first| first != "default" && name != "default").or(Some(name.clone()));
            let rule = rules.named.entry(name.clone()).or_default();
            if !rest.trim().is_empty() {
                rule.lines.push(unquoted(rest).to_owned());
            }
            current = Some(name);
            continue;
        }
        let Some(rule) = current.as_ref().and_then(|name| rules.named.get_mut(name)) else { continue };
        if let Some(list) = content.strip_prefix("deps:") {
            let names = list.trim().trim_matches(['[', ']']).split(',').map(unquoted);
            rule.needs.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
            continue;
        }
        if let Some(list) = content.strip_prefix("cmds:").map(str::trim).filter(|list| list.starts_with('['))
        {
            rule.lines.extend(list.trim_matches(['[', ']']).split(',').map(|line| unquoted(line).to_owned()));
            continue;
        }
        let command = content.strip_prefix("- ").unwrap_or(content);
        let command = command.strip_prefix("cmd:").unwrap_or(command);
        if let Some(other) = command.trim().strip_prefix("task:") {
            rule.needs.push(unquoted(other).to_owned());
        } else if content.starts_with("- ") || content.starts_with("cmd:") || !content.ends_with(':') {
            rule.lines.push(unquoted(command).to_owned());
        }
    }
    rules
}

/// The commands of a playbook's tasks.
pub(super) fn playbook(text: &str) -> Vec<String> {
    let modules = ["shell:", "command:", "raw:", "ansible.builtin.shell:", "ansible.builtin.command:"];
    text.lines()
        .filter_map(|line| {
            let content = line.trim().trim_start_matches("- ");
            modules.iter().find_map(|module| content.strip_prefix(module))
        })
        .map(|command| unquoted(command).to_owned())
        .filter(|command| !command.is_empty())
        .collect()
}
