//! Files that build tools and test runners run: `printf 'x:\n\trm …' > Makefile && make x`.
//!
//! Only the requested targets are followed. Files that existed before are the project's own: the shell lines in them
//! are followed too, but count only where they change what governs; code in them is not followed.

mod just;
mod make;
mod package;
mod settings;
mod tasks;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::options::Grammar;
use super::{shells, table};
use crate::call::{Call, Next, Report, Stdin};
use crate::operand::Arg;

/// A target: what has to be made first, and the shell lines that make it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Rule {
    needs: Vec<String>,
    lines: Vec<String>,
}

/// All targets of a file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Rules {
    named: BTreeMap<String, Rule>,
    /// The target that is made when none is asked for.
    first: Option<String>,
    /// Lines that run for every target.
    always: Vec<String>,
}

impl Rules {
    /// The lines that are run for these targets, in order.
    fn lines(&self, goals: &[&str]) -> Vec<&str> {
        let mut found: Vec<&str> = self.always.iter().map(String::as_str).collect();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let asked = goals.iter().rev().copied();
        let mut open: Vec<&str> = match goals {
            [] => self.first.iter().map(String::as_str).collect(),
            _ => asked.collect(),
        };
        while let Some(goal) = open.pop() {
            let Some((name, rule)) = self.named.get_key_value(goal).filter(|_| seen.insert(goal)) else {
                continue;
            };
            found.extend(rule.lines.iter().map(String::as_str));
            open.extend(rule.needs.iter().map(String::as_str).filter(|need| need != name));
        }
        found
    }
}

/// Kinds of files that consist of shell lines.
const SHELL_LINES: [&str; 4] = ["make", "just", "tasks", "package"];
/// Longest list of lines that is followed in a file that was there before.
const MOST_LINES: usize = 64;
/// Most files that a makefile that was there before is made of.
const MOST_INCLUDED: usize = 8;

/// A file that is run.
struct Recipe<'a> {
    text: String,
    /// Whether the line wrote it.
    written: bool,
    /// The directory that it is run in, when it is not the current one.
    folder: Option<&'a str>,
}

/// Options whose value names the file to run.
const FILE: Grammar = Grammar::anywhere("f", "file= makefile= justfile= taskfile=");
/// Options whose value names a directory.
const DIRECTORY: Grammar = Grammar::anywhere("C", "directory= prefix= cwd= dir= working-directory=");

/// Reports what the files do that the call runs.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    run(call.program, call, report);
}

