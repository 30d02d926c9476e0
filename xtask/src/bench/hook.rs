//! The hook as an agent meets it: one process for each tool call, from start to exit, beside processes that do
//! nothing and beside other hooks. All take turns, so that a noisy moment hits all of them.

mod count;
pub mod guardian;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;

use super::paper;
use super::plot::{self, Row};
use super::samples::Samples;
use crate::{release, shell};

const HOOK: [&str; 3] = ["hook", "claude-code", "PreToolUse"];
const AT_ONCE: usize = 8;
/// Reads its input and lets everything pass: the least that a hook in Rust can do.
const NO_OP: &str = "fn main() { let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink()); }";

/// The project with a hundred rules.
const HUNDRED: &str = "project";
/// The project with what `lictor init` writes.
const STARTER: &str = "starter";
/// The picture, beside `docs/benchmarks.md`.
const PICTURE: &str = "docs/pictures/bench-hook.svg";

const MEGABYTE: f64 = 1_000_000.0;

/// What is measured.
struct Subject {
    name: String,
    argv: Vec<String>,
    /// The project below the home that it is run in.
    project: &'static str,
    alone: Samples,
    crowd: Samples,
}

impl Subject {
    fn new(name: impl Into<String>, argv: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            name: name.into(),
            argv: argv.into_iter().map(Into::into).collect(),
            project: HUNDRED,
            alone: Samples::default(),
            crowd: Samples::default(),
        }
    }
}

impl Subject {
    fn row(&self) -> Row {
        Row { name: self.name.clone(), times: [10, 50, 95, 99].map(|percent| self.alone.percentile(percent)) }
    }
}

/// A home and its projects, for one run.
struct Place {
    home: PathBuf,
    calls: AtomicUsize,
}

struct Options {
    rounds: usize,
    /// Count what so many hooks take instead of timing them.
    count: Option<u64>,
    lictor: Option<PathBuf>,
    peers: Vec<Subject>,
}

pub fn run(args: &[String]) -> Result<()> {
    let options = options(args)?;
    let (lictor, built) = match options.lictor {
        Some(path) => (path, String::new()),
        None => (release::build()?, format!(" It was built for `{}`.", release::target()?)),
    };
    let place = Place::new(&shell::target().join("bench"))?;
    let lictor_argv = || [lictor.display().to_string()].into_iter().chain(HOOK.map(str::to_owned));
    let hook = Subject::new("lictor hook, 100 rules", lictor_argv());
    place.check(&hook)?;
    place.write_starter(&lictor)?;
    let starter = Subject { project: STARTER, ..Subject::new("lictor hook, starter policy", lictor_argv()) };
    place.check_base(&starter)?;

    let mut subjects = vec![
        Subject::new("/bin/true", ["/bin/true"]),
        Subject::new("a hook in Rust that does nothing", [no_op(&place)?.display().to_string()]),
        hook,
        starter,
    ];
    if let Some(hooks) = options.count {
        let counted = count::table(&place, &subjects, hooks)?;
        println!("\n{counted}");
        return paper::write("count", &format!("The mean of {hooks} hooks.{built}\n\n{counted}"));
    }
    place.time_in_turns(&mut subjects, options.rounds)?;
    // Apart: a peer that works a hundred times as long would leave whoever comes next a processor whose caches are cold.
    let mut peers: Vec<Subject> = safety_net(&place).into_iter().chain(options.peers).collect();
    place.time_in_turns(&mut peers, options.rounds.div_ceil(5))?;
    subjects.append(&mut peers);
    for _ in 0..options.rounds.div_ceil(50) {
        for subject in &mut subjects {
            let crowd = place.crowd(subject)?;
            subject.crowd.merge(crowd);
        }
    }
    let recorded = place.recorded(&lictor)?;
    let figures = format!("{}{built}\n{recorded}", table(&place, &subjects, &lictor)?);
    println!("\n{figures}");
    let rows: Vec<Row> = subjects.iter().map(Subject::row).collect();
    fs::write(shell::root().join(PICTURE), plot::draw("One tool call, from start to exit", &rows))?;
    paper::write("hook", &format!("{} rounds.\n\n{figures}", options.rounds))
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options { rounds: 1000, count: None, lictor: None, peers: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args.next().with_context(|| format!("`{arg}` needs a value"))?;
        match arg.as_str() {
            "--rounds" => options.rounds = value.parse().context("`--rounds` needs a number")?,
            "--count" => options.count = Some(value.parse().context("`--count` needs a number")?),
            "--lictor" => options.lictor = Some(PathBuf::from(value)),
            "--peer" => {
                let (name, line) = value.split_once('=').context("`--peer` needs NAME=COMMAND")?;
                options.peers.push(Subject::new(name, line.split_whitespace()));
            }
            _ => bail!(
                "no such option `{arg}`; there are --rounds N, --count N, --lictor PATH, --peer NAME=COMMAND"
            ),
        }
    }
    Ok(options)
}

