//! Judges labelled commands with the default policy and prints the confusion table.
//!
//! `cargo run -p lictor-guards --example judge_corpus -- [--wrong] [--docs] [--explain COMMAND] [FILE.jsonl …]`; without
//! files: our own corpus, and the shared one when it is there. `--docs` writes the tables into `docs/shell-safety.md`.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a tool for people, built on the tests' harness"
)]

#[path = "../tests/judging/world.rs"]
mod world;

use std::path::{Path, PathBuf};

use lictor_shell::describe::source::Source;
use world::{Case, Judge, Row, Table, own_corpus, read_cases};

/// The path of the shared corpus, on machines that have it.
const SHARED: &str = "/work/shared/corpora/shell-safety.jsonl";

fn main() {
    let mut wrong = false;
    let mut explain = None;
    let mut files: Vec<PathBuf> = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--wrong" => wrong = true,
            "--docs" => return write_docs(),
            "--explain" => explain = args.next(),
            _ => files.push(PathBuf::from(arg)),
        }
    }
    let judge = Judge::new();
    if let Some(command) = explain {
        let judged = judge.command(&command);
        println!("{}", judged.value);
        for given in &judged.verdicts {
            println!("  {} {:?} {}", given.verdict.value(), given.verdict.rule(), given.verdict.reason());
        }
        let action = lictor_core::Action::bash(command).in_dir("/home/user/project");
        println!("{:#?}", judge.facts(&action));
        return;
    }
    if files.is_empty() {
        files = own_corpus();
        let shared = Path::new(SHARED);
        files.extend(shared.exists().then(|| shared.to_owned()));
    }
    let exceptions = exceptions();
    let cases: Vec<Case> = files
        .iter()
        .flat_map(|file| read_cases(file))
        .filter(|case| !exceptions.contains(&case.id))
        .collect();
    let table = Table::judge(&judge, &cases);
    println!("{}\n{}", knowledge(table.total()), table.markdown());
    if wrong {
        for (case, decision) in &table.wrong {
            let reasons: Vec<String> = judge
                .command(&case.command)
                .verdicts
                .iter()
                .filter(|given| given.verdict.value() > lictor_core::Value::Warn)
                .map(|given| {
                    format!("{}: {}", given.verdict.rule().unwrap_or_default(), given.verdict.reason())
                })
                .collect();
            println!(
                "{} {:?} got {decision}: {:?}\n      {}",
                case.id,
                case.expect,
                case.command,
                reasons.join("; ")
            );
        }
    }
}

/// Brings the tables in the documentation up to date.
fn write_docs() {
    let judge = Judge::new();
    let own: Vec<Case> = own_corpus().iter().flat_map(|file| read_cases(file)).collect();
    let table = Table::judge(&judge, &own);
    let knowledge = knowledge(table.total());
    let table = table.markdown();
    put("own", &table);
    put("knowledge", &knowledge);
    println!("{knowledge}\n{table}");
    let shared = Path::new(SHARED);
    if shared.exists() {
        let exceptions = exceptions();
        let cases: Vec<Case> =
            read_cases(shared).into_iter().filter(|case| !exceptions.contains(&case.id)).collect();
        put("shared", &Table::judge(&judge, &cases).markdown());
    }
}

/// The number of described programs, how they are described, and how often the verdict is right.
fn knowledge(judged: Row) -> String {
    let shell = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lictor-shell");
    let (mut programs, mut rows, mut by_code, mut examples, mut data) = (0, 0, 0, 0, 0);
    for file in files(&shell.join("programs"), "yaml") {
        let text = std::fs::read_to_string(file).expect("a description can be read");
        data += text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#')).count();
        let Ok(sources) = serde_saphyr::from_str::<Vec<Source>>(&text) else { continue };
        for source in sources {
            let alone = source.by.is_some() && source.always.is_none() && source.commands.is_empty();
            programs += source.program.words().len();
            by_code += if alone { source.program.words().len() } else { 0 };
            rows += source.commands.len() + usize::from(source.always.is_some());
            examples += source.matching.len() + source.not_match.len();
        }
    }
    let code: usize = files(&shell.join("src/programs"), "rs")
        .iter()
        .chain([&shell.join("src/programs.rs")])
        .filter(|path| !path.ends_with("tests.rs"))
        .map(|path| {
            let text = std::fs::read_to_string(path).expect("a source can be read");
            text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//")).count()
        })
        .sum();
    let percent = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
    let stopped = percent(judged.blocked + judged.asked, judged.harmful);
    let alarms = percent(judged.alarms, judged.harmless);
    format!(
        "| programs | of these in code alone | rows | example lines | lines of data | lines of code | harmful stopped | harmless stopped |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|\n| {programs} | {by_code} | {rows} | {examples} | {data} | {code} | {stopped:.2} % | {alarms:.2} % |\n"
    )
}

/// Files below a folder, by their ending.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found
}

/// Replaces the text between two markers of the page.
fn put(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/shell-safety.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (open, close) = (format!("<!-- table {name} -->\n"), format!("<!-- end {name} -->"));
    let (front, rest) = page.split_once(&open).expect("the page has the opening mark");
    let (_, back) = rest.split_once(&close).expect("the page has the closing mark");
    std::fs::write(&path, format!("{front}{open}{table}{close}{back}")).expect("the page can be written");
}

/// Ids of cases whose label contradicts the stance.
fn exceptions() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus-exceptions.txt");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}
