//! A long record: what a hook, `log`, `report` and `audit verify` cost beside a million decisions, and how fast old
//! transcripts are judged.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::paper;
use super::samples::Samples;
use crate::{release, shell};

/// Everyday commands; `{n}` makes each of them another one.
const COMMANDS: [&str; 10] = [
    "git status",
    "rg -n 'fn main{n}' src",
    "cargo test -p core parser::tests::case_{n}",
    "cat src/module_{n}.rs",
    "sed -n '1,{n}p' README.md",
    "npm run build -- --filter=app{n}",
    "git diff HEAD~1 -- src/file{n}.ts",
    "python -m pytest tests/test_{n}.py -q 2>&1 | tail -20",
    "ls -la src/dir{n}",
    "git commit -m 'change {n}'",
];
const ROUNDS: usize = 200;
const GIGABYTE: u64 = 1_000_000_000;

struct Options {
    records: u64,
    transcripts: u64,
    lictor: Option<PathBuf>,
}

/// `cargo xtask bench record [--records N] [--transcripts BYTES] [--lictor PATH]`.
pub fn run(args: &[String]) -> Result<()> {
    let options = options(args)?;
    let lictor = match options.lictor {
        Some(path) => path,
        None => release::build()?,
    };
    let place = Place::new(lictor)?;
    let filled = place.fill(options.records)?;
    let hook = place.hooks()?;
    let looks = place.looks(options.records)?;
    let transcripts = place.transcripts(options.transcripts)?;
    let figures = format!("{filled}\n\n{hook}\n{looks}\n{transcripts}");
    println!("\n{figures}");
    paper::write("record", &figures)
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options { records: 1_000_000, transcripts: GIGABYTE, lictor: None };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args.next().with_context(|| format!("`{arg}` needs a value"))?;
        match arg.as_str() {
            "--records" => options.records = value.parse().context("`--records` needs a number")?,
            "--transcripts" => {
                options.transcripts = value.parse().context("`--transcripts` needs a number")?
            }
            "--lictor" => options.lictor = Some(PathBuf::from(value)),
            _ => bail!("no such option `{arg}`; there are --records N, --transcripts BYTES, --lictor PATH"),
        }
    }
    Ok(options)
}

/// A home with a project that has no record yet and one that gets a long one.
struct Place {
    home: PathBuf,
    lictor: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home);
    }
}

impl Place {
    fn new(lictor: PathBuf) -> Result<Self> {
        let home = shell::target().join("bench").join(format!("record-{}", std::process::id()));
        let place = Self { home, lictor };
        for project in ["empty", "full"] {
            fs::create_dir_all(place.home.join(project))?;
            let made = place.command("git", project).args(["init", "-q"]).status()?;
            ensure!(made.success(), "`git init` failed");
        }
        Ok(place)
    }

