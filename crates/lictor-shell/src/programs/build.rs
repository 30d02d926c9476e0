//! Build tools: what their arguments make them run.

use lictor_core::facts::Access;

use super::options::{Grammar, after};
use super::{recipes, shells};
use crate::call::{Call, Report, Stdin};
use crate::operand::Arg;

/// `make` with a makefile of the line, or with commands in place of its tools.
pub(crate) fn make(call: &Call<'_>, report: &mut Report) {
    // A makefile on standard input is code like any other.
    let options = super::parsed(call);
    if options.has(&["n", "dry-run", "just-print", "recon"]) {
        return;
    }
    for arg in call.args {
        let Some((name, value)) = arg.prefix().split_once('=') else { continue };
        let runs = super::variables::is_command(name) && value.contains(char::is_whitespace);
        if name == "SHELL" || runs {
            report.then_shell(&after(arg, name.len() + 1), &[], "make");
        }
    }
    let from_stdin = matches!(options.text(&["f", "file", "makefile"]), Some("-" | "/dev/stdin"));
    if let (true, Stdin::Text(text)) = (from_stdin, call.stdin) {
        for line in recipes::makefile(text, &options.words().collect::<Vec<_>>()) {
            report.then_shell(&Arg::literal(line), &[], "make");
        }
    } else if from_stdin {
        shells::stdin_is_code(call, report);
    }
    let flags =
        call.assignments.iter().filter(|(name, _)| matches!(name.as_str(), "MAKEFLAGS" | "GNUMAKEFLAGS"));
    for word in call.args.iter().chain(flags.map(|(_, value)| value)).filter_map(Arg::known) {
        if let Some((_, command)) = word.split_once("$(shell") {
            let command = command.trim_end_matches(')').replace("\\ ", " ");
            report.then_shell(&Arg::literal(command.trim()), &[], "make");
        }
    }
    for text in options.values(&["eval", "E"]).filter_map(Arg::known) {
        for line in recipes::makefile(text, &options.words().collect::<Vec<_>>()) {
            report.then_shell(&Arg::literal(line), &[], "make");
        }
        if let Some((_, command)) = text.split_once("$(shell ") {
            report.then_shell(&Arg::literal(command.trim_end_matches(')')), &[], "make");
        }
        // `$(file >name,text)` writes, `$(file <name)` reads.
        for file in text.split("$(file ").skip(1).map(str::trim_start) {
            let access = if file.starts_with('<') { Access::Read } else { Access::Write };
            let name = file.trim_start_matches(['<', '>', ' ']).split([',', ')']).next().unwrap_or_default();
            report.file(call, access, &Arg::literal(name.trim()), false);
        }
    }
}

/// `mvn exec:exec -Dexec.executable=PROGRAM -Dexec.args=WORDS`.
pub(crate) fn maven_exec(call: &Call<'_>, report: &mut Report) {
    let property = |name: &str| call.args.iter().find_map(|arg| arg.known()?.strip_prefix(name));
    if let Some(program) = property("-Dexec.executable=") {
        let words =
            property("-Dexec.args=").or_else(|| property("-Dexec.commandlineArgs=")).unwrap_or_default();
        report.then_shell(&Arg::literal(format!("{program} {words}")), &[], "mvn");
    }
}

/// `dotnet ef …`.
pub(crate) fn dotnet_ef(call: &Call<'_>, report: &mut Report) {
    super::described::judge_as("dotnet-ef", call.args, call, report);
}

/// `cmake -E`.
pub(crate) fn cmake(call: &Call<'_>, report: &mut Report) {
    if call.args.first().and_then(Arg::known) != Some("-E") {
        return;
    }
    let options = Grammar::anywhere("", "").parse(call.args.get(1..).unwrap_or_default());
    match options.word(0) {
        "rm" | "remove" => {
            for path in options.from(1) {
                report.file(call, Access::Delete, path, options.has(&["r", "R"]));
            }
        }
        "rm_r" | "remove_directory" => {
            for path in options.from(1) {
                report.file(call, Access::Delete, path, true);
            }
        }
        "copy" | "copy_if_different" | "copy_directory" | "rename" | "create_symlink" | "create_hardlink"
        | "touch" | "touch_nocreate" | "make_directory" => {
            let name = if options.word(0) == "touch" { 1 } else { 2 };
            for path in options.from(name) {
                report.file(call, Access::Write, path, false);
            }
        }
        "cat" | "md5sum" | "sha256sum" => {
            for path in options.from(1).iter().filter(|_| options.word(0) == "cat") {
                super::secrets::read(call, report, path, false);
            }
        }
        "tar" if options.word(1).contains('x') => {
            super::archive::extract(call, report, None, options.operands.get(2).cloned(), 0);
        }
        "env" | "time" => report.then_argv(options.from(1), "cmake -E"),
        _ => {}
    }
}

/// Compilers.
pub(crate) fn compiler(call: &Call<'_>, report: &mut Report) {
    // `-wrapper program,word,word` runs that in front of every stage.
    let wrapper = call.args.windows(2).find_map(|pair| match pair {
        [option, words] if option.known() == Some("-wrapper") => words.known(),
        _ => None,
    });
    let argv: Vec<Arg> = wrapper.into_iter().flat_map(|words| words.split(',')).map(Arg::literal).collect();
    report.then_argv(&argv, call.program);
}
