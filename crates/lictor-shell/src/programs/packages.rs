//! Package managers, build tools and runners: what they publish, remove or run.

use lictor_agents::launch;
use lictor_core::facts::Access;

use super::options::{Grammar, Options};
use super::say::{chdir, written};
use super::{build, frameworks, shells};
use crate::call::{Call, Next, Report};
use crate::operand::Arg;

/// Options in front of a subcommand.
pub(crate) const GLOBAL: Grammar =
    Grammar::until_operand("CFfw", "prefix= workspace= cwd= dir= filter= directory= manifest-path=");

const NPM: Grammar = Grammar::anywhere(
    "wCFc",
    "prefix= workspace= registry= tag= access= filter= dir= cwd= otp= package= call= userconfig= loglevel= dry-run global",
);

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    match call.program {
        "npm" | "yarn" | "pnpm" => node_manager(call, report),
        "npx" | "pnpx" | "bunx" | "uvx" | "pipx" => runner(call, report, call.args),
        "pip" | "uv" | "poetry" | "pdm" | "hatch" | "rye" | "pipenv" | "conda" | "mamba" | "micromamba"
        | "twine" | "flit" => {
            python_manager(call, report);
        }
        "cargo" => cargo(call, report),
        "snap" | "flatpak" if call.args.first().and_then(Arg::known) == Some("run") => boxed(call, report),
        "gem" | "bundle" | "bundler" => ruby_manager(call, report),
        "apt" | "apt-get" | "aptitude" | "dpkg" | "yum" | "dnf" | "rpm" | "zypper" | "pacman" | "yay"
        | "apk" | "brew" | "snap" | "flatpak" => {
            system_manager(call, report);
        }
        _ => other(call, report),
    }
}

fn is_dry(options: &Options) -> bool {
    options.has(&["dry-run", "help", "h"])
}

/// `TOOL … exec [--] COMMAND …` of a tool that runs a command in each part of a project or in an environment of its own.
pub(crate) fn carried(call: &Call<'_>, report: &mut Report) {
    let words: Vec<&str> = call.args.iter().map(|arg| arg.known().unwrap_or_default()).collect();
    let Some(at) = words.iter().position(|word| *word == "exec") else { return };
    // What stands behind `--` in front of it belongs to something else (`npm run x -- exec`).
    if words.iter().take(at).any(|word| matches!(*word, "--" | "run" | "add" | "install" | "remove")) {
        return;
    }
    let behind = words.iter().skip(at).position(|word| *word == "--").map(|dashes| at + dashes + 1);
    let first = words.iter().skip(at + 1).position(|word| !word.starts_with('-')).map(|first| at + 1 + first);
    if let Some(from) = behind.or(first) {
        report.then_argv(call.args.get(from..).unwrap_or_default(), call.program);
    }
}

