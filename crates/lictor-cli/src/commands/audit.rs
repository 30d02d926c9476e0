//! `lictor audit`: the log.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};
use clap_complete::ArgValueCandidates;
use lictor::log::{Evaluated, kind};
use lictor::past::{COUNTED, Further};
use lictor::{Project, Snapshot, allow, anchor, checkpoint, keeping};
use lictor_config::diagnostic::closest;
use lictor_core::{Decision, text};
use lictor_ledger::ledger;
use lictor_store::{Anchor, Query, Record, Retained, Store, StoreExt as _, verify};
use serde_json::{Value, json};

use super::{log, session};
use crate::args::{self, Common, Strictness};
use crate::candidates;
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};
use crate::progress::{Counted, Progress};
use crate::time_format;

/// Read and check the log.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor audit tail -n 5
  lictor audit query --decision block --session 1f0c
  lictor audit verify --anchor /mnt/safe/anchors
  lictor audit export > log.jsonl
  lictor audit export --exact > record.jsonl
  lictor audit verify --file record.jsonl --key 3f2a…")]
pub struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Show the newest records.
    Tail {
        /// How many.
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: usize,
    },
    /// Show records of a kind or a session, oldest first.
    Query {
        /// Only this kind (`evaluated`, `happened`, `approval.requested`, `finding.recorded`, …).
        #[arg(long)]
        kind: Option<String>,
        /// Only this session: its id or a prefix; `agent:id` if ids of several agents collide.
        #[arg(long, add = ArgValueCandidates::new(candidates::sessions))]
        session: Option<String>,
        /// Only decisions of this strictness or more.
        #[arg(long, value_enum)]
        decision: Option<Strictness>,
        /// At most so many.
        #[arg(long, default_value = "100", value_parser = args::some)]
        limit: usize,
    },
    /// What would have been stopped while the policy only observed (`mode: observe`).
    Report,
    /// Verify the hash chain: names changed, removed or reordered records.
    Verify {
        /// First record to check.
        #[arg(long, default_value_t = 1)]
        from: u64,
        /// Last record to check; default: the newest.
        #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
        to: u64,
        /// File with `<number> <hash>` lines kept outside the store; also used: `/etc/lictor/anchors` and the git
        /// notes of `init --git`. Without any, removal of the newest records cannot be detected.
        #[arg(long, value_name = "FILE")]
        anchor: Option<PathBuf>,
        /// Check a record that `audit export --exact` wrote instead of this project's, up to its last signed checkpoint.
        #[arg(long, value_name = "EXPORT", conflicts_with_all = ["from", "to", "anchor"])]
        file: Option<PathBuf>,
        /// The public key that must have signed the export, as `audit checkpoint` prints it.
        #[arg(long, value_name = "HEX", requires = "file")]
        key: Option<String>,
    },
    /// Move old records to compressed archives beside the store. All commands still read them. Runs automatically
    /// after sessions.
    Archive {
        /// Records that are not older stay (`30d`); default: `retention.keep`.
        #[arg(long, value_name = "TIME")]
        keep: Option<String>,
    },
    /// Print the anchor of the newest record, to keep outside the store.
    Anchor,
    /// Print all records as JSON lines.
    Export {
        /// Bodies as the text that was hashed: others can check it with `audit verify --file`.
        #[arg(long)]
        exact: bool,
    },
    /// Sign the newest record, and with it every one before it, so that others can check an export. Done
    /// automatically every thousand records.
    Checkpoint,
    /// Seal the record with a new key. Older seals can still be verified. Programs that keep the record open
    /// (`lictor run`, `ui`, `serve`) must be restarted.
    RotateKey,
}

