//! docker, podman, nerdctl and what runs in them.

use lictor_core::facts::Privilege;

use super::options::{Grammar, Options};
use super::say::written;
use crate::call::{Call, Next, Report};
use crate::operand::Arg;

pub(crate) const GLOBAL: Grammar = Grammar::until_operand(
    "Hcl",
    "host= context= config= log-level= tlscacert= tlscert= tlskey= url= connection= namespace= address=",
);

const RUN: Grammar = Grammar::until_operand(
    "aceghlmpuvw",
    "add-host= attach= cap-add= cap-drop= cgroup-parent= cidfile= cpus= cpuset-cpus= cpu-shares= device= dns= entrypoint= env= \
     env-file= expose= gpus= health-cmd= hostname= ip= ipc= label= link= log-driver= log-opt= memory= mount= name= net= network= \
     network-alias= pid= platform= publish= pull= restart= runtime= security-opt= shm-size= stop-signal= stop-timeout= storage-opt= \
     sysctl= tmpfs= ulimit= user= userns= uts= volume= volumes-from= workdir= index= index-filter= detach interactive tty rm \
     privileged init read-only publish-all quiet",
);

const COMPOSE: Grammar = Grammar::until_operand(
    "fp",
    "file= project-name= profile= env-file= project-directory= parallel= ansi= progress= dry-run",
);

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let global = GLOBAL.parse(call.args);
    let (word, rest) = match call.program {
        "docker-compose" | "podman-compose" => ("compose", call.args),
        _ => (global.word(0), global.from(1)),
    };
    match word {
        "run" | "create" => run(call, report, rest),
        "exec" => exec(call, report, rest),
        "compose" => compose(call, report, rest),
        "container" | "image" | "volume" | "network" | "system" | "builder" | "buildx" | "pod" | "swarm" | "stack" | "service" | "secret"
        | "config" | "node" | "context" | "machine" | "manifest" => managed(call, report, word, rest),
        "inspect" if shows_environment(rest) => super::secrets::reveals(report),
        "push" => report.publish(call.program),
        "build" | "bake" if pushes(rest) => report.publish(call.program),
        "rm" => remove(call, report, rest, "rm"),
        "rmi" => {
            let options = Grammar::anywhere("", "force all no-prune").parse(rest);
            let every = options.operands.iter().any(|arg| arg.known().is_none());
            if options.has(&["f", "force", "a", "all"]) || every {
                report.infrastructure(call.program, "rmi", every || options.has(&["a", "all"]));
            }
        }
        "kill" | "stop"
            // Everything that runs, by a list made on the line.
            if (rest.iter().any(|arg| arg.known().is_none() && arg.text.contains("ps")) || rest.iter().any(|arg| arg.known() == Some("--all"))) => {
                report.infrastructure(call.program, &written(call), false);
            }
        "cp" => {
            let options = Grammar::anywhere("", "archive follow-link").parse(rest);
            if let Some(target) = options.operands.get(1).filter(|arg| !arg.prefix().contains(':')) {
                report.file(call, lictor_core::facts::Access::Write, target, false);
            }
            if let Some(source) = options.operands.first().filter(|arg| !arg.prefix().contains(':')) {
                super::secrets::read(call, report, source, true);
            }
        }
        _ => {}
    }
}

/// A format that picks the variables of a container: passwords stand there.
fn shows_environment(rest: &[Arg]) -> bool {
    let options = Grammar::anywhere("f", "format= type=").parse(rest);
    options.values(&["f", "format"]).any(|format| format.prefix().contains(".Env"))
}

/// A build that ends in a registry.
fn pushes(rest: &[Arg]) -> bool {
    Grammar::anywhere("", "push").parse(rest).has(&["push"])
        || rest.iter().filter_map(Arg::known).any(|word| word.contains("type=registry"))
}

fn remove(call: &Call<'_>, report: &mut Report, rest: &[Arg], what: &str) {
    let options = Grammar::anywhere("", "force volumes link all").parse(rest);
    let every = options.operands.iter().any(|arg| arg.known().is_none()) || options.has(&["a", "all"]);
    if options.has(&["f", "force", "v", "volumes"]) || every {
        report.infrastructure(call.program, what, every);
    }
}

