//! `lictor log`: decisions for people, one per line.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use clap_complete::ArgValueCandidates;
use lictor::past::{Decided, Decisions, Further, Wanted, further_decisions, newest_decisions, title};
use lictor::{SqliteOptions, Store};
use lictor_agents::Agent;
use lictor_config::diagnostic::closest;
use lictor_core::{Decision, Timestamp};
use lictor_guards::Pack;
use lictor_store::StoreError;
use serde_json::json;

use super::session;
use crate::args::{self, Common, Strictness};
use crate::candidates;
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};
use crate::time_format;

/// Show decisions, one per line, newest last.
#[derive(Debug, Args)]
#[command(after_help = "\
Times are local. `--since` and `--until` take how long ago (`90m`, `2d`, `1w`), `today`,
`yesterday`, a day of the week, a date, a time of today, or both.

Examples:
  lictor log
  lictor log --since monday --decision block
  lictor log 'git push' --agent codex --since 2d
  lictor log --path src/auth --all
  lictor log -f")]
pub struct LogArgs {
    /// Only decisions whose action or reason contains this text.
    text: Option<String>,
    /// Not before.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only actions on files whose path holds this.
    #[arg(long, value_name = "TEXT")]
    path: Option<String>,
    /// Only this agent's.
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(candidates::agents))]
    agent: Option<Agent>,
    /// Only decisions with this rule; `git` matches every rule that begins with `git.`.
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Only decisions of this strictness or more.
    #[arg(long, value_enum)]
    decision: Option<Strictness>,
    /// Only this session: its id or a prefix.
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(candidates::sessions))]
    session: Option<String>,
    /// How many of the newest; 20 without this and `--since`.
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = args::some)]
    lines: Option<usize>,
    /// Go on and show decisions as they are made.
    #[arg(short = 'f', long, conflicts_with = "until")]
    follow: bool,
    /// Of all projects on this machine.
    #[arg(long, conflicts_with_all = ["session", "follow"])]
    all: bool,
    #[command(flatten)]
    common: Common,
}

/// The default number of lines.
const LINES: usize = 20;
/// How many decisions are searched for a rule that no pack has.
const SEARCHED: usize = 2000;
/// So many bytes are printed at once.
const AT_ONCE: usize = 1 << 16;
/// How often a followed record is looked at.
const EVERY: Duration = Duration::from_millis(300);

/// Runs the command.
pub fn run(args: &LogArgs) -> Result<Exit> {
    let mut wanted = Wanted {
        since: moment(args.since.as_deref(), "--since")?,
        until: moment(args.until.as_deref(), "--until")?,
        text: args.text.clone(),
        path: args.path.clone(),
        agent: args.agent.map(|agent| agent.name().to_owned()),
        rule: args.rule.clone(),
        decision: args.decision.map(Decision::from),
        session: None,
        dry: false,
    };
    // With `--since`, all are shown.
    let limit = args.lines.or(args.since.is_none().then_some(LINES));
    if args.all {
        return match limit {
            Some(limit) => newest_of_all(&wanted, limit, args.common.json),
            None => each_of_all(&wanted, args.common.json),
        };
    }
    let store = here::project(&args.common.cwd).existing_store()?;
    if let Some(text) = &args.session {
        wanted.session = Some(session::named(&*store, text)?);
    }
    let printer = || Printer::of_one(args.common.json);
    let (shown, last, further) = match limit {
        Some(limit) => {
            let (found, further) = of_one(&*store, &wanted, limit, !args.common.json)?;
            let printer = Printer { agents: args.follow || are_several(&found), ..printer() };
            for decided in &found {
                output::print(&printer.line(decided)?)?;
            }
            (found.len(), found.last().map_or(0, |decided| decided.id), further)
        }
        None => {
            let mut found = Decisions::after(&*store, &wanted, 0)?;
            let shown = print_each(found.by_ref(), &printer())?;
            (shown, found.looked_at(), Further::default())
        }
    };
    if args.follow {
        return follow(&*store, &wanted, last, &printer());
    }
    if let Some(rule) = args.rule.as_deref().filter(|_| shown == 0) {
        known_rule(rule, &*store)?;
    }
    close(shown, further, args.common.json)
}

/// Streams decisions to the output. Returns how many; fewer if the reader closes the pipe.
fn print_each(found: impl Iterator<Item = Result<Decided, StoreError>>, printer: &Printer) -> Result<usize> {
    let (mut shown, mut text) = (0, String::new());
    for decided in found {
        text.push_str(&printer.line(&decided?)?);
        shown += 1;
        if text.len() >= AT_ONCE && !output::print_while_read(&std::mem::take(&mut text))? {
            return Ok(shown);
        }
    }
    output::print_while_read(&text)?;
    Ok(shown)
}