impl Place {
    fn new(base: &Path) -> Result<Self> {
        let home = base.join(format!("home-{}", std::process::id()));
        for project in [HUNDRED, STARTER] {
            fs::create_dir_all(home.join(project).join("src"))?;
        }
        fs::write(home.join(HUNDRED).join("governance.yaml"), policy())?;
        let place = Self { home, calls: AtomicUsize::new(0) };
        for project in [HUNDRED, STARTER] {
            let git = Subject { project, ..Subject::new("git", ["git", "init", "-q"]) };
            ensure!(place.output(&git, "")?.status.success(), "`git init` failed");
        }
        Ok(place)
    }

    fn write_starter(&self, lictor: &Path) -> Result<()> {
        let argv = [&*lictor.display().to_string(), "init", "--yes", "--agent", "claude-code"];
        let init = Subject { project: STARTER, ..Subject::new("lictor init", argv) };
        let said = self.output(&init, "")?;
        let written = self.home.join(STARTER).join("governance.yaml").exists();
        ensure!(written, "`lictor init` wrote no policy: {}", String::from_utf8_lossy(&said.stderr));
        Ok(())
    }

    /// A call that Claude Code announces. No two have the same id.
    fn event(&self, project: &str, command: &str) -> String {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        json!({
            "session_id": project, "transcript_path": "/dev/null", "cwd": self.home.join(project),
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": format!("toolu_{number:08}"),
        })
        .to_string()
    }

