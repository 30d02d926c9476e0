//! `socat` and `websocat`: two addresses, and what each of them opens, runs or connects to.

use lictor_core::facts::{Access, FlowSink, FlowSource};

use super::network::host_of;
use super::options::after;
use super::report::written;
use super::{secrets, text};
use crate::call::{Call, Report};
use crate::operand::Arg;

/// Two addresses, each a kind with what belongs to it; a bare path is a file.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let addresses = options.operands.as_slice();
    let networked = addresses.iter().any(|arg| {
        let upper = arg.prefix().to_ascii_uppercase();
        ["TCP", "UDP", "OPENSSL", "SSL", "SCTP", "SOCKS", "PROXY", "WS"]
            .iter()
            .any(|kind| upper.starts_with(kind))
            || upper.contains("-LISTEN:")
    });
    // `websocat -s PORT`.
    let networked = networked || options.has(&["s", "server-mode"]) && call.program == "websocat";
    // Which of the two is written to: both, unless the direction is set or the other one is write-only.
    let takes = |at: usize| {
        let other = addresses.get(1 - at.min(1)).map(|arg| arg.prefix().to_ascii_uppercase());
        match (options.has(&["u"]), options.has(&["U"])) {
            (true, _) => at == 1,
            (_, true) => at == 0,
            _ => other.is_none_or(|other| !other.starts_with("STDOUT") && !other.starts_with("STDERR")),
        }
    };
    for (at, arg) in addresses.iter().enumerate() {
        let (kind, rest) = match arg.prefix().split_once(':') {
            Some((kind, _)) => (kind.to_ascii_uppercase(), after(arg, kind.len() + 1)),
            None if arg.prefix().contains(['/', '.']) => ("GOPEN".to_owned(), arg.clone()),
            None => continue,
        };
        let first = rest.known().map(|text| text.split(',').next().unwrap_or_default());
        let first = first.map_or_else(|| rest.clone(), Arg::literal);
        match kind.as_str() {
            "EXEC" | "SYSTEM" | "SHELL" | "CMD" | "SH-C" => {
                if networked {
                    report.flow(FlowSource::Network, FlowSink::Shell, &arg.text);
                }
                report.then_shell(&first, &[], "socat");
            }
            "OPEN" | "FILE" | "CREATE" | "CREAT" | "GOPEN" => {
                let flag = |name: &str| rest.prefix().split(',').skip(1).any(|flag| flag.starts_with(name));
                let writes = takes(at) && !flag("rdonly") || flag("creat") || kind.starts_with("CREAT");
                if !(options.has(&["u"]) && at == 1 || kind.starts_with("CREAT")) {
                    secrets::read(call, report, &first, false);
                }
                if writes && first.known() != Some("/dev/null") {
                    report.file(call, Access::Write, &first, false);
                }
                if networked && report.taint.secret {
                    report.flow(FlowSource::Secret, FlowSink::Host, &arg.text);
                }
            }
            kind if kind.contains("LISTEN") => {}
            kind if kind.starts_with("TCP") || kind.starts_with("UDP") || kind.starts_with("OPENSSL") => {
                report.reach(rest.known().and_then(host_of), &arg.text, true);
            }
            "WS" | "WSS" => report.reach(arg.known().and_then(host_of), &arg.text, true),
            _ => {}
        }
    }
    if networked && text::stdin_taint(call).secret {
        report.flow(FlowSource::Secret, FlowSink::Host, &written(call));
    }
    report.taint.network |= networked;
}
