//! Package managers, build tools and runners: what they publish, remove or run.

use lictor_agents::launch;
use lictor_core::facts::Access;

use super::options::{Grammar, Options};
use super::report::{chdir, written};
use super::shells;
use crate::call::{Call, Next, Report};
use crate::operand::Arg;

fn is_dry(options: &Options) -> bool {
    options.has(&["dry-run", "help", "h"])
}

/// Programs of the project that `npm`, `yarn` and `pnpm` run.
pub(crate) fn node_manager(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let mut at = 0;
    if call.program == "yarn" && matches!(options.word(0), "npm" | "workspace" | "workspaces") {
        at = if options.word(0) == "workspace" { 2 } else { 1 };
    }
    let sub = options.word(at);
    match sub {
        "exec" | "x" | "dlx" => {
            let skip = call.args.iter().position(|arg| arg.known() == Some(sub)).unwrap_or_default() + 1;
            if let Some(text) = options.value(&["c", "call"]) {
                report.then_shell(text, &[], call.program);
            }
            match call.args.get(skip..).unwrap_or_default() {
                // yarn passes a single word to a shell.
                [only] if only.prefix().contains(' ') => report.then_shell(only, &[], call.program),
                words => run_tool(call, report, words),
            }
        }
        // `yarn node file`: node, with the project's packages.
        "node" => {
            let from = call.args.iter().position(|arg| arg.known() == Some(sub)).unwrap_or_default();
            report.then_argv(call.args.get(from..).unwrap_or_default(), call.program);
        }
        "prisma" | "sequelize" | "sequelize-cli" | "knex" | "typeorm" | "mikro-orm" | "drizzle-kit"
        | "rimraf" | "supabase" | "wrangler" | "lerna" | "changeset" | "convex" | "vercel" | "netlify"
        | "serverless" | "sst" | "cdk" => {
            // `yarn prisma …`: a binary of the project.
            report.then_argv(options.from(at), call.program);
        }
        _ => {}
    }
}

/// Packages out of a directory that everybody writes to, installed as root: nothing on the line tells where they came
/// from.
pub(crate) fn from_file(call: &Call<'_>, report: &mut Report) {
    let unseen =
        |arg: &Arg| arg.known().is_some_and(|word| word.starts_with('/') && crate::paths::is_temporary(word));
    let rooted = call.env.runs_through(&["sudo", "doas", "pkexec", "run0"]);
    if rooted && !call.env.wrote_anything() && call.args.iter().any(unseen) {
        report.deed("trust", "source");
    }
}

/// `flatpak run --command=sh org.app words`: another program of the box, which sees the home directory.
pub(crate) fn boxed(call: &Call<'_>, report: &mut Report) {
    let options =
        Grammar::until_operand("", "command= branch= arch= filesystem= env= shell").parse(call.args);
    let shell = options.has(&["shell"]).then(|| Arg::literal("sh"));
    if let Some(program) = options.value(&["command"]).cloned().or(shell) {
        let mut argv = vec![program];
        argv.extend(options.from(1).iter().cloned());
        report.then_argv(&argv, call.program);
    }
}

/// `npx`, `uvx`, `pipx run`.
pub(crate) fn runner(call: &Call<'_>, report: &mut Report) {
    run_tool(call, report, call.args);
}

/// `npx tool args`: the tool runs with its arguments.
fn run_tool(call: &Call<'_>, report: &mut Report, args: &[Arg]) {
    let grammar = Grammar::until_operand(
        "pcw",
        "package= call= from= with= python= spec= index-url= registry= yes no quiet",
    );
    let options = grammar.parse(args);
    if let Some(text) = options.value(&["c", "call"]) {
        report.then_shell(text, &[], call.program);
    }
    let mut argv = options.operands.clone();
    if call.program == "pipx" {
        if !matches!(options.word(0), "run") {
            return;
        }
        argv = grammar.parse(options.from(1)).operands;
    }
    // `npx prisma@latest` is prisma; a scoped name keeps its scope.
    if let Some(first) = argv.first_mut()
        && let Some(name) = first.known()
    {
        let bare = match name.strip_prefix('@') {
            Some(scoped) => {
                scoped.rsplit('/').next().unwrap_or(scoped).split('@').next().unwrap_or_default().to_owned()
            }
            None => name.split('@').next().unwrap_or_default().to_owned(),
        };
        // The name without its version.
        let package = match name.get(1..).and_then(|rest| rest.find('@')) {
            Some(at) => name.get(..=at).unwrap_or(name),
            None => name,
        };
        let bare = launch::by_package(package).map_or(bare, str::to_owned);
        *first = Arg::literal(bare);
    }
    report.then_argv(&argv, call.program);
}