fn node_manager(call: &Call<'_>, report: &mut Report) {
    let options = NPM.parse(call.args);
    let dry = is_dry(&options);
    let mut at = 0;
    if call.program == "yarn" && matches!(options.word(0), "npm" | "workspace" | "workspaces") {
        at = if options.word(0) == "workspace" { 2 } else { 1 };
    }
    let sub = options.word(at);
    match sub {
        "publish" | "unpublish" | "deprecate" | "dist-tag" | "owner" if !dry => {
            let changes = !matches!((sub, options.word(at + 1)), ("dist-tag" | "owner", "ls" | ""));
            if changes {
                report.publish(call.program);
            }
        }
        "exec" | "x" | "dlx" => {
            let skip = call.args.iter().position(|arg| arg.known() == Some(sub)).unwrap_or_default() + 1;
            if let Some(text) = options.value(&["c", "call"]) {
                report.then_shell(text, &[], call.program);
            }
            match call.args.get(skip..).unwrap_or_default() {
                // yarn gives a single word to a shell.
                [only] if only.prefix().contains(' ') => report.then_shell(only, &[], call.program),
                words => runner(call, report, words),
            }
        }
        "pkg" | "set-script" if sub == "set-script" || options.word(at + 1) == "set" => {
            report.file(call, Access::Modify, &Arg::literal("package.json"), false);
        }
        "cache" if options.word(at + 1) == "clean" => {}
        "access" | "token" | "team" | "org"
            if matches!(options.word(at + 1), "revoke" | "rm" | "remove" | "delete" | "destroy") =>
        {
            report.infrastructure(call.program, &written(call), false);
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

/// `flatpak run --command=sh org.app words`: another program of the box, which sees the home directory.
fn boxed(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::until_operand("", "command= branch= arch= filesystem= env= shell")
        .parse(call.args.get(1..).unwrap_or_default());
    let shell = options.has(&["shell"]).then(|| Arg::literal("sh"));
    if let Some(program) = options.value(&["command"]).cloned().or(shell) {
        let mut argv = vec![program];
        argv.extend(options.from(1).iter().cloned());
        report.then_argv(&argv, call.program);
    }
}

/// `npx tool args`: the tool runs with its arguments.
fn runner(call: &Call<'_>, report: &mut Report, args: &[Arg]) {
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

fn python_manager(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere("rcinpeftC", "requirement= constraint= index-url= name= prefix= env= environment= python= directory= with= extra= project= group= dry-run")
        .parse(call.args);
    if is_dry(&options) && !matches!(options.word(0), "run") {
        return;
    }
    match (call.program, options.word(0)) {
        ("twine", "upload") | ("flit" | "poetry" | "pdm" | "hatch" | "uv" | "rye", "publish") => {
            report.publish(call.program)
        }
        ("uv", "tool") if options.word(1) == "run" => {
            let at = call.args.iter().position(|arg| arg.known() == Some("run")).unwrap_or_default() + 1;
            runner(call, report, call.args.get(at..).unwrap_or_default());
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

fn cargo(call: &Call<'_>, report: &mut Report) {
    let args = match call.args.first() {
        Some(first) if first.prefix().starts_with('+') => call.args.get(1..).unwrap_or_default(),
        _ => call.args,
    };
    let options = Grammar::anywhere("pxsCjZF", "package= manifest-path= target-dir= exec= shell= version= index= token= features= target= profile= config= dry-run").parse(args);
    if is_dry(&options) || options.has(&["n"]) {
        return;
    }
    match options.word(0) {
        "publish" => report.publish("cargo"),
        "yank" | "owner" => report.publish("cargo"),
        "watch" => {
            let behind = args.iter().position(|arg| arg.known() == Some("--")).map(|at| at + 1);
            report.then_argv(behind.and_then(|at| args.get(at..)).unwrap_or_default(), "cargo watch");
            for text in options.values(&["s", "shell"]) {
                report.then_shell(text, &[], "cargo watch");
            }
            for text in options.values(&["x", "exec"]).filter_map(Arg::known) {
                let mut argv = vec![Arg::literal("cargo")];
                argv.extend(text.split_whitespace().map(Arg::literal));
                report.then_argv(&argv, "cargo watch");
            }
        }
        "release" if options.has(&["x", "execute"]) => report.publish("cargo"),
        "clean" => report.file(
            call,
            Access::Delete,
            options.value(&["target-dir"]).unwrap_or(&Arg::literal("target")),
            true,
        ),
        "sqlx" => frameworks::tool(call, report, "sqlx", options.from(1)),
        _ => {}
    }
}

fn ruby_manager(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::until_operand("", "").parse(call.args);
    match (call.program, options.word(0)) {
        ("gem", "push" | "yank" | "owner") => report.publish("gem"),
        ("bundle" | "bundler", "exec") => report.then_argv(options.from(1), "bundle exec"),
        _ => {}
    }
}

/// Packages without which a machine does not come up again or cannot be reached.
fn is_essential(package: &str) -> bool {
    matches!(
        package,
        "libc6"
            | "glibc"
            | "bash"
            | "coreutils"
            | "systemd"
            | "init"
            | "dpkg"
            | "apt"
            | "rpm"
            | "sudo"
            | "openssh-server"
            | "linux-image-generic"
            | "kernel"
            | "base"
            | "python3"
            | "util-linux"
            | "grub"
            | "grub2"
            | "network-manager"
            | "libc"
            | "musl"
            | "pacman"
            | "dnf"
            | "yum"
            | "login"
            | "passwd"
            | "filesystem"
            | "zsh"
    ) || package.starts_with("linux-image")
        || package.starts_with("kernel-core")
        || package.contains('*')
}

fn system_manager(call: &Call<'_>, report: &mut Report) {
    let options =
        Grammar::anywhere("ocat", "option= root= config-file= simulate dry-run just-print").parse(call.args);
    if options.has(&["simulate", "dry-run", "just-print", "assumeno", "s"]) {
        return;
    }
    let (removes, packages): (bool, &[Arg]) = match call.program {
        "dpkg" => (options.has(&["r", "P", "remove", "purge"]), &options.operands),
        "rpm" => (options.has(&["e", "erase"]), &options.operands),
        "pacman" | "yay" => (options.has(&["R"]), &options.operands),
        _ => (
            matches!(
                options.word(0),
                "remove"
                    | "purge"
                    | "erase"
                    | "rm"
                    | "uninstall"
                    | "del"
                    | "autoremove"
                    | "group-remove"
                    | "zap"
            ),
            options.from(1),
        ),
    };
    let forced = call.args.iter().any(|arg| {
        let word = arg.prefix();
        word.starts_with("--allow-remove-essential")
            || word.starts_with("--force-remove-essential")
            || word.starts_with("--force-all")
            || word == "--nodeps"
            || word == "-Rdd"
            || word == "-Rddn"
    });
    let essential = packages.iter().filter_map(Arg::known).any(is_essential);
    let wholesale = packages.iter().any(|arg| arg.known().is_none() || arg.glob) && removes;
    if removes && (forced || essential || wholesale) {
        report.infrastructure(call.program, &written(call), forced || essential);
    }
}

fn other(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere("fCDpt", "file= directory= project-dir= dry-run repository= token=")
        .parse(call.args);
    if is_dry(&options) {
        return;
    }
    let words: Vec<&str> = options.words().collect();
    let first = options.word(0);
    let second = options.word(1);
    let publishes = match call.program {
        "mvn" | "mvnw" => words.iter().any(|word| {
            *word == "deploy" || word.starts_with("deploy:") || word.starts_with("release:perform")
        }),
        "gradle" | "gradlew" => words.iter().any(|word| {
            let task = word.rsplit(':').next().unwrap_or_default();
            task.starts_with("publish") && task != "publishToMavenLocal"
                || task.starts_with("uploadArchives")
                || task == "bintrayUpload"
                || task.starts_with("closeAndRelease")
        }),
        "dotnet" => first == "nuget" && matches!(second, "push" | "delete"),
        "nuget" => matches!(first, "push" | "delete"),
        "vsce" | "ovsx" => matches!(first, "publish" | "unpublish"),
        "pod" => first == "trunk" && matches!(second, "push" | "delete" | "deprecate"),
        "dart" | "flutter" => first == "pub" && matches!(second, "publish") || first == "publish",
        "hex" | "mix-hex" | "expo" | "jsr" | "maturin" => first == "publish",
        "eas" => first == "submit",
        "anaconda" => first == "upload",
        "lerna" | "changeset" => first == "publish",
        "semantic-release" | "np" | "release-it" => true,
        "goreleaser" => first == "release" && !options.has(&["snapshot", "skip-publish"]),
        "crane" | "skopeo" | "oras" | "buf" | "conan" => {
            matches!(first, "push" | "copy" | "upload" | "delete")
        }
        "luarocks" => first == "upload",
        "stack" | "cabal" | "opam" | "lein" | "sbt" => {
            matches!(first, "upload" | "deploy" | "publish" | "publishSigned")
        }
        "nx" => first == "release" && second == "publish",
        "fastlane" => {
            matches!(first, "deliver" | "release" | "supply" | "pilot" | "upload_to_app_store")
                || words.contains(&"release")
        }
        _ => false,
    };
    if publishes {
        return report.publish(call.program);
    }
    match call.program {
        "make" | "gmake" => build::make(call, report),
        "cmake" if call.args.first().and_then(Arg::known) == Some("-E") => build::cmake_tool(call, report),
        "gcc" | "cc" | "g++" | "clang" => build::compiler(call, report),
        "dotnet" if first == "ef" => frameworks::tool(call, report, "dotnet-ef", options.from(1)),
        "go" if matches!(first, "clean") && options.has(&["modcache", "m"]) => {}
        "composer" if matches!(first, "exec") => report.then_argv(options.from(1), "composer"),
        "nix-collect-garbage" if options.has(&["d", "delete-old"]) => {
            report.infrastructure("nix-collect-garbage", "-d", false)
        }
        "nx" | "turbo" | "rush" => {}
        _ => {}
    }
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
            for file in args.get(..1).unwrap_or_default() {
                super::secrets::read(call, report, file, false);
            }
            return;
        }
        "zipfile" | "tarfile" | "base64" => return,
        _ => return,
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
                ("x", Some(_)) => runner(call, report, rest),
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
