//! Programs that hand out the files of a directory to whoever asks. A directory of secrets, or the whole home, is not
//! meant for that.

use lictor_core::facts::{FlowSink, FlowSource};

use super::options::Grammar;
use super::say::written;
use super::secrets;
use crate::call::{Call, Report};
use crate::operand::{Arg, Cwd};

/// How a server is told which directory it hands out; where nothing is said, it is the one it runs in.
enum Root {
    /// By its first word.
    Word,
    /// By a word behind the one that makes it a server (`caddy file-server`, `rclone serve http x`).
    Behind(&'static str),
    /// By an option only.
    Option,
}

/// Options by which servers are told a directory.
const OPTIONS: [&str; 6] = ["root", "directory", "dir", "path", "t", "d"];

fn server(call: &Call<'_>) -> Option<Root> {
    let says = |wanted: &str| call.args.iter().filter_map(Arg::known).any(|word| word == wanted);
    Some(match call.program {
        "serve" | "http-server" | "live-server" | "darkhttpd" | "miniserve" | "simple-http-server"
        | "dufs" | "sfz" | "superstatic" | "gohttpserver" | "devd" | "servor" | "sirv" => Root::Word,
        "httpd" | "thttpd" | "webfsd" | "static-web-server" => Root::Option,
        "caddy" if says("file-server") => Root::Option,
        "php" if says("-S") => Root::Option,
        "rclone" if says("serve") => Root::Behind("serve"),
        "ruby" if says("-run") && says("httpd") => Root::Behind("httpd"),
        "ruby" if says("-run") && says("-ehttpd") => Root::Behind("-ehttpd"),
        _ => return None,
    })
}

/// Reports a server whose directory holds secrets.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let Some(root) = server(call) else { return };
    let options = Grammar::anywhere("abcdhiloprstuPS", "root= directory= dir= path= port= host= listen=");
    match root {
        Root::Word => {
            let options = options.parse(call.args);
            directory(call, report, options.value(&OPTIONS).or_else(|| options.operands.first()));
        }
        Root::Option => {
            let options = options.parse(call.args);
            // busybox calls the directory its home.
            let home = options.value(&["h"]).filter(|_| call.program == "httpd");
            directory(call, report, home.or_else(|| options.value(&OPTIONS)));
        }
        Root::Behind(word) => {
            let at = call.args.iter().position(|arg| arg.known() == Some(word)).unwrap_or_default();
            let options = options.parse(call.args.get(at + 1..).unwrap_or_default());
            directory(call, report, options.operands.last());
        }
    }
}

/// Reports that the files of a directory are handed out: the one that is named, or the one the call runs in.
pub(crate) fn directory(call: &Call<'_>, report: &mut Report, named: Option<&Arg>) {
    let here = match call.cwd {
        Cwd::Known(path) => Some(Arg::literal(path)),
        Cwd::Start | Cwd::Unknown => None,
    };
    let named = named.filter(|arg| !matches!(arg.known(), Some("." | "./")));
    let Some(root) = named.or(here.as_ref()) else { return };
    let home = call.surroundings.variable("HOME");
    let is_home = |path: &str| matches!(path, "~" | "/root" | "") || home.as_deref() == Some(path);
    if secrets::is_secret(root) {
        secrets::read(call, report, root, true);
        report.flow(FlowSource::Secret, FlowSink::Host, &written(call));
    } else if root.known().is_some_and(|path| is_home(path.trim_end_matches('/'))) {
        secrets::reveals(report);
    }
}
