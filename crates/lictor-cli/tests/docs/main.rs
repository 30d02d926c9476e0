//! Every sample in the README and in `docs/` is run.
//!
//! Each `##` section gets an empty home and a fresh repository. Fenced blocks are taken in order:
//!
//! - `yaml` is written to `governance.yaml`, or to the file named in its first line (`# policy_tests/push.yaml`),
//!   and must pass `lictor check`;
//! - `console` is a session: lines that start with `$ ` are run by a shell, `? 2` after one is its exit code,
//!   what follows is its output. `...` on its own line matches any lines, `[..]` any text within a line;
//! - `sh` is run and must succeed;
//! - any other file can be given as `text` with its name in the first line (`# src/auth/handler.py`).
//!
//! A block that follows `<!-- not run: why -->` is skipped, visibly.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of tests fail by panicking"
)]

#[expect(dead_code, reason = "the other tests use more of it")]
#[path = "../cli/sandbox.rs"]
mod sandbox;

mod blocks;
mod examples;
mod features;
mod map;
mod promises;
mod session;

use std::fs;
use std::path::{Path, PathBuf};

use blocks::{Block, Section};
use sandbox::Sandbox;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(file: &str) {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let mut ran = 0;
    for section in blocks::sections(&text) {
        ran += run_section(file, &section);
    }
    assert!(ran > 0, "{file} has no sample that is run");
}

/// Runs one section and says how many blocks that were.
fn run_section(file: &str, section: &Section) -> usize {
    let sandbox = Sandbox::new();
    let mut ran = 0;
    for Block { language, text, line, skipped } in &section.blocks {
        let place = format!("{file}:{line} ({})", section.title);
        if let Some(why) = skipped {
            println!("{place}: not run: {why}");
            continue;
        }
        match language.as_str() {
            "yaml" => {
                let (name, text) = blocks::named(text, "governance.yaml");
                sandbox.write(&name, text);
                if name == "governance.yaml" {
                    let check = sandbox.lictor(&["check"]);
                    assert_eq!(check.code, 0, "{place}: {}{}", check.stdout, check.stderr);
                }
            }
            "text" => match blocks::named(text, "") {
                (name, _) if name.is_empty() => continue,
                (name, text) => sandbox.write(&name, text),
            },
            "console" => session::run(&sandbox, text, &place),
            "sh" => {
                let done = sandbox.program("sh", &["-ec", text], "");
                assert_eq!(done.code, 0, "{place}: {}{}", done.stdout, done.stderr);
            }
            _ => continue,
        }
        ran += 1;
    }
    ran
}

#[test]
fn readme() {
    run("README.md");
}

#[test]
fn every_page_of_the_docs_with_samples() {
    let mut pages: Vec<PathBuf> =
        fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
    pages.sort();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        if text.contains("```console") || text.contains("```yaml") || text.contains("```sh") {
            let name = page.file_name().unwrap().to_string_lossy();
            run(&format!("docs/{name}"));
        }
    }
}

#[test]
fn a_wrong_sample_is_found() {
    let wrong = "## x\n\n```console\n$ echo hello\ngoodbye\n```\n";
    let sections = blocks::sections(wrong);
    let failed = std::panic::catch_unwind(|| run_section("test.md", &sections[1]));
    assert!(failed.is_err());
    let code = "## x\n\n```console\n$ exit 3\n```\n";
    let sections = blocks::sections(code);
    assert!(std::panic::catch_unwind(|| run_section("test.md", &sections[1])).is_err());
    let right = "## x\n\n```console\n$ printf 'a\\nb\\nc 1\\n'; exit 3\n? 3\na\n...\nc [..]\n```\n";
    assert_eq!(run_section("test.md", &blocks::sections(right)[1]), 1);
}
