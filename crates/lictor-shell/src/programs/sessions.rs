//! Programs that run something later or in another terminal: cron, at, tmux, screen, expect, osascript.

use lictor_core::facts::{Access, Privilege, ProcessEffect};

use super::options::Grammar;
use super::report::{joined, written};
use crate::call::{Call, Report, Stdin};
use crate::operand::Arg;

/// `at` and `batch`: a script, or the commands on their input.
pub(crate) fn at(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    match (options.value(&["f"]), call.stdin) {
        (Some(file), _) => super::shells::run_script(report, file, Some("shell")),
        (None, Stdin::Text(text)) => report.then_shell(&Arg::literal(text), &[], call.program),
        (None, Stdin::Unknown(taint)) => {
            report.deed("change", "startup");
            report.unknown_code(*taint, &written(call));
        }
        _ => {}
    }
}

/// Where the tables of jobs are kept.
const TABLES: &str = "/var/spool/cron/crontabs";

/// `crontab`.
pub(crate) fn crontab(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if options.has(&["r", "l", "e"]) {
        return;
    }
    let piped = options.operands.is_empty() && matches!(call.stdin, Stdin::Text(_) | Stdin::Unknown(_));
    if piped || options.operands.first().is_some_and(|arg| arg.known() == Some("-")) {
        match call.stdin {
            // A table without a line is no table.
            Stdin::Text(text) if text.trim().is_empty() => report.infrastructure("crontab", "-", false),
            Stdin::Text(text) => {
                for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
                    let fields = if line.starts_with('@') { 1 } else { 5 };
                    let mut rest = line;
                    for _ in 0..fields {
                        rest = rest.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest);
                    }
                    if !rest.trim().is_empty() {
                        report.then_shell(&Arg::literal(rest.trim()), &[], "crontab");
                    }
                }
            }
            Stdin::Unknown(taint) if *taint != crate::operand::Taint::default() => {
                report.unknown_code(*taint, "crontab -");
            }
            _ => report.file(call, Access::Write, &Arg::literal(TABLES), false),
        }
    } else if let Some(file) = options.operands.first() {
        report.file(call, Access::Read, file, false);
        report.file(call, Access::Write, &Arg::literal(TABLES), false);
    }
}

/// `multiplexer`.
pub(crate) fn multiplexer(call: &Call<'_>, report: &mut Report) {
    let words: Vec<&str> = call.args.iter().map(|arg| arg.known().unwrap_or_default()).collect();
    if call.program == "screen" {
        if let Some(at) = words.iter().position(|word| *word == "stuff") {
            let text =
                call.args.get(at + 1).and_then(Arg::known).map(super::text::unescape).unwrap_or_default();
            let finished = text.contains("^M") || text.contains(['\n', '\r']);
            pieces(&[Arg::literal(&text)], finished, report);
            return report.then_shell(&Arg::literal(text.replace("^M", "\n")), &[], "screen");
        }
        let options = Grammar::until_operand("ceEhpSstTX", "").parse(call.args);
        return report.then_argv(&options.operands, "screen");
    }
    let Some(at) = words.iter().position(|word| crate::words::MULTIPLEXER_COMMANDS.contains(word)) else {
        return;
    };
    let sub = words.get(at).copied().unwrap_or_default();
    let options =
        Grammar::until_operand("cdeFntsxyNbhwT", "").parse(call.args.get(at + 1..).unwrap_or_default());
    if sub == "kill-server" {
        return report.process(ProcessEffect::Kill);
    }
    let is_key = |arg: &&Arg| {
        !matches!(
            arg.known(),
            Some(
                "Enter"
                    | "C-m"
                    | "C-j"
                    | "Space"
                    | "KPEnter"
                    | "C-c"
                    | "C-d"
                    | "Escape"
                    | "C-u"
                    | "C-l"
                    | "Tab"
            )
        )
    };
    // `new-session -d 'cmd'`: -d takes no value there.
    let options = if sub.starts_with("send") {
        Grammar::until_operand("tN", "").parse(call.args.get(at + 1..).unwrap_or_default())
    } else if sub.contains("new") || sub.contains("split") || sub.contains("run") || sub.contains("respawn") {
        Grammar::until_operand("cFntsxyelp", "").parse(call.args.get(at + 1..).unwrap_or_default())
    } else {
        options
    };
    // `\;` parts commands of tmux itself.
    let own = options.operands.iter().take_while(|arg| arg.known() != Some(";"));
    let command: Vec<Arg> = own.filter(is_key).cloned().collect();
    let finished =
        options.operands.iter().any(|arg| matches!(arg.known(), Some("Enter" | "C-m" | "C-j" | "KPEnter")));
    if sub.starts_with("send") || sub == "write-chars" {
        pieces(&command, finished, report);
    }
    let there = options.value(&["c"]).filter(|_| !sub.starts_with("send")).and_then(Arg::known);
    let placed = |text: &Arg| match (there, text.known()) {
        (Some(directory), Some(command)) if !directory.contains('\'') => {
            Arg::literal(format!("cd '{directory}' && {command}"))
        }
        _ => text.clone(),
    };
    match command.as_slice() {
        [] => {}
        [only] => report.then_shell(&placed(only), &[], call.program),
        many => report.then_shell(&placed(&joined(many)), &[], call.program),
    }
}

