//! Judges labelled commands with the default policy and prints the confusion table.
//!
//! `cargo run -p lictor-guards --example judge_corpus [--wrong] [FILE.jsonl …]`; without files: our own corpus, and the
//! shared one when it is there.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a tool for people, built on the tests' harness"
)]

#[path = "../tests/judging/world.rs"]
mod world;

use std::path::{Path, PathBuf};

use world::{Case, Judge, Table, own_corpus, read_cases};

fn main() {
    let mut wrong = false;
    let mut explain = None;
    let mut files: Vec<PathBuf> = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--wrong" => wrong = true,
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
        let shared = Path::new("/work/shared/corpora/shell-safety.jsonl");
        files.extend(shared.exists().then(|| shared.to_owned()));
    }
    let exceptions = exceptions();
    let cases: Vec<Case> = files
        .iter()
        .flat_map(|file| read_cases(file))
        .filter(|case| !exceptions.contains(&case.id))
        .collect();
    let table = Table::judge(&judge, &cases);
    println!("{}", table.markdown());
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

/// Ids of cases whose label contradicts the stance.
fn exceptions() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus-exceptions.txt");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}
