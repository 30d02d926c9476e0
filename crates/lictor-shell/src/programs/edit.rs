//! Editors, from `sed -i` to `vim -c`.

use lictor_core::facts::Access;

use super::options::{Grammar, Options, after};
use super::report::glob;
use super::{secrets, text};
use crate::call::{Call, Report, Stdin};
use crate::languages::sed::{self, Step};
use crate::operand::{Arg, Listed};

/// Editors that a person types into.
pub(crate) fn typed(call: &Call<'_>, report: &mut Report) {
    let options =
        Grammar::anywhere("", "install-extension= uninstall-extension= goto= diff add wait").parse(call.args);
    for file in &options.operands {
        // A person who edits variables does not show them.
        let variables = file.known().is_some_and(secrets::is_environment_path);
        report.file(call, if variables { Access::Modify } else { Access::Read }, file, false);
    }
}

pub(crate) fn sed_program(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let in_place = options.has(&["i", "I", "in-place"]);
    let mut operands = options.operands.as_slice();
    let mut scripts: Vec<&Arg> = options.values(&["e", "expression"]).collect();
    // BSD spells "no backup" as a separate empty word.
    if in_place
        && let Some((first, rest)) = operands.split_first()
        && first.known() == Some("")
    {
        operands = rest;
    }
    if scripts.is_empty() && !options.has(&["f", "file"]) {
        let Some((first, rest)) = operands.split_first() else { return };
        scripts.push(first);
        operands = rest;
    }
    let files: Vec<(&Arg, Option<String>)> = options
        .values(&["f", "file"])
        .map(|file| (file, file.known().and_then(|path| call.env.written(path))))
        .collect();
    let written: Vec<Arg> = files.iter().filter_map(|(_, text)| text.as_deref().map(Arg::literal)).collect();
    scripts.extend(&written);
    for (file, _) in files {
        report.file(call, Access::Read, file, false);
    }
    let mut empties = false;
    for script in &scripts {
        let Some(code) = script.known() else { continue };
        for step in sed::steps(code) {
            match step {
                Step::Write(path) => report.file(call, Access::Write, &Arg::literal(path), false),
                Step::Read(path) => secrets::read(call, report, &Arg::literal(path), false),
                Step::Run(command) if !command.is_empty() => {
                    report.then_shell(&Arg::literal(command), &[], "sed");
                }
                Step::Run(_) => report.unknown_code(text::stdin_taint(call), code),
                Step::DeleteAll => empties = true,
            }
        }
    }
    for file in operands {
        if in_place {
            let access = if empties { Access::Empty } else { Access::Modify };
            report.file(call, access, file, false);
        } else {
            secrets::read(call, report, file, false);
        }
    }
    if operands.is_empty() {
        match (call.stdin, scripts.as_slice()) {
            (Stdin::Text(input), [script]) if !options.has(&["n", "quiet", "silent"]) => {
                match script.known().and_then(|script| sed::substitute(script, input)) {
                    Some(output) => report.stdout = Some(output),
                    None => text::derive(call, report),
                }
            }
            // A rewritten name is a different name.
            (Stdin::Names(names), _) if !scripts.iter().any(|s| s.prefix().starts_with('s')) => {
                report.names.clone_from(names);
            }
            (Stdin::Names(_), _) => {}
            _ => text::derive(call, report),
        }
    }
}

