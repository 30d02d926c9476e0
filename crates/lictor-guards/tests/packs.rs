//! Every rule of every pack: its examples, and its way out, judged by the pack itself.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "judging/world.rs"]
mod world;

use std::sync::Arc;

use lictor_core::{Judged, SharedGuard};
use lictor_guards::{KnownTools, Pack, Rules, RulesConfig, SelfProtection};
use lictor_observe::FakeObserver;
use serde::Deserialize;
use world::Judge;

#[derive(Deserialize)]
struct Source {
    rules: Vec<SourceRule>,
}

#[derive(Deserialize)]
struct SourceRule {
    id: String,
    fix: String,
    #[serde(rename = "match")]
    matching: Vec<String>,
    not_match: Vec<String>,
}

fn source(pack: &Pack) -> Source {
    let path = format!("{}/packs/{}.yaml", env!("CARGO_MANIFEST_DIR"), pack.name);
    serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn judge(pack: &str) -> Judge {
    let rules = Rules::new(&RulesConfig { packs: vec![pack.to_owned()], ..RulesConfig::default() }).unwrap();
    let guards: Vec<SharedGuard> =
        vec![Arc::new(SelfProtection), Arc::new(rules), Arc::new(KnownTools::default())];
    let world = FakeObserver::for_judging().file("/home/user/project/README.md", "text");
    Judge::seeing(guards, world)
}

fn fired(judged: &Judged, id: &str) -> bool {
    judged.verdicts.iter().any(|given| given.verdict.rule() == Some(id))
}

#[test]
fn examples_match_and_their_twins_do_not() {
    let mut wrong = Vec::new();
    for pack in Pack::all() {
        let judge = judge(pack.name);
        for rule in source(pack).rules {
            for example in &rule.matching {
                if !fired(&judge.command(example), &rule.id) {
                    wrong.push(format!("{} does not match {example:?}", rule.id));
                }
            }
            for example in &rule.not_match {
                if fired(&judge.command(example), &rule.id) {
                    wrong.push(format!("{} matches {example:?}", rule.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_fix_names_a_command_that_the_same_pack_lets_through() {
    let mut wrong = Vec::new();
    for pack in Pack::all() {
        let judge = judge(pack.name);
        for rule in source(pack).rules {
            let commands: Vec<&str> = rule.fix.split('`').skip(1).step_by(2).collect();
            if commands.is_empty() {
                wrong.push(format!("{} names no command", rule.id));
            }
            for command in commands {
                let decision = judge.decision(command);
                if !decision.allows() {
                    wrong.push(format!("{}: `{command}` gets {decision}", rule.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rule_ids_are_unique() {
    let mut ids: Vec<&str> = Pack::all().iter().flat_map(|pack| pack.rules()).map(|rule| rule.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn a_pack_in_the_binary_has_the_rules_of_its_file() {
    for pack in Pack::all() {
        let mut compiled: Vec<&str> = pack.rules().map(|rule| rule.id).collect();
        let source = source(pack);
        let mut written: Vec<&str> = source.rules.iter().map(|rule| rule.id.as_str()).collect();
        compiled.sort_unstable();
        written.sort_unstable();
        assert_eq!(compiled, written, "{}", pack.name);
    }
}

#[test]
fn an_unknown_pack_is_refused_with_the_known_ones() {
    let config = RulesConfig { packs: vec!["recomended".to_owned()], ..RulesConfig::default() };
    let error = Rules::new(&config).unwrap_err().to_string();
    assert!(error.contains("`recomended`") && error.contains("`recommended`"), "{error}");
}