/// Typed text without a newline may be completed by another call.
fn pieces(typed: &[Arg], finished: bool, report: &mut Report) {
    let text: String = typed.iter().map(|arg| arg.known().unwrap_or("$X")).collect();
    if !finished || text.starts_with(|first: char| first.is_ascii_lowercase()) {
        super::lictor::typed(&text, report);
    }
}

/// `expect`.
pub(crate) fn expect(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let mut bodies: Vec<String> = options.values(&["c"]).filter_map(Arg::known).map(str::to_owned).collect();
    if let Stdin::Text(text) = call.stdin {
        bodies.push(text.clone());
    }
    let files = options.words().chain(options.values(&["f"]).filter_map(Arg::known));
    bodies.extend(files.filter_map(|file| call.env.written(file)));
    for body in bodies {
        report.then_code("other", &Arg::literal(&body));
        for line in body.split(['\n', ';']).map(str::trim) {
            for start in ["spawn ", "exec ", "system "] {
                if let Some(command) = line.trim_start_matches('[').strip_prefix(start) {
                    let command = command.trim_end_matches(']').trim();
                    let whole = command.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                    report.then_shell(&Arg::literal(whole.unwrap_or(command)), &[], "expect");
                }
            }
            if let Some(keys) = line.strip_prefix("send ") {
                let keys =
                    keys.trim().trim_start_matches("-- ").trim_matches(['"', '{', '}']).replace("\\r", "\n");
                report.then_shell(&Arg::literal(keys), &[], "expect");
            }
        }
    }
}

/// `osascript`.
pub(crate) fn osascript(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let mut bodies: Vec<String> = options.values(&["e"]).filter_map(Arg::known).map(str::to_owned).collect();
    if let Stdin::Text(text) = call.stdin {
        bodies.push(text.clone());
    }
    if let Stdin::Unknown(taint) = call.stdin
        && bodies.is_empty()
        && options.operands.is_empty()
    {
        report.unknown_code(*taint, &written(call));
    }
    for body in bodies {
        if options.text(&["l"]).is_some_and(|language| language.eq_ignore_ascii_case("javascript")) {
            report.then_code("javascript", &Arg::literal(&body));
        }
        let mut rest = body.as_str();
        while let Some((_, tail)) = rest.split_once("do shell script") {
            let text = tail.trim_start().strip_prefix('"').unwrap_or_default();
            let mut command = String::new();
            let mut escaped = false;
            for letter in text.chars() {
                match letter {
                    '\\' if !escaped => {
                        escaped = true;
                        continue;
                    }
                    '"' if !escaped => break,
                    letter => command.push(letter),
                }
                escaped = false;
            }
            if tail.contains("administrator privileges") {
                report.privilege(Privilege::BecomeRoot);
            }
            match command.is_empty() {
                true => report.unknown_code(crate::operand::Taint::default(), &body),
                false => report.then_shell(&Arg::literal(command), &[], "osascript"),
            }
            rest = tail;
        }
        let lower = body.to_ascii_lowercase();
        if lower.contains("shut down") || lower.contains("restart") && lower.contains("system events") {
            report.process(ProcessEffect::Shutdown);
        }
        if lower.contains("empty trash") || lower.contains("empty the trash") {
            report.file(call, Access::Delete, &super::report::glob("~/.Trash/*"), true);
        }
    }
}