pub(crate) fn awk(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let mut operands = options.operands.as_slice();
    let mut programs: Vec<&Arg> = options.values(&["e", "source"]).collect();
    if programs.is_empty() && !options.has(&["f", "file"]) {
        let Some((first, rest)) = operands.split_first() else { return };
        programs.push(first);
        operands = rest;
    }
    if let (Stdin::Unknown(taint), Some("-" | "/dev/stdin")) = (call.stdin, options.text(&["f", "file"])) {
        report.unknown_code(*taint, &super::report::written(call));
    }
    for program in &programs {
        report.then_code("awk", program);
    }
    for file in options.values(&["f", "file"]) {
        super::shells::run_script(report, file, Some("awk"));
    }
    let in_place = options.values(&["i", "include"]).any(|library| library.known() == Some("inplace"));
    let silent = !programs.is_empty() && programs.iter().all(|code| code.known().is_some_and(prints_nothing));
    for file in operands.iter().filter(|arg| !arg.prefix().contains('=')) {
        if in_place {
            report.file(call, if silent { Access::Empty } else { Access::Modify }, file, false);
        } else {
            secrets::read(call, report, file, false);
        }
    }
    if operands.is_empty() {
        text::derive(call, report);
        report.taint.decoded |= matches!(call.stdin, Stdin::Text(_));
        // A program that does not start with an action picks lines by a pattern; counting lines picks nearly all.
        let picks = |program: &str| {
            let condition = program.split('{').next().unwrap_or_default().trim();
            !condition.is_empty() && !condition.starts_with("NR") && !condition.starts_with("BEGIN")
                || program.contains("if")
        };
        if programs.iter().all(|program| program.known().is_none_or(picks)) {
            report.names = report.names.iter().map(super::reads::some_of).collect();
        }
    }
}

/// Whether an awk program leaves no line: a pattern that never fits, or one action that does not print.
fn prints_nothing(program: &str) -> bool {
    let code = program.trim();
    let action = code.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    matches!(code, "" | "0" | "NR<0" | "NR < 0" | "1==0")
        || action.is_some_and(|body| !body.contains("print") && !body.contains(['{', '}']))
}

/// Whether commands of ex or ed delete every line and save that.
fn wipes<'a>(commands: impl Iterator<Item = &'a str>) -> bool {
    let (mut deletes, mut saves) = (false, false);
    for command in commands.flat_map(|text| text.split(['|', '\n'])) {
        match command.trim().trim_start_matches(':') {
            ",d" | "%d" | "1,$d" | "g/^/d" | "g/./d" | "%delete" | "%d _" | "norm ggdG" | "normal ggdG" => {
                deletes = true;
            }
            "w" | "wq" | "x" | "w!" | "wq!" | "x!" | "wqa" | "xa" | "wqall" => saves = deletes,
            // Inserted lines are the new content.
            "a" | "i" | "r" => return false,
            _ => {}
        }
    }
    deletes && saves
}

pub(crate) fn line_editor(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    in_other_directories(call, report);
    for file in &options.operands {
        match file.prefix().strip_prefix('!') {
            Some(_) => report.then_shell(&after(file, 1), &[], call.program),
            None => {
                report.file(call, Access::Modify, file, false);
                // A script can print what it edits.
                let kept = !file.known().is_some_and(secrets::is_environment_path);
                if secrets::is_secret(file) && (kept || matches!(call.stdin, Stdin::Text(_))) {
                    secrets::read(call, report, file, false);
                }
            }
        }
    }
    match call.stdin {
        Stdin::Text(script) => {
            for file in options.operands.iter().filter(|_| wipes(script.lines())) {
                report.file(call, Access::Empty, file, false);
            }
            for line in script.lines() {
                editor_command(call, report, line);
            }
        }
        Stdin::Unknown(taint) => report.unknown_code(*taint, &super::report::written(call)),
        _ => {}
    }
    empties_by_command(call, report, &options);
    for command in options.values(&["c"]) {
        editor_command_arg(call, report, command);
    }
}

/// `ex -c '%d|x' file`, `vim +%d +wq file`.
fn empties_by_command(call: &Call<'_>, report: &mut Report, options: &Options) {
    // Words with a plus are taken to come first, as they are written.
    let (typed, files): (Vec<&Arg>, Vec<&Arg>) =
        options.operands.iter().partition(|arg| arg.prefix().starts_with('+'));
    let typed = typed.into_iter().filter_map(Arg::known).map(|word| word.trim_start_matches('+'));
    if wipes(typed.chain(options.values(&["c"]).filter_map(Arg::known))) {
        files.into_iter().for_each(|file| report.file(call, Access::Empty, file, false));
    }
}

