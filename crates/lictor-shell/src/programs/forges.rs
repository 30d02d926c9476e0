//! Forges and other version control: gh, glab, hg, jj, svn, and git's companions.

use lictor_core::facts::{Access, GitEffect};

use super::options::{Grammar, Options};
use super::say::written;
use super::secrets;
use crate::call::{Call, Report};
use crate::operand::Arg;

const GH: Grammar = Grammar::anywhere(
    "RbtBFHlamrXfqcspuTe",
    "repo= body= title= base= head= label= assignee= milestone= reviewer= method= field= raw-field= jq= template= body-file= input= header= \
     hostname= subject= match-head-commit= yes delete-branch admin auto merge squash rebase cleanup-tag dry-run notes= notes-file= target= \
     json= limit= search= state= web remote-name= source= push env= user= org= app=",
);

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    match call.program {
        "gh" | "glab" | "hub" | "tea" => forge(call, report),
        "hg" | "chg" => mercurial(call, report),
        "jj" => jujutsu(call, report),
        "svn" => subversion(call, report),
        "bfg" => report.git(GitEffect::RewriteHistory, None),
        "git-filter-repo"
            if !call.args.iter().any(|arg| {
                matches!(arg.known(), Some("--analyze" | "--dry-run" | "--help" | "--version"))
            }) =>
        {
            report.git(GitEffect::RewriteHistory, None);
        }
        _ => {}
    }
}

fn forge(call: &Call<'_>, report: &mut Report) {
    let options = GH.parse(call.args);
    let first = options.word(0);
    let second = options.word(1);
    let tool = call.program;
    if options.has(&["help", "h"]) && call.args.last().is_some_and(|arg| arg.known() == Some("--help")) {
        return;
    }
    match (first, second) {
        ("api", _) => api(call, report, &options),
        // hub passes on to git what it has no word for.
        ("push" | "reset" | "clean" | "checkout" | "branch" | "stash" | "restore", _) if tool == "hub" => {
            let mut argv = vec![Arg::literal("git")];
            argv.extend(call.args.iter().cloned());
            report.then_argv(&argv, "hub");
        }
        ("repo" | "project", "delete") => report.infrastructure(tool, &format!("{first} delete"), true),
        ("repo", "archive" | "rename" | "transfer") => {
            report.infrastructure(tool, &format!("repo {second}"), false)
        }
        ("repo", "edit") if call.args.iter().any(|arg| arg.prefix().starts_with("--visibility")) => {
            report.infrastructure(tool, "repo edit --visibility", false);
        }
        ("release", "delete" | "delete-asset") => {
            report.infrastructure(tool, &format!("release {second}"), false)
        }
        ("release", "create" | "upload") if !options.has(&["draft", "d"]) => report.publish(tool),
        (
            "secret" | "variable" | "ssh-key" | "gpg-key" | "label" | "cache" | "codespace" | "cs" | "gist"
            | "ruleset" | "run" | "workflow" | "extension" | "deploy-key" | "schedule" | "token"
            | "milestone" | "environment",
            "delete" | "remove",
        ) if !matches!(first, "extension" | "label" | "cache" | "run") => {
            report.infrastructure(tool, &format!("{first} {second}"), false);
        }
        ("issue" | "mr", "delete") => report.infrastructure(tool, &format!("{first} delete"), false),
        ("pr", "merge") if options.has(&["admin"]) => report.infrastructure(tool, "pr merge --admin", false),
        ("auth", "token") => secrets::reveals(report),
        ("auth", "status") if options.has(&["t", "show-token"]) => secrets::reveals(report),
        ("workflow", "disable") => report.infrastructure(tool, "workflow disable", false),
        ("repo", "sync") if options.has(&["force"]) => {
            report.git(GitEffect::DiscardCommits, Some("repo sync --force"))
        }
        ("gist", "create") => {
            // `-p` means public here and takes nothing; what it is about and what it is called are text.
            let files = Grammar::anywhere("df", "desc= filename= public web").parse(call.args).operands;
            for file in files.iter().skip(2) {
                report.file(call, Access::Read, file, false);
                if secrets::is_secret(file) || file.taint.secret {
                    report.flow(
                        lictor_core::facts::FlowSource::Secret,
                        lictor_core::facts::FlowSink::Host,
                        &file.text,
                    );
                }
            }
            if super::text::stdin_taint(call).secret {
                report.flow(
                    lictor_core::facts::FlowSource::Secret,
                    lictor_core::facts::FlowSink::Host,
                    &written(call),
                );
            }
        }
        ("alias", "set") => {
            if let Some(text) =
                options.operands.get(3).and_then(Arg::known).and_then(|text| text.strip_prefix('!'))
            {
                report.then_shell(&Arg::literal(text), &[], "gh alias");
            }
        }
        _ => {}
    }
}

