//! Commands that contact remotes.

use lictor_core::facts::{Access, GitEffect};

use super::super::network;
use super::super::options::Options;
use super::super::report::joined;
use super::{Git, config};
use crate::call::Report;
use crate::operand::{Arg, Incoming};

pub(super) fn push(git: &Git<'_, '_>, report: &mut Report, name: &str) {
    let options = git.options("push");
    if options.has(&["n", "dry-run"]) {
        return;
    }
    // `send-pack` runs no hook at all.
    if options.has(&["no-verify"]) || name == "send-pack" {
        report.git(GitEffect::SkipHooks, Some(name));
    }
    for command in options.values(&["receive-pack", "exec"]) {
        report.shell(command, &[], "git push --receive-pack", true);
    }
    // Branches of another directory on this machine: its own hooks do not see what arrives.
    if let Some(directory) = options.operands.first().filter(|to| is_directory(to)) {
        let refs = super::super::report::below(directory, ".git/refs/heads");
        report.arrives(git.call, Access::Modify, &refs, false, Incoming::Unknown);
    }
    let target = joined(&options.operands).text;
    let refs = options.from(1);
    let mut said = false;
    let mut say = |report: &mut Report, effect: GitEffect| {
        said = true;
        report.git(effect, Some(&target));
    };
    if options.has(&["f", "force", "mirror"]) || refs.iter().any(|spec| spec.prefix().starts_with('+')) {
        say(report, GitEffect::ForcePush);
    } else if options.has(&["force-with-lease"]) {
        say(report, GitEffect::ForcePushWithLease);
    }
    let deletes = |spec: &Arg| {
        let spec = spec.prefix().trim_start_matches('+');
        spec.len() > 1 && spec.starts_with(':')
    };
    if options.has(&["d", "delete", "prune"]) || refs.iter().any(deletes) {
        say(report, GitEffect::DeleteRemote);
    }
    if !said {
        report.git(GitEffect::Push, Some(&target));
    }
    reach_remote(report, &options, 0, true);
}

/// Whether a remote is given as a directory of this machine.
fn is_directory(remote: &Arg) -> bool {
    let text = remote.prefix();
    !text.contains("://")
        && (text.starts_with(['/', '~']) || matches!(text.trim_end_matches('/'), "." | ".."))
        || text.starts_with("./")
        || text.starts_with("../")
}

/// A remote given as an address is a host; one given by name is not known here.
fn reach_remote(report: &mut Report, options: &Options, at: usize, sends: bool) {
    if let Some(remote) = options.operands.get(at) {
        remote_helper(report, remote);
        let is_helper = remote.prefix().contains("::");
        if !is_helper && (network::remote(remote).is_some() || remote.prefix().contains("://")) {
            network::reach(report, remote, sends);
        }
    }
}

/// `ext::sh -c …` as a remote runs a program.
fn remote_helper(report: &mut Report, remote: &Arg) {
    if let Some(command) = remote.known().and_then(|text| text.strip_prefix("ext::")) {
        // A blank after `%` belongs to the word.
        let words = command.replace("% ", "\u{0}");
        let argv: Vec<Arg> = words
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(|word| Arg::literal(word.replace('\u{0}', " ").replace("%%", "%")))
            .collect();
        report.then_argv(&argv, "git ext::");
    }
}

pub(super) fn fetch(git: &Git<'_, '_>, report: &mut Report, name: &str) {
    let options = git.options(name);
    for command in options.values(&["upload-pack", "exec"]) {
        report.then_shell(command, &[], "git --upload-pack");
    }
    if name == "clone" {
        for command in options.values(&["u"]) {
            report.then_shell(command, &[], "git clone -u");
        }
        for setting in options.values(&["c", "config"]) {
            if let Some((key, value)) = config::split(setting) {
                config::in_force(report, &key, &value, false);
            }
        }
        if let Some(directory) = options.operands.get(1) {
            git.fills(report, directory);
            let made = super::super::report::below(directory, ".git");
            report.file(git.call, Access::MakeDirectory, &made, false);
        }
    }
    if name == "pull" && options.has(&["no-verify"]) {
        report.git(GitEffect::SkipHooks, Some("pull"));
    }
    let from = options.operands.first().and_then(Arg::known).unwrap_or_default();
    // This repository: what its branches have, hooks have seen.
    let here = matches!(from, "." | "./");
    // Commits that were made in another directory, where no hook of this repository ran.
    let local = from.starts_with(['/', '.', '~']) || from.starts_with("file:") || from.ends_with(".bundle");
    let mut branches = options.operands.iter().skip(1).filter_map(Arg::known).filter(|refs| {
        refs.split_once(':').is_some_and(|(_, to)| !to.is_empty() && !to.contains("remotes/"))
    });
    if here {
        let forced = |refs: &&str| refs.starts_with('+') || options.has(&["f", "force"]);
        if let Some((_, branch)) = branches.find(forced).and_then(|refs| refs.split_once(':')) {
            report.git(GitEffect::DiscardCommits, Some(branch));
        }
    } else if local && (name == "pull" || name == "fetch" && branches.next().is_some()) {
        report.git(GitEffect::SkipHooks, Some(name));
    }
    let at = match (name, options.word(0)) {
        ("remote", "add" | "set-url") => 2,
        ("remote", _) => return,
        _ => 0,
    };
    reach_remote(report, &options, at, false);
}
