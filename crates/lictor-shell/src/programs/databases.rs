//! Command line clients of databases.

use lictor_core::facts::{Access, DatabaseEffect};

use super::report::written;
use super::sql;
use crate::call::{Call, Next, Report, Stdin};
use crate::operand::Arg;

/// A database in memory: only the client's own commands matter.
pub(crate) fn throwaway(call: &Call<'_>, report: &mut Report) {
    packed(call, report);
    meta(call, report, &all_text(call));
}

/// Everything that the client is told, in order: a later command depends on an earlier one.
fn all_text(call: &Call<'_>) -> String {
    let mut texts: Vec<&str> = call.args.iter().filter_map(Arg::known).collect();
    if let Stdin::Text(text) = call.stdin {
        texts.push(text);
    }
    texts.join("\n")
}

/// `sqlite3 -A`: the file is an archive, and the words are those of `.archive`.
fn packed(call: &Call<'_>, report: &mut Report) {
    let mut words = call.args.iter().filter_map(Arg::known);
    if words.any(|word| word.starts_with("-A")) {
        let words: Vec<&str> = call.args.iter().filter_map(Arg::known).collect();
        archive(call, report, &words);
    }
}

/// `.archive -x -f FILE -C DIR`, in the words of tar.
fn archive(call: &Call<'_>, report: &mut Report, words: &[&str]) {
    let letters = |word: &&str| {
        word.starts_with('-') && !word.starts_with("--") || word.chars().all(char::is_alphabetic)
    };
    let unpacks = words.iter().filter(|word| letters(word)).any(|word| word.contains('x'))
        || words.iter().any(|word| matches!(*word, "--extract"));
    if !unpacks {
        return;
    }
    let value = |letter: char, long: &str| {
        words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(long) {
            Some("") => words.get(at + 1).copied(),
            Some(rest) => rest.strip_prefix('='),
            None if letters(word) && word.ends_with(letter) => words.get(at + 1).copied(),
            None => None,
        })
    };
    let opened = || call.args.iter().filter_map(Arg::known).find(|word| !word.starts_with(['-', '.']));
    let file = value('f', "--file").or_else(opened).map(Arg::literal);
    let directory = value('C', "--directory").map(Arg::literal);
    super::archive::extract(call, report, directory.as_ref(), file, 0);
}

