//! The effects of inline code in another language (`python -c`, `node -e`, a here-document into an interpreter).
//!
//! Python, JavaScript and TypeScript are parsed with their grammars, Perl, Ruby, PHP, Lua and awk by their
//! tokens. Constants are propagated through variables, so that the target of `p = home + "/x"; shutil.rmtree(p)`
//! is known. A body that only computes and prints has no effect except
//! [`Effect::Code`](lictor_core::facts::Effect::Code).

mod act;
mod api;
mod bombs;
mod broken;
mod calls;
mod endless;
mod environment;
mod functions;
mod given;
mod javascript;
mod listing;
mod mentioned;
mod narrow;
mod printed;
mod processes;
mod python;
mod scripting;
pub(crate) mod sed;
mod shown;
mod tokens;
mod tree;
mod value;

use std::collections::BTreeSet;

use lictor_core::facts::{Access, OpaqueWhat};

use crate::call::{Call, Next, Report};
pub use crate::programs::sql::is_sql;

/// Reports what `body`, code in `language`, does when the call runs it.
pub fn judge(language: &str, body: &str, call: &Call<'_>, report: &mut Report) {
    if body.len() > tree::LONGEST {
        return report.opaque(OpaqueWhat::Limit, body);
    }
    act::code(report, language, body);
    endless::judge(body, report);
    let from = report.effects.len();
    judge_in(language, body, call, report);
    given::judge(body, call, report);
    empties(language, body, report.effects.get_mut(from..).unwrap_or_default());
    if adds_to_startup(body, report.effects.get(from..).unwrap_or_default()) {
        report.deed("change", "startup");
    }
    if lists_hidden(body) {
        report.effects.iter_mut().skip(from).for_each(take_hidden);
    }
    imports(language, body, call, report);
    processes::judge(body, report);
    if body.contains("env") || body.contains("ENV") || body.contains("execve") {
        environment::judge(body, report);
    }
    if let Some(agent) = named_with(lictor_agents::launch::libraries(), body) {
        report.guard_off(lictor_core::facts::GuardOff::UngovernedAgent, agent);
    }
    crate::programs::made_by_code(body, call, report);
    if let Some(library) = named_with(COMMITS, body) {
        report.git(lictor_core::facts::GitEffect::SkipHooks, Some(library));
    }
    keep_what_stays(language, body, call, report, from);
    if body.contains("lictor")
        && ["import lictor", "from lictor", "require(\"lictor\")"].iter().any(|way| body.contains(way))
    {
        let answers = [".approve(", ".deny(", ".trust(", ".resolve(", ".allow("];
        if answers.iter().any(|answer| body.contains(answer)) {
            report.guard_off(lictor_core::facts::GuardOff::LictorCommand, body);
        }
    }
    if has_scratch_database(body) {
        let mut at = 0;
        report.effects.retain(|effect| {
            at += 1;
            at <= from || !matches!(effect, crate::Effect::Database { .. })
        });
    }
}

/// A secret that code reads but does not leak is downgraded to a look. Sent secrets stay sent.
fn keep_what_stays(language: &str, body: &str, call: &Call<'_>, report: &mut Report, from: usize) {
    let grammar = match language {
        "python" => tree_sitter_python::LANGUAGE.into(),
        "javascript" => tree_sitter_javascript::LANGUAGE.into(),
        "typescript" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        _ => return,
    };
    let is_secret = |effect: &crate::Effect<crate::operand::Operand>| match effect {
        crate::Effect::File { access: Access::Read, target, .. } => crate::programs::is_secret(&target.arg),
        _ => false,
    };
    let effects = report.effects.get_mut(from..).unwrap_or_default();
    if !effects.iter().any(is_secret) {
        return;
    }
    let shows = printed::shows_value(call);
    let plain = ["python", "node", "deno", "bun", "tsx", "ts-node", "nodejs", "uv", "pypy"];
    let prints = shows && language != "python" || !plain.iter().any(|name| call.program.starts_with(name));
    let stays = !prints && tree::parse(&grammar, body).is_some_and(|parsed| !shown::lets_out(&parsed, body));
    // Only what the code names as a whole has been followed.
    let is_named = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        !name.is_empty() && !name.contains(['*', '?']) && body.contains(name)
    };
    for effect in effects.iter_mut().filter(|effect| stays && is_secret(effect)) {
        if let crate::Effect::File { access, target, .. } = effect
            && target.arg.known().is_some_and(is_named)
        {
            *access = Access::List;
        }
    }
}

