//! The hooks in a settings file, and problems with Lictor's.

use std::fmt;
use std::path::Path;

use serde_json::Value;

use super::edit::{commands, handlers};
use super::layout::Layout;
use super::{Command, NotJson, Settings, jsonc};
use crate::agent::Agent;
use crate::contract::Moment;

/// The hooks in a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inspection {
    /// Lictor's hooks, in the order of the file.
    pub hooks: Vec<InstalledHook>,
    /// Problems of the whole file.
    pub problems: Vec<Problem>,
}

/// One hook of Lictor's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledHook {
    /// The event it is installed for.
    pub event: String,
    /// The command line as written: what the agent really runs.
    pub line: String,
    /// The parsed command line. The caller checks whether the program exists and can be run.
    pub command: Command,
    /// Its problems.
    pub problems: Vec<Problem>,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The file is not JSON, so the agent runs none of its hooks.
    Unreadable(NotJson),
    /// This setting switches hooks off.
    Disabled(String),
    /// There is no hook for this event.
    Missing(String),
    /// There is more than one hook for this event.
    Twice(String),
    /// The program is found by a path that depends on where the agent is.
    RelativePath,
    /// Another binary than the one that is looking.
    OtherBinary,
    /// The command line names another agent or event than its place in the file.
    WrongCommand,
    /// This setting keeps the hook from running for every call.
    Narrowed(String),
    /// The agent lets the call proceed if the hook fails, although it has a setting against that.
    FailsOpen(String),
    /// The entry differs from what would be installed today.
    Outdated,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "the file is {why}: the agent runs none of its hooks"),
            Self::Disabled(setting) => write!(f, "`{setting}` switches hooks off"),
            Self::Missing(event) => write!(f, "there is no hook for `{event}`"),
            Self::Twice(event) => write!(f, "there is more than one hook for `{event}`"),
            Self::RelativePath => f.write_str("the program is not given by an absolute path"),
            Self::OtherBinary => f.write_str("the hook runs another `lictor` than this one"),
            Self::WrongCommand => f.write_str("the command line names another agent or event"),
            Self::Narrowed(setting) => write!(f, "`{setting}` keeps the hook from running every time"),
            Self::FailsOpen(setting) => {
                write!(f, "without `{setting}` a failing hook lets the action through")
            }
            Self::Outdated => f.write_str("the entry is not what `lictor init` writes today"),
        }
    }
}

pub(super) fn json(settings: &Settings, layout: &Layout, text: &str, binary: &Path) -> Inspection {
    let mut found = Inspection::default();
    let root = match jsonc::parse(text) {
        Ok(root) => root.value(text),
        Err(why) => {
            found.problems.push(Problem::Unreadable(why));
            return found;
        }
    };
    found.problems.extend(switches(&root));
    let events = layout.root.iter().try_fold(&root, |value, key| value.get(key));
    for (event, items) in events.and_then(Value::as_object).into_iter().flatten() {
        let entry = layout.entries.iter().find(|entry| entry.event == event);
        for item in items.as_array().into_iter().flatten() {
            for handler in handlers(item) {
                let Some((line, command)) =
                    commands(handler).find_map(|line| Some((line, Command::read(line)?)))
                else {
                    continue;
                };
                let line = line.to_owned();
                let mut hook = InstalledHook { event: event.clone(), line, command, problems: Vec::new() };
                let program = if hook.command.is_looked_for() { &hook.command.program } else { binary };
                let wanted =
                    entry.map(|entry| layout.item(entry, &settings.command(program, entry.event)).value());
                hook.problems = problems(settings, &hook, item, handler, wanted.as_ref(), binary);
                found.hooks.push(hook);
            }
        }
    }
    found.problems.extend(counts(layout, &found.hooks));
    found
}

/// Settings that disable all hooks, in any agent.
fn switches(root: &Value) -> Vec<Problem> {
    let is = |pointer: &str, value: bool| root.pointer(pointer).and_then(Value::as_bool) == Some(value);
    let mut problems = Vec::new();
    for (pointer, off, name) in [
        ("/disableAllHooks", true, "disableAllHooks: true"),
        ("/hooksConfig/enabled", false, "hooksConfig.enabled: false"),
        ("/lictor/enabled", false, "lictor.enabled: false"),
    ] {
        if is(pointer, off) {
            problems.push(Problem::Disabled(name.to_owned()));
        }
    }
    // Qwen Code runs no hooks while its own sandbox is on, whatever its settings.
    if root.pointer("/tools/executionSandbox").is_some_and(Value::is_object) {
        problems.push(Problem::Disabled("tools.executionSandbox".to_owned()));
    }
    for (pointer, name) in
        [("/hooksConfig/disabled", "hooksConfig.disabled"), ("/disabledPlugins", "disabledPlugins")]
    {
        let names = root.pointer(pointer).and_then(Value::as_array);
        // Cline names plugins by their paths.
        let ours = |name: &str| name == "lictor" || name.ends_with("/lictor.js");
        if names.into_iter().flatten().filter_map(Value::as_str).any(ours) {
            problems.push(Problem::Disabled(format!("{name}: [\"lictor\"]")));
        }
    }
    problems
}

