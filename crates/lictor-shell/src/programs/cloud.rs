//! Infrastructure as code and the command lines of cloud providers.

use super::options::{Grammar, Options};
use super::say::written;
use super::secrets;
use crate::call::{Call, Report};

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    match call.program {
        "terraform" | "tofu" | "terragrunt" | "cdktf" => terraform(call, report),
        "aws" | "awslocal" => aws(call, report),
        "ansible" | "ansible-playbook" => ansible(call, report),
        "gcloud" | "gsutil" | "az" | "doctl" | "hcloud" | "scw" | "oci" | "ibmcloud" | "linode-cli"
        | "vultr-cli" | "exo" | "openstack" | "govc" => {
            provider(call, report);
        }
        _ => tools(call, report),
    }
}

fn terraform(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::single_dash(
        "chdir= var= var-file= target= state= out= backend-config= replace= parallelism= lock-timeout= plugin-dir= terragrunt-working-dir= \
         working-dir=",
    )
    .parse(call.args);
    let unattended = options.has(&["auto-approve", "terragrunt-non-interactive", "non-interactive", "force"]);
    let words: Vec<&str> =
        options.words().filter(|word| !matches!(*word, "run-all" | "run" | "--")).collect();
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let planned_only = first == "plan";
    let mass = match (first, second) {
        _ if planned_only => return,
        ("destroy" | "destroy-all", _) => {
            unattended || call.args.iter().any(|arg| arg.known() == Some("run-all"))
        }
        ("apply" | "apply-all", _) if options.has(&["destroy"]) => unattended,
        ("apply", _) if options.has(&["replace"]) => false,
        ("state", "rm" | "push" | "replace-provider") => false,
        ("workspace", "delete") => options.has(&["force"]),
        ("force-unlock", _) => false,
        ("apply" | "apply-all", _) if unattended => false,
        _ => return,
    };
    report.infrastructure(call.program, &[first, second].join(" "), mass);
}

const AWS: Grammar = Grammar::anywhere(
    "",
    "profile= region= output= query= endpoint-url= cli-input-json= bucket= key= instance-ids= db-instance-identifier= stack-name= cluster= \
     service= function-name= table-name= user-name= role-name= policy-arn= group-name= secret-id= name= names= recovery-window-in-days= \
     include= exclude= acl= desired-count= queue-url= repository-name= dryrun dry-run force delete recursive skip-final-snapshot \
     force-delete-without-recovery with-decryption filters= max-items= log-group-name= file-system-id= volume-id= snapshot-id= cidr=",
);

fn is_destroying(verb: &str) -> bool {
    [
        "delete",
        "terminate",
        "remove",
        "purge",
        "deregister",
        "destroy",
        "batch-delete",
        "release",
        "detach",
        "revoke",
        "schedule-key-deletion",
        "disable",
        "stop",
        "reset",
        "cancel",
        "close",
        "empty",
        "reboot",
        "modify-db-instance-delete",
    ]
    .iter()
    .any(|start| verb == *start || verb.strip_prefix(start).is_some_and(|rest| rest.starts_with('-')))
}

