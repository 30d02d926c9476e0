//! docker, podman, nerdctl and the commands that run in them.

use lictor_core::facts::Privilege;

use super::options::{Grammar, Options};
use super::report::written;
use crate::call::{Call, Next, Report};
use crate::operand::Arg;

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

/// `docker stop $(docker ps -q)`, `… | xargs systemctl stop`: everything that runs, by a list made on the line.
pub(crate) fn stop_listed(call: &Call<'_>, report: &mut Report) {
    let listed = |arg: &Arg| {
        ["ps", "list-units", "list-unit-files"].iter().any(|list| arg.text.contains(list))
            || &*arg.text == "…"
    };
    if call.args.iter().any(|arg| arg.known().is_none() && listed(arg)) {
        report.infrastructure(call.program, &written(call), false);
    }
}

/// `docker compose`.
pub(crate) fn compose(call: &Call<'_>, report: &mut Report) {
    let global = COMPOSE.parse(call.args);
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

/// `docker exec`.
pub(crate) fn exec(call: &Call<'_>, report: &mut Report) {
    let options = RUN.parse(call.args);
    elsewhere(call, report, options.from(1), None);
}

/// Where a host directory appears in a container.
struct Mount {
    host: String,
    inside: String,
}

/// A field of `--mount type=volume,source=…,target=…`, by any of its names.
fn field(mount: &str, names: &[&str]) -> Option<String> {
    mount.split(',').find_map(|part| {
        part.split_once('=').filter(|(key, _)| names.contains(key)).map(|(_, value)| value.to_owned())
    })
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
        if let (Some(host), Some(inside)) =
            (field(mount, &["source", "src", "from"]), field(mount, &["target", "dst", "destination"]))
            && host.starts_with(['/', '.', '~'])
        {
            found.push(Mount { host, inside });
        }
    }
    found
}

/// The output of `docker run -d`: the id of the new container.
pub(crate) const STARTED: &str = "container-of-this-line";

/// `docker run`.
pub(crate) fn run(call: &Call<'_>, report: &mut Report) {
    let options = RUN.parse(call.args);
    let mounts = mounts(&options);
    let broad = mounts.iter().any(|mount| {
        (mount.host.trim_end_matches('/').is_empty()
            || crate::words::SYSTEM_PLACES.contains(&mount.host.trim_end_matches('/')))
            || mount.host.contains("docker.sock")
    });
    let host_namespace = ["pid", "userns"].iter().any(|name| options.text(&[name]) == Some("host"));
    let capable = options.text(&["cap-add"]).is_some_and(|cap| {
        matches!(cap.trim_start_matches("CAP_"), "ALL" | "all" | "SYS_ADMIN" | "SYS_PTRACE" | "SYS_MODULE")
    });
    let disk = options.values(&["device"]).filter_map(Arg::known).any(|device| {
        ["/dev/sd", "/dev/nvme", "/dev/vd", "/dev/mem", "/dev/kmem", "/dev/dm-", "/dev/mapper/"]
            .iter()
            .any(|raw| device.starts_with(raw))
    });
    if broad || host_namespace || capable || disk || options.has(&["privileged"]) {
        report.privilege(Privilege::Container);
    }
    if options.has(&["d", "detach"]) {
        report.stdout = Some(STARTED.to_owned());
    }
    let entry = options.value(&["entrypoint"]);
    let mut argv: Vec<Arg> = entry.cloned().into_iter().collect();
    argv.extend(options.from(1).iter().cloned());
    let looks_like_command =
        entry.is_some() || argv.first().is_some_and(|arg| !arg.prefix().starts_with('-'));
    // The working directory, if it is mounted from the host.
    let start = options.text(&["w", "workdir"]).and_then(|place| {
        let mount =
            mounts.iter().find(|mount| mount.inside.trim_end_matches('/') == place.trim_end_matches('/'))?;
        Some(mount.host.clone())
    });
    let workdir = options.text(&["w", "workdir"]).unwrap_or_default();
    if let Some(volume) = volumes(&options).iter().find(|volume| wipes(&argv, &volume.inside, workdir)) {
        report.infrastructure(call.program, &format!("volume {}", volume.host), false);
    }
    // Whether the image runs a tool by itself is not written on the line: the words are read both ways.
    if let Some(tool) = tool_of(options.word(0)).filter(|_| entry.is_none()) {
        let mut words = vec![Arg::literal(tool)];
        words.extend(argv.iter().cloned());
        inside(call, report, words, start.as_ref(), &mounts);
    }
    if looks_like_command {
        inside(call, report, argv, start.as_ref(), &mounts);
    }
}