/// The kinds of records that Lictor writes, apart from those of the ledger.
const KINDS: &[&str] = &[
    kind::APPROVAL_COUNTED,
    kind::APPROVAL_DENIED,
    kind::APPROVAL_GRANTED,
    kind::APPROVAL_REQUESTED,
    checkpoint::KIND,
    "decision.wrong",
    kind::EVALUATED,
    allow::ADDED,
    kind::FEEDBACK_GIVEN,
    kind::GRANT_EXPIRED,
    kind::GRANT_REFUSED,
    kind::GRANT_USED,
    kind::HAPPENED,
    keeping::KEY_ROTATED,
    "mcp.prompt_changed",
    "mcp.server_changed",
    "mcp.tool_changed",
    kind::POLICY_CHANGED,
    kind::PROMPTED,
    kind::REMARK_DELIVERED,
    kind::REMARK_HELD,
    kind::RESOLVED,
    kind::SESSION_CONTINUED,
    kind::SESSION_ENDED,
    kind::SESSION_FORKED,
    kind::SESSION_REFRESHED,
    kind::SESSION_RESET,
    kind::SESSION_STARTED,
    kind::SESSION_WATCHED,
    kind::STOP_CHECKED,
    kind::TODOS_LISTED,
    "program.trusted",
    Retained::KIND,
];

/// Runs the command.
pub fn run(args: &AuditArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    let json = args.common.json;
    match &args.command {
        AuditCommand::Archive { keep } => return archive(&project, keep.as_deref(), json),
        AuditCommand::Checkpoint => return checkpoint(&project, json),
        AuditCommand::RotateKey => return rotate_key(&project, json),
        AuditCommand::Verify { file: Some(file), key, .. } => {
            return check_export(file, key.as_deref(), json);
        }
        _ => {}
    }
    let store = project.existing_store()?;
    match &args.command {
        AuditCommand::Tail { lines } => {
            let query = Query::all().newest_first().limit(*lines);
            let mut records = store.view(|view| view.records(&query))?;
            records.reverse();
            show(&records, args.common.json)
        }
        AuditCommand::Query { kind, session, decision, limit } => {
            let mut query = Query::all();
            if let Some(kind) = kind {
                query = query.kind(known_kind(&*store, kind)?);
            }
            if let Some(text) = session {
                query = query.session(session::named(&*store, text)?);
            }
            let most = limit.saturating_add(COUNTED);
            let mut records = collect(&*store, query, most, decision.map(Decision::from))?;
            let further =
                Further { count: records.len().saturating_sub(*limit), at_least: records.len() == most };
            records.truncate(*limit);
            let exit = show(&records, args.common.json)?;
            if further.count > 0 {
                output::tell(&format!("… {}; `--limit COUNT` shows them\n", log::more_fit(further)));
            }
            Ok(exit)
        }
        AuditCommand::Verify { from, to, anchor, .. } => {
            let progress = Progress::new("looking for anchors");
            let anchor = self::anchor(&project, anchor.as_ref())?;
            check(&*store, *from, *to, anchor, progress, args.common.json)
        }
        AuditCommand::Report => report(&*store, args.common.json),
        AuditCommand::Anchor => {
            let anchor = Anchor::from(store.view(|view| view.head())?);
            if args.common.json {
                output::print_json(
                    &json!({"seq": anchor.seq, "hash": anchor.hash, "line": anchor.to_string()}),
                )?;
            } else {
                output::print(&format!("{anchor}\n"))?;
            }
            Ok(Exit::Ok)
        }
        AuditCommand::Export { exact } => export(&*store, *exact),
        AuditCommand::Archive { .. } | AuditCommand::Checkpoint | AuditCommand::RotateKey => Ok(Exit::Ok),
    }
}

fn archive(project: &Project, keep: Option<&str>, json: bool) -> Result<Exit> {
    here::people_only("audit archive", project)?;
    let mut retention = keeping::of_policy(&Snapshot::read(project)?.policy);
    if let Some(text) = keep {
        let wrong =
            || exit::usage(format!("`--keep {text}` is not a length of time; write for example `30d`"));
        retention.keep = std::time::Duration::from_millis(lictor_config::millis(text).ok_or_else(wrong)?);
    }
    let moved = project.archive(&retention)?;
    if json {
        let directory = project.archives();
        output::print_json(
            &json!({"records": moved.records, "store_bytes": moved.bytes, "directory": directory}),
        )?;
    } else if moved.records == 0 {
        output::print("nothing is old or large enough to be moved\n")?;
    } else {
        let records = output::count(moved.records, "record");
        output::print(&format!("{records} moved to {}\n", project.archives().display()))?;
    }
    Ok(Exit::Ok)
}