fn counts(layout: &Layout, hooks: &[InstalledHook]) -> Vec<Problem> {
    let count = |event: &str| hooks.iter().filter(|hook| hook.event == event).count();
    let problem = |event: &str| match count(event) {
        0 if !hooks.is_empty() => Some(Problem::Missing(event.to_owned())),
        0 | 1 => None,
        _ => Some(Problem::Twice(event.to_owned())),
    };
    layout.entries.iter().filter_map(|entry| problem(entry.event)).collect()
}

fn problems(
    settings: &Settings,
    hook: &InstalledHook,
    item: &Value,
    handler: &Value,
    wanted: Option<&Value>,
    binary: &Path,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if hook.command.is_looked_for() {
        // Which one is found is for the caller to see.
    } else if !hook.command.is_absolute() {
        problems.push(Problem::RelativePath);
    } else if hook.command.program != binary {
        problems.push(Problem::OtherBinary);
    }
    let line = settings.command(&hook.command.program, &hook.event);
    if Command::read(&line).as_ref() != Some(&hook.command) {
        problems.push(Problem::WrongCommand);
    }
    let Some(wanted) = wanted else { return problems };
    let expected = handlers(wanted).first().copied().unwrap_or(wanted);
    for (place, ours, key) in [
        (item, wanted, "matcher"),
        (handler, expected, "if"),
        (handler, expected, "async"),
        (handler, expected, "once"),
    ] {
        let (now, then) = (place.get(key), ours.get(key));
        let all =
            |value: Option<&Value>| value.is_none_or(|value| value == "" || value == "*" || value == false);
        if now != then && !all(now) {
            problems.push(Problem::Narrowed(format!("{key}: {}", now.unwrap_or(&Value::Null))));
        }
    }
    for key in ["onFailure", "failClosed"] {
        if let Some(value) = expected.get(key)
            && handler.get(key) != Some(value)
        {
            problems.push(Problem::FailsOpen(format!("{key}: {value}")));
        }
    }
    if problems.is_empty() && item != wanted {
        problems.push(Problem::Outdated);
    }
    problems
}

pub(super) fn toml(settings: &Settings, layout: &Layout, text: &str, binary: &Path) -> Inspection {
    let mut found = Inspection::default();
    for line in text.lines().map(|line| line.replace(' ', "")) {
        if matches!(line.as_str(), "hooks=false" | "codex_hooks=false") {
            found.problems.push(Problem::Disabled(line));
        }
    }
    let inside = super::toml::block(text).map_or("", |(_, inside, _)| inside);
    let mut event = "";
    for line in inside.lines() {
        if let Some(name) = line.strip_prefix("[[hooks.").and_then(|rest| rest.strip_suffix("]]")) {
            event = name.trim_end_matches(".hooks");
        }
        if let Some(name) = line.strip_prefix("event = \"").and_then(|rest| rest.strip_suffix('"')) {
            event = name;
        }
        let command =
            line.strip_prefix("command = ").and_then(|raw| serde_json::from_str::<String>(raw).ok());
        if let Some(line) = command
            && let Some(command) = Command::read(&line)
        {
            let mut hook = InstalledHook { event: event.to_owned(), line, command, problems: Vec::new() };
            hook.problems = problems(settings, &hook, &Value::Null, &Value::Null, None, binary);
            found.hooks.push(hook);
        }
    }
    found.problems.extend(counts(layout, &found.hooks));
    found
}

/// The plugin is one file with one command for all events.
pub(super) fn plugin(agent: Agent, text: &str, wanted: Option<&str>) -> Inspection {
    let binary = text.lines().find_map(|line| line.strip_prefix("const BINARY = "));
    let Some(program) = binary.and_then(|raw| serde_json::from_str::<String>(raw).ok()) else {
        return Inspection::default();
    };
    let before = agent.spec().events.iter().find(|row| row.moment == Moment::PreTool);
    let event = before.map_or("", |row| row.name).to_owned();
    let line = Command::line(Path::new(&program), agent, &event);
    let command = Command { program: program.into(), agent: Some(agent), event: Some(event.clone()) };
    let mut problems = Vec::new();
    if !command.is_absolute() && !command.is_looked_for() {
        problems.push(Problem::RelativePath);
    }
    if wanted != Some(text) {
        problems.push(Problem::Outdated);
    }
    Inspection { hooks: vec![InstalledHook { event, line, command, problems }], problems: Vec::new() }
}
