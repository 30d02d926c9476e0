//! Hooks in TOML: a block at the end of the file, between two marker lines.

use std::path::Path;

use super::Settings;
use super::layout::Layout;

const BEGIN: &str = "# begin lictor hooks (written by `lictor init`)\n";
const END: &str = "# end lictor hooks\n";

/// Tables at the end of a file are valid after any text.
pub(super) fn install(settings: &Settings, layout: &Layout, before: Option<&str>, binary: &Path) -> String {
    let mut text = uninstall(before.unwrap_or_default());
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(BEGIN);
    for entry in layout.entries {
        let command = settings.command(binary, entry.event);
        // JSON strings are TOML strings.
        let command = serde_json::Value::from(command).to_string();
        let (event, patience) = (entry.event, entry.patience);
        let hook = if entry.is_grouped() {
            format!("[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = \"command\"")
        } else {
            format!("[[hooks]]\nevent = \"{event}\"")
        };
        text.push_str(&format!("{hook}\ncommand = {command}\ntimeout = {patience}\n"));
    }
    text.push_str(END);
    text
}

pub(super) fn uninstall(text: &str) -> String {
    match block(text) {
        Some((before, _, after)) => format!("{before}{after}"),
        None => text.to_owned(),
    }
}

/// The text before, in and after our block.
pub(super) fn block(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (inside, after) = rest.split_once(END)?;
    Some((before, inside, after))
}
