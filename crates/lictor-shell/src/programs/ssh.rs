//! `ssh`, `scp` and `sftp`: what they run locally and remotely, and what they send.

use lictor_core::facts::{Access, FlowSink, FlowSource};

use super::options::{Grammar, Options, after};
use super::report::{templated, written};
use super::{network, secrets, text};
use crate::call::{Call, Report, Stdin};
use crate::operand::{Arg, Incoming, Source};

/// Settings whose value is a command that runs on this machine.
fn runs(setting: &str) -> bool {
    matches!(
        setting.to_ascii_lowercase().as_str(),
        "proxycommand" | "localcommand" | "knownhostscommand" | "match"
    )
}

fn ssh_options(call: &Call<'_>, report: &mut Report, options: &Options) {
    // A file of settings that the line wrote.
    let written = options.values(&["F"]).filter_map(|file| call.env.written(file.known()?));
    for line in written.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()) {
        if let Some((name, command)) = line.trim().split_once([' ', '=', '\t'])
            && runs(name)
        {
            report.then_shell(&Arg::literal(command.trim()), &[], "ssh -F");
        }
    }
    // It complains about lines that are no settings, and shows them.
    for file in options.values(&["F"]).filter(|file| secrets::is_secret(file)) {
        secrets::read(call, report, file, false);
    }
    for setting in options.values(&["o"]) {
        let prefix = setting.prefix();
        let Some(at) = prefix.find(['=', ' ']) else { continue };
        if runs(prefix.get(..at).unwrap_or_default()) {
            report.then_shell(&after(setting, at + 1), &[], "ssh -o");
        }
    }
}

pub(crate) fn scp(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere("cDFiJloPSXb", "").parse(call.args);
    ssh_options(call, report, &options);
    if let Some(program) = options.value(&["S"]) {
        report.then_argv(std::slice::from_ref(program), "scp");
    }
    if call.program == "sftp" {
        if let Some(host) = options.operands.first() {
            network::reach(report, host, true);
        }
        for target in options.from(1) {
            report.file(call, Access::Write, target, false);
        }
        return network::puts(call, report, options.value(&["b"]));
    }
    let Some((destination, sources)) = options.operands.split_last() else { return };
    let target = network::remote(destination);
    for source in sources {
        match network::remote(source) {
            Some(host) => report.reach(Some(host), &source.text, false),
            // For a program that copies, `.` is a directory, not the standard input.
            None if target.is_some() && source.known() != Some(".") => {
                network::send_file(call, report, source);
            }
            None => secrets::read(call, report, source, options.has(&["r"])),
        }
    }
    match target {
        Some(host) => report.reach(Some(host), &destination.text, true),
        None => {
            let tree = options.has(&["r"]);
            let source = |arg: &Arg| Source {
                arg: arg.clone(),
                tree,
                contents: false,
                elsewhere: network::remote(arg).is_some(),
            };
            report.taint.network |= sources.iter().any(|source| network::remote(source).is_some());
            let sources = sources.iter().map(source).collect();
            let incoming =
                Incoming::Sources { sources, into: false, exact: false, linked: false, kept: false };
            report.arrives(call, Access::Write, destination, false, incoming);
        }
    }
}

/// Whether a host is the machine itself.
fn is_this_machine(host: &Arg) -> bool {
    let name = host.known().and_then(network::host_of);
    let itself = |name: &str| name == "localhost" || name == "::1" || name.starts_with("127.");
    name.as_deref().is_some_and(itself)
        || matches!(host.text.trim_matches('"'), "$(hostname)" | "$HOSTNAME" | "`hostname`")
}

pub(crate) fn ssh(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    ssh_options(call, report, &options);
    let Some((host, command)) = options.operands.split_first() else { return };
    // Options may also follow the host.
    let tail = Grammar::until_operand("BbcDEeFIiJLlmOopQRSWw", "").parse(command);
    ssh_options(call, report, &tail);
    report.reach(host.known().and_then(network::host_of), &host.text, *call.stdin != Stdin::Inherited);
    let opens = |options: &Options| {
        options.has(&["R", "D", "w"])
            || options
                .values(&["L"])
                .any(|at| at.prefix().starts_with("0.0.0.0") || at.prefix().starts_with('*'))
    };
    if opens(&options) || opens(&tail) {
        report.deed("open", "tunnel");
    }
    let sends_secret = text::stdin_taint(call).secret || command.iter().any(|arg| arg.taint.secret);
    if sends_secret {
        report.flow(FlowSource::Secret, FlowSink::Host, &written(call));
    }
    if !tail.operands.is_empty() && is_this_machine(host) {
        // A new session on this machine, in the home directory.
        let text = templated(&tail.operands);
        let there = match text.known() {
            Some(command) => Arg::literal(format!("cd ~ && {command}")),
            None => text,
        };
        report.shell(&there, &[], "ssh", false);
    } else if !tail.operands.is_empty() {
        report.shell(&templated(&tail.operands), &[], "ssh", true);
    } else if let Stdin::Text(text) = call.stdin {
        report.shell(&Arg::literal(text), &[], "ssh", true);
    } else if *call.stdin == Stdin::Inherited
        && !options.has(&["N", "W", "O", "V", "Q", "G"])
        && !tail.has(&["N", "W"])
    {
        super::shells::awaits_code(report);
    }
    report.taint.network = true;
}