/// The record kind with this name. Kinds from a newer version count as known.
fn known_kind<'a>(store: &dyn Store, word: &'a str) -> Result<&'a str> {
    let written = || store.view(|view| view.records(&Query::all().kind(word).limit(1)));
    let mut kinds = [KINDS, ledger::KINDS].concat();
    kinds.sort_unstable();
    if kinds.contains(&word) || !written()?.is_empty() {
        return Ok(word);
    }
    let meant = closest(word, kinds.iter().copied())
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    Err(exit::usage(format!("there are no records of kind `{word}`{meant}\nkinds: {}", kinds.join(", "))))
}

fn collect(store: &dyn Store, query: Query, limit: usize, least: Option<Decision>) -> Result<Vec<Record>> {
    let mut found = Vec::new();
    let mut after = 0;
    while found.len() < limit {
        let page = store.view(|view| view.records(&query.clone().after(after).limit(500)))?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        found.extend(page.into_iter().filter(|record| match least {
            None => true,
            Some(least) => decision_of(record).is_some_and(|decision| decision >= least),
        }));
    }
    found.truncate(limit);
    Ok(found)
}

fn decision_of(record: &Record) -> Option<Decision> {
    let body: Value = serde_json::from_str(&record.body).ok()?;
    serde_json::from_value(body.pointer("/event/decision")?.clone()).ok()
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
                style.dim(&time_format::local(record.at)),
                record.kind,
                record.session.as_ref().map(ToString::to_string).unwrap_or_default(),
                summary(record)
            );
        }
    }
    if json {
        output::print_exact(&text)?;
        return Ok(Exit::Ok);
    }
    if records.is_empty() {
        text += "no records\n";
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn json_line(record: &Record) -> Result<String> {
    let body: Value =
        serde_json::from_str(&record.body).unwrap_or_else(|_| Value::String(record.body.clone()));
    let line = json!({"seq": record.seq, "at": record.at, "session": record.session, "kind": record.kind,
                      "body": body, "prev": record.prev, "hash": record.hash});
    output::json_line(&line)
}

/// A short summary of a record.
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

/// The newest known anchor, and its location.
pub fn anchor(project: &Project, file: Option<&PathBuf>) -> Result<Option<(Anchor, String)>> {
    let managed = PathBuf::from("/etc/lictor/anchors");
    let mut known = Vec::new();
    if let Some(file) = file.or_else(|| managed.is_file().then_some(&managed)) {
        let text = fs::read_to_string(file).map_err(|error| exit::unreadable(file, &error))?;
        let newest = Anchor::newest(&text)
            .map_err(|error| exit::usage(format!("`{}` is not an anchor file: {error}", file.display())))?;
        known.extend(newest.map(|anchor| (anchor, file.display().to_string())));
    }
    known.extend(anchor::noted(&project.root)?.map(|anchor| (anchor, anchor::NOTES.to_owned())));
    Ok(known.into_iter().max_by_key(|(anchor, _)| anchor.seq))
}

fn check(
    store: &dyn Store,
    from: u64,
    to: u64,
    anchor: Option<(Anchor, String)>,
    progress: Progress,
    json: bool,
) -> Result<Exit> {
    let (anchor, kept) = anchor.unzip();
    let result = store.view(|view| {
        progress.next("checking", view.head()?.seq.min(to).saturating_sub(from.saturating_sub(1)));
        verify(&Counted { view, progress: &progress }, from..=to, anchor)
    })?;
    drop(progress);
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
        let kept = kept.map(|kept| format!(" (kept in `{kept}`)")).unwrap_or_default();
        let checked = output::count(result.records, "record");
        text += &format!("{word}: {checked} checked; {}{kept}\n", result.anchoring);
        output::print(&text)?;
    }
    Ok(if result.is_sound() { Exit::Ok } else { Exit::Problems })
}