fn aws(call: &Call<'_>, report: &mut Report) {
    let options = AWS.parse(call.args);
    let service = options.word(0);
    let verb = options.word(1);
    if options.has(&["dryrun", "dry-run", "generate-cli-skeleton"])
        || verb == "help"
        || options.words().any(|word| word == "help")
    {
        return;
    }
    let what = format!("{service} {verb}");
    match (service, verb) {
        ("s3", "rb") => return report.infrastructure("aws", &what, options.has(&["force"])),
        ("s3", "rm") => return report.infrastructure("aws", &what, options.has(&["recursive"])),
        ("s3", "sync") if options.has(&["delete"]) => return s3_sync(call, report, &options),
        ("s3", "mv") if options.has(&["recursive"]) => return report.infrastructure("aws", &what, false),
        ("s3", "cp" | "sync" | "mv") => return s3_copy(call, report, &options),
        ("secretsmanager", "get-secret-value") => return secrets::reveals(report),
        ("ssm", "get-parameter" | "get-parameters" | "get-parameters-by-path")
            if options.has(&["with-decryption"]) =>
        {
            return secrets::reveals(report);
        }
        ("iam", "create-access-key") | ("configure", "export-credentials") => {
            return secrets::reveals(report);
        }
        ("configure", "get")
            if options.words().any(|word| word.contains("secret") || word.contains("token")) =>
        {
            return secrets::reveals(report);
        }
        ("rds-data", "execute-statement" | "batch-execute-statement") => {
            for text in Grammar::anywhere("", "sql=").parse(call.args).values(&["sql"]) {
                super::sql::judge(text.prefix(), report);
            }
            return;
        }
        ("configure", "get") => {
            report.taint.secret |= options.word(2) != "region";
            return;
        }
        ("ecs", "update-service") if options.text(&["desired-count"]) == Some("0") => {
            return report.infrastructure("aws", &what, false);
        }
        _ => {}
    }
    if !is_destroying(verb) {
        return;
    }
    // Stopping, detaching and switching off can be undone; the word for them is still a change of infrastructure.
    if matches!(
        verb,
        "stop-instances"
            | "reboot-instances"
            | "stop-task"
            | "cancel-spot-instance-requests"
            | "stop-execution"
            | "stop-query-execution"
            | "stop-build"
            | "reset-image-attribute"
    ) {
        return;
    }
    let mass =
        options.has(&["skip-final-snapshot", "force-delete-without-recovery", "force-delete", "force"])
            || matches!(
                verb,
                "terminate-instances"
                    | "delete-db-cluster"
                    | "delete-stack"
                    | "delete-cluster"
                    | "delete-bucket"
                    | "delete-hosted-zone"
                    | "delete-vpc"
                    | "delete-table"
                    | "delete-file-system"
                    | "delete-db-instance"
                    | "close-account"
            );
    report.infrastructure("aws", &what, mass);
}

fn s3_sync(call: &Call<'_>, report: &mut Report, options: &Options) {
    match options.operands.get(3) {
        Some(target) if !target.prefix().starts_with("s3://") => {
            report.file(call, lictor_core::facts::Access::Delete, target, true);
        }
        _ => report.infrastructure("aws", "s3 sync --delete", false),
    }
}

fn s3_copy(call: &Call<'_>, report: &mut Report, options: &Options) {
    let Some(source) = options.operands.get(2) else { return };
    let uploads = options.operands.get(3).is_some_and(|target| target.prefix().starts_with("s3://"));
    if uploads && !source.prefix().starts_with("s3://") {
        report.reach(Some("s3.amazonaws.com".to_owned()), &written(call), true);
        report.file(call, lictor_core::facts::Access::Read, source, options.has(&["recursive"]));
        if secrets::is_secret(source) || super::text::stdin_taint(call).secret {
            report.flow(
                lictor_core::facts::FlowSource::Secret,
                lictor_core::facts::FlowSink::Host,
                &source.text,
            );
        }
    }
}

/// Providers whose commands read `group … verb name`.
fn provider(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "gnmo",
        "project= zone= region= resource-group= name= subscription= format= filter= quiet= account= output= context= location= query= \
         cluster= instance= secret= vault-name= member= role= replicas= min-count= dry-run ids=",
    )
    .parse(call.args);
    if options.has(&["dry-run", "help", "h"]) {
        return;
    }
    let words: Vec<&str> = options.words().take(6).collect();
    let what = words.join(" ");
    let reads_secret = match call.program {
        "gcloud" => words.starts_with(&["secrets", "versions", "access"]),
        "az" => words.starts_with(&["keyvault", "secret", "show"]),
        _ => false,
    };
    if reads_secret {
        return secrets::reveals(report);
    }
    if call.program == "gsutil" {
        let recursive = options.has(&["r", "R"]);
        let words: Vec<&str> = call.args.iter().filter_map(|arg| arg.known()).collect();
        match words.iter().find(|word| matches!(**word, "rm" | "rb" | "rsync" | "mv")) {
            Some(&"rm") => report.infrastructure("gsutil", "rm", recursive),
            Some(&"rb") => report.infrastructure("gsutil", "rb", true),
            Some(&"rsync") if options.has(&["d"]) => report.infrastructure("gsutil", "rsync -d", false),
            _ if words.last().is_some_and(|target| target.starts_with("gs://")) => {
                report.reach(Some("storage.googleapis.com".to_owned()), &written(call), true);
                for source in options.operands.iter().filter(|arg| secrets::is_secret(arg)) {
                    secrets::read(call, report, source, recursive);
                }
            }
            _ => {}
        }
        return;
    }
    if call.program == "gcloud" && words.first() == Some(&"storage") && words.get(1) == Some(&"rm") {
        return report.infrastructure("gcloud", "storage rm", options.has(&["r", "recursive"]));
    }
    let Some(verb) = words.iter().skip(1).find(|word| {
        matches!(
            **word,
            "delete"
                | "destroy"
                | "purge"
                | "remove"
                | "terminate"
                | "delete-batch"
                | "bulk-delete"
                | "rm"
                | "deallocate"
                | "disable"
                | "undelete"
                | "remove-iam-policy-binding"
                | "failover"
                | "reset"
                | "restore"
        ) || word.starts_with("delete-")
    }) else {
        return;
    };
    if matches!(*verb, "undelete" | "disable" | "deallocate" | "reset" | "restore" | "failover")
        && *verb != "disable"
    {
        return;
    }
    // `config`, `alias` and the like are the tool's own settings.
    if matches!(words.first(), Some(&"config" | &"auth" | &"alias" | &"components" | &"extension" | &"cache"))
    {
        return;
    }
    let mass = matches!(
        words.first(),
        Some(&"projects" | &"group" | &"sql" | &"container" | &"aks" | &"kubernetes" | &"databases")
    );
    report.infrastructure(call.program, &what, mass);
}