fn api(call: &Call<'_>, report: &mut Report, options: &Options) {
    let method = options.text(&["X", "method"]).map(str::to_ascii_uppercase).unwrap_or_default();
    let path = options.word(1);
    let fields: Vec<&str> =
        options.values(&["f", "F", "field", "raw-field"]).filter_map(Arg::known).collect();
    let deletes_by_query =
        path == "graphql" && fields.iter().any(|field| field.contains("delete") || field.contains("Delete"));
    if method == "DELETE" || deletes_by_query {
        let parts = path.trim_matches('/').split('/').count();
        let whole_repository = path.trim_start_matches('/').starts_with("repos/") && parts == 3;
        report.infrastructure(call.program, &format!("api DELETE {path}"), whole_repository);
    } else if matches!(method.as_str(), "PUT" | "PATCH" | "POST")
        && (path.contains("/protection") || path.contains("/rulesets") || path.contains("/merge"))
    {
        report.infrastructure(call.program, &format!("api {method} {path}"), false);
    } else if method == "PATCH" && path.contains("/git/refs") && fields.contains(&"force=true") {
        report.git(GitEffect::ForcePush, Some(path));
    }
}

fn mercurial(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "RrmCdulbe",
        "repository= rev= message= date= config= cwd= clean all no-backup force dry-run bookmark=",
    )
    .parse(call.args);
    if options.has(&["n", "dry-run"]) {
        return;
    }
    match options.word(0) {
        "update" | "up" | "checkout" | "co" if options.has(&["C", "clean"]) => {
            report.git(GitEffect::DiscardWork, None)
        }
        "revert" => report.git(GitEffect::DiscardWork, None),
        "purge" | "clean" => report.git(GitEffect::DiscardWork, None),
        "strip" | "rollback" => report.git(GitEffect::DiscardCommits, None),
        "histedit" | "uncommit" => {}
        "push" if options.has(&["f", "force"]) => report.git(GitEffect::ForcePush, None),
        "push" => report.git(GitEffect::Push, None),
        "commit" | "ci" => report.git(GitEffect::Commit, None),
        _ => {}
    }
}

fn jujutsu(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere("Rrmb", "repository= revision= message= bookmark= branch= deleted all")
        .parse(call.args);
    match (options.word(0), options.word(1)) {
        ("abandon", _) => report.git(GitEffect::DiscardCommits, None),
        ("restore", _) => report.git(GitEffect::DiscardWork, None),
        ("op" | "operation", "abandon") | ("util", "gc") => report.git(GitEffect::ExpireHistory, None),
        ("op" | "operation", "restore") => report.git(GitEffect::DiscardWork, None),
        ("git", "push") if options.has(&["deleted"]) => report.git(GitEffect::DeleteRemote, None),
        ("git", "push") => report.git(GitEffect::Push, None),
        _ => {}
    }
}

fn subversion(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "mrF",
        "message= revision= file= depth= recursive force remove-unversioned remove-ignored",
    )
    .parse(call.args);
    match options.word(0) {
        "revert" => report.git(GitEffect::DiscardWork, None),
        "cleanup" if options.has(&["remove-unversioned", "remove-ignored"]) => {
            report.git(GitEffect::DiscardWork, None)
        }
        "delete" | "del" | "remove" | "rm" => {
            for target in options.from(1) {
                if target.prefix().contains("://") {
                    report.git(GitEffect::DeleteRemote, Some(&target.text));
                } else {
                    report.file(call, Access::Delete, target, true);
                }
            }
        }
        "commit" | "ci" => report.git(GitEffect::Commit, None),
        _ => {}
    }
}
