//! What came of it, as `docs/agents.md` shows it: one table over all agents, and for each agent what the model read in each
//! session.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Instant, SystemTime};

use anyhow::{Context as _, Result};

use super::session::Outcome;
use super::spec::{self, AgentFile, SessionFile};
use crate::bench::paper;
use crate::shell;

const BEGIN: &str = "<!-- begin matrix -->\n";
const END: &str = "<!-- end matrix -->\n";
const ONE_RUN: &str = "All of it was run at once";
const AGAIN: &str = " Some sessions were run again on their own; the agents' files say when.";
/// The most of one text that is shown.
const LONGEST: usize = 1200;

/// When a run began, and with what. The work tree may be another one when the run ends.
pub struct Start {
    at: Instant,
    date: String,
    commit: String,
}

impl Start {
    /// A run that begins now.
    pub fn now() -> Result<Self> {
        Ok(Self { at: Instant::now(), date: today()?, commit: paper::commit()? })
    }
}

fn agent_file(name: &str) -> PathBuf {
    shell::root().join("docs/agents").join(format!("{name}.md"))
}

/// Writes the sessions of one agent: what it did, and what its model read. Those that were not run now stay as they are.
pub fn write_agent(agent: &AgentFile, results: &[Outcome]) -> Result<()> {
    let earlier = read_sections(&fs::read_to_string(agent_file(&agent.agent)).unwrap_or_default());
    let mut text = format!(
        "# {}: governed sessions\n\nWritten by `cargo xtask agents {}` with {} {} on {}; sessions that were not run again are as they \
         were. Paths of the run are shortened to `…`.\n",
        agent.agent,
        agent.agent,
        agent.package,
        agent.version,
        today()?
    );
    for session in &spec::sessions()? {
        let ran = results.iter().any(|result| result.session == session.id);
        if let Some(section) = earlier.get(&session.id).filter(|_| !ran && agent.can(session)) {
            write!(text, "\n{section}")?;
            continue;
        }
        let (mark, note) = verdict(agent, session, results);
        writeln!(text, "\n## {}\n\n{mark} {}.{note}", session.id, capital(&session.what))?;
        let Some(result) = results.iter().find(|result| result.session == session.id) else { continue };
        // The first text is the person's prompt, and what agents add to it.
        let told: Vec<&String> = result.told.iter().filter(|text| is_told_by_lictor(text)).collect();
        for told in told {
            let told = told.replace(&*shell::target().join("agents/run").to_string_lossy(), "…");
            let shown: String = told.chars().take(LONGEST).collect();
            write!(text, "\nThe model read:\n\n```text\n{}\n```\n", shown.trim_end())?;
        }
    }
    let file = agent_file(&agent.agent);
    fs::create_dir_all(file.parent().context("a file has a directory")?)?;
    fs::write(file, text)?;
    Ok(())
}

/// Whether the agent has been run to its end since then.
pub fn is_written_since(agent: &AgentFile, since: SystemTime) -> bool {
    let changed = fs::metadata(agent_file(&agent.agent)).and_then(|about| about.modified());
    changed.is_ok_and(|changed| changed >= since)
}

/// Whether a text of the conversation has words of Lictor's in it.
fn is_told_by_lictor(text: &str) -> bool {
    let short = text.len() < 20_000;
    short && (text.contains("Lictor") || text.contains("Not done yet") || text.contains("Follow PLAN.md"))
}

fn verdict(agent: &AgentFile, session: &SessionFile, results: &[Outcome]) -> (&'static str, String) {
    if let Some(why) = agent.cannot.get(&session.id) {
        return ("–", format!(" Not run: {why}."));
    }
    let lacking = agent.lacks(session);
    if !lacking.is_empty() {
        return ("–", format!(" Not run: the agent has no {}.", lacking.join(", ").trim_start_matches("a ")));
    }
    match results.iter().find(|result| result.session == session.id) {
        Some(result) if result.wrong.is_empty() => ("✓", String::new()),
        Some(result) => {
            let known = agent.expects(&session.id).unwrap_or("unexplained");
            ("✗", format!(" {}: {known}.", capital(&result.wrong.join("; "))))
        }
        None => ("–", String::new()),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn today() -> Result<String> {
    Ok(shell::output("date", &["+%Y-%m-%d"])?.trim().to_owned())
}

/// Puts the table together from the agents' files, so that a run of one agent keeps the rows of the others. `whole` is the
/// start of a run of every agent and every session.
pub fn write(whole: Option<&Start>) -> Result<()> {
    let (agents, sessions) = (spec::agents()?, spec::sessions()?);
    let mut marks: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for agent in &agents {
        let Ok(text) = fs::read_to_string(agent_file(&agent.agent)) else { continue };
        marks.insert(&agent.agent, read_marks(&text));
    }
    let ran: Vec<&AgentFile> =
        agents.iter().filter(|agent| marks.contains_key(agent.agent.as_str())).collect();
    let file = shell::root().join("docs/agents.md");
    let text = fs::read_to_string(&file)?;
    let (before, rest) = text.split_once(BEGIN).context("docs/agents.md has no place for the matrix")?;
    let (earlier, after) = rest.split_once(END).context("docs/agents.md has no end of the matrix")?;
    let mut table = format!("{}\n\n| session |", origin(whole, earlier));
    for agent in &ran {
        write!(table, " {} {} |", agent.agent, agent.version)?;
    }
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(ran.len()));
    table.push('\n');
    for session in &sessions {
        write!(table, "| {} |", session.what)?;
        for agent in &ran {
            let mark = marks.get(agent.agent.as_str()).and_then(|marks| marks.get(&session.id));
            let mark = mark.map_or("–", String::as_str);
            write!(table, " [{mark}](agents/{}.md#{}) |", agent.agent, session.id)?;
        }
        table.push('\n');
    }
    fs::write(file, format!("{before}{BEGIN}{table}{END}{after}"))?;
    Ok(())
}

/// When, with what and for how long all of it was run. After a run of some it says so, and keeps what it said.
fn origin(whole: Option<&Start>, earlier: &str) -> String {
    let Some(start) = whole else {
        let said = earlier.lines().next().filter(|line| line.starts_with(ONE_RUN)).unwrap_or_default();
        let said = said.split_once(AGAIN).map_or(said, |(said, _)| said);
        return format!("{said}{AGAIN}").trim_start().to_owned();
    };
    let minutes = start.at.elapsed().as_secs().div_ceil(60);
    let cores = thread::available_parallelism().map_or(0, usize::from);
    format!("{ONE_RUN} on {}, commit {}, in {minutes} minutes on {cores} cores.", start.date, start.commit)
}

/// The text of every session in an agent's file.
fn read_sections(text: &str) -> BTreeMap<String, String> {
    let sections = text.split("\n## ").skip(1);
    let section = |section: &str| {
        let id = section.lines().next().unwrap_or_default().to_owned();
        (id, format!("## {}\n", section.trim_end()))
    };
    sections.map(section).collect()
}

/// The mark of every session in an agent's file.
fn read_marks(text: &str) -> BTreeMap<String, String> {
    let mut marks = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(id) = line.strip_prefix("## ") {
            let said = lines.by_ref().find(|line| !line.is_empty()).unwrap_or_default();
            marks.insert(id.to_owned(), said.chars().take(1).collect());
        }
    }
    marks
}