fn ansible(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "iaemuclftTMo",
        "inventory= args= extra-vars= module-name= module-path= user= connection= limit= forks= tags= skip-tags= check diff become private-key= \
         vault-password-file= list-hosts list-tasks syntax-check",
    )
    .parse(call.args);
    if options.has(&["C", "check", "list-hosts", "list-tasks", "syntax-check"]) {
        return;
    }
    if options.has(&["b", "become"]) {
        report.privilege(lictor_core::facts::Privilege::BecomeRoot);
    }
    let Some(args) = options.value(&["a", "args"]) else { return };
    match options.text(&["m", "module-name"]).map(|name| name.rsplit('.').next().unwrap_or(name)) {
        Some("shell" | "command" | "raw") | None if call.program == "ansible" => {
            report.shell(&super::say::templated(std::slice::from_ref(args)), &[], "ansible", true);
            // Many machines at once: what deletes there is not a detail of a container.
            if args.prefix().split_whitespace().any(|word| {
                matches!(word.rsplit('/').next(), Some("rm" | "mkfs" | "dd" | "shutdown" | "reboot" | "halt"))
            }) {
                report.infrastructure("ansible", args.prefix(), true);
            }
        }
        Some("file") if args.prefix().contains("state=absent") => {
            report.infrastructure("ansible", "file state=absent", false)
        }
        Some("reboot") => report.infrastructure("ansible", "reboot", false),
        _ => {}
    }
}

