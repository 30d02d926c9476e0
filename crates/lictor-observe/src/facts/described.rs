//! Tools with a description: their fields are judged by their meaning.

use std::borrow::Cow;

use lictor_core::facts::{Access, Cardinality, Effect, Facts, OpaqueWhat, Place, Reach};
use lictor_core::{Action, ActionKind};
use lictor_shell::Reading;
use lictor_shell::call::Report;
use serde_json::Value;

use super::{code, files, shorten};
use crate::describe::{Act, How, Text, Tool};
use crate::place::Looker;
use crate::project::DescribedTool;

/// Reports the effects of a described tool; `false` without a trusted description.
pub(super) fn tool(
    action: &Action,
    server: Option<&str>,
    name: &str,
    looker: &Looker<'_>,
    facts: &mut Facts,
) -> bool {
    let full = if action.tool.is_empty() { name } else { action.tool.as_str() };
    let own = looker.project.described.iter().find(|own| any_fits(&own.tool.names, full));
    let shipped = || TOOLS.iter().find(|(_, tool)| fits(tool, server, name));
    // A repository's description adds what is known; it neither makes the tool one that may be used nor takes anything
    // away from what is known of it.
    let trusted = own.is_none_or(|own| own.trusted);
    let other = if own.is_some() && trusted { None } else { shipped() };
    let described = match (own, other) {
        (Some(own), _) => trusted.then(|| own.from.clone()),
        (None, Some((family, _))) => Some((*family).to_owned()),
        (None, None) => return false,
    };
    let acts = own.map(|own| &own.tool.acts).into_iter().chain(other.map(|(_, tool)| &tool.acts));
    facts.effects.push(Effect::Tool {
        server: server.map(str::to_owned),
        name: name.to_owned(),
        described,
        definition: None,
    });
    let mut judged: Vec<&str> = Vec::new();
    for act in acts.flat_map(|acts| acts.iter()) {
        judged.extend(apply(act, action, name, looker, facts));
    }
    // A path that the description does not name counts at least as listed.
    for path in files::paths(action).into_iter().filter(|path| !judged.contains(path)) {
        looker.add_place(facts, looker.path(path, Access::Read, false), Access::Read, false, None);
    }
    if !trusted && other.is_none() {
        facts.opaque.push(super::opaque(OpaqueWhat::Tool, &action.tool));
    }
    trusted || other.is_some()
}

/// A call of a tool that submits tasks, as the task that it submits. `None` if it is not such a tool.
#[must_use]
pub fn as_task(action: &Action, described: &[DescribedTool]) -> Option<Action> {
    if !matches!(action.kind, ActionKind::Tool | ActionKind::Other(_)) {
        return None;
    }
    let field = task_field(action, described)?;
    let task_type = values(action, field).first().map(|text| (*text).to_owned());
    Some(Action { kind: ActionKind::SubmitTask, task_type, ..action.clone() })
}

/// Whether a description declares that the action's tool submits tasks: then the tool is judged as well.
pub(super) fn submits(action: &Action, described: &[DescribedTool]) -> bool {
    !action.tool.is_empty() && task_field(action, described).is_some()
}

fn task_field<'a>(action: &Action, described: &'a [DescribedTool]) -> Option<&'a str> {
    let full = if action.tool.is_empty() { action.kind.as_str() } else { action.tool.as_str() };
    let own = described.iter().find(|own| any_fits(&own.tool.names, full))?;
    own.tool.acts.iter().find_map(|act| match act {
        Act::Task(field) => Some(field.as_ref()),
        _ => None,
    })
}

/// Whether a shipped description is about a tool.
fn fits(tool: &Tool, server: Option<&str>, name: &str) -> bool {
    match server {
        Some(server) => {
            !tool.servers.is_empty() && any_fits(&tool.servers, server) && any_fits(&tool.names, name)
        }
        None => tool.servers.is_empty() && any_fits(&tool.names, name),
    }
}

fn any_fits(patterns: &str, word: &str) -> bool {
    patterns.split_ascii_whitespace().any(|pattern| pattern == word || fast_glob::glob_match(pattern, word))
}