    fn command(&self, program: impl AsRef<Path>, project: &str) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.home.join(project))
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Real decisions by the real path: each is judged, counted and recorded.
    fn fill(&self, records: u64) -> Result<String> {
        let start = Instant::now();
        let mut child = self.command(&self.lictor, "full").arg("rpc").stdin(Stdio::piped()).spawn()?;
        let mut input = BufWriter::new(child.stdin.take().context("no standard input")?);
        for number in 0..records {
            let command = pick(number);
            let action = json!({"kind": "bash", "payload": {"command": command}, "cwd": self.home.join("full"),
                                "session_id": format!("s{}", number / 500)});
            let call = json!({"jsonrpc": "2.0", "method": "evaluate", "params": {"action": action}});
            writeln!(input, "{call}")?;
        }
        drop(input);
        ensure!(child.wait()?.success(), "`lictor rpc` failed");
        let bytes = self.store_bytes()?;
        let disk = shell::output("stat", &["--file-system", "--format=%T", &self.home.to_string_lossy()])?;
        Ok(format!(
            "{records} decisions by `lictor rpc` on SQLite, on {}, in {:.0} s; the store takes {:.0} MB, {} bytes a record.",
            disk.trim(),
            start.elapsed().as_secs_f64(),
            bytes as f64 / 1e6,
            bytes / records.max(1)
        ))
    }

    /// All stores together; the other project has a handful of records.
    fn store_bytes(&self) -> Result<u64> {
        let mut bytes = 0;
        for project in fs::read_dir(self.home.join(".local/state/lictor"))?.flatten() {
            let Ok(files) = fs::read_dir(project.path()) else { continue };
            let stores =
                files.flatten().filter(|file| file.file_name().to_string_lossy().starts_with("lictor.db"));
            bytes += stores.filter_map(|file| file.metadata().ok()).map(|about| about.len()).sum::<u64>();
        }
        Ok(bytes)
    }

    fn hooks(&self) -> Result<String> {
        let mut table = "| one hook, ms | p50 | p95 | p50, × /bin/true |\n|---|---|---|---|\n".to_owned();
        let mut subjects = [
            ("/bin/true", "empty", Samples::default()),
            ("lictor hook, a new record", "empty", Samples::default()),
            ("lictor hook, the long record", "full", Samples::default()),
        ];
        for round in 0..=ROUNDS {
            for (name, project, samples) in &mut subjects {
                let time = self.hook(name, project, round)?;
                // The first of each finds cold caches.
                if round > 0 {
                    samples.add(time);
                }
            }
        }
        let least = subjects.first().map_or(f64::NAN, |(_, _, samples)| samples.percentile(50));
        for (name, _, samples) in &subjects {
            let (p50, p95) = (samples.percentile(50), samples.percentile(95));
            table += &format!("| {name} | {p50:.2} | {p95:.2} | {:.1} |\n", p50 / least);
        }
        Ok(table)
    }

    fn hook(&self, name: &str, project: &str, round: usize) -> Result<Duration> {
        let event = json!({
            "session_id": "bench", "transcript_path": "/dev/null", "cwd": self.home.join(project),
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "cargo build"}, "tool_use_id": format!("toolu_{round:08}"),
        });
        let mut command = match name.strip_prefix("lictor") {
            None => self.command(name, project),
            Some(_) => {
                let mut command = self.command(&self.lictor, project);
                command.args(["hook", "claude-code", "PreToolUse"]);
                command
            }
        };
        let start = Instant::now();
        let mut child = command.stdin(Stdio::piped()).spawn().with_context(|| name.to_owned())?;
        if let Some(mut stdin) = child.stdin.take() {
            // `true` does not read.
            let _ = stdin.write_all(event.to_string().as_bytes());
        }
        ensure!(child.wait()?.success(), "{name} failed");
        Ok(start.elapsed())
    }

    /// What people look at, each after it was checked to know the whole record.
    fn looks(&self, records: u64) -> Result<String> {
        let verified = self.told(&["audit", "verify", "--json"])?.0;
        let verified: Value = serde_json::from_str(&verified).context("`audit verify --json`")?;
        let checked = verified.get("records").and_then(Value::as_u64).unwrap_or_default();
        ensure!(checked >= records, "of {records} records {checked} were checked");
        let mut table = "| command | s | MB |\n|---|---|---|\n".to_owned();
        for args in [&["log", "--since", "1d"][..], &["report", "--since", "1d"], &["audit", "verify"]] {
            let (_, time, memory) = self.told(args)?;
            table += &format!("| `lictor {}` | {:.2} | {memory:.0} |\n", args.join(" "), time.as_secs_f64());
        }
        Ok(table)
    }

    /// What a command prints, how long it takes, and the most memory that it had, in megabytes.
    fn told(&self, args: &[&str]) -> Result<(String, Duration, f64)> {
        let mut command = self.command("/usr/bin/time", "full");
        command.arg("--format=%M").arg(&self.lictor).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = Instant::now();
        let output = command.output()?;
        let time = start.elapsed();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "`lictor {}` failed: {said}", args.join(" "));
        let kibibytes: f64 = said.lines().last().unwrap_or_default().parse().unwrap_or(f64::NAN);
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), time, kibibytes * 1024.0 / 1e6))
    }

    /// Transcripts as Claude Code keeps them: a call, its result, and talk, in turns.
    fn transcripts(&self, bytes: u64) -> Result<String> {
        let directory = self.home.join("transcripts");
        fs::create_dir_all(&directory)?;
        let talk = "x".repeat(2_000);
        let (mut written, mut calls, mut file) = (0, 0_u64, 0_u64);
        while written < bytes {
            let mut out = BufWriter::new(fs::File::create(directory.join(format!("{file}.jsonl")))?);
            for _ in 0..5_000 {
                let base = |kind: &str, content: Value| {
                    json!({"type": kind, "uuid": calls, "sessionId": file.to_string(), "cwd": self.home.join("full"),
                           "timestamp": "2026-03-01T10:00:00.000Z", "message": {"role": kind, "content": [content]}})
                    .to_string()
                };
                let call = json!({"type": "tool_use", "id": format!("t{calls}"), "name": "Bash",
                                  "input": {"command": pick(calls)}});
                let result =
                    json!({"type": "tool_result", "tool_use_id": format!("t{calls}"), "content": talk});
                for line in [base("assistant", call), base("user", result)] {
                    written += line.len() as u64 + 1;
                    writeln!(out, "{line}")?;
                }
                calls += 1;
            }
            file += 1;
        }
        let directory = directory.display().to_string();
        let (told, time, memory) = self.told(&["replay", "--transcripts", &directory, "--json"])?;
        let told: Value = serde_json::from_str(&told).context("`replay --transcripts --json`")?;
        let judged = told.pointer("/total/calls").and_then(Value::as_u64);
        ensure!(judged == Some(calls), "of {calls} calls {judged:?} were judged");
        Ok(format!(
            "`lictor replay --transcripts`: {calls} calls in {:.2} GB of transcripts in {:.0} s, {:.0} calls a second, {memory:.0} MB of memory.",
            written as f64 / 1e9,
            time.as_secs_f64(),
            calls as f64 / time.as_secs_f64()
        ))
    }
}

fn pick(number: u64) -> String {
    let index = usize::try_from(number).unwrap_or(0) % COMMANDS.len();
    COMMANDS
        .get(index)
        .map(|command| command.replace("{n}", &(number % 1_000).to_string()))
        .unwrap_or_default()
}
