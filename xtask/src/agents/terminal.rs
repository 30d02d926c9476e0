//! An agent in a terminal of its own, with a person who presses keys when something is on the screen.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::spec::Press;
use crate::shell;

/// How often the person looks.
const EVERY: Duration = Duration::from_millis(300);

/// A terminal that ends with its owner.
struct Terminal {
    name: String,
}

impl Terminal {
    fn tmux(&self, args: &[&str]) -> Result<String> {
        shell::output("tmux", &[&["-L", self.name.as_str()], args].concat())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.tmux(&["kill-server"]));
    }
}

/// Runs the command in a terminal until `done` says so, or for as long as `patience`. Every key is pressed once, in the order of
/// the list; what can be answered at any time is pressed whenever it is seen. After the last key it is watched for `after`
/// where that is given, and for as long as `patience` otherwise. `false` when the time was over.
pub fn run(
    command: &Command,
    root: &Path,
    presses: &[Press],
    (patience, after): (Duration, Option<Duration>),
    done: &dyn Fn() -> bool,
) -> Result<bool> {
    let script = root.join("terminal.sh");
    fs::write(&script, script_of(command)?)?;
    let name =
        format!("lictor-{}-{}", std::process::id(), root.file_name().unwrap_or_default().to_string_lossy());
    let terminal = Terminal { name };
    let line = format!("sh '{}'", script.display());
    terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "180", "-y", "60", &line])?;
    let start = Instant::now();
    let mut next = 0;
    let keys = presses.iter().filter(|press| !press.anytime).count();
    let mut all_pressed = None;
    let mut seen = String::new();
    while start.elapsed() < patience {
        let Ok(screen) = terminal.tmux(&["capture-pane", "-p"]) else { return Ok(true) };
        if screen != seen {
            let log = fs::read_to_string(root.join("screen.txt")).unwrap_or_default();
            fs::write(root.join("screen.txt"), format!("{log}{screen}\n=====\n"))?;
        }
        let flat: String = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        let any = presses.iter().find(|press| press.anytime && flat.contains(&press.sees));
        let turn = presses
            .iter()
            .filter(|press| !press.anytime)
            .nth(next)
            .filter(|press| flat.contains(&press.sees));
        if let Some(press) = any.or(turn) {
            next += usize::from(!press.anytime);
            // What is drawn does not listen yet.
            thread::sleep(EVERY * 4);
            for key in &press.types {
                terminal.tmux(&["send-keys", key])?;
                thread::sleep(EVERY);
            }
        } else if next == keys {
            let pressed = *all_pressed.get_or_insert_with(Instant::now);
            if done() || after.is_some_and(|after| pressed.elapsed() >= after) {
                return Ok(true);
            }
        }
        seen = screen;
        thread::sleep(EVERY);
    }
    Ok(false)
}

/// The command with its directory and environment, for a shell.
fn script_of(command: &Command) -> Result<String> {
    let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_string_lossy().replace('\'', r"'\''"));
    let directory = command.get_current_dir().context("a directory")?;
    let mut line = format!("cd {} && exec env -i", quoted(directory.as_os_str()));
    for (name, value) in command.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        let value = if name == "TERM" { std::ffi::OsStr::new("screen-256color") } else { value };
        line.push_str(&format!(" {}={}", name.to_string_lossy(), quoted(value)));
    }
    for word in std::iter::once(command.get_program()).chain(command.get_args()) {
        line.push_str(&format!(" {}", quoted(word)));
    }
    Ok(line)
}
