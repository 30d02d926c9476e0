//! Cluster tools: what their descriptions cannot express.

use lictor_core::facts::{FlowSink, FlowSource};

use super::options::Grammar;
use super::{described, secrets};
use crate::call::{Call, Report};
use crate::operand::Arg;

/// `k3s kubectl …`.
pub(crate) fn kubectl(call: &Call<'_>, report: &mut Report) {
    described::judge_as("kubectl", call.args, call, report);
}

/// `kubectl cp`: a local secret that is copied into a pod is sent; a file copied from a pod is written.
pub(crate) fn copy(call: &Call<'_>, report: &mut Report) {
    let into_pod = call.args.last().is_some_and(|target| target.prefix().contains(':'));
    for file in call.args.iter().filter(|arg| secrets::is_secret(arg)) {
        secrets::read(call, report, file, true);
        if into_pod && !file.prefix().contains(':') {
            report.flow(FlowSource::Secret, FlowSink::Host, &file.text);
        }
    }
    let options = Grammar::anywhere("nc", "namespace= container= context= retries=").parse(call.args);
    if let [source, target] = options.operands.as_slice()
        && source.prefix().contains(':')
        && !target.prefix().contains(':')
    {
        super::files::from_elsewhere(call, report, source, target);
    }
}

/// `kubectl create secret --from-file=key=path`: a cluster keeps secrets, so that they are read and not sent away.
pub(crate) fn create(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere("", "from-file= from-env-file=").parse(call.args);
    for value in options.values(&["from-file", "from-env-file"]).filter_map(Arg::known) {
        let path = value.split_once('=').map_or(value, |(_, path)| path);
        if secrets::is_secret_path(path) {
            secrets::read(call, report, &Arg::literal(path), false);
        }
    }
}
