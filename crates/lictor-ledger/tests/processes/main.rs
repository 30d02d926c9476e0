//! Many processes on one ledger, and processes that die.
//!
//! The test binary starts itself as the workers.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking and talk to each other"
)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use lictor_core::{Clock, Timestamp};
use lictor_ledger::ledger::Verb;
use lictor_ledger::{Claim, Ledger, LedgerError, Level, PlanHash, RepositoryId};
use lictor_store::{Query, SqliteOptions, SqliteStore, StoreExt as _, verify};
use serde_json::Value;

struct Ticks;

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Timestamp(i64::try_from(since.as_millis()).unwrap())
    }
}

fn with_ledger<T>(file: &Path, f: impl FnOnce(&Ledger<'_>) -> T) -> T {
    let store = SqliteOptions::new().wait(std::time::Duration::from_secs(120)).open(file).unwrap();
    f(&Ledger::new(&store, &RepositoryId::of(Path::new("/r")), &Ticks))
}

fn plan() -> PlanHash {
    "shared".parse().unwrap()
}

fn worker_command(role: &str, number: usize, count: usize, file: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker", "--ignored", "--nocapture", "--test-threads=1"])
        .env("LICTOR_WORKER", format!("{role} {number} {count}"))
        .env("LICTOR_WORKER_STORE", file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not a test: what the other tests start.
#[test]
#[ignore = "started by the tests in this file"]
fn worker() {
    let Ok(role) = std::env::var("LICTOR_WORKER") else { return };
    let file = std::env::var_os("LICTOR_WORKER_STORE").unwrap();
    let words: Vec<&str> = role.split(' ').collect();
    let (role, number, count): (&str, usize, usize) =
        (words[0], words[1].parse().unwrap(), words[2].parse().unwrap());
    with_ledger(Path::new(&file), |ledger| {
        for turn in 0..count {
            let said = match role {
                "record" => record(ledger, number, turn),
                "recorder" => record(ledger, number, turn % 20),
                "clear" => clear(ledger, turn),
                _ => waive(ledger, turn),
            };
            println!("\nack {said}");
            std::io::stdout().flush().unwrap();
        }
    });
}

fn record(ledger: &Ledger<'_>, number: usize, turn: usize) -> String {
    let level = Level::WORST_FIRST[turn % 4];
    let claim = Claim::new(level, format!("title {turn}"), format!("agent-{number}")).unwrap();
    ledger.record(&plan(), &claim).unwrap().id.to_string()
}

/// Clears open findings, except critical ones.
fn clear(ledger: &Ledger<'_>, turn: usize) -> String {
    let target = match ledger.verdict("shared") {
        Ok(verdict) => {
            verdict.open.iter().filter(|f| f.level < Level::Critical).nth(turn % 7).map(|f| f.id.to_string())
        }
        Err(LedgerError::NoPlan(_)) => None,
        Err(error) => panic!("{error}"),
    };
    target.map_or_else(String::new, |id| {
        ledger.clear("shared", &id, "ann", "").unwrap();
        id
    })
}

fn waive(ledger: &Ledger<'_>, turn: usize) -> String {
    let target = match ledger.verdict("shared") {
        Ok(verdict) => {
            verdict.open.iter().filter(|f| f.level < Level::Critical).nth(turn % 5).map(|f| f.id.to_string())
        }
        Err(LedgerError::NoPlan(_)) => None,
        Err(error) => panic!("{error}"),
    };
    target.map_or_else(String::new, |id| {
        ledger.rule("shared", &id, Verb::FalsePositive, "bob", "a test", None).unwrap();
        id
    })
}

fn acknowledged(child: Child) -> Vec<String> {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("ack ")).map(str::to_owned).collect()
}

#[test]
fn sixteen_processes_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lictor.db");
    drop(SqliteStore::open(&file).unwrap());
    let children: Vec<Child> = (0..16).map(|number| worker_command("record", number, 100, &file)).collect();
    let acked: Vec<String> = children.into_iter().flat_map(acknowledged).collect();
    assert_eq!(acked.len(), 1_600);
    with_ledger(&file, |ledger| {
        let verdict = ledger.verdict("shared").unwrap();
        assert_eq!(verdict.open.len(), 1_600);
        assert_eq!(verdict.tally().summary(), "1600 finding(s): 400 critical, 400 high, 400 medium, 400 low");
        assert_eq!(ledger.verify().unwrap(), []);
    });
}

/// The state of the log, folded without the ledger's own code.
fn folded(file: &Path) -> BTreeMap<String, (String, bool)> {
    let store = SqliteStore::open(file).unwrap();
    let records = store.view(|view| view.records(&Query::all().limit(usize::MAX))).unwrap();
    let mut waived: BTreeMap<String, u8> = BTreeMap::new();
    let mut findings: BTreeMap<String, (String, bool)> = BTreeMap::new();
    let rank =
        |level: &str| ["LOW", "MEDIUM", "HIGH", "CRITICAL"].iter().position(|name| *name == level).unwrap();
    for record in records {
        let body: Value = serde_json::from_str(&record.body).unwrap();
        let Some(id) = body["id"].as_str().map(str::to_owned) else { continue };
        match record.kind.as_str() {
            "finding.cleared" => findings.get_mut(&id).unwrap().1 = false,
            "finding.waived" => {
                let finding = findings.get_mut(&id).unwrap();
                finding.1 = false;
                waived.insert(id, u8::try_from(rank(&finding.0)).unwrap());
            }
            _ => {
                let level = body["level"].as_str().unwrap().to_owned();
                let open = waived.get(&id).is_none_or(|up_to| rank(&level) > usize::from(*up_to));
                findings.insert(id, (level, open));
            }
        }
    }
    findings
}

#[test]
fn recording_clearing_and_waiving_at_once_is_some_order_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lictor.db");
    drop(SqliteStore::open(&file).unwrap());
    let roles = ["recorder", "recorder", "recorder", "recorder", "clear", "clear", "waive"];
    let children: Vec<(&str, Child)> = roles
        .iter()
        .enumerate()
        .map(|(number, role)| (*role, worker_command(role, number, 40, &file)))
        .collect();
    let recorded: Vec<String> = children
        .into_iter()
        .map(|(role, child)| (role, acknowledged(child)))
        .filter(|(role, _)| *role == "recorder")
        .flat_map(|(_, acked)| acked)
        .collect();
    let model = folded(&file);
    with_ledger(&file, |ledger| {
        let verdict = ledger.verdict("shared").unwrap();
        let live: BTreeMap<String, (String, bool)> = verdict
            .open
            .iter()
            .chain(&verdict.closed)
            .map(|finding| (finding.id.to_string(), (finding.level.to_string(), finding.is_open())))
            .collect();
        assert_eq!(live, model);
        assert!(recorded.iter().all(|id| live.contains_key(id)));
        // Critical findings are never cleared, so no interleaving may have lost one.
        assert!(live.values().all(|(level, open)| level != "CRITICAL" || *open));
        assert_eq!(verdict.tally().count(Level::Critical), 20);
        assert_eq!(ledger.verify().unwrap(), []);
    });
}

