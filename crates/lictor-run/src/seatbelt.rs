//! The sandbox of macOS as a profile for `sandbox-exec`. Generated and tested as text; it has not been run on a
//! Mac.

use std::fmt::Write as _;
use std::path::Path;

use crate::mounts::{Network, Wanted};

/// The profile: everything may be read except Lictor's state, nothing written except what stays writable, and of that
/// nothing that governs. Later rules win.
#[must_use]
pub fn profile(wanted: &Wanted) -> String {
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    for path in ["/dev", "/private/tmp", "/private/var/folders"] {
        rule(&mut text, "allow file-write*", "subpath", Path::new(path));
    }
    for path in wanted.writable.iter().chain([&wanted.project]) {
        rule(&mut text, "allow file-write*", "subpath", path);
    }
    for path in &wanted.governing {
        rule(&mut text, "deny file-write*", "subpath", path);
        // A directory that is renamed takes what governs with it.
        for above in path.ancestors().skip(1).take_while(|above| above.starts_with(&wanted.project)) {
            rule(&mut text, "deny file-write-unlink", "literal", above);
        }
    }
    for path in wanted.leading_out.iter().filter(|path| !wanted.open.contains(path)) {
        rule(&mut text, "deny network-outbound", "subpath", path);
    }
    for path in &wanted.hidden {
        rule(&mut text, "deny file*", "subpath", path);
    }
    match wanted.network {
        Network::All => {}
        Network::Loopback => {
            text.push_str("(deny network* (remote ip))\n(allow network* (remote ip \"localhost:*\"))\n");
        }
        Network::None => text.push_str("(deny network* (remote ip))\n(deny network* (local ip))\n"),
    }
    rule(&mut text, "deny file*", "subpath", &wanted.state);
    rule(&mut text, "allow network-outbound", "subpath", &wanted.runtime);
    text.push_str("(deny mach-lookup (global-name \"com.apple.coreservices.appleevents\"))\n");
    text
}

fn rule(text: &mut String, what: &str, how: &str, path: &Path) {
    let quoted = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let _ = writeln!(text, "({what} ({how} \"{quoted}\"))");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_governs_is_denied_after_the_project_is_allowed() {
        let wanted = Wanted {
            project: "/Users/ann/p \"q\"".into(),
            state: "/Users/ann/state".into(),
            governing: vec!["/Users/ann/p \"q\"/.claude/settings.json".into()],
            ..Wanted::default()
        };
        let text = profile(&wanted);
        let place = |line: &str| {
            text.lines().position(|known| known == line).unwrap_or_else(|| panic!("{line}\n{text}"))
        };
        let allowed = place(r#"(allow file-write* (subpath "/Users/ann/p \"q\""))"#);
        let denied = place(r#"(deny file-write* (subpath "/Users/ann/p \"q\"/.claude/settings.json"))"#);
        let held = place(r#"(deny file-write-unlink (literal "/Users/ann/p \"q\"/.claude"))"#);
        assert!(allowed < denied && denied < held);
        assert!(place(r#"(deny file* (subpath "/Users/ann/state"))"#) > held);
        assert!(!text.contains("remote ip"), "the network is left alone:\n{text}");
    }

    #[test]
    fn what_a_policy_hides_or_closes_is_denied_and_what_it_opens_is_not() {
        let wanted = Wanted {
            project: "/p".into(),
            hidden: vec!["/Users/ann/.ssh".into()],
            leading_out: vec!["/var/run/docker.sock".into(), "/var/run/other.sock".into()],
            open: vec!["/var/run/docker.sock".into()],
            network: Network::Loopback,
            ..Wanted::default()
        };
        let text = profile(&wanted);
        assert!(text.contains(r#"(deny file* (subpath "/Users/ann/.ssh"))"#), "{text}");
        assert!(text.contains("other.sock") && !text.contains("docker.sock"), "{text}");
        let denied = text.find("(deny network* (remote ip))").unwrap();
        assert!(text.find(r#"(allow network* (remote ip "localhost:*"))"#).unwrap() > denied, "{text}");
        let none = profile(&Wanted { network: Network::None, ..wanted });
        assert!(none.contains("(deny network* (local ip))") && !none.contains("localhost"), "{none}");
    }
}