/// Actions that were not enforced, by the rule that would have stopped them.
fn report(store: &dyn Store, json: bool) -> Result<Exit> {
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
            let rule = active.first().map(|given| given.verdict.rule().unwrap_or(given.guard()).to_owned());
            let title = format!("#{} {}", record.seq, super::explain::title(&body.action));
            stopped.entry(rule.unwrap_or_default()).or_default().push(title);
        }
    }
    for record in stops(store)? {
        let Some(reason) = observed_stop(&record.body) else { continue };
        judged += 1;
        would_stop += 1;
        stopped.entry("completion".to_owned()).or_default().push(format!("#{} {reason}", record.seq));
    }
    if json {
        output::print_json(&json!({"judged": judged, "would_stop": would_stop, "by_rule": stopped}))?;
        return Ok(Exit::Ok);
    }
    let style = Style::stdout();
    if judged == 0 {
        output::print(
            "nothing was judged without being enforced; `mode: observe` in your own policy does that\n",
        )?;
        return Ok(Exit::Ok);
    }
    let mut text = format!(
        "{} judged without being enforced; {would_stop} would have been stopped\n",
        output::count(judged, "action")
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

/// Every wish to stop.
fn stops(store: &dyn Store) -> Result<Vec<Record>> {
    let mut all: Vec<Record> = Vec::new();
    loop {
        let after = all.last().map_or(0, |record| record.seq);
        let query = Query::all().kind(kind::STOP_CHECKED).after(after).limit(500);
        let page = store.view(|view| view.records(&query))?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// Why an agent would have been kept from stopping if the gate were enforced.
fn observed_stop(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let check = body.get("event").filter(|check| check.get("observed") == Some(&Value::Bool(true)))?;
    let reason = check.pointer("/outcome/reasons/0").and_then(Value::as_str);
    Some(format!("stop: {}", text::clean(reason.unwrap_or("something is missing"), 120)))
}

fn checkpoint(project: &Project, json: bool) -> Result<Exit> {
    here::people_only("audit checkpoint", project)?;
    let signed = project.checkpoint()?;
    if json {
        output::print_json(&signed)?;
    } else {
        output::print(&format!(
            "record {} and all before it are signed by {}\n",
            signed.seq, signed.seal.key
        ))?;
    }
    Ok(Exit::Ok)
}

fn rotate_key(project: &Project, json: bool) -> Result<Exit> {
    here::people_only("audit rotate-key", project)?;
    let key = project.rotate_record_key(&here::person())?;
    if json {
        output::print_json(&json!({"key": key.to_string()}))?;
    } else {
        output::print(&format!("the record is sealed with the new key {key}\n"))?;
    }
    Ok(Exit::Ok)
}

/// Checks an exported record.
fn check_export(file: &Path, key: Option<&str>, json: bool) -> Result<Exit> {
    let opened = fs::File::open(file).map_err(|error| exit::unreadable(file, &error))?;
    let told = checkpoint::check(BufReader::new(opened), key)
        .map_err(|error| exit::usage(format!("`{}`: {error}", file.display())))?;
    let sound = told.faults.is_empty() && (key.is_none() || told.signed.is_some());
    if json {
        output::print_json(&json!({"sound": sound, "records": told.records, "signed": told.signed,
            "keys": told.keys, "faults": told.faults}))?;
    } else {
        let style = Style::stdout();
        let mut text: String =
            told.faults.iter().map(|fault| format!("{} {fault}\n", style.red("fault:"))).collect();
        let word = if sound { style.green("sound") } else { style.red("not sound") };
        let signed = match told.signed {
            Some(seq) => format!("signed up to record {seq} by {}", told.keys.join(", ")),
            None => "nothing in it is signed; `lictor audit checkpoint` signs".to_owned(),
        };
        text += &format!("{word}: {} checked; {signed}\n", output::count(told.records, "record"));
        if key.is_none() && told.signed.is_some() {
            text += "whose key that is, this does not tell; `--key` says which one must have signed\n";
        }
        output::print(&text)?;
    }
    Ok(if sound { Exit::Ok } else { Exit::Problems })
}

fn export(store: &dyn Store, exact: bool) -> Result<Exit> {
    let mut after = 0;
    loop {
        let page = store.view(|view| view.records(&Query::all().after(after).limit(500)))?;
        let Some(last) = page.last() else { return Ok(Exit::Ok) };
        after = last.seq;
        for record in &page {
            let line = if exact { output::json_line(record)? } else { json_line(record)? };
            output::print_exact(&line)?;
        }
    }
}