/// Reports one thing that a tool does; returns the texts that it took.
fn apply<'a>(
    act: &Act,
    action: &'a Action,
    name: &str,
    looker: &Looker<'_>,
    facts: &mut Facts,
) -> Vec<&'a str> {
    match act {
        Act::Sql(field) => {
            let texts = values(action, field);
            for sql in &texts {
                statement(sql, looker, facts);
            }
            texts
        }
        Act::Command(field) => {
            let texts = values(action, field);
            let list = field.split('|').any(|key| action.payload.get(key).is_some_and(Value::is_array));
            // A list of words is one command, and so are a program and its words beside it.
            let mut command = match list {
                true => super::tools::quoted(&texts),
                false => texts.join(" "),
            };
            if let Some(words) =
                super::tools::arguments_in(&action.payload).filter(|_| !list && !command.is_empty())
            {
                command = format!("{command} {words}");
            }
            if command.is_empty() {
                command = super::tools::command_line(action).unwrap_or_default();
            }
            if !command.is_empty() {
                looker.add(facts, lictor_shell::read(&command, looker));
            }
            texts
        }
        Act::Code(language, field) => {
            let texts = values(action, field);
            texts.iter().for_each(|body| code::run_body(language, body, looker, facts));
            texts
        }
        Act::Fetches(field) | Act::Posts(field) => {
            let texts = values(action, field);
            texts.iter().for_each(|url| fetch(url, matches!(act, Act::Posts(_)), looker, facts));
            texts
        }
        Act::File(how, field) => {
            let texts = values(action, field);
            let access = access(*how);
            for path in &texts {
                let tree = access == Access::Delete && name.contains("director");
                let path = super::tools::local_path(path);
                looker.add_place(facts, looker.path(&path, access, tree), access, tree, None);
            }
            texts
        }
        Act::Deed(..) | Act::Destroys(..) | Act::Publishes | Act::Reveals | Act::Task(_) => {
            facts.effects.extend(effect_of(act, name));
            Vec::new()
        }
    }
}

/// The effect of an act that takes nothing of what the tool is called with.
fn effect_of(act: &Act, name: &str) -> Option<Effect<Place>> {
    let deed = |verb: &str, object: &str, what: Option<&str>| Effect::Deed {
        verb: verb.to_owned(),
        object: object.to_owned(),
        cardinality: Cardinality::Single,
        what: what.map(str::to_owned),
    };
    Some(match act {
        Act::Deed(verb, object, what) => deed(verb, object, what.as_deref()),
        Act::Destroys(what, mass) => {
            Effect::Infrastructure { tool: name.to_owned(), what: what.to_string(), mass: *mass }
        }
        Act::Publishes => Effect::Publish { tool: name.to_owned() },
        Act::Reveals => deed("read", "secret", None),
        // A submitted task is part of the action: see `as_task`. The others depend on their arguments.
        _ => return None,
    })
}

/// An address that a tool gets something from, or sends something to.
fn fetch(url: &str, sends: bool, looker: &Looker<'_>, facts: &mut Facts) {
    if super::tools::is_file_address(url) {
        let place = looker.path(&super::tools::local_path(url), Access::Read, false);
        return looker.add_place(facts, place, Access::Read, false, None);
    }
    let host = lictor_shell::programs::host_of(url);
    facts.effects.push(Effect::Reach(Reach { host, text: shorten(url), sends }));
}

fn access(how: How) -> Access {
    match how {
        How::Reads => Access::Read,
        How::Lists => Access::List,
        How::Writes => Access::Write,
        How::Appends => Access::Append,
        How::Modifies => Access::Modify,
        How::Deletes => Access::Delete,
        How::Moves => Access::MoveAway,
        How::Makes => Access::MakeDirectory,
    }
}

/// The effects of a statement on a database, as if a client ran it.
pub(super) fn statement(sql: &str, looker: &Looker<'_>, facts: &mut Facts) {
    let call = code::interpreter("sql", looker);
    let mut report = Report::default();
    lictor_shell::languages::judge("sql", sql, &call, &mut report);
    report.effects.retain(|effect| !matches!(effect, Effect::Code { .. }));
    looker.add(facts, Reading { effects: report.effects, opaque: report.opaque, ..Reading::default() });
}

/// The texts in a field of the input: `a|b` either, `a.b` a field of the values of `a`.
fn values<'a>(action: &'a Action, field: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for one in field.split('|') {
        let mut parts = one.split('.');
        let first = parts.next().and_then(|key| action.payload.get(key));
        let mut open: Vec<&Value> = first.into_iter().collect();
        for key in parts {
            let items = open.into_iter().flat_map(|value| match value {
                Value::Array(items) => items.iter().collect::<Vec<_>>(),
                value => vec![value],
            });
            open = items.filter_map(|value| value.get(key)).collect();
        }
        for value in open {
            match value {
                Value::String(text) => found.push(text.as_str()),
                Value::Array(items) => found.extend(items.iter().filter_map(Value::as_str)),
                _ => {}
            }
        }
    }
    found
}

include!(concat!(env!("OUT_DIR"), "/tools.rs"));