fn managed(call: &Call<'_>, report: &mut Report, kind: &str, rest: &[Arg]) {
    let options = Grammar::anywhere("", "force all volumes filter= dry-run").parse(rest);
    let what = options.word(0);
    let all = options.has(&["a", "all"]);
    let mass = match (kind, what) {
        ("container" | "image", "inspect") if shows_environment(rest) => {
            return super::secrets::reveals(report);
        }
        ("container", "exec") => return exec(call, report, rest.get(1..).unwrap_or_default()),
        ("container", "run" | "create") => return run(call, report, rest.get(1..).unwrap_or_default()),
        ("container", "rm") => {
            return remove(call, report, rest.get(1..).unwrap_or_default(), "container rm");
        }
        ("image", "push") | ("manifest", "push") => return report.publish(call.program),
        ("buildx" | "builder" | "image", "build" | "bake") if pushes(rest) => {
            return report.publish(call.program);
        }
        ("system", "prune") => all || options.has(&["volumes"]),
        ("system", "reset") => true,
        ("volume", "prune") => true,
        ("volume", "rm" | "remove") => options.operands.iter().any(|arg| arg.known().is_none()),
        ("container", "prune") => false,
        ("image", "prune") if all => false,
        ("image", "rm") if options.has(&["f", "force"]) => false,
        ("pod", "rm") if options.has(&["f", "force", "a", "all"]) => all,
        ("pod", "prune") => false,
        ("swarm", "leave") if options.has(&["f", "force"]) => false,
        ("stack" | "service" | "secret" | "config" | "node" | "machine", "rm" | "remove" | "down") => false,
        _ => return,
    };
    report.infrastructure(call.program, &format!("{kind} {what}"), mass);
}

fn compose(call: &Call<'_>, report: &mut Report, rest: &[Arg]) {
    let global = COMPOSE.parse(rest);
    let tail = global.from(1);
    if global.has(&["dry-run"]) {
        return;
    }
    match global.word(0) {
        "down" => {
            let options = Grammar::anywhere("t", "volumes rmi= timeout= remove-orphans").parse(tail);
            if options.has(&["v", "volumes"]) || options.text(&["rmi"]) == Some("all") {
                report.infrastructure(call.program, "compose down --volumes", false);
            }
        }
        "rm" => {
            let options = Grammar::anywhere("", "volumes force stop").parse(tail);
            if options.has(&["v", "volumes"]) {
                report.infrastructure(call.program, "compose rm --volumes", false);
            }
        }
        "exec" | "run" => {
            let options = RUN.parse(tail);
            elsewhere(call, report, options.from(1), None);
        }
        "push" => report.publish(call.program),
        _ => {}
    }
}

fn exec(call: &Call<'_>, report: &mut Report, rest: &[Arg]) {
    let options = RUN.parse(rest);
    elsewhere(call, report, options.from(1), None);
}

/// Where a host directory appears in a container.
struct Mount {
    host: String,
    inside: String,
}

fn mounts(options: &Options) -> Vec<Mount> {
    let mut found = Vec::new();
    for volume in options.values(&["v", "volume"]).filter_map(Arg::known) {
        let mut parts = volume.split(':');
        if let (Some(host), Some(inside)) = (parts.next(), parts.next())
            && host.starts_with(['/', '.', '~'])
            && parts.next() != Some("ro")
        {
            found.push(Mount { host: host.to_owned(), inside: inside.to_owned() });
        }
    }
    for mount in options.values(&["mount"]).filter_map(Arg::known) {
        let field = |names: [&str; 3]| {
            mount.split(',').find_map(|part| {
                part.split_once('=').filter(|(key, _)| names.contains(key)).map(|(_, value)| value)
            })
        };
        if let (Some(host), Some(inside)) =
            (field(["source", "src", "from"]), field(["target", "dst", "destination"]))
            && host.starts_with(['/', '.', '~'])
        {
            found.push(Mount { host: host.to_owned(), inside: inside.to_owned() });
        }
    }
    found
}

