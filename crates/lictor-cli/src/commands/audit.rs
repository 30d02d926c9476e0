//! `lictor audit`: the log.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use lictor::log::{Evaluated, kind};
use lictor_core::SessionKey;
use lictor_store::{Anchor, Query, Record, SqliteStore, StoreExt as _, verify};
use serde_json::{Value, json};

use crate::anchor;
use crate::exit::Exit;
use crate::output::{self, Style};
use crate::place::Project;
use crate::runtime;
use crate::when;

/// Read and check the log.
#[derive(Debug, Args)]
pub struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
    /// Directory of the project.
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    cwd: PathBuf,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// The newest records.
    Tail {
        /// How many.
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: usize,
    },
    /// Records of a kind or a session, oldest first.
    Query {
        /// Only this kind (`evaluated`, `happened`, `approval.requested`, `finding.recorded`, …).
        #[arg(long)]
        kind: Option<String>,
        /// Only this session; `agent:id` where ids of several agents collide.
        #[arg(long)]
        session: Option<String>,
        /// Only decisions of this strictness or more: pass, warn, ask, block.
        #[arg(long)]
        decision: Option<String>,
        /// At most so many.
        #[arg(long, default_value_t = 100)]
        limit: usize,
    },
    /// What would have been stopped while the policy only observed (`mode: observe`).
    Report,
    /// Check the hash chain: a changed, removed or reordered record is named.
    Verify {
        /// First record to check.
        #[arg(long, default_value_t = 1)]
        from: u64,
        /// Last record to check.
        #[arg(long, default_value_t = u64::MAX)]
        to: u64,
        /// File with `<number> <hash>` lines kept outside the store; also looked at: `/etc/lictor/anchors` and the notes that
        /// `init --git` lets commits carry. Without any, removal of the newest records cannot be seen.
        #[arg(long, value_name = "FILE")]
        anchor: Option<PathBuf>,
    },
    /// Print the anchor of the newest record, to be kept outside the store.
    Anchor,
    /// All records as JSON lines.
    Export,
}

/// Runs the command.
pub fn run(args: &AuditArgs) -> Result<Exit> {
    let project = Project::around(&args.cwd);
    let store = runtime::existing_store(&project)?;
    match &args.command {
        AuditCommand::Tail { lines } => {
            let query = Query::all().newest_first().limit(*lines);
            let mut records = store.view(|view| view.records(&query))?;
            records.reverse();
            show(&records, args.json)
        }
        AuditCommand::Query { kind, session, decision, limit } => {
            let mut query = Query::all();
            if let Some(kind) = kind {
                query = query.kind(kind);
            }
            if let Some(session) = session {
                query = query.session(session_key(session));
            }
            let records = collect(&store, query, *limit, decision.as_deref())?;
            show(&records, args.json)
        }
        AuditCommand::Verify { from, to, anchor } => {
            let anchor = self::anchor(&project, anchor.as_ref())?;
            check(&store, *from, *to, anchor, args.json)
        }
        AuditCommand::Report => report(&store, args.json),
        AuditCommand::Anchor => {
            let head = store.view(|view| view.head())?;
            output::print(&format!("{}\n", Anchor::from(head)))?;
            Ok(Exit::Ok)
        }
        AuditCommand::Export => export(&store),
    }
}

/// `agent:id`, or an id alone.
pub fn session_key(text: &str) -> SessionKey {
    let (agent, id) = match text.split_once(':') {
        Some((agent, id)) if agent.parse::<lictor_agents::Agent>().is_ok() => (agent, id),
        _ => ("", text),
    };
    SessionKey { agent: agent.to_owned(), id: id.to_owned() }
}

fn collect(store: &SqliteStore, query: Query, limit: usize, decision: Option<&str>) -> Result<Vec<Record>> {
    const STRICT: [&str; 4] = ["pass", "warn", "ask", "block"];
    let rank = |word: &str| STRICT.iter().position(|known| *known == word);
    let least = match decision {
        None => None,
        Some(word) => Some(
            rank(word)
                .with_context(|| format!("there is no decision `{word}`; use pass, warn, ask or block"))?,
        ),
    };
    let mut found = Vec::new();
    let mut after = 0;
    while found.len() < limit {
        let page = store.view(|view| view.records(&query.clone().after(after).limit(500)))?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        found.extend(page.into_iter().filter(|record| match least {
            None => true,
            Some(least) => decision_of(record).and_then(|word| rank(&word)).is_some_and(|rank| rank >= least),
        }));
    }
    found.truncate(limit);
    Ok(found)
}

fn decision_of(record: &Record) -> Option<String> {
    let body: Value = serde_json::from_str(&record.body).ok()?;
    body.pointer("/event/decision").and_then(Value::as_str).map(str::to_owned)
}

