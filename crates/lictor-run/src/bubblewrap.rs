//! The sandbox made by bubblewrap.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::mounts::{self, Mount, Network, Wanted};

/// Variables that lead out of the sandbox: to buses, terminals, editors, containers, displays.
pub const LEADING_OUT: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOW",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "VIM_SERVERNAME",
    "EMACS_SERVER_FILE",
    "ALACRITTY_SOCKET",
    "KITTY_LISTEN_ON",
    "WEZTERM_UNIX_SOCKET",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "XDG_RUNTIME_DIR",
    "SYSTEMD_EXEC_PID",
    "NOTIFY_SOCKET",
];

/// Whether a variable leads out.
#[must_use]
pub fn leads_out(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    LEADING_OUT.contains(&&*name) || name.starts_with("VSCODE_IPC") || name.starts_with("VSCODE_GIT_IPC")
}

/// Where bubblewrap is.
#[must_use]
pub fn installed() -> Option<PathBuf> {
    on_path("bwrap")
}

/// Where a program is, by the search path.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|file| file.is_file())
}

/// Whether it can make a sandbox here: where user namespaces are not allowed it cannot.
#[must_use]
pub fn works(bubblewrap: &Path) -> bool {
    let mut command = Command::new(bubblewrap);
    command.args([
        "--unshare-pid",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--",
        "true",
    ]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Bubblewrap's arguments for those mounts and that command. Variables that lead out are unset, except for those that are
/// kept.
#[must_use]
pub fn arguments(mounts: &[Mount], wanted: &Wanted, command: &[OsString]) -> Vec<OsString> {
    let mut args: Vec<OsString> = Vec::new();
    let mut push = |words: &[&OsStr]| args.extend(words.iter().map(|word| (*word).to_owned()));
    let word = |text: &'static str| OsStr::new(text);
    push(&[word("--unshare-pid"), word("--unshare-ipc"), word("--die-with-parent")]);
    // Root could undo every mount.
    push(&[word("--cap-drop"), word("ALL")]);
    if wanted.network != Network::All {
        push(&[word("--unshare-net")]);
    }
    push(&[
        word("--ro-bind"),
        word("/"),
        word("/"),
        word("--dev"),
        word("/dev"),
        word("--proc"),
        word("/proc"),
    ]);
    for mount in mounts {
        match mount {
            Mount::Writable(at) => push(&[word("--bind"), at.as_os_str(), at.as_os_str()]),
            Mount::ReadOnly(at) => push(&[word("--ro-bind"), at.as_os_str(), at.as_os_str()]),
            Mount::Scratch(at) => push(&[word("--tmpfs"), at.as_os_str()]),
            Mount::Empty(at) => {
                push(&[word("--tmpfs"), at.as_os_str(), word("--remount-ro"), at.as_os_str()]);
            }
            Mount::Nothing(at) => {
                let nothing = mounts::nothing(&wanted.runtime, at);
                push(&[word("--ro-bind"), nothing.as_os_str(), at.as_os_str()]);
            }
            Mount::Shown { from, at } => push(&[word("--bind"), from.as_os_str(), at.as_os_str()]),
            Mount::Replaced { from, at } => push(&[word("--ro-bind"), from.as_os_str(), at.as_os_str()]),
            Mount::Closed(at) => push(&[word("--remount-ro"), at.as_os_str()]),
            Mount::Sealed(at) => {
                push(&[word("--remount-ro"), at.as_os_str()]);
                // Unprivileged users outside cannot create a name in `/dev`, and processes inside cannot change
                // one.
                push(&[word("--symlink"), at.as_os_str(), word(crate::client::SIGN)]);
                push(&[word("--remount-ro"), word("/dev")]);
            }
        }
    }
    for (name, _) in std::env::vars_os() {
        if leads_out(&name) && !wanted.kept.iter().any(|kept| *kept == name) {
            push(&[word("--unsetenv"), &name]);
        }
    }
    push(&[word("--")]);
    args.extend(command.iter().cloned());
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_comes_last_and_mounts_keep_their_order() {
        let mounts =
            [Mount::Writable("/p".into()), Mount::Nothing("/p/x".into()), Mount::Sealed("/s".into())];
        let wanted = Wanted { network: Network::None, runtime: "/r".into(), ..Wanted::default() };
        let args = arguments(&mounts, &wanted, &["agent".into(), "--flag".into()]);
        let text = args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("--bind /p /p --ro-bind /r/nothing /p/x --remount-ro /s --symlink /s /dev/lictor"),
            "{text}"
        );
        assert!(text.contains("--unshare-net"), "{text}");
        assert!(text.ends_with("-- agent --flag"), "{text}");
    }

    #[test]
    fn variables_that_lead_out_are_known() {
        for name in ["TMUX", "VSCODE_IPC_HOOK_CLI", "DOCKER_HOST", "SSH_AUTH_SOCK"] {
            assert!(leads_out(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "HOME", "EDITOR", "VSCODE_PID"] {
            assert!(!leads_out(OsStr::new(name)), "{name}");
        }
    }
}
