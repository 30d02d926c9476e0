//! Editing settings in JSON: adds and removes entries, changes nothing else.

use std::path::Path;

use serde_json::Value;

use super::json::Json;
use super::jsonc::{self, Kind, Node};
use super::layout::{Entry, Layout};
use super::{Command, NotEditable, Settings};

/// The command lines of a handler. The key differs between agents.
pub(super) fn commands(handler: &Value) -> impl Iterator<Item = &str> {
    const KEYS: [&str; 7] = ["command", "bash", "powershell", "windows", "linux", "osx", "commandWindows"];
    KEYS.into_iter().filter_map(|key| handler.get(key)?.as_str())
}

/// The handlers of one item of an event's list: those of a group, or the item itself.
pub(super) fn handlers(item: &Value) -> Vec<&Value> {
    match item.get("hooks").and_then(Value::as_array) {
        Some(handlers) => handlers.iter().collect(),
        None => vec![item],
    }
}

pub(super) fn is_ours(handler: &Value) -> bool {
    commands(handler).any(|line| Command::read(line).is_some())
}

pub(super) fn install(
    settings: &Settings,
    layout: &Layout,
    before: Option<&str>,
    binary: &Path,
) -> Result<String, NotEditable> {
    let mut text = match before {
        Some(text) if !text.trim().is_empty() => text.to_owned(),
        _ => "{}\n".to_owned(),
    };
    if layout.versioned && parse(settings, &text)?.member("version").is_none() {
        text = jsonc::append(&text, &parse(settings, &text)?, Some("version"), &Json::number(1));
    }
    for key in 1..=layout.root.len() {
        text = with_object(settings, text, layout.root.get(..key).unwrap_or_default())?;
    }
    text = without_stale(settings, layout, text)?;
    for entry in layout.entries {
        let item = layout.item(entry, &settings.command(binary, entry.event));
        text = with_entry(settings, layout, text, entry, &item)?;
    }
    Ok(text)
}

pub(super) fn uninstall(settings: &Settings, layout: &Layout, text: &str) -> Result<String, NotEditable> {
    let mut text = text.to_owned();
    while let Some(shorter) = without_one(settings, layout, &text, |_, handler| is_ours(handler))? {
        text = shorter;
    }
    // Parent objects that become empty were created for us.
    for depth in (1..=layout.root.len()).rev() {
        let (parents, key) = layout.root.split_at(depth - 1);
        let root = parse(settings, &text)?;
        if let (Some(parent), Some(key)) = (root.at(parents), key.first())
            && let Some(index) =
                parent.children().iter().position(|child| child.key == *key && is_bare(&child.node))
        {
            text = jsonc::remove(&text, parent, index);
        }
    }
    Ok(text)
}

fn parse(settings: &Settings, text: &str) -> Result<Node, NotEditable> {
    let node = jsonc::parse(text).map_err(|why| NotEditable::NotJson { path: settings.path.clone(), why })?;
    if matches!(node.kind, Kind::Object(_)) {
        Ok(node)
    } else {
        Err(wrong(settings, "the file", "an object"))
    }
}

fn wrong(settings: &Settings, at: &str, expected: &'static str) -> NotEditable {
    NotEditable::WrongShape { path: settings.path.clone(), at: at.to_owned(), expected }
}

/// An empty object or list without even a comment in it.
fn is_bare(node: &Node) -> bool {
    node.body().is_some_and(|body| body.is_bare(node))
}

fn with_object(settings: &Settings, text: String, path: &[&str]) -> Result<String, NotEditable> {
    let root = parse(settings, &text)?;
    match root.at(path) {
        Some(node) if matches!(node.kind, Kind::Object(_)) => Ok(text),
        Some(_) => Err(wrong(settings, &path.join("."), "an object")),
        None => {
            let (Some(key), parents) = (path.last(), path.get(..path.len() - 1).unwrap_or_default()) else {
                return Ok(text);
            };
            let parent = root.at(parents).unwrap_or(&root);
            Ok(jsonc::append(&text, parent, Some(key), &Json::Object(Vec::new())))
        }
    }
}

/// Our handlers under events that are not installed any more, and all but the first under those that are.
fn without_stale(settings: &Settings, layout: &Layout, mut text: String) -> Result<String, NotEditable> {
    loop {
        let mut seen = Vec::new();
        let stale = |event: &str, handler: &Value| {
            if !is_ours(handler) {
                return false;
            }
            let known = layout.entries.iter().any(|entry| entry.event == event);
            let again = seen.contains(&event.to_owned());
            seen.push(event.to_owned());
            !known || again
        };
        match without_one(settings, layout, &text, stale)? {
            Some(shorter) => text = shorter,
            None => return Ok(text),
        }
    }
}

/// The text without the first handler that `gone` picks, and without the group and the list that it leaves empty.
fn without_one(
    settings: &Settings,
    layout: &Layout,
    text: &str,
    mut gone: impl FnMut(&str, &Value) -> bool,
) -> Result<Option<String>, NotEditable> {
    let root = parse(settings, text)?;
    let Some(events) = root.at(layout.root) else { return Ok(None) };
    for (event_index, event) in events.children().iter().enumerate() {
        let Kind::Array(_) = event.node.kind else { continue };
        for (index, item) in event.node.children().iter().enumerate() {
            let group = item.node.member("hooks").filter(|hooks| matches!(hooks.kind, Kind::Array(_)));
            let inner = match group {
                Some(group) => {
                    group.children().iter().position(|handler| gone(&event.key, &handler.node.value(text)))
                }
                None => gone(&event.key, &item.node.value(text)).then_some(0),
            };
            let Some(inner) = inner else { continue };
            return Ok(Some(match group {
                Some(group) if group.children().len() > 1 => jsonc::remove(text, group, inner),
                _ if event.node.children().len() > 1 => jsonc::remove(text, &event.node, index),
                _ => jsonc::remove(text, events, event_index),
            }));
        }
    }
    Ok(None)
}

/// The event's list with this item in it; an outdated item of ours is updated in place.
fn with_entry(
    settings: &Settings,
    layout: &Layout,
    text: String,
    entry: &Entry,
    item: &Json,
) -> Result<String, NotEditable> {
    let root = parse(settings, &text)?;
    let events = root.at(layout.root).unwrap_or(&root);
    let Some(list) = events.member(entry.event) else {
        return Ok(jsonc::append(&text, events, Some(entry.event), &Json::Array(vec![item.clone()])));
    };
    if !matches!(list.kind, Kind::Array(_)) {
        return Err(wrong(settings, entry.event, "a list"));
    }
    for child in list.children() {
        let value = child.node.value(&text);
        let (ours, others): (Vec<_>, Vec<_>) =
            handlers(&value).into_iter().partition(|handler| is_ours(handler));
        if ours.is_empty() {
            continue;
        }
        if value == item.value() {
            return Ok(text);
        }
        if others.is_empty() {
            return Ok(jsonc::replace(&text, &child.node, item));
        }
        // In a group with others our handler may be narrowed by the group's matcher: it gets a separate item.
        let one = |event: &str, handler: &Value| event == entry.event && is_ours(handler);
        let shorter = without_one(settings, layout, &text, one)?.unwrap_or_else(|| text.clone());
        return with_entry(settings, layout, shorter, entry, item);
    }
    Ok(jsonc::append(&text, list, None, item))
}
