//! Kubernetes and its relatives.

use super::options::{Grammar, Options};
use super::say::written;
use super::secrets;
use crate::call::{Call, Next, Report};
use crate::operand::Arg;

pub(crate) const KUBECTL: Grammar = Grammar::anywhere(
    "nlfokcLpswv",
    "namespace= selector= filename= output= kustomize= context= kubeconfig= cluster= user= container= label-columns= grace-period= \
     timeout= field-selector= replicas= dry-run? cascade? patch= type= server= token= as= for= image= overrides= restart= env= port= \
     template= sort-by= since= tail= cache-dir= request-timeout= prune-allowlist= field-manager= password-stdin force now all \
     all-namespaces wait prune ignore-not-found recursive delete-emptydir-data ignore-daemonsets delete-local-data",
);

/// Whether a run only shows what it would do.
fn is_dry(options: &Options) -> bool {
    match options.value(&["dry-run"]) {
        Some(value) => value.known() != Some("none"),
        None => options.has(&["dry-run", "help", "h"]),
    }
}

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    match call.program {
        "kubectl" | "oc" | "k" | "kubectl.exe" | "microk8s.kubectl" => kubectl(call, report),
        "helm" | "helmfile" | "helm3" => helm(call, report),
        "kustomize" | "skaffold" | "tilt" | "argocd" | "flux" | "velero" | "istioctl" | "linkerd"
        | "kubeadm" | "kops" | "eksctl" | "k3d" | "kind" | "minikube" | "k0s" | "rke" | "talosctl"
        | "nomad" | "consul" | "vault" | "boundary" | "crictl" | "ctr" | "k9s" | "devspace" | "okteto"
        | "garden" | "werf" | "kapp" | "karmor" | "clusterctl" | "openshift-install" | "rancher" | "dapr" => {
            tools(call, report)
        }
        _ => {}
    }
}

fn kubectl(call: &Call<'_>, report: &mut Report) {
    let options = KUBECTL.parse(call.args);
    let sub = options.word(0);
    let (kind, _) = options.word(1).split_once('/').unwrap_or((options.word(1), ""));
    let tool = "kubectl";
    match sub {
        "exec" => return exec(call, report),
        "cp" => {
            // Into a pod is to another machine.
            for file in options.from(1).iter().filter(|arg| secrets::is_secret(arg)) {
                secrets::read(call, report, file, true);
            }
            if let [source, target] = options.from(1)
                && source.prefix().contains(':')
                && !target.prefix().contains(':')
            {
                super::files::from_elsewhere(call, report, source, target);
            }
            return;
        }
        "run" | "debug" => {
            if let Some(at) = call.args.iter().position(|arg| arg.known() == Some("--")) {
                inside(report, call.args.get(at + 1..).unwrap_or_default());
            }
            return;
        }
        "get" | "describe" if kind.split(',').any(|kind| matches!(kind, "secret" | "secrets")) => {
            let shows = options.value(&["o", "output"]).is_some_and(|format| {
                let format = format.prefix();
                format.starts_with("yaml")
                    || format.starts_with("json")
                    || format.starts_with("go-template")
                    || format.starts_with("custom")
            });
            if shows {
                secrets::reveals(report);
            }
            return;
        }
        _ if is_dry(&options) => return,
        _ => {}
    }
    let mass = match sub {
        "delete" => {
            matches!(
                kind,
                "ns" | "namespace"
                    | "namespaces"
                    | "crd"
                    | "crds"
                    | "customresourcedefinition"
                    | "pv"
                    | "pvc"
                    | "persistentvolume"
                    | "persistentvolumes"
                    | "persistentvolumeclaim"
                    | "persistentvolumeclaims"
                    | "all"
                    | "node"
                    | "nodes"
                    | "project"
            ) || options.has(&["all", "A", "all-namespaces"])
        }
        "drain" => false,
        "scale" if options.text(&["replicas"]) == Some("0") => options.has(&["all"]),
        "replace" if options.has(&["force"]) => false,
        "apply" if options.has(&["prune"]) => false,
        "taint" if call.args.iter().any(|arg| arg.prefix().contains("NoExecute")) => false,
        "adm" if matches!(options.word(1), "drain" | "prune") => false,
        "patch"
            if options.value(&["p", "patch"]).is_some_and(|patch| patch.prefix().contains("finalizers")) =>
        {
            false
        }
        _ => return,
    };
    let what = if kind.is_empty() { sub.to_owned() } else { format!("{sub} {kind}") };
    report.infrastructure(tool, &what, mass);
}

fn exec(call: &Call<'_>, report: &mut Report) {
    if let Some(at) = call.args.iter().position(|arg| arg.known() == Some("--")) {
        return inside(report, call.args.get(at + 1..).unwrap_or_default());
    }
    // The old form without `--`.
    let options = Grammar::until_operand("nc", "namespace= container= context=")
        .parse(call.args.get(1..).unwrap_or_default());
    inside(report, options.from(1));
}