/// Commands that `poetry run`, `uv run` and similar tools run.
pub(crate) fn python_manager(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if is_dry(&options) && !matches!(options.word(0), "run") {
        return;
    }
    match (call.program, options.word(0)) {
        ("uv", "tool") if options.word(1) == "run" => {
            let at = call.args.iter().position(|arg| arg.known() == Some("run")).unwrap_or_default() + 1;
            run_tool(call, report, call.args.get(at..).unwrap_or_default());
        }
        ("poetry" | "uv" | "pdm" | "hatch" | "rye" | "pipenv" | "conda" | "mamba" | "micromamba", "run") => {
            let at = call.args.iter().position(|arg| arg.known() == Some("run")).unwrap_or_default() + 1;
            let inner = Grammar::until_operand("npm", "name= prefix= with= python= extra= env-file= group= package= cwd= directory= project= module=")
                .parse(call.args.get(at..).unwrap_or_default());
            run_argv(call, report, &inner.operands, inner.value(&["directory", "cwd"]));
        }
        _ => {}
    }
}

fn run_argv(call: &Call<'_>, report: &mut Report, argv: &[Arg], dir: Option<&Arg>) {
    if argv.is_empty() {
        return;
    }
    report.next.push(Next::Argv {
        argv: argv.to_vec(),
        assignments: Vec::new(),
        cwd: dir.map(|dir| chdir(call.cwd, dir)),
        through: call.program.to_owned(),
        more: false,
        elsewhere: false,
    });
}

/// `cargo watch -x 'test --all'`: words of cargo itself.
pub(crate) fn cargo_watch(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere("xswid", "exec= shell= watch= ignore= delay=").parse(call.args);
    for text in options.values(&["x", "exec"]).filter_map(Arg::known) {
        let mut argv = vec![Arg::literal("cargo")];
        argv.extend(text.split_whitespace().map(Arg::literal));
        report.then_argv(&argv, "cargo watch");
    }
}

/// `cargo sqlx …`.
pub(crate) fn cargo_sqlx(call: &Call<'_>, report: &mut Report) {
    super::described::judge_as("sqlx", call.args, call, report);
}

/// `python -m module args`.
pub(crate) fn python_module(call: &Call<'_>, report: &mut Report, module: &str, args: &[Arg]) {
    let program = match module {
        "pip" | "twine" | "pipx" | "poetry" | "flit" | "alembic" | "flask" | "pytest" | "ansible"
        | "hatch" | "pdm" | "uv" => module,
        "django" => "django-admin",
        "http.server" | "SimpleHTTPServer" | "uploadserver" | "RangeHTTPServer" => {
            let options = Grammar::anywhere("bdmp", "bind= directory= protocol=").parse(call.args);
            super::serving::directory(call, report, options.value(&["d", "directory"]));
            return report.reach(None, &written(call), true);
        }
        "timeit" | "cProfile" | "trace" | "pdb" => {
            for body in args.iter().filter(|_| module == "timeit") {
                report.then_code("python", body);
            }
            return;
        }
        "json.tool" => {
            let files: Vec<&Arg> = args.iter().filter(|arg| !arg.prefix().starts_with('-')).collect();
            if let Some(file) = files.first() {
                super::secrets::read(call, report, file, false);
            }
            if let Some(output) = files.get(1) {
                report.file(call, Access::Write, output, false);
            }
            return;
        }
        "zipfile" | "tarfile" => {
            let made = call.args.iter().position(|arg| matches!(arg.known(), Some("-c" | "--create")));
            if let Some(archive) = made.and_then(|at| call.args.get(at + 1)) {
                report.file(call, Access::Write, archive, false);
            }
            // The reader of the interpreter's own options has taken this one for its own.
            let at = call.args.iter().position(|arg| matches!(arg.known(), Some("-e" | "--extract")));
            if let Some([file, directory @ ..]) = at.and_then(|at| call.args.get(at + 1..)) {
                super::archive::extract(call, report, directory.first(), Some(file.clone()), 0);
            }
            let at = call.args.iter().position(|arg| matches!(arg.known(), Some("-c" | "--create")));
            if let Some([archive, files @ ..]) = at.and_then(|at| call.args.get(at + 1..)) {
                files.iter().for_each(|file| super::secrets::read(call, report, file, true));
                report.file(call, Access::Write, archive, false);
            }
            return;
        }
        super::lictor::NAME => module,
        _ => match launch::by_program(module) {
            Some(_) => module,
            None => return,
        },
    };
    let mut argv = vec![Arg::literal(program)];
    argv.extend(args.iter().cloned());
    report.then_argv(&argv, "python -m");
}

