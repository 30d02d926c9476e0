//! Tools that send a file away because a word, an option or a command of their own names it.

use lictor_core::facts::{FlowSink, FlowSource};

use super::secrets;
use super::services::holds;
use crate::call::{Call, Report};
use crate::operand::Arg;

/// The program and the words with which it sends, as in the rows of services. Sorted by program.
const ROWS: &[(&str, &str)] = &[
    ("aws", "s3api put-object"),
    ("az", "storage blob|file upload|upload-batch"),
    ("b2", "upload-file|upload_file|file"),
    ("caddy", "file-server"),
    ("croc", "send"),
    ("doctl", "ssh-key import"),
    ("ffsend", "upload"),
    ("gcloud", "storage cp|mv|rsync"),
    ("gh", "issue|pr|release|gist create|comment|edit|upload"),
    ("gh", "api"),
    ("git", "notes add|append"),
    ("glab", "issue|mr|release|snippet create|note|upload"),
    ("http", ""),
    ("httpie", ""),
    ("kubectl", "create configmap|secret|cm"),
    ("lftp", ""),
    ("logger", "-f"),
    ("mc", "cp|mirror|put|pipe"),
    ("oc", "create configmap|secret"),
    ("oci", "os object put"),
    ("s3cmd", "put|sync"),
    ("s5cmd", "cp|sync"),
    ("smbclient", ""),
    ("transfer", ""),
    ("wormhole", "send"),
    ("xh", ""),
];

/// The file that a word names: behind `@` or `=`, or one of the words of a command in it.
fn names_secret(word: &str) -> bool {
    // Variables for a workload are what such a file is for; keys are for signing in with.
    let used = [
        "--from-env-file",
        "--env-file",
        "--key-file",
        "--credential",
        "--config",
        "--cert",
        "--verify",
        "-i",
    ];
    if used.iter().any(|option| word.starts_with(option)) {
        return false;
    }
    word.split([' ', ';', ',']).any(|part| {
        let path = part.rsplit(['@', '=']).next().unwrap_or(part).trim_matches(['"', '\'']);
        !path.is_empty() && secrets::is_secret_path(path)
    })
}

/// Reports secrets that a call sends away.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let from = ROWS.partition_point(|(name, _)| *name < call.program);
    let mut rows = ROWS.iter().skip(from).take_while(|(name, _)| *name == call.program);
    if !rows.any(|(_, pattern)| holds(pattern, call)) {
        return;
    }
    let told = |effect: &crate::Effect<crate::operand::Operand>| {
        matches!(effect, crate::Effect::Flow { from: FlowSource::Secret, to: FlowSink::Host, .. })
    };
    if report.effects.iter().any(told) {
        return;
    }
    let mut before = "";
    for arg in call.args {
        let word = arg.known().unwrap_or_default();
        let signs_in =
            matches!(before, "-i" | "--key-file" | "--cert" | "--cert-key" | "--config" | "--env-file");
        if !signs_in && names_secret(word) {
            secrets::read(
                call,
                report,
                &Arg::literal(word.rsplit(['@', '=', ' ']).next().unwrap_or(word)),
                false,
            );
            report.flow(FlowSource::Secret, FlowSink::Host, word);
            return;
        }
        before = word;
    }
}

#[cfg(test)]
mod tests;