/// Starts a recorder, lets it get so far, kills it; as often as asked. Returns how many reports were acknowledged.
fn kill_recorders(times: usize) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lictor.db");
    drop(SqliteStore::open(&file).unwrap());
    let mut acked = Vec::new();
    for round in 0..times {
        let mut child = worker_command("record", round, 1_000_000, &file);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // A different number of reports each time, so that the end comes at different places.
        let reports = 1 + (round * 7) % 11;
        let mut spin = (round * 7_919) % 20_000;
        let got: Vec<String> = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("ack ").map(str::to_owned))
            .take(reports)
            .collect();
        while spin > 0 {
            spin = std::hint::black_box(spin - 1);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(got.len(), reports);
        acked.extend(got);
    }
    with_ledger(&file, |ledger| {
        let verdict = ledger.verdict("shared").unwrap();
        let known: std::collections::HashSet<String> =
            verdict.open.iter().map(|finding| finding.id.to_string()).collect();
        let lost: Vec<&String> = acked.iter().filter(|id| !known.contains(*id)).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        assert_eq!(ledger.verify().unwrap(), []);
    });
    let store = SqliteStore::open(&file).unwrap();
    assert!(store.view(|view| verify(view, 1..=u64::MAX, None)).unwrap().is_sound());
    acked.len()
}

#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged() {
    assert!(kill_recorders(30) >= 30);
}

#[test]
#[ignore = "the long form: cargo test -p lictor-ledger --test processes -- --ignored soak"]
fn soak_two_hundred_kills() {
    println!("{} acknowledged reports, none lost", kill_recorders(200));
}