fn editor_command_arg(call: &Call<'_>, report: &mut Report, command: &Arg) {
    match command.known() {
        Some(text) => editor_command(call, report, text),
        None => report.unknown_code(command.taint, &command.text),
    }
}

/// One command of ex: what it runs, writes or deletes.
fn editor_command(call: &Call<'_>, report: &mut Report, command: &str) {
    let command = command.trim().trim_start_matches(':').trim_start();
    for word in ["silent! ", "silent ", "sil! ", "exe ", "execute "] {
        if let Some(rest) = command.strip_prefix(word) {
            return editor_command(call, report, rest.trim_matches(['"', '\'']));
        }
    }
    if let Some((_, shell)) = command.split_once('!').filter(|(before, _)| {
        before.is_empty()
            || before.chars().all(|c| "%.,$0123456789 ".contains(c))
            || matches!(before.trim(), "r" | "read" | "te" | "term" | "terminal")
            || before.ends_with(' ') && matches!(before.trim(), "w" | "write" | "%w")
    }) {
        let shell = Arg::literal(shell.trim());
        return report.then_shell(&shell, &[], call.program);
    }
    for opening in
        ["system(", "systemlist(", "term_start(", "jobstart(", "job_start(", "os.execute(", "io.popen("]
    {
        if let Some((_, rest)) = command.split_once(opening) {
            let quoted = rest
                .trim_start()
                .trim_start_matches(['"', '\'', '['])
                .split(['"', '\''])
                .next()
                .unwrap_or_default();
            report.then_shell(&Arg::literal(quoted), &[], call.program);
        }
    }
    if let Some((_, rest)) = command.split_once("delete(") {
        let mut parts = rest.split(['"', '\'']);
        if let Some(path) = parts.nth(1) {
            let recursive = parts.any(|part| part.contains("rf"));
            report.file(call, Access::Delete, &Arg::literal(path), recursive);
        }
    }
    let mut words = command.split('|').next().unwrap_or_default().split_whitespace();
    match (words.next(), words.next()) {
        (Some("w" | "w!" | "write" | "write!" | "wq" | "wq!" | "sav" | "saveas" | "saveas!"), Some(path)) => {
            report.file(call, Access::Write, &Arg::literal(path), false);
        }
        (Some("r" | "read" | "e" | "edit"), Some(path)) => {
            secrets::read(call, report, &Arg::literal(path), false);
        }
        (Some(command_name @ ("py3" | "python3" | "py" | "python" | "lua" | "ruby" | "perl")), Some(_)) => {
            let code = command.split_once(char::is_whitespace).map(|(_, code)| code).unwrap_or_default();
            let language = super::shells::language_named(command_name).unwrap_or("python");
            report.then_code(language, &Arg::literal(code));
        }
        _ => {}
    }
}

/// `-c 'cd DIR | w! FILE'`: what comes after a change of the directory, in the order of the words.
fn in_other_directories(call: &Call<'_>, report: &mut Report) {
    let mut cwd = call.cwd.clone();
    for text in call.args.iter().filter_map(Arg::known) {
        for part in text.trim_start_matches('+').split('|').map(|part| part.trim_start_matches([' ', ':'])) {
            let (name, rest) = part.trim_end().split_once(char::is_whitespace).unwrap_or((part, ""));
            match name.trim_end_matches('!') {
                "cd" | "lcd" | "tcd" | "chdir" | "lchdir" if !rest.is_empty() => {
                    cwd = crate::paths::enter(&cwd, rest.trim());
                }
                _ if cwd != *call.cwd && !rest.is_empty() => {
                    editor_command(&Call { cwd: &cwd, ..*call }, report, part);
                }
                _ => {}
            }
        }
    }
}

