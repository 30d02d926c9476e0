//! Shells and interpreters: where their code comes from.

use lictor_core::facts::{AWAITS_CODE, Access, FlowSink};

use super::options::Grammar;
use super::report::written;
use crate::call::{Call, Next, Report, Stdin};
use crate::operand::{Arg, Taint};

/// The language that descriptions name.
pub(crate) fn language_named(name: &str) -> Option<&'static str> {
    ["python", "javascript", "typescript", "perl", "ruby", "php", "lua", "awk", "other"]
        .into_iter()
        .find(|known| *known == name)
}

/// An interpreter: its language is the first name of its description.
pub(crate) fn interpreter(call: &Call<'_>, report: &mut Report) {
    let first = super::table::find(call.program).and_then(|entry| entry.program.names.first());
    let language = match first.map(AsRef::as_ref).unwrap_or_default() {
        "node" => "javascript",
        "ts-node" => "typescript",
        name => language_named(name).unwrap_or("other"),
    };
    interpret(call, report, language);
}

/// Standard input is run as shell text, as by `bash` without a file.
pub(crate) fn stdin_is_code(call: &Call<'_>, report: &mut Report) {
    match call.stdin {
        Stdin::Inherited => awaits_code(report),
        Stdin::Text(text) => report.then_shell(&Arg::literal(text), &[], call.program),
        Stdin::Names(_) => report.unknown_code(Taint::default(), &written(call)),
        Stdin::Unknown(taint) => report.unknown_code(*taint, &written(call)),
    }
}

/// Its code is typed into it later.
pub(crate) fn awaits_code(report: &mut Report) {
    let (verb, object) = AWAITS_CODE;
    report.deed(verb, object);
}

/// A script file is run. Data from the network or a secret used as one is a flow.
pub(crate) fn run_script(report: &mut Report, path: &Arg, language: Option<&'static str>) {
    if path.taint != Taint::default() {
        report.flows(path.taint, FlowSink::Shell, &path.text);
    }
    report.next.push(Next::Script { path: path.clone(), language });
}

const SHELL: Grammar =
    Grammar::until_operand("oOR", "rcfile= init-file= init-command= command= norc noprofile login posix");

/// `+x`, `+eu`: options that are switched off.
fn is_plus_option(word: &str) -> bool {
    word.strip_prefix('+').is_some_and(|letters| {
        !letters.is_empty() && letters.chars().all(|letter| "abefhkmnptuvxBCEHPT".contains(letter))
    })
}

/// `bash`, `sh` and their relatives.
pub(crate) fn shell(call: &Call<'_>, report: &mut Report) {
    // `+x` switches an option off and is no operand.
    let args: Vec<Arg> = call
        .args
        .iter()
        .map(|arg| match arg.known() {
            Some(word) if is_plus_option(word) => Arg::literal(word.replacen('+', "-", 1)),
            _ => arg.clone(),
        })
        .collect();
    let options = SHELL.parse(&args);
    if let Some(file) = options.value(&["rcfile", "init-file"]) {
        run_script(report, file, Some("shell"));
    }
    for text in options.values(&["command", "init-command"]) {
        report.then_shell(text, &[], call.program);
    }
    if let Some((_, value)) =
        call.assignments.iter().find(|(name, _)| name == "BASH_ENV" || name == "ENV" && options.has(&["i"]))
        && value.known() != Some("")
    {
        run_script(report, value, Some("shell"));
    }
    if options.has(&["n"]) && !call.program.starts_with("nu") {
        // Only checks the syntax.
        for file in options.operands.iter().filter(|_| !options.has(&["c"])) {
            report.file(call, Access::Read, file, false);
        }
        return;
    }
    // Every line is printed as it is read, or as it is run.
    if let Some(script) = options.operands.first().filter(|_| options.has(&["v", "verbose", "x", "xtrace"])) {
        super::secrets::given_to_trace(call, report, script);
    }
    if options.has(&["c"]) {
        match options.operands.split_first() {
            Some((text, args)) => {
                report.then_shell(&with_variables(text), args, &format!("{} -c", call.program));
            }
            None if options.loose => report.unknown_code(Taint::default(), &written(call)),
            None => {}
        }
        return;
    }
    match options.operands.first() {
        Some(_) if options.has(&["s"]) => stdin_is_code(call, report),
        Some(path) if matches!(path.known(), Some("-" | "/dev/stdin" | "/proc/self/fd/0")) => {
            stdin_is_code(call, report)
        }
        Some(path) => run_script(report, path, Some("shell")),
        None if options.has(&["version", "help"]) => {}
        None => stdin_is_code(call, report),
    }
}

