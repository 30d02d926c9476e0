//! Trees that are sent to another machine, and the secrets in them.

use lictor_core::facts::{Access, Command, Effect, Existence, Facts, FlowSink, FlowSource};

use super::left_out;
use crate::observer::Seen;
use crate::place::Looker;

/// The maximum number of names of a tree that are checked.
const MOST_NAMES: usize = 2_000;
/// So deep.
const MOST_DEPTH: usize = 4;
/// Third-party directories without secrets.
const OTHERS: [&str; 8] =
    [".git", "node_modules", "target", "vendor", ".venv", "venv", "__pycache__", ".cache"];

impl Looker<'_> {
    /// A command that sends a whole tree also sends the secrets in it, except those that it excludes.
    pub(super) fn sends_secrets(&self, facts: &mut Facts, from: usize) {
        let effects = facts.effects.get(from..).unwrap_or_default();
        let mut sent = Vec::new();
        for group in effects.split(|effect| matches!(effect, Effect::Run(_))) {
            let host = group.iter().find_map(|effect| match effect {
                Effect::Reach(reach) if reach.sends => Some(reach.text.as_str()),
                _ => None,
            });
            let told = group.iter().any(|effect| {
                matches!(effect, Effect::Flow { from: FlowSource::Secret, to: FlowSink::Host, .. })
            });
            let Some(host) = host.filter(|_| !told) else { continue };
            for effect in group {
                let Effect::File { access: Access::Read, target, by, .. } = effect else { continue };
                let command = by.and_then(|by| facts.commands().nth(usize::try_from(by).ok()?));
                let (Existence::Directory, Some(command)) = (target.existence, command) else { continue };
                if !leaves_out_unseen(command) && self.holds_secret(&target.path, &left_out(command)) {
                    sent.push(host.to_owned());
                }
            }
        }
        let flow = |text| Effect::Flow { from: FlowSource::Secret, to: FlowSink::Host, text };
        facts.effects.extend(sent.into_iter().map(flow));
    }

    /// Whether a tree contains a secret that no pattern excludes.
    fn holds_secret(&self, root: &str, left_out: &[String]) -> bool {
        let mut pending = vec![(root.trim_end_matches('/').to_owned(), 0)];
        let mut seen = 0;
        while let Some((directory, depth)) = pending.pop() {
            let Some(listing) = self.observer.names(&directory, MOST_NAMES.saturating_sub(seen)) else {
                continue;
            };
            seen += listing.names.len();
            for name in listing.names.into_iter().filter(|name| !OTHERS.contains(&name.as_str())) {
                let path = format!("{directory}/{name}");
                let inside = path.strip_prefix(root).unwrap_or(&path).trim_start_matches('/');
                if left_out.iter().any(|pattern| fast_glob::glob_match(pattern.as_str(), inside)) {
                    continue;
                }
                match self.observer.look(&path) {
                    Seen::File { .. } if lictor_shell::programs::is_secret_path(&path) => return true,
                    Seen::Directory if depth < MOST_DEPTH => pending.push((path, depth + 1)),
                    _ => {}
                }
            }
        }
        false
    }
}

/// Whether a file or another rule determines the exclusions.
fn leaves_out_unseen(command: &Command) -> bool {
    let mut words = command.args.iter().map(|word| word.as_deref().unwrap_or_default());
    let rules =
        ["--exclude-from", "--filter", "--files-from", "--include", "--exclude-vcs-ignores", "--cvs-exclude"];
    let letters = command.program == "rsync";
    words.any(|word| {
        rules.iter().any(|rule| word.starts_with(rule))
            || letters && matches!(word, "-C" | "-F" | "-FF" | "-f")
    })
}