/// Modules that code imports: they are run with it. Those of the project count where they may name what governs.
fn imports(language: &str, body: &str, call: &Call<'_>, report: &mut Report) {
    let language = match language {
        "python" => "python",
        "javascript" | "typescript" => "javascript",
        _ => return,
    };
    for module in scan(language, body).imports.iter().take(16) {
        import(language, module, call, report);
    }
}

/// Runs one module: of the line itself, or of the project.
pub(crate) fn import(language: &'static str, module: &str, call: &Call<'_>, report: &mut Report) {
    let (path, endings): (_, &[&str]) = if language == "python" {
        (module.replace('.', "/"), &[".py", "/__init__.py", "/__main__.py"])
    } else {
        (module.to_owned(), &["", ".js", ".ts", "/index.js"])
    };
    let mut found = endings.iter().filter(|_| call.env.wrote_anything());
    let written = found.find_map(|ending| call.env.written(&format!("{path}{ending}")));
    let (text, written) = match written {
        Some(text) => (Some(text), true),
        // Other names are those of packages, which are installed elsewhere.
        None if language == "javascript" && !path.starts_with('.') => (None, false),
        None => {
            let there = endings.iter().find_map(|ending| call.env.script(&format!("{path}{ending}")));
            (there.filter(|text| names_what_governs(text)), false)
        }
    };
    if let Some(text) = text {
        let through = call.program.to_owned();
        report.next.push(Next::Recipe { text, language: Some(language), through, written });
    }
}

/// Whether a text may name a governing file: only then is a module of the project worth reading.
fn names_what_governs(text: &str) -> bool {
    let first = |path: &'static str| path.split('/').next().unwrap_or(path);
    text.contains("lictor")
        || text.contains("governance.yaml")
        || lictor_agents::files::governing_files()
            .filter(|file| file.at == lictor_agents::files::At::Project)
            .any(|file| text.contains(first(file.path)))
}

/// Whether code adds something to a start-up file of a shell that runs more than a setup.
fn adds_to_startup(body: &str, effects: &[crate::Effect<crate::operand::Operand>]) -> bool {
    let writes = effects.iter().any(|effect| match effect {
        crate::Effect::File { access: Access::Append | Access::Write | Access::Modify, target, .. } => {
            target.arg.known().is_some_and(crate::walk::startup::runs_later)
        }
        _ => false,
    });
    writes && crate::words::CODE_STARTUP_RUNS.iter().any(|mark| body.contains(mark))
}

/// Whether code works on a database that lives only as long as itself: in memory, in a temporary file, or made by a
/// test runner.
fn has_scratch_database(body: &str) -> bool {
    const OTHERS: [&str; 6] =
        ["psycopg", "pymysql", "postgres://", "postgresql://", "mysql://", "MongoClient("];
    let made = crate::words::CODE_SCRATCH_DATABASES.iter().any(|mark| body.contains(mark))
        || body.contains("tempfile") && body.contains("sqlite3.connect(");
    (made || names_test_database(body)) && !OTHERS.iter().any(|mark| body.contains(mark))
}

/// Whether a text in code names a database file that is called after a test, or a set of settings for tests.
fn names_test_database(body: &str) -> bool {
    body.split(['"', '\'']).skip(1).step_by(2).any(|text| {
        let name = text.rsplit(['/', ':']).next().unwrap_or(text);
        let file = [".db", ".sqlite", ".sqlite3"].iter().any(|ending| name.ends_with(ending));
        file && crate::walk::throwaway::is_marked(name)
    }) || body
        .split("create_app(")
        .skip(1)
        .any(|given| given.trim_start_matches(['"', '\'']).starts_with("test"))
}

