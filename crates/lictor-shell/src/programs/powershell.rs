//! PowerShell syntax beyond cmdlets. The cmdlets are described in `programs/windows.yaml`.

use lictor_core::facts::{Access, FlowSink, FlowSource, OpaqueWhat};

use crate::call::{Call, Report};
use crate::operand::Arg;

/// Reports code that a PowerShell text generates at run time: its grammar is not parsed, these words are
/// searched.
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
    let evaluates = has(crate::words::POWERSHELL_EVALUATES);
    if evaluates && has(crate::words::POWERSHELL_REACHES)
        || lower.contains("net.sockets.tcpclient") && lower.contains("getstream")
    {
        report.flow(FlowSource::Network, FlowSink::Shell, &text.text);
    } else if evaluates && lower.contains("frombase64string") {
        report.flow(FlowSource::Decoded, FlowSink::Shell, &text.text);
    } else if evaluates && lower.contains('$') || text.known().is_none() {
        report.opaque(OpaqueWhat::Code, &text.text);
    }
}

/// `Get-ChildItem`: the names that come down the pipe.
pub(crate) fn listing(call: &Call<'_>, report: &mut Report) {
    report.names = match super::parsed(call).operands.first() {
        Some(root) => vec![super::report::below(root, "**")],
        None => vec![super::report::glob("./**")],
    };
}