/// Options of interpreters: those with values, those with code.
fn interpreter_grammar(language: &str) -> (Grammar, &'static [&'static str]) {
    match language {
        "python" => (Grammar::until_operand("cmWXQ", "check-hash-based-pycs="), &["c"]),
        "javascript" | "typescript" => (
            Grammar::until_operand(
                "erCc",
                "eval= print= require= import= loader= experimental-loader= conditions= env-file= input-type= inspect? \
                 inspect-brk? max-old-space-size= test-reporter= import-map= config= ext= allow-read? allow-write? allow-net? \
                 allow-run? allow-env? watch check",
            ),
            &["e", "p", "eval", "print"],
        ),
        "perl" => (Grammar::until_operand("eEIMm", "").attached("iF"), &["e", "E"]),
        "ruby" => (Grammar::until_operand("eIrCE", "encoding= disable= enable=").attached("iKF"), &["e"]),
        "php" => (
            Grammar::until_operand("rcdfBERFSzt", "run= php-ini= define= file= process-begin= process-code="),
            &["r", "run", "B", "R", "E"],
        ),
        "lua" => (Grammar::until_operand("el", ""), &["e"]),
        _ => (
            Grammar::until_operand("eEgc", "eval= expr= print= load="),
            &["e", "E", "eval", "expr", "print", "c", "g"],
        ),
    }
}

/// Whether a word is an unknown variable whose name indicates options.
fn holds_options(arg: &Arg) -> bool {
    let name = arg.text.to_ascii_uppercase();
    let unset =
        arg.known().is_none() && arg.prefix().is_empty() && arg.splits && arg.taint == Taint::default();
    unset
        && name.starts_with('$')
        && ["FLAGS", "OPTS", "OPTIONS", "ARGS"].iter().any(|part| name.contains(part))
}

/// `python`, `node`, `perl`, …
fn interpret(call: &Call<'_>, report: &mut Report, language: &'static str) {
    if matches!(call.program, "deno" | "bun") && super::packages::javascript_runtime(call, report) {
        return;
    }
    if call.program == "erl" {
        // Its options have one dash and long names.
        let bodies = call.args.windows(2).filter_map(|pair| match pair {
            [option, body] if option.known() == Some("-eval") => Some(body),
            _ => None,
        });
        return bodies.for_each(|body| report.then_code(language, body));
    }
    let (grammar, code_options) = interpreter_grammar(language);
    // `python $PYTHON_FLAGS -m pytest`: a variable that is named after options contains options.
    let args: Vec<Arg> = call.args.iter().filter(|arg| !holds_options(arg)).cloned().collect();
    let options = grammar.parse(if args.is_empty() { call.args } else { &args });
    let mut ran = false;
    // `node -p CODE` and `node -pe CODE`: the first word that no option takes.
    if matches!(language, "javascript" | "typescript") && options.has(&["p"]) && !options.has(&["e", "eval"])
    {
        ran = true;
        options.operands.iter().take(1).for_each(|body| report.then_code(language, body));
    }
    for body in options.values(code_options) {
        ran = true;
        report.then_code(language, body);
    }
    in_place(call, report, language, &options);
    if language == "python" {
        if let Some(module) = options.text(&["m"]) {
            crate::languages::import(language, module, call, report);
            return super::packages::python_module(call, report, module, &options.operands);
        }
        // Everything after `-c code` belongs to the code.
        if ran {
            return;
        }
    }
    if let Some(preload) = options.value(&["r", "require", "import"]).filter(|_| language == "javascript")
        && preload.prefix().starts_with(['.', '/'])
    {
        run_script(report, preload, Some(language));
    }
    // Compilers that can also evaluate: their other words name no script.
    if matches!(call.program, "ghc" | "crystal" | "swift") {
        if let Some(body) = options.operands.get(1).filter(|_| !ran && options.word(0) == "eval") {
            report.then_code(language, body);
        }
        return;
    }
    if ran {
        return;
    }
    match options.operands.first() {
        Some(path) if matches!(path.known(), Some("-" | "/dev/stdin")) => stdin_code(call, report, language),
        Some(path) => {
            let uploads = path.known() == Some("setup.py")
                && options.words().any(|word| matches!(word, "upload" | "register"));
            if uploads {
                report.publish("setup.py");
            }
            // `python manage.py`, `php artisan`: the tool of a framework.
            let name = path.known().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
            if super::table::find(name).is_some_and(|entry| entry.family == super::Family::Frameworks) {
                super::described::judge_as(name, options.from(1), call, report);
                return;
            }
            run_script(report, path, Some(language));
        }
        None if call
            .args
            .iter()
            .any(|arg| matches!(arg.known(), Some("-V" | "--version" | "-v" | "--help"))) => {}
        None => stdin_code(call, report, language),
    }
}