/// The same for a program that runs them like another one.
pub(crate) fn run(like: &str, call: &Call<'_>, report: &mut Report) {
    // A makefile on standard input is read with the words of `make`.
    let input = match call.stdin {
        Stdin::Text(text) if !matches!(call.program, "make" | "gmake" | "bmake") => Some(text),
        _ => None,
    };
    let Some(entry) = table::find(like).filter(|entry| !entry.program.recipes.is_empty()) else {
        return;
    };
    // Settings may be given as words too.
    if entry.program.recipes.iter().any(|recipe| recipe.kind == "settings") {
        for setting in call.args.iter().filter_map(Arg::known) {
            // Text is not a setting of this program.
            if setting.split_once('=').is_none_or(|(name, _)| name.contains(char::is_whitespace)) {
                continue;
            }
            let recipe = Recipe { text: setting.to_owned(), written: true, folder: None };
            follow("settings", recipe, &[], call, report);
        }
    }
    let wrote = call.env.wrote_anything() || input.is_some();
    let in_shell = |kind: &str| SHELL_LINES.contains(&kind);
    if !wrote && !entry.program.recipes.iter().any(|recipe| in_shell(&recipe.kind)) {
        return;
    }
    if call.program == "cmake" && call.args.first().and_then(Arg::known) == Some("-E") {
        return;
    }
    let written = |path: &str| match (path, input) {
        ("-" | "/dev/stdin", Some(text)) => Some(text.clone()),
        _ => call.env.written(path),
    };
    let options = DIRECTORY.parse(call.args);
    let folder = options.text(&["C", "directory", "prefix", "cwd", "dir", "working-directory"]);
    // At any position: such a program runs a file of the line that it gets as an argument.
    let named = call.args.iter().filter_map(Arg::known).flat_map(|word| {
        let value = word.split_once('=').map(|(_, value)| value);
        let attached =
            word.strip_prefix('-').and_then(|rest| rest.get(1..)).filter(|rest| rest.starts_with(['/', '.']));
        [Some(word), value, attached].into_iter().flatten()
    });
    let named = named.filter(|word| word.len() < 256);
    let named: Vec<(&str, String)> =
        named.filter(|_| wrote).filter_map(|word| Some((word, written(word)?))).collect();
    let asked_for = FILE.parse(call.args);
    let asked_for = asked_for.text(&["f", "file", "makefile", "justfile", "taskfile"]);
    let words: Vec<&str> = options.words().collect();
    // A test or a module that stands alone holds no settings.
    let is_code = |word: &str| {
        words.contains(&word) && crate::words::CODE_ENDINGS.iter().any(|end| word.ends_with(end))
    };
    for recipe in entry.program.recipes.iter() {
        let placed = |name: &str| match folder {
            Some(folder) => format!("{folder}/{name}"),
            None => name.to_owned(),
        };
        let found = recipe.names.iter().filter(|_| wrote).flat_map(|name| match name.strip_prefix('*') {
            // Commands in such a file do not run it again.
            Some(_) if call.env.runs_through(&[call.program]) => Vec::new(),
            Some(ending) => call.env.written_like(ending),
            None => written(&placed(name)).into_iter().collect(),
        });
        let fits = |word: &str| recipe.kind != "settings" || !is_code(word);
        let named = named.iter().filter(|(word, _)| fits(word)).map(|(_, text)| text.clone());
        let texts: Vec<String> = found.chain(named).collect();
        if texts.is_empty() && in_shell(&recipe.kind) {
            let mut names =
                asked_for.map(&placed).into_iter().chain(recipe.names.iter().map(|name| placed(name)));
            if let Some(text) = names.find_map(|name| call.env.script(&name)) {
                let text = if recipe.kind == "make" { with_included(text, &placed, call) } else { text };
                follow(&recipe.kind, Recipe { text, written: false, folder }, &words, call, report);
            }
        }
        for text in texts {
            follow(&recipe.kind, Recipe { text, written: true, folder }, &words, call, report);
        }
    }
}

/// A makefile together with those that it includes by name.
fn with_included(mut text: String, placed: &impl Fn(&str) -> String, call: &Call<'_>) -> String {
    let names = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| {
            let line = line.trim_start_matches(['-', 's']);
            line.strip_prefix("include ")
        });
        lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
    };
    let mut open = names(&text);
    let mut seen: BTreeSet<String> = BTreeSet::new();
    while let Some(name) = open.pop() {
        if seen.len() >= MOST_INCLUDED || !seen.insert(name.clone()) {
            continue;
        }
        if let Some(more) = call.env.script(&placed(&name)) {
            open.extend(names(&more));
            text.push('\n');
            text.push_str(&more);
        }
    }
    text
}

/// Reports what one such file does.
fn follow(kind: &str, recipe: Recipe<'_>, words: &[&str], call: &Call<'_>, report: &mut Report) {
    let Recipe { text, written, folder } = recipe;
    let text = text.as_str();
    let lines_of = |rules: &Rules, goals: &[&str]| -> Vec<String> {
        rules.lines(goals).into_iter().map(str::to_owned).collect()
    };
    // Words that name a file are no targets.
    let words: Vec<&str> =
        words.iter().copied().filter(|word| !word.contains(['/', '.']) && *word != "-").collect();
    let lines = match kind {
        "make" => {
            let (given, goals): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.contains('='));
            lines_of(&make::rules(text, &given), &goals)
        }
        "just" => lines_of(&just::rules(text), words.get(..1).unwrap_or_default()),
        "tasks" => lines_of(&tasks::rules(text), &words),
        "package" => package::scripts(text, call.program, &words),
        "shell" => vec![text.to_owned()],
        "playbook" => tasks::playbook(text),
        "cmake" => cmake(text),
        "settings" => settings::commands(text),
        "declared" => return,
        "generate" if !words.contains(&"generate") => return,
        "generate" => {
            text.lines().filter_map(|line| line.strip_prefix("//go:generate ")).map(str::to_owned).collect()
        }
        language => {
            // Code of a language that has a table, or of one that is compiled.
            let language = shells::language_named(language).unwrap_or("compiled");
            report.next.push(Next::Recipe {
                text: text.to_owned(),
                language: Some(language),
                through: call.program.to_owned(),
                written,
            });
            return;
        }
    };
    let most = if written { usize::MAX } else { MOST_LINES };
    let folder = folder.filter(|folder| !folder.contains('\''));
    for line in lines.into_iter().take(most) {
        let text = match folder {
            Some(folder) => format!("cd '{folder}'\n{line}"),
            None => line,
        };
        report.next.push(Next::Recipe { text, language: None, through: call.program.to_owned(), written });
    }
}

