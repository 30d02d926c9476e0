//! Cmdlets of PowerShell and built-ins of `cmd` that act on files and machines.

use lictor_core::facts::{Access, FlowSink, FlowSource, OpaqueWhat, ProcessEffect};

use super::report::{joined, written};
use super::secrets;
use crate::call::{Call, Report, Stdin};
use crate::operand::Arg;

/// Ways of PowerShell to run text that is made while it runs, lower case.
const EVALUATES: [&str; 9] = [
    "invoke-expression",
    "scriptblock]::create",
    "iex ",
    "iex(",
    "| iex",
    "|iex",
    ".invokescript(",
    "add-type ",
    "reflection.assembly]::load",
];
/// Ways of PowerShell to get something from elsewhere or to talk to it.
const REACHES: [&str; 9] = [
    "downloadstring",
    "downloadfile",
    "downloaddata",
    "invoke-webrequest",
    "invoke-restmethod",
    "iwr ",
    "irm ",
    "net.webclient",
    "net.sockets.",
];

/// Reports code that a PowerShell text makes while it runs: its grammar is not read, these words are looked for.
pub(crate) fn dynamic(call: &Call<'_>, text: &Arg, report: &mut Report) {
    let whole = text.known().unwrap_or_default();
    // `[IO.Directory]::Delete("x", $true)`.
    for (at, _) in whole.match_indices("::Delete(") {
        let rest = whole.get(at + "::Delete(".len()..).unwrap_or_default();
        let path =
            rest.trim_start().strip_prefix(['"', '\'']).and_then(|rest| rest.split(['"', '\'']).next());
        let path = path.map_or_else(|| Arg::unknown(text.text.clone()), Arg::literal);
        report.file(call, Access::Delete, &path, rest.contains("$true"));
    }
    let lower = text.known().unwrap_or_else(|| text.prefix()).to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let evaluates = has(&EVALUATES);
    if evaluates && has(&REACHES) || lower.contains("net.sockets.tcpclient") && lower.contains("getstream") {
        report.flow(FlowSource::Network, FlowSink::Shell, &text.text);
    } else if evaluates && lower.contains("frombase64string") {
        report.flow(FlowSource::Decoded, FlowSink::Shell, &text.text);
    } else if evaluates && lower.contains('$') || text.known().is_none() {
        report.opaque(OpaqueWhat::Code, &text.text);
    }
}

/// The words of a cmdlet or of a built-in of `cmd`.
struct Words<'a> {
    /// Options, lower case.
    flags: Vec<String>,
    operands: Vec<&'a Arg>,
    recursive: bool,
}

impl<'a> Words<'a> {
    fn of(call: &'a Call<'_>) -> Self {
        let is_flag = |word: &&str| {
            word.starts_with(['-', '/']) && word.len() > 1 && !word.get(1..).unwrap_or_default().contains('/')
        };
        let known = call.args.iter().filter_map(Arg::known);
        let flags: Vec<String> = known.filter(is_flag).map(str::to_ascii_lowercase).collect();
        let is_operand = |arg: &&Arg| {
            let word = arg.prefix();
            let switch = word.starts_with('/')
                && (2..=3).contains(&word.len())
                && word.chars().skip(1).all(|c| c.is_ascii_alphabetic());
            !word.starts_with('-') && !switch
        };
        let recursive = flags.iter().any(|flag| {
            flag.len() >= 4 && "-recurse".starts_with(flag.as_str()) || flag == "-r" || flag == "/s"
        });
        Self { flags, operands: call.args.iter().filter(is_operand).collect(), recursive }
    }

    fn has(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|flag| names.contains(&flag.as_str()))
    }
}

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let words = Words::of(call);
    if words.has(&["-whatif", "/?", "-wi"]) {
        return;
    }
    let (lower, operands, recursive) = (call.program, &words.operands, words.recursive);
    let every = |report: &mut Report, access: Access| {
        operands.iter().for_each(|arg| report.file(call, access, arg, recursive));
    };
    let all = || operands.iter().copied().cloned().collect::<Vec<Arg>>();
    match lower {
        "remove-item" | "ri" | "del" | "erase" | "rd" => {
            every(report, Access::Delete);
            if let (true, Stdin::Names(names)) = (operands.is_empty(), call.stdin) {
                names.iter().for_each(|name| report.file(call, Access::Delete, name, recursive));
            }
        }
        "get-childitem" | "gci" => {
            report.names = match operands.first() {
                Some(root) => vec![super::report::below(root, "**")],
                None => vec![super::report::glob("./**")],
            };
        }
        "clear-content" | "clc" => every(report, Access::Empty),
        "set-content" | "out-file" => every(report, Access::Write),
        "add-content" => every(report, Access::Append),
        "move-item" => every(report, Access::MoveAway),
        "copy-item" => every(report, Access::Read),
        "clear-recyclebin" => report.infrastructure("powershell", "Clear-RecycleBin", false),
        "format-volume" | "clear-disk" | "initialize-disk" | "remove-partition" | "format" | "format.com"
        | "diskpart"
            if (!operands.is_empty() || lower.contains('-') || *call.stdin != Stdin::Inherited) =>
        {
            report.process(ProcessEffect::Format);
        }
        "stop-computer" | "restart-computer" => report.process(ProcessEffect::Shutdown),
        "invoke-expression" | "iex" => match operands.first() {
            Some(_) => report.then_shell(&joined(&all()), &[], "iex"),
            None => super::shells::stdin_is_code(call, report),
        },
        "invoke-webrequest" | "iwr" | "invoke-restmethod" | "irm" => {
            for url in operands.iter().filter(|arg| arg.prefix().contains("://")) {
                super::network::reach(report, url, words.has(&["-infile", "-body"]));
            }
            report.taint.network = true;
        }
        "get-content" | "gc" => {
            operands.iter().for_each(|arg| secrets::read(call, report, arg, false));
        }
        "stop-process" | "spps" => report.process(ProcessEffect::Kill),
        "start-process" | "saps" => report.then_argv(&all(), "Start-Process"),
        "vssadmin" | "wmic" | "bcdedit" | "reg" | "fsutil" => {
            let text = written(call).to_ascii_lowercase();
            if text.contains("delete") || text.contains("/deletevalue") {
                report.infrastructure(lower, &text, text.contains("shadow"));
            }
        }
        "cipher" if words.flags.iter().any(|flag| flag.starts_with("/w")) => {
            report.process(ProcessEffect::Format)
        }
        "icacls" | "takeown" => every(report, Access::ChangeMode),
        _ => {}
    }
}
