//! Real threads and real processes that want the same grant at the same moment.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use lictor_engine::{
    Action, Decision, Facts, FixedClock, Lifetime, MemoryStore, PolicyEngine, Request, SqliteStore, Store,
    Timestamp, Verdict, Who, guard_fn,
};

fn engine(store: &Arc<dyn Store>, now: Timestamp) -> PolicyEngine {
    PolicyEngine::builder(guard_fn("payments", |_, _| Verdict::ask("pay?")))
        .shared_store(Arc::clone(store))
        .clock(FixedClock(now))
        .facts(|_: &Action| Facts::none())
        .build()
        .unwrap()
}

/// A day passes between rounds, so that nothing piles up.
fn moment(number: u32) -> Timestamp {
    Timestamp(i64::from(number) * 24 * 60 * 60 * 1000)
}

fn payment(number: u32) -> Action {
    Action::task("payment").in_session(format!("s{number}"))
}

/// Gives the one grant of a round.
fn grant(engine: &PolicyEngine, number: u32) {
    let action = payment(number);
    let asked = engine.evaluate(&action);
    assert_eq!(asked.decision, Decision::Ask);
    let id = Request { action: asked.action, session: action.session, policy: asked.policy }.id();
    let who = Who { by: "ada".to_owned(), at: moment(number), from: "race".to_owned() };
    engine.approvals().approve(&id, who, Lifetime::Once, 60_000).unwrap();
}

/// Gives one grant that two agents try to use at once.
fn round(stores: &[Arc<dyn Store>; 2], number: u32) {
    let engines = stores.each_ref().map(|store| engine(store, moment(number)));
    let action = payment(number);
    grant(&engines[0], number);
    let (start, passed) = (Barrier::new(2), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for engine in &engines {
            let (start, passed, action) = (&start, &passed, &action);
            scope.spawn(move || {
                start.wait();
                passed.fetch_add(usize::from(engine.evaluate(action).passed()), Ordering::Relaxed);
            });
        }
    });
    assert_eq!(passed.load(Ordering::Relaxed), 1, "round {number}");
}

#[test]
fn of_two_threads_exactly_one_gets_the_grant() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let stores = [Arc::clone(&store), store];
    (0..1000).for_each(|number| round(&stores, number));
}

/// Two connections to one file behave like two processes: only the file is shared.
#[test]
fn of_two_connections_exactly_one_gets_the_grant() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lictor.db");
    let stores = [(); 2].map(|()| -> Arc<dyn Store> { Arc::new(SqliteStore::open(&file).unwrap()) });
    (0..200).for_each(|number| round(&stores, number));
}

/// Names the store to a process that this test has started.
const STORE: &str = "LICTOR_RACE_STORE";
/// The prefix of an answer, which distinguishes it from the output of the test harness.
const ANSWER: &str = "answer ";

/// Not a test itself: the code of the two processes. Reads the number of a round, tries to use its grant, prints
/// whether it succeeded.
#[test]
fn racer() {
    let Some(file) = std::env::var_os(STORE) else { return };
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(file).unwrap());
    for line in std::io::stdin().lines() {
        let number = line.unwrap().parse().unwrap();
        let passed = engine(&store, moment(number)).evaluate(&payment(number)).passed();
        println!("\n{ANSWER}{passed}");
    }
}

struct Racer {
    process: Child,
    tell: Option<ChildStdin>,
    hear: BufReader<ChildStdout>,
}

impl Racer {
    fn start(file: &Path) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "race::racer", "--nocapture"])
            .env(STORE, file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (tell, hear) = (process.stdin.take(), process.stdout.take().unwrap());
        Self { process, tell, hear: BufReader::new(hear) }
    }

    fn go(&mut self, number: u32) {
        let tell = self.tell.as_mut().unwrap();
        tell.write_all(format!("{number}\n").as_bytes()).unwrap();
    }

    fn got_it(&mut self) -> bool {
        let mut line = String::new();
        while self.hear.read_line(&mut line).unwrap() > 0 {
            if let Some(answer) = line.trim_end().strip_prefix(ANSWER) {
                return answer.parse().unwrap();
            }
            line.clear();
        }
        panic!("a racer ended early");
    }
}

fn race(rounds: u32) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lictor.db");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&file).unwrap());
    let mut racers = [(); 2].map(|()| Racer::start(&file));
    let mut wins = [0_u32; 2];
    for number in 0..rounds {
        grant(&engine(&store, moment(number)), number);
        racers.iter_mut().for_each(|racer| racer.go(number));
        let got = racers.each_mut().map(Racer::got_it);
        assert_eq!(got.iter().filter(|got| **got).count(), 1, "round {number}: {got:?}");
        wins.iter_mut().zip(got).for_each(|(wins, got)| *wins += u32::from(got));
    }
    for mut racer in racers {
        drop(racer.tell.take());
        assert!(racer.process.wait().unwrap().success());
    }
    eprintln!("{rounds} rounds, won {wins:?}");
}

#[test]
fn of_two_processes_exactly_one_gets_the_grant() {
    race(100);
}

#[test]
#[ignore = "a thousand rounds and more; `cargo xtask soak` runs them"]
fn soak_of_two_processes_exactly_one_gets_the_grant() {
    race(2_000);
}