/// Opened for writing or truncated without a write: the old content is lost.
fn empties(language: &str, body: &str, effects: &mut [crate::Effect<crate::operand::Operand>]) {
    let opens = body.contains("open") || body.contains("File.new") || body.contains("createWriteStream");
    if !opens {
        return;
    }
    // Names and calls that write nothing by themselves.
    let mut code = body.replace("createWriteStream", "");
    for nothing in ["write('')", "write(\"\")", "write(b'')", "write(b\"\")"] {
        code = code.replace(nothing, "");
    }
    let prints = language != "python" || code.contains("file=");
    if crate::words::CODE_WRITES.iter().any(|word| (*word != "print" || prints) && code.contains(word)) {
        return;
    }
    let cuts = code.contains(".truncate()") || code.contains(".truncate(0)");
    for effect in effects {
        if let crate::Effect::File { access, .. } = effect
            && (*access == Access::Write || *access == Access::Modify && cuts)
        {
            *access = Access::Empty;
        }
    }
}

/// Libraries that make commits themselves, with the calls that do: no hook of the repository sees these.
const COMMITS: [(&str, &str); 10] = [
    ("pygit2", "create_commit("),
    ("dulwich", "porcelain.commit("),
    ("dulwich", ".do_commit("),
    ("import", "skip_hooks=True"),
    ("git", ".index.commit("),
    ("isomorphic-git", ".commit("),
    ("nodegit", "reateCommit("),
    ("simple-git", "--no-verify"),
    ("rugged", "Commit.create"),
    ("JGit", ".setNoVerify(true)"),
];

/// Whether code goes through all names of a directory. A shell's `*` leaves hidden ones out, a listing in code does not,
/// unless the code picks some of them.
fn lists_hidden(body: &str) -> bool {
    crate::words::CODE_LISTS.iter().any(|list| body.contains(list))
        && !crate::words::CODE_PICKS.iter().any(|pick| body.contains(pick))
}

/// Extends a read of a directory to its hidden files.
fn take_hidden(effect: &mut crate::Effect<crate::Operand>) {
    if let crate::Effect::File { access: Access::Read, target, .. } = effect
        && target.arg.glob
        && let Some(start) = target.arg.known().and_then(|path| path.strip_suffix('*'))
        && (start.is_empty() || start.ends_with('/'))
    {
        target.arg.value = crate::operand::Known::Text(format!("{start}{{*,.*}}").into());
    }
}

/// The first library that a body names together with its call.
fn named_with<'a>(
    libraries: impl IntoIterator<Item = (&'static str, &'a str)>,
    body: &str,
) -> Option<&'static str> {
    let mut libraries = libraries.into_iter();
    libraries
        .find(|(library, call)| body.contains(call) && body.contains(library))
        .map(|(library, _)| library)
}

fn judge_in(language: &str, body: &str, call: &Call<'_>, report: &mut Report) {
    match language {
        "python" => python::judge(body, call, report),
        "javascript" => javascript::judge(body, false, call, report),
        "typescript" => javascript::judge(body, true, call, report),
        "perl" => scripting::judge("perl", &with_environment(body, call), call, report),
        "ruby" => scripting::judge("ruby", &with_environment(body, call), call, report),
        "php" => scripting::judge("php", &with_environment(body, call), call, report),
        "lua" => scripting::judge("lua", &with_environment(body, call), call, report),
        "awk" => scripting::judge("awk", body, call, report),
        "sql" => crate::programs::sql::judge(body, report),
        "compiled" => {
            let body = &with_home(&with_environment(body, call)).into_owned();
            mentioned::secrets(body, call, report);
            calls::judge(body, call, report);
        }
        "other" => {
            let body = &with_home(&with_environment(body, call)).into_owned();
            mentioned::judge(body, call, report);
            if ["tclsh", "wish", "expect"].iter().any(|name| call.program.starts_with(name)) {
                calls::tcl(body, call, report);
            } else if calls::judge(body, call, report) {
                broken::judge(body, report);
            }
        }
        _ => {
            if calls::judge(body, call, report) {
                broken::judge(body, report);
            }
        }
    }
}

