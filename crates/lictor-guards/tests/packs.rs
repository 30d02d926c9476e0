//! Every rule of every pack: its examples and its fix, judged by the pack itself.
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
    #[serde(rename = "match")]
    matching: Vec<String>,
    not_match: Vec<String>,
    decision: String,
    #[serde(default)]
    then: Vec<String>,
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

/// What a fix tells the agent to run.
fn commands(fix: &str) -> Vec<&str> {
    fix.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_fix_leads_on() {
    let mut wrong = Vec::new();
    for pack in Pack::all() {
        let judge = judge(pack.name);
        for rule in source(pack).rules.iter().filter(|rule| rule.decision != "warn") {
            for example in &rule.matching {
                let judged = judge.command(example);
                let given = judged.verdicts.iter().find(|given| given.verdict.rule() == Some(&rule.id));
                let fix = given.unwrap().verdict.fix();
                let named = commands(fix);
                let person = fix.contains("a person");
                if named.is_empty() && rule.then.is_empty() && !person {
                    wrong.push(format!("{}: {example:?} leads nowhere: {fix}", rule.id));
                }
                for command in named.into_iter().chain(rule.then.iter().map(String::as_str)) {
                    let decision = judge.decision(command);
                    if !decision.allows() {
                        wrong.push(format!("{}: {example:?} → `{command}` gets {decision}", rule.id));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fixes_are_made_from_the_command_at_hand() {
    let judge = judge("recommended");
    let fix = |command: &str| {
        let judged = judge.command(command);
        let given = judged.verdicts.iter().find(|given| !given.verdict.passed()).unwrap();
        given.verdict.fix().to_owned()
    };
    for (command, named) in [
        ("git branch -D topic/one", "git branch -d topic/one"),
        ("git stash drop stash@{1}", "git stash apply stash@{1}"),
        ("git commit --no-verify -m 'a message'", "git commit -m 'a message'"),
        ("git push -f origin dev", "git push --force-with-lease origin dev"),
        ("terraform destroy -target=x -auto-approve", "terraform plan -destroy -target=x"),
        ("kubectl delete deployment api", "kubectl get deployment api"),
        ("docker volume prune", "docker volume ls --filter dangling=true"),
        ("truncate -s 0 my.db", "cp my.db my.db.bak"),
        ("cargo publish", "cargo publish --dry-run"),
    ] {
        assert!(commands(&fix(command)).contains(&named), "{command}: {}", fix(command));
    }
    for command in ["redis-cli flushall", "psql -c 'DROP DATABASE app'", "git stash clear"] {
        assert!(fix(command).contains("a person") && commands(&fix(command)).is_empty(), "{command}");
    }
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