fn tools(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "tpscayrnmeE",
        "stack= app= project= config= team= org= scope= site= token= cwd= environment= region= name= remote= force yes confirm= dry-run topic= \
         bootstrap-server= zookeeper= hook= template= repo= keep-last= prune execute",
    )
    .parse(call.args);
    if options.has(&["dry-run", "preview-only", "help"]) {
        return;
    }
    let words: Vec<&str> = options.words().collect();
    let first = options.word(0);
    let second = options.word(1);
    let forced = options.has(&["y", "yes", "force", "f", "non-interactive", "skip-preview", "confirm"]);
    let deletes = |word: &str| matches!(word, "delete" | "destroy" | "rm" | "remove" | "purge" | "del");
    let verdict = match call.program {
        "pulumi" => match (first, second) {
            ("destroy" | "down" | "dn", _) => Some(forced),
            ("stack", "rm") => Some(forced),
            ("state", "delete") | ("config", "rm-all") => Some(false),
            ("up" | "update", _) if forced => Some(false),
            _ => None,
        },
        "cdk" => (first == "destroy").then_some(forced),
        "sst" | "serverless" | "sls" | "amplify" | "spin" => {
            matches!(first, "remove" | "delete" | "destroy").then_some(false)
        }
        "sam" | "eb" | "cf" | "copilot-ecs" | "ecs-cli" | "dokku" => (matches!(
            first,
            "delete" | "terminate" | "delete-org" | "delete-space" | "apps:destroy" | "down"
        ) || deletes(second)
            || first.starts_with("delete"))
        .then_some(forced),
        "heroku" if first == "pg:psql" => {
            for text in Grammar::anywhere("ca", "command= app=").parse(call.args).values(&["c", "command"]) {
                super::sql::judge(text.known().unwrap_or_default(), report);
            }
            if let crate::call::Stdin::Text(text) = call.stdin {
                super::sql::judge(text, report);
            }
            None
        }
        "heroku" => (first.ends_with(":destroy")
            || first == "repo:reset"
            || first.ends_with(":delete")
            || matches!(first, "pg:reset" | "destroy" | "pg:killall" | "addons:remove"))
        .then_some(matches!(first, "apps:destroy" | "pg:reset") || forced),
        "fly" | "flyctl" => (deletes(second) || first == "destroy")
            .then_some(matches!(first, "apps" | "destroy" | "volumes" | "vol" | "postgres")),
        "vercel" | "netlify" | "wrangler" | "railway" | "render" | "firebase" => {
            let removes = deletes(first)
                || deletes(second)
                || first.ends_with(":delete")
                || first.ends_with(":disable")
                || first == "down"
                || words.get(2).is_some_and(|word| deletes(word))
                || matches!(first, "remove");
            removes.then_some(
                matches!(first, "projects" | "sites:delete" | "firestore:delete" | "project" | "delete")
                    || forced,
            )
        }
        "packer" | "juju" | "cap" => {
            (first.starts_with("destroy") || first.starts_with("kill-controller")).then_some(true)
        }
        "vagrant" => (first == "destroy").then_some(options.has(&["f", "force"])),
        "virsh" => matches!(
            first,
            "destroy"
                | "undefine"
                | "vol-delete"
                | "pool-delete"
                | "pool-destroy"
                | "net-destroy"
                | "snapshot-delete"
                | "vol-wipe"
        )
        .then_some(matches!(first, "undefine" | "vol-wipe")),
        "lxc" | "incus" | "multipass" | "limactl" | "colima" | "orb" | "prlctl" | "qm" | "pct" => {
            (deletes(first) || deletes(second)).then_some(options.has(&["purge", "all", "p"]))
        }
        "VBoxManage" => (first == "unregistervm" || first == "closemedium" && options.has(&["delete"]))
            .then_some(options.has(&["delete"])),
        "knife" | "chef" => (deletes(second) || words.contains(&"purge")).then_some(false),
        "salt" => {
            let text = words.join(" ");
            (text.contains("cmd.run") && text.contains("rm ")).then_some(true)
        }
        "kafka-topics" | "kafka-topics.sh" | "kafka-consumer-groups" | "kafka-delete-records" => {
            (options.has(&["delete"]) || call.program == "kafka-delete-records").then_some(false)
        }
        "rabbitmqctl" | "rabbitmqadmin" => (first.starts_with("delete")
            || matches!(
                first,
                "reset"
                    | "force_reset"
                    | "purge_queue"
                    | "stop"
                    | "stop_app"
                    | "forget_cluster_node"
                    | "purge"
            )
            || (first == "delete"))
            .then_some(matches!(first, "reset" | "force_reset" | "delete_vhost")),
        "s3cmd" | "mc" | "s5cmd" => {
            let removes = matches!(first, "del" | "rm" | "rb" | "expire")
                || (matches!(first, "sync" | "mirror")
                    && options.has(&["delete-removed", "remove", "delete"]));
            removes.then_some(options.has(&["r", "recursive", "force"]) || first == "rb")
        }
        "restic" | "borg" | "duplicity" => match first {
            "forget"
            | "prune"
            | "delete"
            | "unlock"
            | "remove-all-but-n-full"
            | "remove-older-than"
            | "compact" => (first != "unlock" && first != "compact").then_some(first == "delete"),
            _ => None,
        },
        "rndc" | "nsupdate" => matches!(first, "delzone" | "stop" | "halt").then_some(false),
        "stripe" | "shopify" => (deletes(second) || deletes(first)).then_some(false),
        _ => None,
    };
    if call.program == "wrangler" && first == "d1" {
        let options = Grammar::anywhere("", "command= file=").parse(call.args);
        for text in options.values(&["command"]).filter(|_| !options.has(&["local"])) {
            super::sql::judge(text.prefix(), report);
        }
    }
    if call.program == "wrangler" && matches!(first, "publish" | "deploy") {
        return;
    }
    if let Some(mass) = verdict {
        report.infrastructure(
            call.program,
            &words.iter().take(4).copied().collect::<Vec<_>>().join(" "),
            mass,
        );
    }
}

/// Words in front of which some tools allow options, for patterns.
pub(crate) const GLOBAL: Grammar = Grammar::until_operand(
    "n",
    "profile= region= output= project= subscription= chdir= namespace= context= kubeconfig= kube-context= cluster=",
);
