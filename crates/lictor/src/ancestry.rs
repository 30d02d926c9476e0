//! Determines which process started this one, from the kernel's process list and not from anything the caller
//! claims.
//!
//! A hook is genuine when its agent started it, directly or through shells that run only the hook's command line.
//! In a process that a tool call started, the agent is further up. Without `/proc`, nothing is known and nothing
//! is refused.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::process::parent_id;

use lictor_agents::{Agent, install};

/// More ancestors than any process has.
const MOST: usize = 64;

/// A process, distinguished from a later one with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: u32,
    /// When it started, in ticks since the machine did.
    pub(crate) start: u64,
}

/// The process whose ancestors are inspected.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hook {
    /// This one.
    This,
    /// One that handed its event over.
    Other(u32),
}

impl Hook {
    fn parent(self) -> Option<u32> {
        match self {
            Self::This => Some(parent_id()),
            Self::Other(pid) => stat(pid).map(|stat| stat.parent),
        }
    }

    /// Its arguments, without its own name.
    fn arguments(self) -> Option<Vec<String>> {
        let pid = match self {
            Self::This => std::process::id(),
            Self::Other(pid) => pid,
        };
        words(pid).map(|words| words.into_iter().skip(1).collect())
    }
}

/// The kernel's data about a process.
#[derive(Debug)]
struct Stat {
    process: Process,
    parent: u32,
    name: String,
}

/// The maximum number of shells around one command line: the agent's, the line's own, and the part that waits for
/// the answer.
const SHELLS: usize = 3;

/// The agent that started a process as one of its hooks.
pub(crate) fn starter(hook: Hook) -> Option<Process> {
    let mut above = stat(hook.parent()?)?;
    // Plugins may run in a separate host process; tool calls are not started from there.
    if is_plugin_host(&above) {
        above = stat(above.parent)?;
    }
    if is_agent(&above) {
        return Some(above.process);
    }
    // A process that is neither an agent nor a shell did not start a hook for the agent: its command line need
    // not be read.
    if !is_shell(&above.name) {
        return None;
    }
    let arguments = hook.arguments()?;
    for _ in 0..SHELLS {
        if !is_shell(&above.name) || !runs_only_this(&words(above.process.pid)?, &arguments) {
            return None;
        }
        above = stat(above.parent)?;
        if is_agent(&above) {
            return Some(above.process);
        }
    }
    None
}

/// The first of these processes that is an ancestor of this one.
pub(crate) fn under(hook: Hook, processes: &[Process]) -> Option<Process> {
    if processes.is_empty() {
        return None;
    }
    ancestors(hook).find(|ancestor| processes.contains(ancestor))
}

/// The ancestors of this process, nearest first.
fn ancestors(hook: Hook) -> impl Iterator<Item = Process> {
    let mut next = hook.parent();
    let step = move || {
        let stat = stat(next.take()?)?;
        next = Some(stat.parent).filter(|parent| *parent > 0);
        Some(stat.process)
    };
    std::iter::from_fn(step).take(MOST)
}

fn stat(pid: u32) -> Option<Stat> {
    let mut text = [0; 1024];
    let read = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut text).ok()?;
    parse(pid, std::str::from_utf8(text.get(..read)?).ok()?)
}

/// The name is in parentheses and may contain any character, including parentheses; the numbers follow the last
/// one.
fn parse(pid: u32, text: &str) -> Option<Stat> {
    let (front, rest) = text.rsplit_once(')')?;
    let name = front.split_once('(')?.1.to_owned();
    let mut fields = rest.split_ascii_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    let start = fields.nth(17)?.parse().ok()?;
    Some(Stat { process: Process { pid, start }, parent, name })
}

/// The command line of a process.
fn words(pid: u32) -> Option<Vec<String>> {
    // The kernel reports no file size, and without a capacity reading starts with small buffers.
    let mut bytes = Vec::with_capacity(4096);
    File::open(format!("/proc/{pid}/cmdline")).ok()?.take(64 * 1024).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(text.trim_end_matches('\0').split('\0').map(str::to_owned).collect())
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ash" | "ksh" | "fish" | "busybox")
}

/// Whether a process is an agent's plugin host.
fn is_plugin_host(stat: &Stat) -> bool {
    is_interpreter(stat)
        && words(stat.process.pid).is_some_and(|words| {
            let script = words.get(1).map(|script| base(script));
            script.is_some() && Agent::ALL.into_iter().any(|agent| agent.plugin_host() == script)
        })
}

fn is_interpreter(stat: &Stat) -> bool {
    matches!(base(&stat.name), "node" | "bun" | "deno" | "python" | "python3" | "MainThread")
}

