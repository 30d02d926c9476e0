//! Sandbox escapes in the home directory: sockets of servers that run outside, and keys with which the person
//! logs in to this machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The sockets below the home directory with a listener, except those in the project: of container engines,
/// editors, terminals and key agents.
pub(super) fn sockets(home: &Path, project: &Path) -> Vec<PathBuf> {
    // Without this kernel file the listeners are unknown.
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let named =
        table.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().nth(7)).map(PathBuf::from);
    let inside = |path: &PathBuf| path.starts_with(home) && !path.starts_with(project);
    named
        .filter(inside)
        .filter(|path| path.symlink_metadata().is_ok())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Private keys whose public half this machine lets in: `ssh localhost` would lead out.
#[must_use]
pub fn login_keys(home: &Path) -> Vec<PathBuf> {
    let ssh = home.join(".ssh");
    let lists = ["authorized_keys", "authorized_keys2"].map(|name| fs::read_to_string(ssh.join(name)));
    let let_in: BTreeSet<String> = lists
        .iter()
        .flatten()
        .flat_map(|text| text.lines())
        .filter_map(public_key)
        .map(str::to_owned)
        .collect();
    if let_in.is_empty() {
        return Vec::new();
    }
    let files = fs::read_dir(&ssh).into_iter().flatten().flatten().map(|entry| entry.path());
    files
        .filter(|file| file.extension().is_some_and(|ending| ending == "pub"))
        .filter(|file| {
            let text = fs::read_to_string(file).unwrap_or_default();
            text.lines().filter_map(public_key).any(|key| let_in.contains(key))
        })
        .map(|file| file.with_extension(""))
        .filter(|file| file.is_file())
        .collect()
}

/// The key itself in a line of a list or of a public key: options may precede its type, a comment follows it.
fn public_key(line: &str) -> Option<&str> {
    let mut words = line.split_ascii_whitespace();
    words.find(|word| word.starts_with("ssh-") || word.starts_with("ecdsa-") || word.starts_with("sk-"))?;
    words.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_behind_options_and_before_its_comment() {
        assert_eq!(public_key("ssh-ed25519 AAAA me@here"), Some("AAAA"));
        assert_eq!(public_key("from=\"10.0.0.1\",no-pty sk-ssh-ed25519@openssh.com BBBB"), Some("BBBB"));
        assert_eq!(public_key("# a comment"), None);
    }
}