/// Whether a word starts an interactive interpreter.
fn is_of_a_prompt(arg: &Arg) -> bool {
    matches!(
        arg.known(),
        Some("-" | "/dev/stdin" | "-i" | "--interactive" | "-a" | "-q" | "-u" | "-B" | "-I" | "-E" | "-s")
    )
}

fn stdin_code(call: &Call<'_>, report: &mut Report, language: &'static str) {
    match call.stdin {
        // Most other options make it do something else than wait: `node --test`, `php -S`.
        Stdin::Inherited if call.args.iter().all(is_of_a_prompt) => awaits_code(report),
        Stdin::Inherited => {}
        Stdin::Text(text) => report.then_code(language, &Arg::literal(text)),
        Stdin::Names(_) => report.unknown_code(Taint::default(), &written(call)),
        Stdin::Unknown(taint) => report.unknown_code(*taint, &written(call)),
    }
}

/// `perl -pi -e … files` changes the files.
fn in_place(call: &Call<'_>, report: &mut Report, language: &str, options: &super::options::Options) {
    if !matches!(language, "perl" | "ruby") {
        return;
    }
    let reads = options.has(&["n", "p"]);
    let edits = options.has(&["i"]);
    if options.has(code_letters(language)) && (reads || edits) {
        // Lines that are not printed are not kept.
        let prints = |code: &Arg| {
            code.known().is_none_or(|text| {
                ["print", "say", "puts", "write", "p ", "p(", "<<", "warn"]
                    .iter()
                    .any(|word| text.contains(word))
            })
        };
        let keeps = options.has(&["p"]) || options.values(code_letters(language)).any(prints);
        for file in &options.operands {
            match edits {
                true if options.has(&["n"]) && !keeps => report.file(call, Access::Empty, file, false),
                true => report.file(call, Access::Modify, file, false),
                false => super::secrets::read(call, report, file, false),
            }
        }
        super::text::derive(call, report);
    }
}

fn code_letters(language: &str) -> &'static [&'static str] {
    if language == "perl" { &["e", "E"] } else { &["e"] }
}

/// A text of another shell with variables of the environment as this one spells them: `$E:X` of elvish, `$env:X` of
/// PowerShell, `$env.X` of nu.
fn with_variables(text: &Arg) -> Arg {
    const SPELLINGS: [&str; 5] = ["$E:", "$env:", "$Env:", "$ENV:", "$env."];
    match text.known() {
        Some(known) if known.contains('$') && SPELLINGS.iter().any(|spelling| known.contains(spelling)) => {
            let plain = |text: String, spelling: &&str| text.replace(spelling, "$");
            Arg { taint: text.taint, ..Arg::literal(SPELLINGS.iter().fold(known.to_owned(), plain)) }
        }
        _ => text.clone(),
    }
}