/// Refuses a rule that is in no pack and in no recorded decision.
fn known_rule(rule: &str, store: &dyn Store) -> Result<()> {
    let anything = Wanted { decision: Some(Decision::Warn), ..Wanted::default() };
    let (recorded, _) = newest_decisions(store, &anything, SEARCHED)?;
    let mut known: Vec<&str> =
        recorded.iter().flat_map(|decided| &decided.rules).map(String::as_str).collect();
    known.extend(Pack::all().iter().flat_map(|pack| pack.rules()).map(|rule| rule.id));
    let family = format!("{rule}.");
    if known.iter().any(|known| *known == rule || known.starts_with(&family)) {
        return Ok(());
    }
    let families = known.iter().filter_map(|known| known.split_once('.')).map(|(family, _)| family);
    // A prefix of a long name is enough for a suggestion.
    let begins = |id: &&str| id.rsplit_once('-').and_then(|(stem, _)| closest(rule, [stem])).is_some();
    let near =
        closest(rule, known.iter().copied().chain(families)).or_else(|| known.iter().copied().find(begins));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(exit::usage(format!("there is no rule `{rule}`{near}")))
}

/// A time that was given as an option.
pub fn moment(text: Option<&str>, option: &str) -> Result<Option<Timestamp>> {
    let Some(text) = text else { return Ok(None) };
    time_format::parse(text, time_format::now()).map(Some).ok_or_else(|| {
        exit::usage(format!(
            "`{option} {text}` is not a time; write for example `2d`, `monday`, `yesterday` or `2026-03-01 14:30`"
        ))
    })
}

fn close(shown: usize, further: Further, json: bool) -> Result<Exit> {
    if json {
        return Ok(Exit::Ok);
    }
    if shown == 0 {
        output::print("no decisions found; `lictor eval` is not shown here\n")?;
    } else if further != Further::default() {
        output::tell(&format!("… {}; `-n COUNT` or `--since TIME` shows them\n", more_fit(further)));
    }
    Ok(Exit::Ok)
}

/// How many more match, in words.
pub fn more_fit(further: Further) -> String {
    match further {
        Further { count: 0, .. } => "there may be older ones".to_owned(),
        Further { count: 1, at_least: false } => "1 more fits".to_owned(),
        Further { count, at_least: false } => format!("{count} more fit"),
        Further { count, at_least: true } => format!("at least {count} more fit"),
    }
}

/// The records of all projects. One that cannot be opened is named and the others are shown.
fn all_records() -> Vec<(PathBuf, Box<dyn Store>)> {
    let mut records: Vec<(PathBuf, Box<dyn Store>)> = Vec::new();
    for file in here::all_stores() {
        match open(&file) {
            Ok(store) => records.push((file, Box::new(store))),
            Err(error) => unreadable(&file, &error),
        }
    }
    records
}

fn unreadable(file: &Path, error: &anyhow::Error) {
    output::tell(&format!("note: `{}`: {}\n", file.display(), output::chain(error)));
}

/// The newest decisions of all projects.
fn newest_of_all(wanted: &Wanted, limit: usize, json: bool) -> Result<Exit> {
    let mut all: Vec<Decided> = Vec::new();
    let mut further = Further::default();
    for (file, store) in all_records() {
        match of_one(&*store, wanted, limit, !json) {
            Ok((found, left)) => {
                all.extend(found);
                further.count += left.count;
                further.at_least |= left.at_least;
            }
            Err(error) => unreadable(&file, &error),
        }
    }
    all.sort_by_key(|decided| decided.at);
    let skipped = all.len().saturating_sub(limit);
    let printer = Printer { agents: are_several(&all), ..Printer::of_projects(json) };
    for decided in all.iter().skip(skipped) {
        output::print(&printer.line(decided)?)?;
    }
    further.count += skipped;
    close(all.len(), further, json)
}

/// Streams the decisions of all projects in time order.
fn each_of_all(wanted: &Wanted, json: bool) -> Result<Exit> {
    let records = all_records();
    let mut found = Vec::new();
    for (file, store) in &records {
        match Decisions::after(&**store, wanted, 0) {
            Ok(decisions) => found.push((file, decisions.peekable())),
            Err(error) => unreadable(file, &error.into()),
        }
    }
    let in_order = std::iter::from_fn(|| {
        loop {
            let next = found.iter_mut().filter_map(|(file, one)| {
                // An error comes first and ends its record.
                let at = one.peek()?.as_ref().ok().map(|decided| decided.at);
                Some((at, file, one))
            });
            let (_, file, one) = next.min_by_key(|(at, ..)| *at)?;
            match one.next()? {
                Ok(decided) => return Some(Ok(decided)),
                Err(error) => unreadable(file, &error.into()),
            }
        }
    });
    let shown = print_each(in_order, &Printer::of_projects(json))?;
    close(shown, Further::default(), json)
}

