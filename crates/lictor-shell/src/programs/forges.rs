//! Forge tools: what their descriptions cannot express.

use lictor_core::facts::{Access, FlowSink, FlowSource, GitEffect};

use super::options::Grammar;
use super::report::written;
use super::{secrets, text};
use crate::call::{Call, Report};
use crate::operand::Arg;

/// `hub` passes on to git what it has no word for.
pub(crate) fn as_git(call: &Call<'_>, report: &mut Report) {
    let passed = ["push", "reset", "clean", "checkout", "branch", "stash", "restore"];
    if !call.args.first().and_then(Arg::known).is_some_and(|word| passed.contains(&word)) {
        return;
    }
    let mut argv = vec![Arg::literal("git")];
    argv.extend(call.args.iter().cloned());
    report.then_argv(&argv, "hub");
}

/// `gh gist create`: public files. `-p` means public here and takes no value; description and name are text.
pub(crate) fn gist(call: &Call<'_>, report: &mut Report) {
    for file in &Grammar::anywhere("df", "desc= filename= public web").parse(call.args).operands {
        report.file(call, Access::Read, file, false);
        if secrets::is_secret(file) || file.taint.secret {
            report.flow(FlowSource::Secret, FlowSink::Host, &file.text);
        }
    }
    if text::stdin_taint(call).secret {
        report.flow(FlowSource::Secret, FlowSink::Host, &written(call));
    }
}

/// `gh alias set name '!command'`.
pub(crate) fn alias(call: &Call<'_>, report: &mut Report) {
    if let Some(text) = call.args.get(1).and_then(Arg::known).and_then(|text| text.strip_prefix('!')) {
        report.then_shell(&Arg::literal(text), &[], "gh alias");
    }
}

/// `gh api`.
pub(crate) fn api(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "RFHXfqt",
        "method= field= raw-field= jq= template= input= header= hostname= repo=",
    )
    .parse(call.args);
    let method = options.text(&["X", "method"]).map(str::to_ascii_uppercase).unwrap_or_default();
    let path = options.word(0);
    let fields: Vec<&str> =
        options.values(&["f", "F", "field", "raw-field"]).filter_map(Arg::known).collect();
    let deletes_by_query =
        path == "graphql" && fields.iter().any(|field| field.contains("delete") || field.contains("Delete"));
    if method == "DELETE" || deletes_by_query {
        let parts = path.trim_matches('/').split('/').count();
        let whole_repository = path.trim_start_matches('/').starts_with("repos/") && parts == 3;
        report.infrastructure(call.program, &format!("api DELETE {path}"), whole_repository);
    } else if matches!(method.as_str(), "PUT" | "PATCH" | "POST")
        && [
            "/protection",
            "/rulesets",
            "/merge",
            "/actions/permissions",
            "/collaborators/",
            "/hooks",
            "/keys",
        ]
        .iter()
        .any(|part| path.contains(part))
    {
        report.infrastructure(call.program, &format!("api {method} {path}"), false);
    } else if method == "PATCH" && path.contains("/git/refs") && fields.contains(&"force=true") {
        report.git(GitEffect::ForcePush, Some(path));
    }
}