/// The syntax of environment variable access in each language: the text before and after the name.
const VARIABLES: [(&str, &str); 12] = [
    ("os.Getenv(\"", "\")"),
    ("System.getenv(\"", "\")"),
    ("Sys.getenv(\"", "\")"),
    ("os.getenv(\"", "\")"),
    ("os.getenv('", "')"),
    ("getenv(\"", "\")"),
    ("getenv('", "')"),
    ("ENV.fetch(\"", "\")"),
    ("ENV[\"", "\"]"),
    ("ENV['", "']"),
    ("$ENV{", "}"),
    ("Platform.environment[\"", "\"]"),
];

/// A body with what the line set in place of variables of the environment. The home directory is spelled elsewhere.
fn with_environment<'b>(body: &'b str, call: &Call<'_>) -> std::borrow::Cow<'b, str> {
    let mut out = std::borrow::Cow::Borrowed(body);
    for (front, behind) in VARIABLES {
        let mut from = 0;
        while let Some(at) = out.get(from..).and_then(|rest| rest.find(front)).map(|at| from + at) {
            let start = at + front.len();
            let name =
                out.get(start..).and_then(|rest| rest.split_once(behind)).map(|(name, _)| name.to_owned());
            from = start;
            let Some(name) = name.filter(|name| name.len() < 64 && name != "HOME") else { continue };
            let value = call.env.variable(name.trim_matches(['"', '\'']));
            let Some(value) = value.filter(|value| !value.contains(['"', '\\'])) else { continue };
            let end = start + name.len() + behind.len();
            let mut text = out.into_owned();
            text.replace_range(at..end, &format!("\"{value}\""));
            out = text.into();
        }
    }
    out
}

/// A body with a tilde in place of the home directory: as a separate text, or within one.
fn with_home(body: &str) -> std::borrow::Cow<'_, str> {
    let mut out = std::borrow::Cow::Borrowed(body);
    for home in crate::words::CODE_HOMES.iter().filter(|home| body.contains(**home)) {
        let inside = format!("${{{home}}}");
        let plain = if home.starts_with('$') { "~" } else { "\"~\"" };
        out = out.replace(&inside, "~").replace(home, plain).into();
    }
    out
}

/// The names that a body mentions, without judging it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeScan {
    /// Modules that are imported, dotted, also by `__import__("x")` and `require("x")`.
    pub imports: BTreeSet<String>,
    /// What is imported from modules: `os.system` for `from os import system`.
    pub names: BTreeSet<String>,
    /// Functions that are called, as written (`os.system`, `eval`).
    pub calls: BTreeSet<String>,
    /// Attributes that are used (`system`, `__class__`).
    pub attributes: BTreeSet<String>,
    /// Names with two underscores on either side.
    pub dunders: BTreeSet<String>,
    /// The body is valid in its language, as far as the grammar tells. False for languages without a grammar here.
    pub parse_ok: bool,
    /// The whole body was scanned.
    pub complete: bool,
}

impl CodeScan {
    fn attribute(&mut self, name: &str) {
        self.attributes.insert(name.to_owned());
        self.attribute_if_dunder(name);
    }

    fn attribute_if_dunder(&mut self, name: &str) {
        if name.len() > 4 && name.starts_with("__") && name.ends_with("__") {
            self.dunders.insert(name.to_owned());
        }
    }
}

/// Lists what a body mentions.
#[must_use]
pub fn scan(language: &str, body: &str) -> CodeScan {
    let mut found = CodeScan::default();
    if body.len() > tree::LONGEST {
        return found;
    }
    match language {
        "python" => python::scan(body, &mut found),
        "javascript" => javascript::scan(body, false, &mut found),
        "typescript" => javascript::scan(body, true, &mut found),
        _ => {}
    }
    found
}