pub(crate) fn vim(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    empties_by_command(call, report, &options);
    for command in options.values(&["c", "cmd", "remote-send", "remote-expr"]) {
        editor_command_arg(call, report, command);
    }
    in_other_directories(call, report);
    for file in options.values(&["S", "u"]).filter_map(Arg::known) {
        // Ex commands, one a line.
        for line in call.env.written(file).unwrap_or_default().lines() {
            editor_command(call, report, line);
        }
    }
    for file in &options.operands {
        if file.prefix().starts_with('+') {
            editor_command_arg(call, report, &after(file, 1));
        } else {
            let only_shows = call.program == "view" || options.has(&["R"]);
            report.file(call, if only_shows { Access::Read } else { Access::Modify }, file, false);
            let shown = secrets::is_secret(file) && !file.known().is_some_and(secrets::is_environment_path);
            if options.has(&["e", "E", "s"]) || shown || options.has(&["c"]) && secrets::is_secret(file) {
                secrets::read(call, report, file, false);
            }
        }
    }
    if let Stdin::Text(script) = call.stdin
        && options.has(&["e", "E", "s"])
    {
        for line in script.lines() {
            editor_command(call, report, line);
        }
    }
}

pub(crate) fn emacs(call: &Call<'_>, report: &mut Report) {
    // Long options may have one dash.
    let args: Vec<Arg> = call
        .args
        .iter()
        .map(|arg| match arg.known() {
            Some(word @ ("-eval" | "-execute" | "-load" | "-funcall" | "-batch" | "-script")) => {
                Arg::literal(format!("-{word}"))
            }
            _ => arg.clone(),
        })
        .collect();
    let options = Grammar::anywhere("lft", "eval= execute= load= funcall= script= directory=").parse(&args);
    for code in options.values(&["eval", "execute"]) {
        let Some(text) = code.known() else {
            report.unknown_code(code.taint, &code.text);
            continue;
        };
        if crate::words::ELISP_ACTS.iter().any(|act| text.contains(act)) {
            report.opaque(lictor_core::facts::OpaqueWhat::Code, text);
        }
    }
    for file in &options.operands {
        report.file(call, Access::Modify, file, false);
        if secrets::is_secret(file) && !file.known().is_some_and(secrets::is_environment_path) {
            secrets::read(call, report, file, false);
        }
    }
}

pub(crate) fn patch(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if options.has(&["dry-run", "C", "check"]) {
        return;
    }
    let input = options.value(&["i", "input"]).or_else(|| options.operands.get(1));
    if let Some(input) = input {
        report.file(call, Access::Read, input, false);
    }
    if let Some(file) = options.value(&["o", "output"]).or_else(|| options.operands.first()) {
        return report.file(call, Access::Modify, file, false);
    }
    let strip = options.text(&["p", "strip"]).and_then(|n| n.parse().ok()).unwrap_or(1);
    let base = options.value(&["d", "directory"]);
    match input {
        Some(input) => crate::patch::report_diff_file(call, report, input, strip, base),
        None => crate::patch::report_diff(call, report, strip, base),
    }
}

/// Programs that replace a text in all files of a tree: `ruplacer --go OLD NEW DIR`, `comby OLD NEW .json -i`.
pub(crate) fn over_tree(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let comby = call.program == "comby";
    let changes = match call.program {
        "comby" => options.has(&["i", "in-place", "n"]),
        "ruplacer" => options.has(&["go"]),
        _ => true,
    };
    if !changes {
        return;
    }
    let hidden = comby || options.has(&["hidden", "no-skip-hidden"]);
    let listed = if hidden { Listed::All } else { Listed::Visible };
    let old = options.word(0);
    let plain =
        !old.is_empty() && old.chars().all(|letter| letter.is_alphanumeric() || " _-".contains(letter));
    let root = options.text(&["d", "directory"]).filter(|_| comby).unwrap_or(".");
    let files = options.from(2).iter().filter_map(Arg::known);
    let mut names: Vec<Arg> = match comby {
        true => files.map(|ending| glob(&format!("{root}/**/*{ending}"))).collect(),
        false => files.map(|folder| glob(&format!("{}/**/*", folder.trim_end_matches('/')))).collect(),
    };
    if names.is_empty() {
        names.push(glob(&format!("{root}/**/*")));
    }
    super::report::listed(call, &mut names, listed, plain.then(|| old.to_owned()));
    names.iter().for_each(|name| report.file(call, Access::Modify, name, false));
}
