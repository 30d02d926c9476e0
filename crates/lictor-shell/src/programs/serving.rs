//! Programs that serve the files of a directory over the network. A directory with secrets, or the whole home
//! directory, must not be served.

use lictor_core::facts::{FlowSink, FlowSource};

use super::options::after;
use super::report::written;
use super::secrets;
use crate::call::{Call, Report};
use crate::operand::{Arg, Cwd};

/// Reports that the files of a directory are served: the one that is named, or the one the call runs in.
pub(crate) fn directory(call: &Call<'_>, report: &mut Report, named: Option<&Arg>) {
    let here = match call.cwd {
        Cwd::Known(path) | Cwd::Glob(path) => Some(Arg::literal(path)),
        Cwd::Start | Cwd::Unknown => None,
    };
    let named = named.filter(|arg| !matches!(arg.known(), Some("." | "./")));
    let addressed =
        named.filter(|arg| arg.prefix().starts_with("file://")).map(|arg| after(arg, "file://".len()));
    let named = addressed.as_ref().or(named);
    let Some(root) = named.or(here.as_ref()) else { return };
    let home = call.env.variable("HOME");
    let is_home = |path: &str| {
        (path.is_empty() || crate::words::SERVED_WHOLE.contains(&path)) || home.as_deref() == Some(path)
    };
    if secrets::is_secret(root) {
        secrets::read(call, report, root, true);
        report.flow(FlowSource::Secret, FlowSink::Host, &written(call));
    } else if root.known().is_some_and(|path| is_home(path.trim_end_matches('/'))) {
        secrets::reveals(report);
    }
}
/// Reports that the files of the current directory are served.
pub(crate) fn here(call: &Call<'_>, report: &mut Report) {
    directory(call, report, None);
}
