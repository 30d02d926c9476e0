//! A hook inside of `lictor run`: a client of the guardian, beside a process that does nothing in the same sandbox and
//! beside hooks that judge themselves outside. Batches inside and outside take turns.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::{HOOK, MEGABYTE, Place, STARTER, Subject};
use crate::bench::paper;
use crate::bench::samples::Samples;
use crate::{release, shell};

/// The word by which this program knows that it is the one inside.
pub const INSIDE: &str = "guardian-inside";
/// Calls of a batch.
const BATCH: usize = 50;
const TRUE: &str = "/bin/true";

/// What one batch took, in nanoseconds.
#[derive(Default, Serialize, Deserialize)]
struct Batch {
    nothing: Vec<u64>,
    hook: Vec<u64>,
}

/// Measures from outside.
pub fn run(args: &[String]) -> Result<()> {
    let options = super::options(args)?;
    let lictor = match options.lictor {
        Some(path) => fs::canonicalize(path)?,
        None => release::build()?,
    };
    let place = Place::new(&shell::target().join("bench"))?;
    place.write_starter(&lictor)?;
    let mut direct = hook(&lictor);
    place.check_base(&direct)?;
    let mut outside = nothing();
    let (mut inside, mut thin) = (nothing(), hook(&lictor));
    let mut sandbox = Sandbox::start(&place, &lictor)?;
    let mut memory = vec![sandbox.memory()?];
    for _ in 0..options.rounds.div_ceil(BATCH) {
        sandbox.ask("alone", &mut inside.alone, &mut thin.alone)?;
        let mut both = [outside, direct];
        place.time_in_turns(&mut both, BATCH)?;
        [outside, direct] = both;
        sandbox.ask("crowd", &mut inside.crowd, &mut thin.crowd)?;
        outside.crowd.merge(place.crowd(&outside)?);
        direct.crowd.merge(place.crowd(&direct)?);
    }
    memory.push(sandbox.memory()?);
    sandbox.end()?;
    let row = |name: &str, subject: &Subject, floor: &Subject| {
        let (alone, crowd) = (|p| subject.alone.percentile(p), |p| subject.crowd.percentile(p));
        format!(
            "| {name} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |\n",
            alone(50),
            alone(95),
            alone(50) / floor.alone.percentile(50),
            crowd(50),
            crowd(95),
            crowd(50) / floor.crowd.percentile(50),
        )
    };
    let figures = format!(
        "{} rounds.\n\n\
         | milliseconds | p50 | p95 | p50, × /bin/true beside it | 8 at once: p50 | p95 | p50, × |\n\
         |---|---|---|---|---|---|---|\n{}{}{}{}\n\
         The guardian's resident memory: {:.1} MB after the first call, {:.1} MB after the last.",
        options.rounds,
        row("/bin/true, inside of `lictor run`", &inside, &inside),
        row("lictor hook, inside: asks the guardian", &thin, &inside),
        row("/bin/true, outside", &outside, &outside),
        row("lictor hook, outside: judges itself", &direct, &outside),
        memory.first().copied().unwrap_or(f64::NAN),
        memory.last().copied().unwrap_or(f64::NAN),
    );
    println!("\n{figures}");
    paper::write("guardian", &figures)
}

fn nothing() -> Subject {
    Subject { project: STARTER, ..Subject::new(TRUE, [TRUE]) }
}

fn hook(lictor: &std::path::Path) -> Subject {
    let argv = [lictor.display().to_string()].into_iter().chain(HOOK.map(str::to_owned));
    Subject { project: STARTER, ..Subject::new("lictor hook", argv) }
}

/// The run, with this program inside that does what it is told.
struct Sandbox {
    child: Child,
    say: ChildStdin,
    hear: BufReader<ChildStdout>,
}

impl Sandbox {
    fn start(place: &Place, lictor: &std::path::Path) -> Result<Self> {
        let own = std::env::current_exe()?.display().to_string();
        let lictor = lictor.display().to_string();
        let home = place.home.display().to_string();
        let argv = [&lictor, "run", "--", &own, "bench", INSIDE, &lictor, &home];
        let subject = Subject { project: STARTER, ..Subject::new("lictor run", argv) };
        let mut child = place.command(&subject)?.stderr(Stdio::inherit()).spawn()?;
        let (say, hear) = (child.stdin.take(), child.stdout.take());
        let (say, hear) = (say.context("no input")?, BufReader::new(hear.context("no output")?));
        let mut sandbox = Self { child, say, hear };
        let mut line = String::new();
        sandbox.hear.read_line(&mut line)?;
        ensure!(line == "ready\n", "the program inside did not begin: `{line}`");
        Ok(sandbox)
    }

    fn ask(&mut self, what: &str, nothing: &mut Samples, hook: &mut Samples) -> Result<()> {
        writeln!(self.say, "{what}")?;
        let mut line = String::new();
        self.hear.read_line(&mut line)?;
        let batch: Batch = serde_json::from_str(&line).with_context(|| format!("inside said `{line}`"))?;
        batch.nothing.into_iter().for_each(|time| nothing.add(Duration::from_nanos(time)));
        batch.hook.into_iter().for_each(|time| hook.add(Duration::from_nanos(time)));
        Ok(())
    }

    /// Resident memory of the guardian, in megabytes.
    fn memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kibibytes * 1024.0 / MEGABYTE)
    }

    fn end(mut self) -> Result<()> {
        drop(self.say);
        let status = self.child.wait()?;
        ensure!(status.success(), "`lictor run` ended with {status}");
        Ok(())
    }
}

/// Measures inside, batch by batch, as it is told on standard input.
pub fn inside(args: &[String]) -> Result<()> {
    let [lictor, home] = args else { bail!("`{INSIDE}` is started by the benchmark itself") };
    // The place belongs to the process outside, which removes it.
    let place = ManuallyDrop::new(Place { home: PathBuf::from(home), calls: AtomicUsize::new(1_000_000) });
    let (nothing, hook) = (nothing(), hook(std::path::Path::new(lictor)));
    place.check_base(&hook)?;
    println!("ready");
    for line in std::io::stdin().lines() {
        let mut batch = Batch::default();
        let mut both = [self::nothing(), self::hook(lictor.as_ref())];
        match line?.as_str() {
            "alone" => {
                place.time_in_turns(&mut both, BATCH)?;
                let [nothing, hook] = both;
                (batch.nothing, batch.hook) = (nothing.alone.nanos(), hook.alone.nanos());
            }
            "crowd" => {
                (batch.nothing, batch.hook) = (place.crowd(&nothing)?.nanos(), place.crowd(&hook)?.nanos());
            }
            other => bail!("no such batch `{other}`"),
        }
        println!("{}", serde_json::to_string(&batch)?);
    }
    Ok(())
}