/// The targets of a makefile that is not in a file (`make -f -`, `make --eval`).
pub(crate) fn makefile(text: &str, args: &[&str]) -> Vec<String> {
    let (given, goals): (Vec<&str>, Vec<&str>) = args.iter().partition(|word| word.contains('='));
    make::rules(text, &given).lines(&goals).into_iter().map(str::to_owned).collect()
}

/// The part of a `package.json` that `npm pkg set scripts.x=…` and `npm set-script x …` write.
pub(crate) fn set_scripts(words: &[&str]) -> Option<String> {
    let scripts: Vec<(&str, &str)> = match words {
        ["pkg", "set", settings @ ..] => {
            settings.iter().filter_map(|setting| setting.strip_prefix("scripts.")?.split_once('=')).collect()
        }
        ["set-script", name, script] => vec![(name, script)],
        _ => return None,
    };
    Some(package_with(&scripts))
}

/// A `package.json` as far as a filter of `jq` or `yq` or an expression of `sed` or `perl` determines its new
/// scripts: `.scripts.x = "…"`, `s/"x": ".*"/"x": "…"/`.
pub(crate) fn edited_scripts(program: &str, args: &[&str]) -> Option<String> {
    let mut scripts: Vec<(&str, &str)> = Vec::new();
    for word in args {
        if matches!(program, "sed" | "gsed" | "perl") {
            let mark = word.strip_prefix('s').and_then(|rest| rest.chars().next());
            let Some(put) =
                mark.filter(|mark| !mark.is_alphanumeric()).and_then(|mark| word.split(mark).nth(2))
            else {
                continue;
            };
            if let [_, name, between, script, ..] = put.split('"').collect::<Vec<_>>().as_slice()
                && between.trim() == ":"
            {
                scripts.push((name, script));
            }
            continue;
        }
        for setting in word.split(".scripts").skip(1) {
            let Some((name, value)) = setting.split_once('=') else { continue };
            let name = name.trim_matches(['.', '[', ']', '"', ' ', '|']);
            if let Some(script) =
                value.trim_start().strip_prefix('"').and_then(|value| value.split('"').next())
            {
                scripts.push((name, script));
            }
        }
    }
    (!scripts.is_empty()).then(|| package_with(&scripts))
}

fn package_with(scripts: &[(&str, &str)]) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let fields: Vec<String> =
        scripts.iter().map(|(name, script)| format!("\"{name}\": \"{}\"", quoted(script))).collect();
    format!("{{\"scripts\": {{{}}}}}", fields.join(", "))
}

/// The commands of `execute_process(COMMAND …)` and what `file(REMOVE…)` deletes.
fn cmake(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let text = text.replace("$ENV{", "${");
    for call in text.split("execute_process").skip(1) {
        let body = call.split(')').next().unwrap_or_default();
        for command in body.split("COMMAND ").skip(1) {
            let words = command.split_whitespace().take_while(|word| {
                word.contains(|letter: char| !letter.is_ascii_uppercase() && letter != '_')
            });
            found.push(words.collect::<Vec<_>>().join(" "));
        }
    }
    for call in text.split("file(REMOVE").skip(1) {
        let body = call.split(')').next().unwrap_or_default();
        found.push(format!("rm -rf {}", body.trim_start_matches("_RECURSE").trim()));
    }
    found
}