/// Whether a process is an agent's program, or an interpreter that runs one.
fn is_agent(stat: &Stat) -> bool {
    let names = || Agent::ALL.into_iter().flat_map(Agent::programs);
    // The kernel truncates names to fifteen bytes.
    if names().any(|name| stat.name == name.get(..15).unwrap_or(name)) {
        return true;
    }
    if !is_interpreter(stat) {
        return false;
    }
    let Some(words) = words(stat.process.pid) else { return false };
    let script = words.iter().skip(1).find(|word| !word.starts_with('-'));
    words.first().into_iter().chain(script).any(|word| {
        let name = base(word);
        names().any(|known| name == known || name.strip_suffix(".js") == Some(known))
    })
}

/// Options with which agents start a shell for a hook, and which run nothing else.
const QUIET: [&str; 6] = ["--norc", "--noprofile", "--posix", "--login", "-l", "-e"];

/// Whether a shell's command line is a hook's: the one that `init` writes, or one simple command that runs this
/// program.
fn runs_only_this(shell: &[String], all: &[String]) -> bool {
    if install::Command::is_installed_shell(shell, all) {
        return true;
    }
    let [_, options @ .., line] = shell else { return false };
    let quiet = |option: &String| QUIET.contains(&option.as_str());
    let one_command = matches!(options, [quiets @ .., option]
        if quiets.iter().all(quiet) && option.starts_with('-') && !option.starts_with("--") && option.ends_with('c'));
    let simple = !line.contains(['<', '>', '|', ';', '&', '`', '\n', '(', '{']);
    let mut own = all.iter();
    let same = line
        .split_whitespace()
        .skip(1)
        .all(|word| own.next().is_some_and(|own| own == word.trim_matches(['\'', '"'])));
    let plain = simple && same && own.next().is_none();
    one_command && (plain || install::Command::is_installed_line(line, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_pass_for_numbers() {
        let text = "7 (a) b (R) S 3 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9";
        let stat = parse(7, text).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent, stat.process.start), ("a) b (R", 3, 4242));
        assert!(parse(7, "7 (x").is_none());
    }

    #[test]
    fn this_process_has_ancestors() {
        let above: Vec<Process> = ancestors(Hook::This).collect();
        assert!(!above.is_empty());
        assert_eq!(under(Hook::This, &above), above.first().copied());
        let later = Process { start: above[0].start + 1, ..above[0] };
        assert_eq!(under(Hook::This, &[later]), None);
        let same: Vec<Process> = ancestors(Hook::Other(std::process::id())).collect();
        assert_eq!(same, above);
    }

    #[test]
    fn a_shell_that_does_more_is_not_a_hooks() {
        let words = |line: &str| vec!["/bin/sh".to_owned(), "-c".to_owned(), line.to_owned()];
        let installed =
            "PATH=\"$HOME/.local/bin:$HOME/.cargo/bin:$PATH\" lictor hook claude-code PostToolUse";
        let own = ["hook", Agent::ClaudeCode.name(), "PostToolUse"].map(str::to_owned);
        assert!(runs_only_this(&words(installed), &own));
        assert!(!runs_only_this(&words(&format!("{installed}; true")), &own));
        assert!(!runs_only_this(&words(&installed.replace("PostToolUse", "PostToolUse < forged")), &own));
        assert!(runs_only_this(&words("/usr/bin/lictor hook claude-code PostToolUse"), &own));
        assert!(runs_only_this(&words("'/a/lictor' hook claude-code PostToolUse"), &own));
        assert!(!runs_only_this(&words("lictor hook claude-code PostToolUse < forged.json"), &own));
        assert!(!runs_only_this(&words("cat forged | lictor hook claude-code PostToolUse"), &own));
        assert!(!runs_only_this(&words("lictor hook claude-code"), &own));
        assert!(!runs_only_this(&[], &own));
        let with = |options: &[&str]| {
            let mut all = vec!["/bin/bash".to_owned()];
            all.extend(options.iter().map(|&option| option.to_owned()));
            all.push(installed.to_owned());
            all
        };
        assert!(runs_only_this(&with(&["--norc", "--noprofile", "-c"]), &own));
        assert!(!runs_only_this(&with(&["--init-file", "forge", "-c"]), &own));
        assert!(!runs_only_this(&with(&["--rcfile", "--norc", "-c"]), &own));
        assert!(!runs_only_this(&with(&["--norc"]), &own));
        // Some agents expand variables in their settings.
        let search = "\"$HOME/.local/bin:$HOME/.cargo/bin:$PATH\"";
        let expanded = |path: &str| words(&installed.replace(search, path));
        assert!(runs_only_this(&expanded("\"/home/ada/.local/bin:/usr/bin\""), &own));
        assert!(!runs_only_this(&expanded("\"$(forge)\""), &own));
        assert!(!runs_only_this(&expanded("\"/usr/bin\"; forge; PATH=\"x\""), &own));
    }
}