fn run(call: &Call<'_>, report: &mut Report, rest: &[Arg]) {
    let options = RUN.parse(rest);
    let mounts = mounts(&options);
    let broad = mounts.iter().any(|mount| {
        matches!(
            mount.host.trim_end_matches('/'),
            "" | "/etc" | "/usr" | "/var" | "/home" | "/root" | "/boot" | "~" | "/dev"
        ) || mount.host.contains("docker.sock")
    });
    let host_namespace = ["pid", "net", "network", "ipc", "userns"]
        .iter()
        .any(|name| options.text(&[name]) == Some("host") && matches!(*name, "pid" | "userns" | "ipc"));
    let capable = options.text(&["cap-add"]).is_some_and(|cap| {
        matches!(cap.trim_start_matches("CAP_"), "ALL" | "all" | "SYS_ADMIN" | "SYS_PTRACE" | "SYS_MODULE")
    });
    if broad || host_namespace || capable || options.has(&["privileged"]) {
        report.privilege(Privilege::Container);
    }
    let entry = options.value(&["entrypoint"]);
    let mut argv: Vec<Arg> = entry.cloned().into_iter().collect();
    argv.extend(options.from(1).iter().cloned());
    // Images that are git itself.
    if entry.is_none()
        && options.word(0).split([':', '@']).next().is_some_and(|image| image.ends_with("/git"))
    {
        argv.insert(0, Arg::literal("git"));
    }
    let looks_like_command =
        entry.is_some() || argv.first().is_some_and(|arg| !arg.prefix().starts_with('-'));
    // Where it starts, when that is a directory of ours and the command deletes what it names from there.
    let start = options.text(&["w", "workdir"]).and_then(|place| {
        let mount =
            mounts.iter().find(|mount| mount.inside.trim_end_matches('/') == place.trim_end_matches('/'))?;
        Some(mount.host.clone())
    });
    let deletes =
        argv.first().is_some_and(|program| matches!(program.known(), Some("rm" | "find" | "shred" | "git")));
    match start.filter(|_| deletes) {
        Some(host) => report.next.push(Next::Argv {
            argv,
            assignments: Vec::new(),
            cwd: Some(crate::operand::Cwd::Known(host)),
            through: format!("{} run", call.program),
            more: false,
            elsewhere: false,
        }),
        None if looks_like_command => elsewhere(call, report, &argv, Some(&mounts)),
        None => {}
    }
}

/// A command in a container: its files are not ours, except below a mount. `mounts` is `None` for a container that
/// was there before.
fn elsewhere(call: &Call<'_>, report: &mut Report, argv: &[Arg], mounts: Option<&[Mount]>) {
    if argv.is_empty() {
        return;
    }
    let mut ours = false;
    let argv = argv
        .iter()
        .map(|arg| {
            let Some(text) = arg.known() else { return arg.clone() };
            let mut replaced = text.to_owned();
            for mount in mounts.unwrap_or_default() {
                let inside = mount.inside.trim_end_matches('/');
                if inside.is_empty() || !text.contains(inside) {
                    continue;
                }
                ours = true;
                let host = mount.host.trim_end_matches('/');
                replaced = replaced.replace(&format!("{inside}/"), &format!("{host}/"));
                if let Some(start) = replaced.strip_suffix(inside) {
                    replaced = format!("{start}{}", if host.is_empty() { "/" } else { host });
                }
                replaced = replaced.replace(
                    &format!("{inside} "),
                    &format!("{} ", if host.is_empty() { "/" } else { host }),
                );
            }
            Arg { glob: arg.glob, ..Arg::literal(replaced) }
        })
        .collect();
    report.next.push(Next::Argv {
        argv,
        assignments: Vec::new(),
        cwd: None,
        through: if mounts.is_some() { format!("{} run", call.program) } else { call.program.to_owned() },
        more: false,
        elsewhere: !ours,
    });
}
