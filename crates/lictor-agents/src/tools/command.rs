//! Tools that run commands.

use lictor_core::ActionKind;
use serde_json::Value;

use super::{Payload, Translated, keep, one, put};
use crate::input::{Fields, Unreadable, missing};

const COMMAND: &[&str] = &["command", "cmd", "CommandLine", "command_line"];
const DIRECTORY: &[&str] =
    &["cwd", "Cwd", "workdir", "dir_path", "directory", "working_directory", "working_dir"];
const BACKGROUND: &[&str] = &["run_in_background", "is_background", "isBackground"];

pub(super) fn shell(input: &Fields) -> Result<Translated, Unreadable> {
    Ok((ActionKind::Bash, command(input.need_text(COMMAND)?, input)?))
}

pub(super) fn powershell(input: &Fields) -> Result<Translated, Unreadable> {
    let (kind, mut payload) = shell(input)?;
    payload.insert("shell".to_owned(), "powershell".into());
    Ok((kind, payload))
}

fn command(text: &str, input: &Fields) -> Result<Payload, Unreadable> {
    let mut payload = one("command", text);
    put(&mut payload, "cwd", input.text(DIRECTORY)?);
    keep(&mut payload, input, &["timeout"]);
    if let Some(background) = input.flag(BACKGROUND)? {
        payload.insert("run_in_background".to_owned(), background.into());
    }
    Ok(payload)
}

/// The function-call form: a list of words, one of which may itself be a script or a patch.
pub(super) fn argv(input: &Fields) -> Result<Translated, Unreadable> {
    let Some((_, Value::Array(_))) = input.get(COMMAND)? else { return shell(input) };
    let words = input.texts(COMMAND)?.unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words.as_slice() {
        [] => Err(missing(COMMAND)),
        ["apply_patch" | "applypatch", patch] => Ok((ActionKind::Write, one("patch", patch))),
        [shell, "-c" | "-lc", script] if is_shell(shell) => Ok((ActionKind::Bash, command(script, input)?)),
        ref words => {
            let text = words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
            Ok((ActionKind::Bash, command(&text, input)?))
        }
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash")
}

/// A word as a shell reads it back.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
