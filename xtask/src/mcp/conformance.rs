//! The official conformance suite against a reference server, directly and behind `lictor mcp serve` with a policy that
//! passes everything. Both must come out the same, in both kinds of the protocol.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::session::Scratch;
use super::spec;
use crate::shell;

const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
/// The suite needs a newer Node than most machines have.
const NODE: &str = "22.23.3";
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
const DIRECT: u16 = 3999;
const GOVERNED: u16 = 4800;
const POLICY: &str = "version: 1\nextends: []\nknown_tools: {known: [\"mcp__*\", \"mcp__*__sampling:*\"]}\n";
/// Scenarios whose checks differ, as they should. The first calls a tool that the reference does not have: Lictor answers such
/// calls itself, so that hidden tools cannot be told from those that are not there. The second is for streams, and Lictor
/// answers as JSON where nothing comes before the answer. The third asks for tasks, which the reference does not have: for
/// Lictor the task is unknown, for the reference the method.
const OTHERWISE: [&str; 3] =
    ["server-sse-polling", "server-sse-multiple-streams", "tasks-dispatch-and-envelope"];

fn cache() -> PathBuf {
    shell::target().join("mcp/conformance")
}

fn node() -> Result<String> {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("there is no Node for {other} here"),
    };
    Ok(format!("node-linux-{arch}"))
}

/// Installs the suite, Node and the reference server's SDK.
pub fn install() -> Result<()> {
    let cache = cache();
    let wanted = format!("{SUITE} {NODE} mcp==2.3.0 uvicorn==0.54.0");
    if fs::read_to_string(cache.join("installed")).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    spec::npm(&cache, &[SUITE.to_owned(), format!("{}@{NODE}", node()?)])?;
    let venv = cache.join("venv");
    shell::run("python3", &["-m", "venv", &venv.to_string_lossy()])?;
    let pip = venv.join("bin/pip");
    let quiet = ["install", "--quiet", "--disable-pip-version-check", "mcp==2.3.0", "uvicorn==0.54.0"];
    shell::run(&pip.to_string_lossy(), &quiet)?;
    Ok(fs::write(cache.join("installed"), wanted)?)
}

/// A process that ends with its owner.
pub struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn run(lictor: &Path) -> Result<()> {
    let scratch = Scratch::new("conformance")?;
    fs::write(scratch.home.join(".config/lictor/governance.yaml"), POLICY)?;
    let mut reference = scratch.command(cache().join("venv/bin/python"));
    reference.arg(shell::root().join("xtask/mcp/reference.py")).arg(DIRECT.to_string());
    let _reference = started(reference, DIRECT)?;
    let mut governed = scratch.command(lictor);
    governed.args(["mcp", "serve", "--listen", &format!("127.0.0.1:{GOVERNED}"), "--name", "reference"]);
    governed.args(["--url", &format!("http://127.0.0.1:{DIRECT}/mcp")]);
    let _governed = started(governed, GOVERNED)?;
    let mut failed = false;
    for revision in REVISIONS {
        let direct = scenarios(&scratch, &format!("http://127.0.0.1:{DIRECT}/mcp"), revision)?;
        let behind = scenarios(&scratch, &format!("http://127.0.0.1:{GOVERNED}/reference"), revision)?;
        let passed = direct.values().filter(|outcome| outcome.passed).count();
        println!("{revision}: {passed} of {} scenarios pass directly", direct.len());
        let names = direct.keys().chain(behind.keys().filter(|name| !direct.contains_key(*name)));
        for name in names.filter(|name| !OTHERWISE.contains(&name.as_str())) {
            if direct.get(name) != behind.get(name) {
                println!("    {name}: directly {:?}, behind Lictor {:?}", direct.get(name), behind.get(name));
                failed = true;
            }
        }
    }
    if failed {
        bail!("the suite finds a difference");
    }
    println!("the same behind Lictor");
    Ok(())
}

/// Starts what listens on that port, and waits until it does.
pub fn started(mut command: std::process::Command, port: u16) -> Result<Running> {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).spawn()?;
    let mut running = Running(child);
    for _ in 0..600 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(running);
        }
        if let Some(status) = running.0.try_wait()? {
            bail!("what should listen on {port} has ended: {status}");
        }
        thread::sleep(Duration::from_millis(100));
    }
    bail!("nothing listens on {port}")
}

/// The outcome of one scenario.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    passed: bool,
    /// How many of its checks passed and failed, in the suite's words: one that fails directly must fail alike.
    checks: String,
}

/// Every scenario that the revision requires, and its outcome.
fn scenarios(scratch: &Scratch, url: &str, revision: &str) -> Result<BTreeMap<String, Outcome>> {
    let modules = cache().join("node_modules");
    let output = scratch
        .command(modules.join(node()?).join("bin/node"))
        .arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--url", url, "--requirements", revision])
        .output()
        .context("the suite cannot be started")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let found: BTreeMap<String, Outcome> = text
        .lines()
        .filter_map(|line| {
            let passed = line.starts_with('✓');
            let rest = line.strip_prefix(['✓', '✗'])?;
            let (name, checks) = rest.split_once(':')?;
            let outcome = Outcome { passed, checks: checks.trim().to_owned() };
            checks.contains("passed").then(|| (name.trim().to_owned(), outcome))
        })
        .collect();
    if found.len() < 30 {
        bail!("the suite says nothing about {revision}: {text}");
    }
    Ok(found)
}
