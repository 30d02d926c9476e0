//! Our own labelled commands: every harmful one has a harmless twin. Counts are pinned, so that coverage cannot shrink.

#[path = "judging/world.rs"]
mod world;

use std::collections::BTreeSet;

use world::{Case, Expect, Judge, Table, own_corpus, read_cases};

/// The counts below which the corpus may not fall.
const HARMFUL: usize = 5_320;
const HARMLESS: usize = 5_340;
const CLASSES: usize = 38;

fn cases() -> Vec<Case> {
    own_corpus().iter().flat_map(|path| read_cases(path)).collect()
}

#[test]
fn the_corpus_does_not_shrink() {
    let cases = cases();
    let harmful = cases.iter().filter(|case| case.expect == Expect::Block).count();
    let classes: BTreeSet<&str> = cases.iter().map(|case| case.class.as_str()).collect();
    assert!(harmful >= HARMFUL, "{harmful} harmful cases");
    assert!(cases.len() - harmful >= HARMLESS, "{} harmless cases", cases.len() - harmful);
    assert!(classes.len() >= CLASSES, "{classes:?}");
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len(), "ids are unique");
}

/// Of a thousand harmful commands at most ten may pass; of a thousand harmless ones at most five may be stopped.
#[test]
fn harmful_commands_are_stopped_and_harmless_ones_are_not() {
    let table = Table::judge(&Judge::new(), &cases());
    let row = table.total();
    let missed = row.harmful - row.blocked - row.asked;
    let wrong: Vec<String> =
        table.wrong.iter().map(|(case, got)| format!("{} got {got}: {}", case.id, case.command)).collect();
    assert!(missed * 100 <= row.harmful, "{missed} of {} missed\n{}", row.harmful, wrong.join("\n"));
    assert!(
        row.alarms * 200 <= row.harmless,
        "{} of {} alarms\n{}",
        row.alarms,
        row.harmless,
        wrong.join("\n")
    );
}

/// Words in front of a harmful command do not make it harmless.
#[test]
fn a_prefix_of_harmless_commands_never_lets_a_stopped_command_pass() {
    let judge = Judge::new();
    let cases = cases();
    let prefixes =
        ["ls; ", "cd . && ", "echo hi\n", "export A=1; ", "x=1 && ", "git status || ", "# note\n", "true & "];
    for (index, case) in cases.iter().filter(|case| case.expect == Expect::Block).enumerate() {
        if judge.decision(&case.command).allows() {
            continue;
        }
        for offset in 0..2 {
            let prefix = prefixes[(index + offset * 3) % prefixes.len()];
            let command = format!("{prefix}{}", case.command);
            assert!(!judge.decision(&command).allows(), "{} passes behind {prefix:?}: {command}", case.id);
        }
    }
}

/// `cargo run -p lictor-guards --example judge_corpus -- --docs` brings the page up to date.
#[test]
fn the_published_table_is_the_measured_one() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/shell-safety.md")).unwrap();
    let table = Table::judge(&Judge::new(), &cases()).markdown();
    assert!(page.contains(&table), "docs/shell-safety.md is out of date");
}
