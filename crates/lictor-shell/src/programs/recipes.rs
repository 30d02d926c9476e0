//! Files that build tools and test runners run, when the line itself wrote them: `printf 'x:\n\trm …' > Makefile && make x`.
//!
//! Only the targets that are asked for are followed. Files that were there before are the project's own.

mod just;
mod make;
mod package;
mod tasks;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::options::Grammar;
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
    /// Lines that are run whatever is asked for.
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

/// What a written file is to the program that runs it.
enum Kind {
    Make,
    Just,
    Tasks,
    Package,
    /// A shell script.
    Shell,
    /// Code of a language.
    Code(&'static str),
}

/// The files that a call runs: the names it looks for, or the operands that are such files.
fn looks_for(program: &str) -> Option<(&'static [&'static str], Kind)> {
    Some(match program {
        "make" | "gmake" | "bmake" => (&["GNUmakefile", "makefile", "Makefile"], Kind::Make),
        "just" => (&["justfile", "Justfile", ".justfile"], Kind::Just),
        "task" | "go-task" => (&["Taskfile.yml", "Taskfile.yaml", "taskfile.yml"], Kind::Tasks),
        "npm" | "pnpm" | "yarn" | "bun" => (&["package.json"], Kind::Package),
        "rake" => (&["Rakefile", "rakefile"], Kind::Code("ruby")),
        "pytest" | "py.test" => (&["conftest.py", "tests/conftest.py"], Kind::Code("python")),
        "pip" | "pip3" | "uv" | "build" => (&["setup.py"], Kind::Code("python")),
        "nox" => (&["noxfile.py"], Kind::Code("python")),
        "invoke" | "inv" => (&["tasks.py"], Kind::Code("python")),
        "fab" => (&["fabfile.py"], Kind::Code("python")),
        "doit" => (&["dodo.py"], Kind::Code("python")),
        "scons" => (&["SConstruct"], Kind::Code("python")),
        "gulp" => (&["gulpfile.js"], Kind::Code("javascript")),
        "grunt" => (&["Gruntfile.js"], Kind::Code("javascript")),
        "jest" => (&["jest.config.js", "jest.setup.js"], Kind::Code("javascript")),
        "vite" | "vitest" => {
            (&["vite.config.js", "vite.config.ts", "vitest.config.ts"], Kind::Code("javascript"))
        }
        "webpack" => (&["webpack.config.js"], Kind::Code("javascript")),
        "rollup" => (&["rollup.config.js"], Kind::Code("javascript")),
        "eslint" => (&["eslint.config.js", ".eslintrc.js"], Kind::Code("javascript")),
        "cargo" => (&["build.rs", "src/main.rs", "src/lib.rs"], Kind::Code("compiled")),
        "direnv" => (&[".envrc"], Kind::Shell),
        "cmake" => (&["CMakeLists.txt"], Kind::Code("cmake")),
        "gcc" | "cc" | "clang" | "g++" | "c++" | "clang++" | "tcc" | "rustc" | "go" | "java" | "javac"
        | "zig" | "swiftc" | "kotlinc" | "csc" | "dotnet" => (&[], Kind::Code("compiled")),
        "ansible-playbook" => (&[], Kind::Code("playbook")),
        _ => return None,
    })
}

/// Options whose value names the file.
const FILE: Grammar =
    Grammar::anywhere("fCP", "file= makefile= justfile= taskfile= directory= rakefile= prefix= cwd= dir=");

/// Reports what the files that the line wrote do when the call runs them.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    // A makefile on standard input is read with the words of `make`.
    let input = match call.stdin {
        Stdin::Text(text) if !matches!(call.program, "make" | "gmake" | "bmake") => Some(text),
        _ => None,
    };
    if !call.env.wrote_anything() && input.is_none() {
        return;
    }
    let Some((names, kind)) = looks_for(call.program) else { return };
    let written = |path: &str| match (path, input) {
        ("-" | "/dev/stdin", Some(text)) => Some(text.clone()),
        _ => call.env.written(path),
    };
    if call.program == "cmake" && call.args.first().and_then(Arg::known) == Some("-E") {
        return;
    }
    let named = call.args.iter().any(|arg| {
        let word = arg.prefix();
        let long = [
            "--file",
            "--makefile",
            "--justfile",
            "--taskfile",
            "--directory",
            "--rakefile",
            "--prefix",
            "--cwd",
            "--dir",
        ];
        word.starts_with("-f")
            || word.starts_with("-C")
            || word.starts_with("-P")
            || long.iter().any(|name| word.starts_with(name))
    });
    let is_code = |arg: &Arg| arg.known().is_some_and(|word| word.contains('.') && !word.starts_with('-'));
    let concerned = named
        || names.iter().any(|name| written(name).is_some())
        || matches!(kind, Kind::Code(_)) && call.args.iter().any(is_code);
    if !concerned {
        return;
    }
    let options = FILE.parse(call.args);
    let directory = options.text(&["C", "directory", "prefix", "cwd", "dir"]);
    let file = options.text(&["f", "file", "makefile", "justfile", "taskfile", "rakefile", "P"]);
    let words: Vec<&str> = options.words().collect();
    // `cmake -P <(…)` and the like: text of the line without a file.
    let mut texts: Vec<String> = match (file, directory) {
        (Some(file), _) => written(file).into_iter().collect(),
        (None, Some(directory)) => {
            names.iter().filter_map(|name| written(&format!("{directory}/{name}"))).collect()
        }
        (None, None) => names.iter().filter_map(|name| written(name)).collect(),
    };
    if matches!(kind, Kind::Code(_)) {
        texts.extend(words.iter().filter(|word| word.contains('.')).filter_map(|word| written(word)));
    }
    let lines_of = |rules: &Rules, goals: &[&str]| -> Vec<String> {
        rules.lines(goals).into_iter().map(str::to_owned).collect()
    };
    for text in texts {
        let lines = match kind {
            Kind::Make => {
                let (given, goals): (Vec<&str>, Vec<&str>) =
                    words.iter().partition(|word| word.contains('='));
                lines_of(&make::rules(&text, &given), &goals)
            }
            Kind::Just => lines_of(&just::rules(&text), words.get(..1).unwrap_or_default()),
            Kind::Tasks => lines_of(&tasks::rules(&text), &words),
            Kind::Package => package::scripts(&text, call.program, &words),
            Kind::Shell => vec![text],
            Kind::Code("playbook") => tasks::playbook(&text),
            Kind::Code("cmake") => cmake(&text),
            Kind::Code(language) => {
                report.next.push(Next::Recipe {
                    text,
                    language: Some(language),
                    through: call.program.to_owned(),
                });
                continue;
            }
        };
        for line in lines {
            report.next.push(Next::Recipe { text: line, language: None, through: call.program.to_owned() });
        }
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

/// A `package.json` as far as a filter of `jq` or `yq` or an expression of `sed` or `perl` says what its scripts become:
/// `.scripts.x = "…"`, `s/"x": ".*"/"x": "…"/`.
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
pub(crate) fn cmake(text: &str) -> Vec<String> {
    let mut found = Vec::new();
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
