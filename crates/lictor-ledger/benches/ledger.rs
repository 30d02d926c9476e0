//! The cost of the ledger when it is empty and with 100 000 findings. Prints a table.
//!
//! First asserts that the measured operations give the right results.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise and prints"
)]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use lictor_core::{Clock, Timestamp};
use lictor_ledger::council::{Councils, Progress, Reviewer};
use lictor_ledger::gate::{Gate, GateEvent, GateOutcome};
use lictor_ledger::repository::{Git, Repository as _};
use lictor_ledger::{Claim, Evidence, Ledger, Level, PlanHash, binding};
use lictor_store::SqliteStore;

const FINDINGS: usize = 100_000;
const PLANS: usize = 1_000;
const FILES: usize = 200;
const LINES: usize = 200;
const SAMPLES: usize = 101;

struct Now;

impl Clock for Now {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Timestamp(i64::try_from(since.as_millis()).unwrap())
    }
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    repository(&root);
    let git = Git::at(&root).unwrap();
    let empty = SqliteStore::open(dir.path().join("empty.db")).unwrap();
    let full = SqliteStore::open(dir.path().join("full.db")).unwrap();
    let empty = Ledger::new(&empty, git.id(), &Now);
    let ledger = Ledger::new(&full, git.id(), &Now);

    // As in `verdict import`: one plan, one transaction.
    let import = SqliteStore::open(dir.path().join("import.db")).unwrap();
    let import = Ledger::new(&import, git.id(), &Now);
    let unbound = claims(FINDINGS);
    let (claims, importing) = timed(|| {
        let mut claims = Claim::coalesce(unbound);
        binding::bind(&mut claims, &git, None).unwrap();
        assert_eq!(import.record_all(&plan(0), &claims).unwrap().len(), FINDINGS);
        claims
    });
    println!("{FINDINGS} findings imported into one plan in {:.1} s", importing.as_secs_f64());

    // No finding blocks at first: all that are HIGH or worse point at lines that are no longer in the index.
    let filling = Instant::now();
    for (number, chunk) in claims.chunks(FINDINGS / PLANS).enumerate() {
        ledger.record_all(&plan(number), chunk).unwrap();
    }
    let filling = filling.elapsed();
    rewrite(&root);
    let stale = gate(&ledger, &git);
    assert!(matches!(stale, GateOutcome::Ok(_)), "{stale:?}");
    assert_eq!(ledger.retro(10, Level::Low).unwrap().len(), 10);

    println!("{FINDINGS} findings in {PLANS} plans, one transaction each, in {:.1} s", filling.as_secs_f64());
    let on_empty = percentiles(|sample| record(&empty, sample));
    let on_full = percentiles(|sample| record(&ledger, sample));
    row("record, empty ledger", on_empty);
    row("record, full ledger", on_full);
    println!("{:<44} {:>9.2}x", "  ratio of p50", on_full.0.as_secs_f64() / on_empty.0.as_secs_f64());
    row("retro --limit 10", percentiles(|_| drop(ledger.retro(10, Level::Low).unwrap())));
    row("retro --min-level CRITICAL", percentiles(|_| drop(ledger.retro(10, Level::Critical).unwrap())));
    row("show, a plan of 100", percentiles(|_| drop(ledger.verdict("plan-500").unwrap())));
    let (open, took) = timed(|| {
        let mut open = 0;
        ledger
            .open_findings(Level::High, |_, _, _, _| {
                open += 1;
                Ok(true)
            })
            .unwrap();
        open
    });
    println!("{:<44} {:>9.1} ms", format!("reading all {open} open HIGH and CRITICAL"), millis(took));
    let all_stale: Vec<Duration> = (0..5).map(|_| timed(|| gate(&ledger, &git)).1).collect();
    println!("{:<44} {:>9.1} ms", "gate, every one of them stale (median of 5)", millis(median(all_stale)));
    // One line is restored.
    std::fs::write(root.join("f0.py"), text(0)).unwrap();
    run(&root, &["add", "."]);
    let blocked = gate(&ledger, &git);
    assert!(matches!(blocked, GateOutcome::Blocked(..)), "{blocked:?}");
    let blocked: Vec<Duration> = (0..11).map(|_| timed(|| gate(&ledger, &git)).1).collect();
    println!("{:<44} {:>9.1} ms", "gate, blocked (median of 11)", millis(median(blocked)));
    let floor: Vec<Duration> = (0..11).map(|_| timed(|| run(&root, &["--version"])).1).collect();
    println!("{:<44} {:>9.1} ms", "floor: starting git once", millis(median(floor)));
}

fn plan(number: usize) -> PlanHash {
    format!("plan-{number}").parse().unwrap()
}

/// Each file's every line is flagged; a tenth of the findings is HIGH or CRITICAL.
fn claims(count: usize) -> Vec<Claim> {
    (0..count)
        .map(|number| {
            let level = match number % 20 {
                0 => Level::Critical,
                1 => Level::High,
                n if n % 2 == 0 => Level::Medium,
                _ => Level::Low,
            };
            let (file, line) = (number % FILES, number / FILES % LINES);
            let place = Evidence::line(format!("f{file}.py"), u32::try_from(line).unwrap() + 1);
            Claim::new(level, format!("issue {number}"), format!("agent-{}", number % 7))
                .and_then(|claim| claim.with_evidence([place.with_note("here")]))
                .and_then(|claim| claim.with_rationale("because it is not right"))
                .unwrap()
        })
        .collect()
}

fn text(file: usize) -> String {
    (0..LINES).map(|line| format!("line_{line} = {}\n", file * LINES + line)).collect()
}

fn repository(root: &Path) {
    std::fs::create_dir(root).unwrap();
    run(root, &["init", "-q"]);
    (0..FILES).for_each(|file| std::fs::write(root.join(format!("f{file}.py")), text(file)).unwrap());
    run(root, &["add", "."]);
}

fn rewrite(root: &Path) {
    for file in 0..FILES {
        std::fs::write(root.join(format!("f{file}.py")), text(file).replace("line_", "repaired_")).unwrap();
    }
    run(root, &["add", "."]);
}

fn run(root: &Path, args: &[&str]) {
    assert!(Command::new("git").args(args).current_dir(root).output().unwrap().status.success());
}

fn record(ledger: &Ledger<'_>, sample: usize) {
    let claim = Claim::new(Level::Low, format!("new {sample}"), "bench").unwrap();
    ledger.record(&plan(0), &claim).unwrap();
}

fn gate(ledger: &Ledger<'_>, git: &Git) -> GateOutcome {
    let trust = |_: &str, _: &Reviewer| Ok(());
    let progress = |_: &Progress<'_>| {};
    let councils = Councils::new();
    Gate { ledger, repository: git, councils: &councils, alone: true, trust: &trust, progress: &progress }
        .judge(&GateEvent::PreCommit)
}

fn timed<T>(f: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = f();
    (value, start.elapsed())
}

fn percentiles(mut f: impl FnMut(usize)) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (0..SAMPLES).map(|sample| timed(|| f(sample)).1).collect();
    times.sort_unstable();
    (*times.get(SAMPLES / 2).unwrap(), *times.get(SAMPLES * 95 / 100).unwrap())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    *times.get(times.len() / 2).unwrap()
}

fn row(what: &str, (p50, p95): (Duration, Duration)) {
    println!("{what:<44} {:>9.3} ms p50 {:>9.3} ms p95", millis(p50), millis(p95));
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