fn inside(report: &mut Report, argv: &[Arg]) {
    if !argv.is_empty() {
        report.next.push(Next::Argv {
            argv: argv.to_vec(),
            assignments: Vec::new(),
            cwd: None,
            through: "kubectl".to_owned(),
            more: false,
            elsewhere: true,
        });
    }
}

fn helm(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "nfe",
        "namespace= kube-context= kubeconfig= values= set= set-string= version= timeout= repo= post-renderer= environment= dry-run? \
         keep-history purge force wait file= selector=",
    )
    .parse(call.args);
    if is_dry(&options) {
        return;
    }
    if let Some(program) = options.value(&["post-renderer"]) {
        report.then_argv(std::slice::from_ref(program), "helm");
    }
    match options.word(0) {
        sub @ ("uninstall" | "delete" | "del" | "un" | "destroy") => {
            report.infrastructure("helm", sub, sub == "destroy")
        }
        "push" | "cm-push" => report.publish("helm"),
        _ => {}
    }
}

fn tools(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "npacf",
        "namespace= profile= name= region= cluster= token= address= mount= field= format= dry-run? all purge recurse force yes auto-approve \
         cascade",
    )
    .parse(call.args);
    if is_dry(&options) {
        return;
    }
    let words: Vec<&str> = options.words().collect();
    let first = options.word(0);
    let second = options.word(1);
    let what = written(call);
    let verdict = match (call.program, first, second) {
        ("vault", "kv", "get" | "export") | ("vault", "read", _) => {
            if !second.starts_with("sys/") {
                secrets::reveals(report);
            }
            None
        }
        ("vault", "kv", "delete" | "destroy") | ("vault", "kv", "metadata")
            if words.iter().any(|w| matches!(*w, "delete" | "destroy")) =>
        {
            Some(false)
        }
        ("vault", "delete", _)
        | ("vault", "lease", "revoke")
        | ("vault", "token", "revoke")
        | ("vault", "policy", "delete") => Some(false),
        ("vault", "secrets" | "auth" | "audit", "disable")
        | ("vault", "operator", "seal" | "raft" | "rekey") => Some(true),
        ("consul", "kv", "delete") => Some(options.has(&["recurse"])),
        ("consul", "kv", "get") => None,
        ("consul", "leave" | "force-leave", _) | ("consul", "acl", _)
            if words.contains(&"delete") || first.contains("leave") =>
        {
            Some(false)
        }
        ("consul", "services", "deregister") | ("consul", "snapshot", "restore") => Some(false),
        ("nomad", "job", "stop" | "revert")
        | ("nomad", "stop", _)
        | ("nomad", "system", "gc")
        | ("nomad", "node", "drain")
        | ("nomad", "namespace" | "volume" | "var", "delete" | "purge")
        | ("nomad", "alloc", "stop") => Some(options.has(&["purge"]) || first == "namespace"),
        ("nomad", "alloc", "exec") => None,
        (
            "minikube" | "kind" | "k3d" | "k0s" | "rke" | "talosctl",
            "delete" | "reset" | "remove" | "destroy",
            _,
        ) => Some(options.has(&["all", "purge"]) || second == "clusters"),
        ("k3d" | "kind", "cluster", "delete") => Some(options.has(&["all", "a"])),
        ("kubeadm", "reset", _) | ("openshift-install", "destroy", _) => Some(true),
        ("kops" | "eksctl" | "clusterctl", "delete", _) => Some(second == "cluster" || first == "cluster"),
        ("skaffold", "delete", _)
        | ("tilt", "down", _)
        | ("devspace", "purge", _)
        | ("okteto", "destroy" | "down", _)
        | ("garden", "delete" | "cleanup", _)
        | ("werf", "dismiss" | "purge", _)
        | ("kapp", "delete", _) => Some(false),
        (
            "argocd",
            "app" | "appset" | "proj" | "cluster" | "repo",
            "delete" | "rm" | "delete-resource" | "terminate-op",
        ) => Some(false),
        ("argocd", "app", "sync") if options.has(&["prune"]) => Some(false),
        ("flux", "delete" | "uninstall", _) => Some(first == "uninstall"),
        ("velero", "backup" | "restore" | "schedule" | "backup-location" | "snapshot-location", "delete")
        | ("velero", "delete" | "uninstall", _) => Some(options.has(&["all"]) || first == "uninstall"),
        ("istioctl" | "linkerd" | "dapr", "uninstall", _) => Some(options.has(&["purge"])),
        ("crictl" | "ctr", "rm" | "rmp" | "rmi", _) => Some(options.has(&["a", "all"])),
        ("ctr", _, "rm" | "delete" | "kill") => Some(false),
        ("rancher", _, "delete" | "rm") => Some(false),
        _ => None,
    };
    if let Some(mass) = verdict {
        report.infrastructure(call.program, &what, mass);
    }
}