/// Subcommands of `deno` and `bun`. Says whether there was one.
pub(crate) fn javascript_runtime(call: &Call<'_>, report: &mut Report) -> bool {
    let options = Grammar::until_operand("A", "").parse(call.args);
    let first = options.word(0);
    let rest = options.from(1);
    match (call.program, first) {
        ("deno", "eval") => {
            let inner = Grammar::anywhere("", "ext=").parse(rest);
            if let Some(body) = inner.operands.first() {
                report.then_code("typescript", body);
            }
            true
        }
        ("deno" | "bun", "run" | "x") => {
            let inner = Grammar::until_operand("c", "config= import-map= cwd= filter= env-file=").parse(rest);
            match (first, inner.operands.first()) {
                ("x", Some(_)) => run_tool(call, report, rest),
                (_, Some(path)) if path.known() == Some("-") => match call.stdin {
                    crate::call::Stdin::Text(text) => report.then_code("typescript", &Arg::literal(text)),
                    crate::call::Stdin::Unknown(taint) => report.unknown_code(*taint, &written(call)),
                    _ => {}
                },
                (_, Some(path)) if path.prefix().contains("://") => {
                    super::network::reach(report, path, false);
                    report.flow(
                        lictor_core::facts::FlowSource::Network,
                        lictor_core::facts::FlowSink::Shell,
                        &path.text,
                    );
                }
                (_, Some(path)) if path.prefix().contains(['.', '/']) => {
                    shells::run_script(report, path, Some("javascript"))
                }
                (_, Some(_)) if call.program == "bun" => super::recipes::run("npm", call, report),
                _ => {}
            }
            true
        }
        ("bun" | "deno", "publish") => {
            report.publish(call.program);
            true
        }
        (
            "bun",
            "install" | "add" | "remove" | "test" | "build" | "pm" | "link" | "update" | "create" | "init"
            | "upgrade" | "i" | "rm",
        ) => true,
        (
            "deno",
            "test" | "fmt" | "lint" | "check" | "cache" | "info" | "task" | "compile" | "install" | "doc"
            | "bench" | "add" | "upgrade" | "serve",
        ) => true,
        _ => false,
    }
}

/// Packages over an insecure connection.
pub(super) fn sources(call: &Call<'_>, report: &mut Report) {
    let mut before = "";
    for arg in call.args {
        let word = arg.prefix();
        // A proxy is not a package source.
        if before.contains("proxy") || word.contains("proxy=") {
            before = word;
            continue;
        }
        let plain = word.find("http://").and_then(|at| word.get(at..)).is_some_and(|url| {
            let host = super::host_of(url).unwrap_or_default();
            !is_nearby(&host)
        });
        let unchecked = (before == "--trusted-host" || word.starts_with("--trusted-host="))
            && !is_nearby(word.trim_start_matches("--trusted-host=").split(':').next().unwrap_or_default())
            && !["pypi.org", "files.pythonhosted.org", "pypi.python.org"]
                .iter()
                .any(|known| word.ends_with(known));
        if plain || unchecked {
            return report.deed("trust", "source");
        }
        before = word;
    }
}

/// A host of this machine or of the network around it.
fn is_nearby(host: &str) -> bool {
    host.is_empty()
        || !host.contains('.')
        || ["127.", "10.", "192.168.", "172.", "0.0.0.0", "host.docker.internal"]
            .iter()
            .any(|start| host.starts_with(start))
        || [".local", ".internal", ".lan", ".localhost"].iter().any(|end| host.ends_with(end))
}
