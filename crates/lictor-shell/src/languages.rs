//! What inline code in another language does (`python -c`, `node -e`, a here-document into an interpreter).
//!
//! Python, JavaScript and TypeScript are read through their grammars, Perl, Ruby, PHP, Lua and awk by their tokens.
//! Constants are carried through variables, so that `p = home + "/x"; shutil.rmtree(p)` names its target. A body
//! that only computes and prints has no effect but [`Effect::Code`](lictor_core::facts::Effect::Code).

mod act;
mod api;
mod bombs;
mod broken;
mod calls;
mod endless;
mod javascript;
mod mentioned;
mod processes;
mod python;
mod scripting;
pub(crate) mod sed;
mod tokens;
mod tree;
mod value;

use std::collections::BTreeSet;

use lictor_core::facts::{Access, OpaqueWhat};

use crate::call::{Call, Next, Report};

/// Reports what `body`, code in `language`, does when the call runs it.
pub fn judge(language: &str, body: &str, call: &Call<'_>, report: &mut Report) {
    if body.len() > tree::LONGEST {
        return report.opaque(OpaqueWhat::Limit, body);
    }
    act::code(report, language, body);
    endless::judge(body, report);
    let from = report.effects.len();
    judge_in(language, body, call, report);
    empties(language, body, report.effects.get_mut(from..).unwrap_or_default());
    if adds_to_startup(body, report.effects.get(from..).unwrap_or_default()) {
        report.deed("change", "startup");
    }
    imports(language, body, call, report);
    processes::judge(body, report);
    if let Some(agent) = named_with(&AGENTS, body) {
        report.guard_off(lictor_core::facts::GuardOff::UngovernedAgent, agent);
    }
    if let Some(library) = named_with(&COMMITS, body) {
        report.git(lictor_core::facts::GitEffect::SkipHooks, Some(library));
    }
    if uses_own_keys(body) {
        without_own_keys(report, from);
    }
    if body.contains("lictor")
        && ["import lictor", "from lictor", "require(\"lictor\")"].iter().any(|way| body.contains(way))
    {
        let answers = [".approve(", ".deny(", ".trust(", ".resolve(", ".allow("];
        if answers.iter().any(|answer| body.contains(answer)) {
            report.guard_off(lictor_core::facts::GuardOff::LictorCommand, body);
        }
    }
    if shows_names_only(body) {
        for effect in report.effects.get_mut(from..).unwrap_or_default() {
            if let crate::Effect::File { access: access @ Access::Read, target, .. } = effect
                && target.arg.known().is_some_and(crate::programs::is_environment_path)
            {
                *access = Access::List;
            }
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

/// Whether code makes a server or a client that proves who it is with a key.
fn uses_own_keys(body: &str) -> bool {
    const MAKES: [&str; 8] = [
        "createServer(",
        "createSecureServer(",
        "tls.connect(",
        "https.request(",
        "https.Agent(",
        "http2.connect(",
        "load_cert_chain(",
        "createSecureContext(",
    ];
    MAKES.iter().any(|call| body.contains(call))
}

/// A key of the project that code proves itself with is used, and not shown. What is sent stays sent.
fn without_own_keys(report: &mut Report, from: usize) {
    for effect in report.effects.get_mut(from..).unwrap_or_default() {
        let crate::Effect::File { access: access @ Access::Read, target, .. } = effect else { continue };
        let path = target.arg.known().unwrap_or_default();
        let is_key = [".pem", ".key", ".crt", ".p12", ".pfx"].iter().any(|end| path.ends_with(end));
        if is_key && !path.starts_with(['/', '~']) {
            *access = Access::List;
        }
    }
}

/// Modules of the line itself that code imports: they are run with it.
fn imports(language: &str, body: &str, call: &Call<'_>, report: &mut Report) {
    if !call.env.wrote_anything() || !matches!(language, "python" | "javascript" | "typescript") {
        return;
    }
    for module in scan(language, body).imports.iter().take(16) {
        let endings: &[&str] =
            if language == "python" { &[".py", "/__init__.py"] } else { &["", ".js", ".ts", "/index.js"] };
        let path = if language == "python" { module.replace('.', "/") } else { module.clone() };
        let text = endings.iter().find_map(|ending| call.env.written(&format!("{path}{ending}")));
        let known = |language: &str| ["python", "javascript"].into_iter().find(|known| *known == language);
        if let (Some(text), Some(language)) = (text, known(language)) {
            report.next.push(Next::Recipe {
                text,
                language: Some(language),
                through: call.program.to_owned(),
            });
        }
    }
}

/// Whether code that prints shows only the names in a file of variables, or how many there are.
fn shows_names_only(body: &str) -> bool {
    const NAMES: [&str; 9] = [
        ".keys()",
        "split('=')[0]",
        "split(\"=\")[0]",
        "split('=', 1)[0]",
        "split(\"=\", 1)[0]",
        "split('=',1)[0]",
        "partition('=')[0]",
        "partition(\"=\")[0]",
        "Object.keys(",
    ];
    let mut printed = ["print(", "console.log("].iter().flat_map(|call| body.split(call).skip(1)).peekable();
    printed.peek().is_some()
        && printed.all(|rest| {
            let statement = rest.lines().next().unwrap_or_default();
            let statement = statement.split(';').next().unwrap_or_default();
            statement.starts_with("len(") || NAMES.iter().any(|name| statement.contains(name))
        })
}

/// Whether code adds something to a start-up file of a shell that runs more than a setup.
fn adds_to_startup(body: &str, effects: &[crate::Effect<crate::operand::Operand>]) -> bool {
    const RUNS: [&str; 12] = [
        "|sh",
        "| sh",
        "|bash",
        "| bash",
        "nohup ",
        "/tmp/",
        "rm -",
        "nc ",
        "bash -c",
        "bash -i",
        "LD_PRELOAD",
        "/dev/tcp",
    ];
    let writes = effects.iter().any(|effect| match effect {
        crate::Effect::File { access: Access::Append | Access::Write | Access::Modify, target, .. } => {
            target.arg.known().is_some_and(crate::walk::startup::runs_later)
        }
        _ => false,
    });
    writes && RUNS.iter().any(|mark| body.contains(mark))
}

/// Whether code works on a database that lives only as long as itself: in memory, in a temporary file, or made by a
/// test runner.
fn has_scratch_database(body: &str) -> bool {
    const MADE_HERE: [&str; 12] = [
        ":memory:",
        "mode=memory",
        "sqlite://\"",
        "sqlite://'",
        "connect('/tmp/",
        "connect(\"/tmp/",
        "sqlite:////tmp/",
        "setup_test_environment",
        "create_test_db",
        "setup_databases",
        "mongomock",
        "fakeredis",
    ];
    const OTHERS: [&str; 6] =
        ["psycopg", "pymysql", "postgres://", "postgresql://", "mysql://", "MongoClient("];
    MADE_HERE.iter().any(|mark| body.contains(mark)) && !OTHERS.iter().any(|mark| body.contains(mark))
}

/// Words of code by which something gets into a file that is open, be it by another program.
const WRITES: [&str; 21] = [
    "write",
    "print",
    "dump",
    "puts",
    "save",
    "copy",
    "<<",
    "to_",
    "extract",
    "rename",
    "put",
    "pipe",
    "stdout",
    "stderr",
    "stdio",
    "spawn",
    "exec",
    "subprocess",
    "say",
    "move",
    "cp",
];

/// Opened to be written, or cut off, and nothing is written: what was there is gone.
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
    if WRITES.iter().any(|word| (*word != "print" || prints) && code.contains(word)) {
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

/// Libraries that start an agent, which reads no settings of its own accord, with the calls that do.
const AGENTS: [(&str, &str); 6] = [
    ("claude_agent_sdk", "query("),
    ("claude_code_sdk", "query("),
    ("claude-agent-sdk", "query("),
    ("claude_agent_sdk", "ClaudeSDKClient("),
    ("codex-sdk", "startThread("),
    ("@anthropic-ai/claude-code", "query("),
];

/// Libraries that make commits themselves, with the calls that do: no hook of the repository sees these.
const COMMITS: [(&str, &str); 9] = [
    ("pygit2", "create_commit("),
    ("dulwich", "porcelain.commit("),
    ("dulwich", ".do_commit("),
    ("import", "skip_hooks=True"),
    ("isomorphic-git", ".commit("),
    ("nodegit", "reateCommit("),
    ("simple-git", "--no-verify"),
    ("rugged", "Commit.create"),
    ("JGit", ".setNoVerify(true)"),
];

/// The first library that a body names together with its call.
fn named_with(libraries: &[(&'static str, &str)], body: &str) -> Option<&'static str> {
    let named = |(library, call): &&(&'static str, &str)| body.contains(call) && body.contains(library);
    libraries.iter().find(named).map(|(library, _)| *library)
}

fn judge_in(language: &str, body: &str, call: &Call<'_>, report: &mut Report) {
    match language {
        "python" => python::judge(body, call, report),
        "javascript" => javascript::judge(body, false, call, report),
        "typescript" => javascript::judge(body, true, call, report),
        "perl" => scripting::judge("perl", body, call, report),
        "ruby" => scripting::judge("ruby", body, call, report),
        "php" => scripting::judge("php", body, call, report),
        "lua" => scripting::judge("lua", body, call, report),
        "awk" => scripting::judge("awk", body, call, report),
        "sql" => crate::programs::sql::judge(body, report),
        "compiled" => {
            calls::judge(&with_home(body), call, report);
        }
        "other" => {
            let body = &with_home(body);
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

/// How languages that are not read spell the home directory.
const HOMES: [&str; 15] = [
    "os.home",
    "$env(HOME)",
    "$::env(HOME)",
    "$ENV{HOME}",
    "System.getProperty(\"user.home\")",
    "System.getenv(\"HOME\")",
    "Platform.environment[\"HOME\"]",
    "Platform.environment['HOME']",
    "os.Getenv(\"HOME\")",
    "Sys.getenv(\"HOME\")",
    "Sys.getenv \"HOME\"",
    "getenv(\"HOME\")",
    "ENV[\"HOME\"]",
    "homedir()",
    "NSHomeDirectory()",
];

/// A body with a tilde in place of the home directory: as a text of its own, or within one.
fn with_home(body: &str) -> std::borrow::Cow<'_, str> {
    let mut out = std::borrow::Cow::Borrowed(body);
    for home in HOMES.iter().filter(|home| body.contains(**home)) {
        let inside = format!("${{{home}}}");
        let plain = if home.starts_with('$') { "~" } else { "\"~\"" };
        out = out.replace(&inside, "~").replace(home, plain).into();
    }
    out
}

/// What a body mentions, without judging it.
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
    /// All of the body was looked at.
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