/// A tool that images are named after and run by themselves (`alpine/git`, `hashicorp/terraform:1.9`).
fn tool_of(image: &str) -> Option<&str> {
    let name = image.rsplit('/').next()?.split([':', '@']).next()?;
    let name = match name.strip_suffix("-cli").unwrap_or(name) {
        "opentofu" => "tofu",
        name => name,
    };
    let manages = crate::words::IMAGE_TOOLS.contains(&name);
    use super::Family::{Attack, Clouds};
    let known = |name| super::table::find(name).is_some_and(|entry| matches!(entry.family, Clouds | Attack));
    (manages || known(name)).then_some(name)
}

/// Named volumes, by where they appear in the container.
fn volumes(options: &Options) -> Vec<Mount> {
    let short = options.values(&["v", "volume"]).filter_map(Arg::known).filter_map(|volume| {
        let (name, rest) = volume.split_once(':')?;
        let mut rest = rest.split(':');
        let inside = rest.next()?;
        (rest.next() != Some("ro")).then(|| (name.to_owned(), inside.to_owned()))
    });
    let long = options.values(&["mount"]).filter_map(Arg::known).filter_map(|mount| {
        let read_only = mount.split(',').any(|part| matches!(part, "readonly" | "ro" | "readonly=true"));
        Some((field(mount, &["source", "src", "from"])?, field(mount, &["target", "dst", "destination"])?))
            .filter(|_| !read_only)
    });
    short
        .chain(long)
        .filter(|(name, _)| name.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
        .map(|(host, inside)| Mount { host, inside })
        .collect()
}

/// Whether a command that starts in `workdir`, or one in the text of a shell, deletes all that is at `inside`.
fn wipes(argv: &[Arg], inside: &str, workdir: &str) -> bool {
    let inside = inside.trim_end_matches('/');
    if inside.is_empty() {
        return false;
    }
    let text = argv.iter().filter_map(Arg::known).collect::<Vec<_>>().join(" ");
    let mut there = workdir.trim_end_matches('/') == inside;
    text.split([';', '&', '|', '\n']).any(|command| {
        let words: Vec<&str> =
            command.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
        if let Some([_, place]) = words.windows(2).find(|pair| pair.first() == Some(&"cd")) {
            there = place.trim_end_matches('/') == inside;
        }
        let all = |word: &&str| match word.strip_prefix(inside) {
            Some("" | "/" | "/." | "/*") => true,
            Some(rest) => rest.starts_with("/{*") || rest.starts_with("/.[") || rest == "/.*",
            None => there && matches!(*word, "*" | "./*" | "." | "./" | ".*"),
        };
        let recursive = |word: &&str| {
            word.strip_prefix('-').is_some_and(|letters| {
                letters == "-recursive" || !letters.starts_with('-') && letters.contains(['r', 'R'])
            })
        };
        if words.contains(&"find") {
            let selects = |word: &&str| crate::words::FIND_SELECTS.contains(word);
            return words.iter().any(all)
                && words.iter().any(|word| matches!(*word, "-delete" | "rm"))
                && !words.iter().any(selects);
        }
        words.contains(&"rm") && words.iter().any(recursive) && words.iter().any(all)
    })
}

/// A command in a new container. A command that deletes relative paths in a mounted host directory, or a shell
/// command without any container path, is analysed as if it ran in that directory.
fn inside(call: &Call<'_>, report: &mut Report, argv: Vec<Arg>, start: Option<&String>, mounts: &[Mount]) {
    const DELETES: [&str; 4] = ["rm", "find", "shred", "git"];
    let program = argv.first().and_then(Arg::known).unwrap_or_default();
    let deletes = DELETES.contains(&program)
        || super::is_shell(program)
            && argv.last().and_then(Arg::known).is_some_and(|text| {
                let mut words =
                    text.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')', ';']));
                words.clone().any(|word| DELETES.contains(&word))
                    && !words.any(|word| {
                        word.starts_with(['/', '~', '$']) || word.contains("=/") || word.contains(">/")
                    })
            });
    match start.filter(|_| deletes) {
        Some(host) => report.next.push(Next::Argv {
            argv,
            assignments: Vec::new(),
            cwd: Some(crate::operand::Cwd::Known(host.clone())),
            through: format!("{} run", call.program),
            more: false,
            elsewhere: false,
        }),
        None => elsewhere(call, report, &argv, Some(mounts)),
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

/// Between this machine and a container.
pub(crate) fn copy(call: &Call<'_>, report: &mut Report) {
    let rest = call.args;
    let options = Grammar::anywhere("", "archive follow-link").parse(rest);
    if let [source, target] = options.operands.as_slice()
        && !target.prefix().contains(':')
    {
        super::files::from_elsewhere(call, report, source, target);
    }
    if let Some(source) = options.operands.first().filter(|arg| !arg.prefix().contains(':')) {
        super::secrets::read(call, report, source, true);
    }
}