fn show(records: &[Record], json: bool) -> Result<Exit> {
    let style = Style::stdout();
    let mut text = String::new();
    for record in records {
        if json {
            text += &json_line(record)?;
        } else {
            text += &format!(
                "{:>6}  {}  {:<18} {:<24} {}\n",
                record.seq,
                style.dim(&when::utc(record.at)),
                record.kind,
                record.session.as_ref().map(ToString::to_string).unwrap_or_default(),
                summary(record)
            );
        }
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn json_line(record: &Record) -> Result<String> {
    let body: Value =
        serde_json::from_str(&record.body).unwrap_or_else(|_| Value::String(record.body.clone()));
    let line = json!({"seq": record.seq, "at": record.at, "session": record.session, "kind": record.kind,
                      "body": body, "prev": record.prev, "hash": record.hash});
    Ok(format!("{}\n", serde_json::to_string(&line)?))
}

/// The gist of a record in a few words.
fn summary(record: &Record) -> String {
    let Ok(body) = serde_json::from_str::<Value>(&record.body) else { return String::new() };
    let field = |name: &str| {
        let found = body.get(name).or_else(|| body.get("event")?.get(name));
        found.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let action = body
        .get("action")
        .and_then(|what| serde_json::from_value(what.clone()).ok())
        .map(|action| super::explain::title(&action))
        .unwrap_or_default();
    [field("decision"), field("standing"), field("title"), action]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The newest anchor that is known, and where it is kept.
pub fn anchor(project: &Project, file: Option<&PathBuf>) -> Result<Option<(Anchor, String)>> {
    let managed = PathBuf::from("/etc/lictor/anchors");
    let mut known = Vec::new();
    if let Some(file) = file.or_else(|| managed.is_file().then_some(&managed)) {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        let newest =
            Anchor::newest(&text).with_context(|| format!("`{}` is not an anchor file", file.display()))?;
        known.extend(newest.map(|anchor| (anchor, format!("`{}`", file.display()))));
    }
    known.extend(anchor::noted(&project.root)?.map(|anchor| (anchor, format!("`{}`", anchor::NOTES))));
    Ok(known.into_iter().max_by_key(|(anchor, _)| anchor.seq))
}

fn check(
    store: &SqliteStore,
    from: u64,
    to: u64,
    anchor: Option<(Anchor, String)>,
    json: bool,
) -> Result<Exit> {
    let (anchor, kept) = anchor.unzip();
    let result = store.view(|view| verify(view, from..=to, anchor))?;
    let faults: Vec<String> = result.faults.iter().map(ToString::to_string).collect();
    if json {
        output::print_json(&json!({
            "sound": result.is_sound(), "records": result.records, "checked": result.checked,
            "faults": faults, "anchor": result.anchoring.to_string(), "anchor_kept_in": kept, "head": Anchor::from(result.head).to_string(),
        }))?;
    } else {
        let style = Style::stdout();
        let mut text = String::new();
        for fault in &faults {
            text += &format!("{} {fault}\n", style.red("fault:"));
        }
        let word = if result.is_sound() { style.green("sound") } else { style.red("not sound") };
        let kept = kept.map(|kept| format!(" (kept in {kept})")).unwrap_or_default();
        text += &format!("{word}: {} records checked; {}{kept}\n", result.records, result.anchoring);
        output::print(&text)?;
    }
    Ok(if result.is_sound() { Exit::Ok } else { Exit::Problems })
}

/// What was judged and not enforced, by the rule that would have stopped it.
fn report(store: &SqliteStore, json: bool) -> Result<Exit> {
    let mut stopped: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut judged, mut would_stop, mut after) = (0u64, 0u64, 0);
    loop {
        let query = Query::all().kind(kind::EVALUATED).after(after).limit(500);
        let page = store.view(|view| view.records(&query))?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for record in &page {
            let Ok(body) = serde_json::from_str::<Evaluated<'_>>(&record.body) else { continue };
            if !body.evaluation.observed {
                continue;
            }
            judged += 1;
            if body.evaluation.decision.allows() {
                continue;
            }
            would_stop += 1;
            let active = body.evaluation.active();
            let rule = active.first().map(|given| given.verdict.rule().unwrap_or(&given.guard).to_owned());
            let title = format!("#{} {}", record.seq, super::explain::title(&body.action));
            stopped.entry(rule.unwrap_or_default()).or_default().push(title);
        }
    }
    if json {
        output::print_json(&json!({"judged": judged, "would_stop": would_stop, "by_rule": stopped}))?;
        return Ok(Exit::Ok);
    }
    let style = Style::stdout();
    let mut text = format!(
        "{judged} actions were judged without being enforced; {would_stop} would have been stopped\n"
    );
    for (rule, titles) in &stopped {
        text += &format!("\n{} ({})\n", style.bold(rule), titles.len());
        for title in titles.iter().take(5) {
            text += &format!("  {title}\n");
        }
        if titles.len() > 5 {
            text += &style.dim(&format!("  and {} more\n", titles.len() - 5));
        }
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn export(store: &SqliteStore) -> Result<Exit> {
    let mut after = 0;
    loop {
        let page = store.view(|view| view.records(&Query::all().after(after).limit(500)))?;
        let Some(last) = page.last() else { return Ok(Exit::Ok) };
        after = last.seq;
        for record in &page {
            output::print(&json_line(record)?)?;
        }
    }
}