/// A database in a file, which is changed by statements other than queries, and by unknown statements.
pub(crate) fn in_file(call: &Call<'_>, report: &mut Report) {
    packed(call, report);
    let text = all_text(call);
    if text.contains(".cd ") {
        meta(call, report, &text);
    }
    let words: Vec<&Arg> = call.args.iter().filter(|arg| !arg.prefix().starts_with('-')).collect();
    let Some((file, statements)) = words.split_first() else { return };
    let changes = |text: &str| {
        let upper = text.to_ascii_uppercase();
        ["INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "ALTER", "DROP", "VACUUM"]
            .iter()
            .any(|word| upper.contains(word))
    };
    let told = statements.iter().any(|text| text.known().is_none_or(changes))
        || match call.stdin {
            Stdin::Text(text) => changes(text),
            Stdin::Unknown(_) => statements.is_empty(),
            _ => false,
        };
    if told {
        report.file(call, Access::Modify, file, false);
    }
}

/// The effect of a client whose input is unknown.
pub(crate) fn unknown_input(call: &Call<'_>, report: &mut Report) {
    if let Stdin::Unknown(taint) = call.stdin {
        report.unknown_code(*taint, &written(call));
    }
}

/// Statements with the client's own commands between them.
pub(crate) fn script(call: &Call<'_>, report: &mut Report, text: &str) {
    meta(call, report, text);
    if text.to_ascii_uppercase().contains("DETACH DELETE") {
        report.database(DatabaseEffect::DropPart, text);
    }
    sql::judge(text, report);
}

/// Commands of the client itself: shell escapes and files.
fn meta(call: &Call<'_>, report: &mut Report, text: &str) {
    // `COPY (…) TO 'file'`.
    for behind in text.to_ascii_lowercase().match_indices(" to '").map(|(at, found)| at + found.len()) {
        let path = text.get(behind..).and_then(|rest| rest.split('\'').next()).unwrap_or_default();
        if text.to_ascii_lowercase().contains("copy ") && path.starts_with(['/', '~']) {
            report.file(call, Access::Write, &Arg::literal(path), false);
        }
    }
    let mut cwd = call.cwd.clone();
    for line in text.lines().map(str::trim) {
        if let Some(directory) = line.strip_prefix(".cd ") {
            cwd = crate::paths::enter(&cwd, unquoted(directory));
            continue;
        }
        let call = &Call { cwd: &cwd, ..*call };
        const ESCAPES: [&str; 8] = ["\\!", "system ", ".shell ", ".system ", "host ", "!sh ", "HOST ", "!!"];
        let command = ESCAPES.iter().find_map(|escape| line.strip_prefix(escape));
        if let Some(command) = command {
            report.next.push(Next::Shell {
                text: Arg::literal(command.trim()),
                args: Vec::new(),
                through: call.program.to_owned(),
                elsewhere: false,
            });
        }
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let words: Vec<&str> = rest.split_whitespace().collect();
        let last = words.last().map_or("", |word| unquoted(word));
        match name {
            // `.output |command` prints into a program.
            ".output" | ".once" | ".import" | ".read" if unquoted(rest).starts_with('|') => {
                let command = unquoted(rest).trim_start_matches('|');
                report.then_shell(&Arg::literal(command), &[], call.program);
            }
            ".output" | ".once" | ".backup" | ".save" | ".clone" | ".log"
                if !matches!(last, "" | "stdout" | "off" | "on") =>
            {
                report.file(call, Access::Write, &Arg::literal(last), false);
            }
            ".import" | ".read" => {
                let path = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
                super::secrets::read(call, report, &Arg::literal(unquoted(path)), false);
            }
            ".archive" | ".ar" => archive(call, report, &words),
            _ => {}
        }
        for (function, access) in [("writefile(", Access::Write), ("readfile(", Access::Read)] {
            for inside in line.split(function).skip(1) {
                let path = inside.trim_start().strip_prefix('\'').and_then(|rest| rest.split('\'').next());
                path.into_iter().for_each(|path| report.file(call, access, &Arg::literal(path), false));
            }
        }
    }
}

/// A word of the client without its quotes.
fn unquoted(word: &str) -> &str {
    word.trim().trim_matches(['"', '\''])
}

/// Effects of a script for the shell of MongoDB.
pub(crate) fn mongo_script(text: &str, report: &mut Report) {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if dense.contains("dropDatabase(") || dense.contains("dropDatabase:") || dense.contains("dropDatabase\":")
    {
        report.database(DatabaseEffect::DropAll, text);
    } else if dense.contains(".drop(")
        || dense.contains("deleteMany({})")
        || dense.contains("remove({})")
        || dense.contains(".dropIndexes(")
        || dense.contains("dropAllUsers")
        || dense.contains("dropCollection(")
    {
        report.database(DatabaseEffect::DropPart, text);
    } else if dense.contains("deleteMany(")
        || dense.contains("deleteOne(")
        || dense.contains("updateMany(")
        || dense.contains("insert")
    {
        report.database(DatabaseEffect::Change, text);
    }
    if dense.contains("shutdownServer(") {
        report.infrastructure("mongo", "shutdownServer", false);
    }
}

/// `mongosh`.
pub(crate) fn mongo(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    for text in options.values(&["eval"]) {
        mongo_script(text.prefix(), report);
        // It is a JavaScript runtime.
        if text.prefix().contains("require(") {
            report.then_code("javascript", text);
        }
    }
    for file in options.words().filter(|word| word.ends_with(".js")) {
        mongo_script(&call.env.written(file).unwrap_or_default(), report);
    }
    if let Stdin::Text(text) = call.stdin {
        mongo_script(text, report);
    }
}

/// `redis-cli`.
pub(crate) fn redis(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let mut commands: Vec<Vec<String>> = vec![options.words().map(str::to_ascii_uppercase).collect()];
    if let Stdin::Text(text) = call.stdin {
        commands
            .extend(text.lines().map(|line| line.split_whitespace().map(str::to_ascii_uppercase).collect()));
    }
    for words in commands {
        let first = words.first().map(String::as_str).unwrap_or_default();
        let second = words.get(1).map(String::as_str).unwrap_or_default();
        let effect = match (first, second) {
            ("FLUSHALL" | "FLUSHDB", _) => Some(DatabaseEffect::DropAll),
            ("DEL" | "UNLINK", _) if options.operands.iter().any(|arg| arg.known().is_none()) => {
                Some(DatabaseEffect::DropPart)
            }
            ("SCRIPT", "FLUSH")
            | ("FUNCTION", "FLUSH")
            | ("DEL" | "UNLINK" | "SET" | "HDEL" | "EXPIRE" | "RENAME", _) => Some(DatabaseEffect::Change),
            ("CONFIG", "SET")
            | ("DEBUG", _)
            | ("SLAVEOF" | "REPLICAOF", _)
            | ("CLUSTER", "RESET" | "FORGET" | "FLUSHSLOTS") => Some(DatabaseEffect::DropPart),
            ("SHUTDOWN", _) => {
                report.infrastructure(call.program, "shutdown", false);
                None
            }
            ("EVAL", script) if script.contains("FLUSH") => Some(DatabaseEffect::DropAll),
            _ => None,
        };
        if let Some(effect) = effect {
            report.database(effect, &words.join(" "));
        }
    }
}