/// Backslashes part folders, and a drive is a root.
fn posix(text: &Arg) -> Arg {
    let text = &with_variables(text);
    let Some(known) = text.known().filter(|text| text.contains(['\\', ':'])) else { return text.clone() };
    let slashed = known.replace('\\', "/");
    let mut letters = slashed.char_indices().peekable();
    let mut out = String::with_capacity(slashed.len());
    let mut starts = true;
    while let Some((at, letter)) = letters.next() {
        let rest = slashed.get(at + 1..).unwrap_or_default();
        if starts && letter.is_ascii_alphabetic() && rest.starts_with(':') && !rest.starts_with("://") {
            letters.next();
            let behind = rest.get(1..).unwrap_or_default().trim_start_matches('/');
            // The whole drive is a root; its directories are not the local ones of the same name.
            let whole = behind.is_empty() || behind.starts_with([' ', '*', '"', '\'', ';', '|', ')']);
            let system = ["Users", "Windows", "Program"].iter().any(|top| behind.starts_with(top));
            while letters.next_if(|(_, next)| *next == '/').is_some() {}
            out.push_str(if whole || system { "/" } else { "/mnt/c/" });
        } else {
            out.push(letter);
        }
        starts = !letter.is_alphanumeric() && letter != '_';
    }
    Arg::literal(out)
}

/// `pwsh`, `powershell`, `cmd`.
pub(crate) fn windows(call: &Call<'_>, report: &mut Report) {
    let mut args = call.args.iter().enumerate();
    while let Some((at, arg)) = args.next() {
        let Some(word) = arg.known() else { continue };
        let lower = word.to_ascii_lowercase();
        let rest = call.args.get(at + 1..).unwrap_or_default();
        match call.program {
            "cmd" => {
                if matches!(lower.as_str(), "/c" | "/k" | "//c") {
                    let text = posix(&super::report::joined(rest));
                    // `rmdir` takes its options with a slash there.
                    let text = match text.known().and_then(|text| text.strip_prefix("rmdir ")) {
                        Some(rest) => Arg::literal(format!("rd {rest}")),
                        None => text,
                    };
                    return report.then_shell(&text, &[], "cmd");
                }
            }
            _ => match lower.as_str() {
                "-c" | "-command" | "/c" | "/command" => {
                    super::powershell::dynamic(call, &super::report::joined(rest), report);
                    return report.then_shell(&posix(&super::report::joined(rest)), &[], "pwsh");
                }
                "-e" | "-ec" | "-enc" | "-encodedcommand" | "-encoded" => {
                    // Encoded commands are suspicious, but their content is still analysed.
                    report.flows(
                        Taint { decoded: true, ..Taint::default() },
                        FlowSink::Shell,
                        &written(call),
                    );
                    let decoded = rest.first().and_then(Arg::known).and_then(super::text::from_base64);
                    if let Some(bytes) = decoded {
                        let text: String =
                            bytes.into_iter().filter(|byte| *byte != 0).map(char::from).collect();
                        super::powershell::dynamic(call, &Arg::literal(&text), report);
                        report.then_shell(&Arg::literal(text), &[], "pwsh");
                    }
                    return;
                }
                "-f" | "-file" => {
                    let Some(path) = rest.first() else { return };
                    match path.known().and_then(|path| call.env.written(path)) {
                        Some(text) => {
                            super::powershell::dynamic(call, &Arg::literal(&text), report);
                            report.then_shell(&posix(&Arg::literal(text)), &[], "pwsh");
                        }
                        None => run_script(report, path, None),
                    }
                    return;
                }
                "-ep" | "-executionpolicy" | "-ex" | "-exec" | "-w" | "-windowstyle"
                | "-workingdirectory" | "-version" => {
                    args.next();
                }
                _ if !word.starts_with('-') => {
                    let words = super::report::joined(call.args.get(at..).unwrap_or_default());
                    super::powershell::dynamic(call, &words, report);
                    return report.then_shell(&posix(&words), &[], "pwsh");
                }
                _ => {}
            },
        }
    }
    stdin_is_code(call, report);
}