/// The newest decisions of a project and, if wanted, how many more there are.
fn of_one(store: &dyn Store, wanted: &Wanted, limit: usize, count: bool) -> Result<(Vec<Decided>, Further)> {
    let (found, more) = newest_decisions(store, wanted, limit)?;
    let oldest = found.first().filter(|_| more && count);
    let further = oldest.map(|oldest| further_decisions(store, wanted, oldest.id)).transpose()?;
    Ok((found, further.unwrap_or_default()))
}

/// An existing store, for reading.
pub fn open(file: &Path) -> Result<impl Store + use<>> {
    Ok(SqliteOptions::new().create(false).open(file)?)
}

fn follow(store: &dyn Store, wanted: &Wanted, last: u64, printer: &Printer) -> Result<Exit> {
    let mut last = last;
    loop {
        let mut fresh = Decisions::after(store, wanted, last)?;
        for decided in fresh.by_ref() {
            if !output::print_while_read(&printer.line(&decided?)?)? {
                return Ok(Exit::Ok);
            }
        }
        last = fresh.looked_at();
        thread::sleep(EVERY);
    }
}

/// Whether decisions are about more than one agent.
fn are_several(decided: &[Decided]) -> bool {
    decided.iter().any(|one| decided.first().is_some_and(|first| agent_of(first) != agent_of(one)))
}

fn agent_of(decided: &Decided) -> &str {
    decided.session.as_ref().map_or(decided.action.actor.agent.as_str(), |key| key.agent.as_str())
}

struct Printer {
    json: bool,
    /// The project is named too.
    project: bool,
    /// The agent is named too.
    agents: bool,
    /// The day heading above the last line: on a terminal it is printed once.
    day: RefCell<String>,
    style: Style,
    width: Option<usize>,
}

impl Printer {
    fn of_one(json: bool) -> Self {
        let (style, width) = (Style::stdout(), output::columns());
        Self { json, project: false, agents: true, day: RefCell::default(), style, width }
    }

    fn of_projects(json: bool) -> Self {
        Self { project: true, ..Self::of_one(json) }
    }

    fn line(&self, decided: &Decided) -> Result<String> {
        if self.json {
            return json_line(decided);
        }
        let place = match self.project {
            true => format!(
                "{}  ",
                Path::new(&decided.action.cwd).file_name().unwrap_or_default().to_string_lossy()
            ),
            false => String::new(),
        };
        let rule = decided.rules.first().filter(|_| decided.decision > Decision::Pass);
        let rule = rule.map(|rule| format!("[{rule}]  ")).unwrap_or_default();
        let (above, time) = self.time(decided.at);
        let head = format!("{:>6}  {time}  ", decided.id);
        let word = format!("{:<5}", decided.decision.as_str());
        let agent = if self.agents || self.width.is_none() {
            format!("{}  ", agent_of(decided))
        } else {
            String::new()
        };
        let tail = format!("  {agent}{place}");
        let room =
            self.width.map(|width| width.saturating_sub(head.chars().count() + 5 + tail.chars().count()));
        let what = format!("{rule}{}", title(&decided.action));
        let what = room
            .map_or_else(|| output::clipped(&what, usize::MAX), |room| output::clipped(&what, room.max(20)));
        let painted = self.style.decision(decided.decision);
        let padding = " ".repeat(word.len().saturating_sub(decided.decision.as_str().len()));
        Ok(format!("{above}{}{painted}{padding}{}{what}\n", self.style.dim(&head), self.style.dim(&tail)))
    }

    /// The heading above a line, and its time: in narrow output the day is a heading.
    fn time(&self, at: Timestamp) -> (String, String) {
        if self.width.is_none() {
            return (String::new(), time_format::local(at));
        }
        let day = time_format::day(at);
        let same = self.day.replace(day.clone()) == day;
        let above = if same { String::new() } else { format!("{}\n", self.style.bold(&day)) };
        (above, time_format::clock(at))
    }
}

fn json_line(decided: &Decided) -> Result<String> {
    let line = json!({
        "id": decided.id, "at": decided.at, "session": decided.session, "decision": decided.decision,
        "action": title(&decided.action), "cwd": decided.action.cwd, "rules": decided.rules, "reason": decided.reason,
        "observed": decided.observed, "answered": decided.answered,
    });
    output::json_line(&line)
}