    fn command(&self, subject: &Subject) -> Result<Command> {
        let (program, args) = subject.argv.split_first().context("there is nothing to run")?;
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.home.join(subject.project))
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(command)
    }

    fn time_in_turns(&self, subjects: &mut [Subject], rounds: usize) -> Result<()> {
        // The first call of each finds cold caches and, for Lictor, no store.
        for subject in subjects.iter() {
            self.time(subject)?;
        }
        for _ in 0..rounds {
            for subject in subjects.iter_mut() {
                let time = self.time(subject)?;
                subject.alone.add(time);
            }
        }
        Ok(())
    }

    fn output(&self, subject: &Subject, input: &str) -> Result<Output> {
        let mut child = self.command(subject)?.spawn().with_context(|| subject.name.clone())?;
        feed(&mut child, input);
        Ok(child.wait_with_output()?)
    }

    /// Right answers first: what is timed has to stop what it should stop.
    fn check(&self, hook: &Subject) -> Result<()> {
        self.check_base(hook)?;
        let rule = self.output(hook, &self.event(hook.project, "echo forbidden-word-99"))?;
        let said = String::from_utf8_lossy(&rule.stderr);
        ensure!(
            rule.status.code() == Some(2) && said.contains("word 99"),
            "the last of the hundred rules was not asked: {said}"
        );
        Ok(())
    }

    fn check_base(&self, hook: &Subject) -> Result<()> {
        let stopped = self.output(hook, &self.event(hook.project, "rm -rf /"))?;
        let said = String::from_utf8_lossy(&stopped.stderr);
        ensure!(stopped.status.code() == Some(2), "`rm -rf /` was not blocked: {said}");
        let passed = self.output(hook, &self.event(hook.project, "cargo build"))?;
        let said = String::from_utf8_lossy(&passed.stderr);
        ensure!(
            passed.status.code() == Some(0) && passed.stdout.is_empty(),
            "`cargo build` did not pass: {said}"
        );
        Ok(())
    }

    /// From start to exit.
    fn time(&self, subject: &Subject) -> Result<Duration> {
        let event = self.event(subject.project, "cargo build");
        let mut command = self.command(subject)?;
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| subject.name.clone())?;
        feed(&mut child, &event);
        let status: ExitStatus = child.wait()?;
        let time = start.elapsed();
        ensure!(status.success(), "{} ended with {status}", subject.name);
        Ok(time)
    }

    /// Eight at a time, ten each.
    fn crowd(&self, subject: &Subject) -> Result<Samples> {
        thread::scope(|scope| {
            let one = || (0..10).map(|_| self.time(subject)).collect::<Result<Vec<_>>>();
            let crowd: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(one)).collect();
            let mut samples = Samples::default();
            for one in crowd {
                let Ok(times) = one.join() else { bail!("{}: a thread panicked", subject.name) };
                times?.into_iter().for_each(|time| samples.add(time));
            }
            Ok(samples)
        })
    }

    /// The most memory that it had, in megabytes.
    fn memory(&self, subject: &Subject) -> Result<f64> {
        let argv = ["/usr/bin/time", "--format=%M"].map(str::to_owned);
        let argv = argv.into_iter().chain(subject.argv.iter().cloned());
        let timed = Subject { project: subject.project, ..Subject::new(&subject.name, argv) };
        let output = self.output(&timed, &self.event(subject.project, "cargo build"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or_default();
        let kibibytes: f64 = last.parse().with_context(|| format!("`/usr/bin/time` said `{said}`"))?;
        Ok(kibibytes * 1024.0 / MEGABYTE)
    }

    /// What was timed was recorded: the chain of the audit log holds.
    fn recorded(&self, lictor: &Path) -> Result<String> {
        let audit = Subject::new("lictor audit verify", [&*lictor.display().to_string(), "audit", "verify"]);
        let output = self.output(&audit, "")?;
        ensure!(
            output.status.success(),
            "`lictor audit verify` failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(format!("`lictor audit verify`: {}", String::from_utf8_lossy(&output.stdout).trim()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home);
    }
}

/// A program that does not read its input may be gone already.
fn feed(child: &mut std::process::Child, input: &str) {
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(input.as_bytes());
    }
}

/// A hundred rules of every kind that a Bash call can meet.
fn policy() -> String {
    let mut text = "version: 1\nboundaries:\n  red_line_files:\n".to_owned();
    (0..20).for_each(|n| text.push_str(&format!("    - 'src/secret{n}/**'\n")));
    text.push_str("bash_safety:\n  blocked_programs:\n");
    (0..20).for_each(|n| text.push_str(&format!("    - forbidden-program-{n}\n")));
    text.push_str("intent:\n");
    for n in 0..20 {
        text.push_str(&format!(
            "  - for: deploy{n}\n    require: 'payload.ticket.matches(\"^OPS-[0-9]+$\")'\n    reason: deploy {n} needs a ticket\n    fix: add one\n"
        ));
    }
    text.push_str("guards:\n");
    for n in 60..100 {
        text.push_str(&format!(
            "  rule_{n}: {{expr: '!has(payload.command) || !payload.command.contains(\"forbidden-word-{n}\")', reason: word {n} is not for here, fix: use another}}\n"
        ));
    }
    text.push_str("policy:\n  all:\n");
    (60..100).for_each(|n| text.push_str(&format!("    - rule_{n}\n")));
    text
}

fn no_op(place: &Place) -> Result<PathBuf> {
    let (source, program) = (place.home.join("no_op.rs"), place.home.join("no_op"));
    fs::write(&source, NO_OP)?;
    let (source, output) = (source.display().to_string(), program.display().to_string());
    shell::run("rustc", &["-O", "--edition", "2024", "-o", &output, &source])?;
    Ok(program)
}

/// A peer from the npm registry, where npm can get it.
fn safety_net(place: &Place) -> Option<Subject> {
    let prefix = shell::target().join("bench/npm");
    let script = prefix.join("node_modules/.bin/cc-safety-net");
    if !script.exists() {
        let installed = Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .args([prefix.as_os_str(), "cc-safety-net".as_ref()])
            .status();
        if !installed.is_ok_and(|status| status.success()) {
            println!("cc-safety-net is left out: npm could not install it");
            return None;
        }
    }
    let subject = Subject::new("cc-safety-net", [&*script.display().to_string(), "--claude-code"]);
    let answer = place.output(&subject, &place.event(HUNDRED, "rm -rf /")).ok()?;
    if !String::from_utf8_lossy(&answer.stdout).contains("deny") {
        println!("cc-safety-net is left out: it does not stop `rm -rf /` here");
        return None;
    }
    Some(subject)
}

fn table(place: &Place, subjects: &[Subject], lictor: &Path) -> Result<String> {
    let floor = subjects.first().context("nothing was measured")?;
    let mut text = "\
| milliseconds | p10 | p50 | p95 | p99 | p50, × /bin/true | p95, × | 8 at once: p50 | p95 | p95, × | MB |
|---|---|---|---|---|---|---|---|---|---|---|
"
    .to_owned();
    for subject in subjects {
        let alone = |percent| subject.alone.percentile(percent);
        let crowd = |percent| subject.crowd.percentile(percent);
        text += &format!(
            "| {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} | {:.2} | {:.2} | {:.1} | {:.1} |\n",
            subject.name,
            alone(10),
            alone(50),
            alone(95),
            alone(99),
            alone(50) / floor.alone.percentile(50),
            alone(95) / floor.alone.percentile(95),
            crowd(50),
            crowd(95),
            crowd(95) / floor.crowd.percentile(95),
            place.memory(subject)?,
        );
    }
    let size = fs::metadata(lictor)?.len() as f64 / MEGABYTE;
    Ok(format!("{text}\nThe binary has {size:.1} MB."))
}
