//! `lictor approvals`, `approve`, `deny`: lists and answers pending questions.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use clap_complete::ArgValueCandidates;
use lictor::allow::AllowError;
use lictor::{
    Approval, Approvals, GRANT_LASTS_MS, Lifetime, PersonKey, PolicyEngine, Project, Said, Who, remembered,
};
use lictor_core::text::{visible, visible_line};
use serde_json::{Value, json};

use super::explain;
use crate::args::Common;
use crate::candidates;
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};
use crate::time_format;

/// List the pending questions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor approvals
  lictor approvals --json")]
pub struct ApprovalsArgs {
    #[command(flatten)]
    common: Common,
}

/// Approve exactly one action, once.
#[derive(Debug, Args)]
#[command(after_help = "\
Without an ID, goes through everything that waits, one by one, and asks. An answer counts for
exactly the action, session and policy it was given for.

Examples:
  lictor approve
  lictor approve 3f2a --for 30m
  lictor approve 3f2a --yes
  lictor approve 3f2a --remember --yes
  lictor approve --all --yes")]
pub struct ApproveArgs {
    /// The approval, or the first letters of its id.
    #[arg(add = ArgValueCandidates::new(candidates::approvals))]
    id: Option<String>,
    /// Everything that waits.
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// Do not ask again.
    #[arg(long)]
    yes: bool,
    /// How long the approval is valid: `10m`, `2h`. Default: ten minutes; with `--session` twelve hours.
    #[arg(long = "for", value_name = "TIME")]
    lasts: Option<String>,
    /// As often as needed while the session lasts, instead of once.
    #[arg(long)]
    session: bool,
    /// Once, and remember the tool: it does not ask again. Only if nothing else asks.
    #[arg(long, conflicts_with_all = ["session", "all"])]
    remember: bool,
    #[command(flatten)]
    common: Common,
}

/// The maximum lifetime of an approval for the session.
const SESSION_LASTS_MS: i64 = 12 * 60 * 60 * 1_000;

impl ApproveArgs {
    fn yes(&self) -> Yes {
        let lifetime = if self.session { Lifetime::Session } else { Lifetime::Once };
        Yes { lifetime, remember: self.remember }
    }

    /// The lifetime of an approval, by its kind.
    fn lasts(&self) -> Result<impl Fn(Lifetime) -> i64 + use<>> {
        let said = match &self.lasts {
            None => None,
            Some(text) => Some(
                lictor_config::millis(text)
                    .and_then(|millis| i64::try_from(millis).ok())
                    .filter(|millis| *millis > 0)
                    .ok_or_else(|| {
                        exit::usage(format!(
                            "`--for {text}` is not a length of time; write for example `10m` or `2h`"
                        ))
                    })?,
            ),
        };
        Ok(move |lifetime| {
            said.unwrap_or(if lifetime == Lifetime::Session { SESSION_LASTS_MS } else { GRANT_LASTS_MS })
        })
    }
}

/// Deny an action. The agent gets the reason, and the same action is refused again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor deny 3f2a
  lictor deny 3f2a --reason 'the release is frozen until Monday'")]
pub struct DenyArgs {
    /// The approval, or the first letters of its id.
    #[arg(add = ArgValueCandidates::new(candidates::approvals))]
    id: String,
    /// The reason, for the agent.
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// A question, to be shown.
struct Waiting {
    approval: Approval,
}

/// The approvals of one project.
struct ProjectApprovals {
    project: Project,
    approvals: Approvals,
    past: PolicyEngine,
}

impl ProjectApprovals {
    fn open(cwd: &Path) -> Result<Self> {
        let project = here::project(cwd);
        let past = here::past(&project)?;
        Ok(Self { approvals: Approvals::new(Arc::clone(past.store())), past, project })
    }

    /// The same, for answering: approvals are signed.
    fn answering(what: &str, cwd: &Path) -> Result<Self> {
        here::people_only(what, &here::project(cwd))?;
        let Self { approvals, past, project } = Self::open(cwd)?;
        let key = PersonKey::open_or_create(&project.person_keys())?;
        Ok(Self { approvals: approvals.signing(Arc::new(key)), past, project })
    }

    /// The pending questions, without those of ended sessions.
    fn waiting(&self) -> Result<Vec<Waiting>> {
        let mut waiting = Vec::new();
        for approval in self.approvals.pending(time_format::now())? {
            let over = match &approval.request.session {
                Some(key) => self.past.session(key)?.ended,
                None => false,
            };
            if !over {
                waiting.push(Waiting { approval });
            }
        }
        Ok(waiting)
    }

    fn find(&self, id: &str) -> Result<Waiting> {
        Ok(Waiting { approval: self.approvals.find(id)? })
    }

    /// Approves, and remembers the tool if requested.
    fn say_yes(&self, one: &Waiting, yes: Yes, lasts: i64) -> Result<Said> {
        if yes.remember {
            // Checked before the approval: if the tool cannot be remembered, nothing is approved.
            remembered::propose(&self.project, &one.approval).map_err(refused)?;
        }
        let said = self.approvals.approve_seen(&one.approval, person(), yes.lifetime, lasts)?;
        if yes.remember && matches!(said, Said::Granted(_)) {
            remembered::remember(&self.project, &one.approval, &here::person(), time_format::now())
                .map_err(refused)?;
        }
        Ok(said)
    }
}

/// Runs `lictor approvals`.
pub fn list(args: &ApprovalsArgs) -> Result<Exit> {
    // Without a record there are no pending questions.
    let waiting = match here::project(&args.common.cwd).has_store() {
        true => ProjectApprovals::open(&args.common.cwd)?.waiting()?,
        false => Vec::new(),
    };
    if args.common.json {
        let rows: Vec<Value> = waiting.iter().map(row).collect();
        output::print_json(&rows)?;
        return Ok(Exit::Ok);
    }
    let style = Style::stdout();
    let mut text = String::new();
    for one in &waiting {
        text += &one.head(style);
        text += &one.whole_action("    ");
        for point in one.points() {
            text += &output::wrapped("    ", &point);
        }
    }
    if waiting.is_empty() {
        text += "nothing waits for a person\n";
    } else {
        text += &style.dim("lictor approve ID, or: lictor deny ID --reason …\n");
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn row(one: &Waiting) -> Value {
    json!({
        "id": one.approval.id,
        "requested_at": one.approval.requested_at,
        "expires": one.approval.expires,
        "session": one.approval.request.session,
        "action_digest": one.approval.request.action,
        "policy": one.approval.request.policy,
        "action": one.approval.shown.as_ref().map(|shown| &shown.action),
        "asked": one.approval.asked,
        "files": one.approval.pins,
    })
}

/// Runs `lictor approve`.
pub fn approve(args: &ApproveArgs) -> Result<Exit> {
    let lasts = args.lasts()?;
    if args.id.is_none() && !args.all && args.yes {
        return Err(exit::usage("`--yes` needs an ID, or `--all` for everything that waits"));
    }
    if args.common.json && !args.yes {
        return Err(exit::usage("`--json` cannot ask; look with `lictor approvals`, then add `--yes`"));
    }
    let approvals = ProjectApprovals::answering("approve", &args.common.cwd)?;
    let waiting = match &args.id {
        Some(id) => vec![approvals.find(id)?],
        None => approvals.waiting()?,
    };
    if args.common.json {
        return approve_all(&approvals, &waiting, args.yes(), lasts(args.yes().lifetime));
    }
    if waiting.is_empty() {
        output::print("nothing waits for a person\n")?;
        return Ok(Exit::Ok);
    }
    if !args.yes && !io::stdin().is_terminal() {
        return Err(exit::usage(
            "there is no terminal to ask on; look with `lictor approvals`, then `lictor approve ID --yes`",
        ));
    }
    let style = Style::stdout();
    let said = args.yes();
    let mut remembered: Vec<&Approval> = Vec::new();
    for (index, one) in waiting.iter().enumerate() {
        let covered = remembered.iter().any(|tool| remembered::is_same_tool(tool, &one.approval));
        let answer = if args.yes {
            Answer::Yes(said)
        } else if covered {
            // Remembering the tool also answers its other pending questions.
            Answer::Yes(Yes { lifetime: Lifetime::Once, remember: false })
        } else {
            output::print(&one.tell(index + 1, waiting.len(), style))?;
            ask(one, said, args.all, style)?
        };
        let id = one.approval.short();
        match answer {
            Answer::Yes(yes) => {
                let said = approvals.say_yes(one, yes, lasts(yes.lifetime))?;
                if yes.remember {
                    remembered.push(&one.approval);
                }
                output::print(&one.approved(&said, yes, style))?;
            }
            Answer::No(reason) => {
                approvals.approvals.deny(&one.approval.id, person(), reason)?;
                output::print(&format!("{} {id}\n", style.red("denied")))?;
            }
            Answer::Later => output::print(&format!("{} {id}\n", style.dim("left waiting")))?,
            Answer::Quit => break,
        }
    }
    Ok(Exit::Ok)
}

/// The same for programs: without a question.
fn approve_all(approvals: &ProjectApprovals, waiting: &[Waiting], yes: Yes, lasts: i64) -> Result<Exit> {
    let lifetime = yes.lifetime;
    let mut rows = Vec::new();
    for one in waiting {
        let said = approvals.say_yes(one, yes, lasts)?;
        let remembered = yes.remember && matches!(said, Said::Granted(_));
        let (key, value) = match said {
            Said::Granted(grant) => ("expires", json!(grant.expires)),
            said => ("missing", json!(said.missing())),
        };
        rows.push(
            json!({"id": one.approval.id, "lifetime": lifetime, "remembered": remembered, "session": one.approval.request.session,
                         "action_digest": one.approval.request.action, key: value}),
        );
    }
    output::print_json(&json!({"approved": rows}))?;
    Ok(Exit::Ok)
}

/// Runs `lictor deny`.
pub fn deny(args: &DenyArgs) -> Result<Exit> {
    let approvals = ProjectApprovals::answering("deny", &args.common.cwd)?;
    let asked = approvals.find(&args.id)?;
    let denied = approvals.approvals.deny(&asked.approval.id, person(), args.reason.clone())?;
    if args.common.json {
        output::print_json(&json!({"denied": denied.id, "reason": args.reason}))?;
    } else {
        let (word, what) = (Style::stdout().red("denied"), asked.in_short());
        output::print(&format!("{word} {}\n{what}", denied.short()))?;
    }
    Ok(Exit::Ok)
}

impl Waiting {
    fn title(&self) -> String {
        let action = self.approval.shown.as_ref().map(|shown| &shown.action);
        action.map(|action| visible_line(&explain::title(action))).unwrap_or_default()
    }

    /// The tool, as it can be typed.
    fn tool(&self) -> Option<String> {
        self.approval.shown.as_ref().map(|shown| visible_line(&shown.action.tool))
    }

    /// The message about the result of an approval.
    fn approved(&self, said: &Said, yes: Yes, style: Style) -> String {
        let (id, often) =
            (self.approval.short(), if yes.lifetime == Lifetime::Once { "once" } else { "for this session" });
        let what = self.in_short();
        match said {
            Said::Granted(grant) => {
                let until = time_format::local(grant.expires);
                let text = format!("{} {id}: {often}, until {until}\n{what}", style.green("approved"));
                match self.tool().filter(|_| yes.remember) {
                    Some(tool) => text + &format!("  remembered; undo: lictor tools forget {tool}\n"),
                    None => text,
                }
            }
            said => {
                let missing = said.missing();
                format!("{} {id}: {missing} more must say yes\n{what}", style.yellow("counted"))
            }
        }
    }

    /// The question's id, agent, age and remaining time.
    fn head(&self, style: Style) -> String {
        let Approval { request, requested_at, expires, .. } = &self.approval;
        let now = time_format::now();
        let session = request.session.as_ref().map(|key| visible_line(&format!("{key}  ")));
        let session = session.unwrap_or_default();
        let (age, left) = (time_format::age(*requested_at, now), time_format::age(now, *expires));
        format!("{}  {session}asked {age} ago, {left} left\n", style.bold(self.approval.short()))
    }

    /// The points, each with its rule. Several policy versions of a session may ask the same point; it is shown
    /// once.
    fn points(&self) -> Vec<String> {
        let mut points: Vec<String> = Vec::new();
        for point in &self.approval.asked {
            let rule = point.rule.as_deref().unwrap_or(&point.guard);
            if self.is_told_closer(rule) {
                continue;
            }
            let text = format!("{} [{}]", visible_line(&point.message), visible_line(rule));
            if !points.contains(&text) {
                points.push(text);
            }
        }
        points
    }

    /// Whether another point is more specific: `opaque.code` for `opaque`.
    fn is_told_closer(&self, rule: &str) -> bool {
        let mut rules = self.approval.asked.iter().filter_map(|point| point.rule.as_deref());
        rules.any(|other| other.strip_prefix(rule).is_some_and(|rest| rest.starts_with('.')))
    }

    /// The whole action as stored with the question: exactly what the person approves.
    fn whole_action(&self, indent: &str) -> String {
        let Some(question) = &self.approval.shown else { return String::new() };
        let action = &question.action;
        let main = ["command", "path", "url", "code"].into_iter().find(|field| action.text(field).is_some());
        let first = main
            .and_then(|field| action.text(field))
            .map_or_else(|| self.title(), |text| format!("{} {text}", action.kind));
        let mut text = output::wrapped(indent, &shown(&first));
        for (name, value) in action.payload.iter().filter(|(name, _)| Some(name.as_str()) != main) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text += &output::wrapped(indent, &format!("{}: {}", visible_line(name), shown(&value)));
        }
        if !action.cwd.is_empty() {
            text += &output::wrapped(indent, &format!("in {}", visible_line(&action.cwd)));
        }
        for pin in &self.approval.pins {
            let (path, content) = (visible_line(&pin.path), pin.content.short());
            text += &output::wrapped(indent, &format!("with {path} as it is now ({content})"));
        }
        text
    }

    /// A short form of the action that distinguishes two questions.
    fn in_short(&self) -> String {
        within(&self.whole_action("  "), ANSWERED)
    }

    /// Everything that a person needs to know before they answer.
    fn tell(&self, number: usize, of: usize, style: Style) -> String {
        let mut text = format!("\n[{number}/{of}] {}", self.head(style));
        text += &self.whole_action("  ");
        let Some(question) = &self.approval.shown else { return text };
        let deeds = question.facts.deeds();
        for deed in deeds.iter().take(DEEDS) {
            text += &format!("  would {}\n", visible_line(&explain::in_words(deed, Style::plain())));
        }
        if let Some(more) = deeds.len().checked_sub(DEEDS).filter(|more| *more > 0) {
            text += &format!("  would do {more} more; `lictor approvals --json` has the whole action\n");
        }
        for violation in &question.violations {
            if let Some(result) = &violation.callback_result {
                let word = if result.passed { "passed" } else { "failed" };
                let message = visible_line(result.message.as_deref().unwrap_or_default());
                text += &output::wrapped("  ", &format!("check {} {word} {message}", violation.policy));
            }
        }
        within(&text, ROWS)
    }
}

/// How many rows of a question are shown before the choices: the whole fits a terminal with 24 rows.
const ROWS: usize = 18;
/// How many rows of an action are shown once it is answered.
const ANSWERED: usize = 8;
/// So many effects are named.
const DEEDS: usize = 4;

/// At most `rows` lines; the omitted middle lines are counted.
fn within(text: &str, rows: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= rows {
        return text.to_owned();
    }
    let (head, tail) = (rows.saturating_sub(6), 5);
    let left_out = lines.len().saturating_sub(head + tail);
    let mut kept: Vec<String> = lines.iter().take(head).map(|line| (*line).to_owned()).collect();
    kept.push(format!("  … {left_out} more lines; `lictor approvals` shows all of it"));
    kept.extend(lines.iter().skip(head + left_out).map(|line| (*line).to_owned()));
    kept.join("\n") + "\n"
}

/// How much of one field is shown.
const SHOWN: usize = 4_000;

/// A field with deceptive characters escaped. If it is truncated, the text tells where to see the rest.
fn shown(text: &str) -> String {
    let begin: String = text.chars().take(SHOWN).collect();
    let left = text.chars().count().saturating_sub(SHOWN);
    let mut shown = visible(&begin);
    if left > 0 {
        shown +=
            &format!("\n[{left} more characters are not shown; `lictor approvals --json` has all of them]");
    }
    shown
}

/// The extent of an approval.
#[derive(Debug, Clone, Copy)]
struct Yes {
    lifetime: Lifetime,
    remember: bool,
}

enum Answer {
    Yes(Yes),
    No(Option<String>),
    Later,
    Quit,
}

/// Asks about each point in turn; a no to one is a no to all, and an approval for the session must be given for
/// each. With `at_once` all points are one question. `said` is the meaning of a plain yes.
fn ask(one: &Waiting, said: Yes, at_once: bool, style: Style) -> Result<Answer> {
    let points: Vec<String> =
        one.points().iter().map(|point| output::wrapped("  ", point).trim_end().to_owned()).collect();
    let all = points.len();
    let numbered = |(index, point): (usize, String)| match all {
        1 => point,
        _ => format!("  {} of {all}:\n{point}", index + 1),
    };
    let questions = if at_once {
        vec![points.join("\n")]
    } else {
        points.into_iter().enumerate().map(numbered).collect()
    };
    let tool = remembered::is_about_unknown_tool(&one.approval);
    let (more, letters) =
        if tool { (" [r]emember this tool;\n ", "y, s, r, n, l or q") } else { ("", "y, s, n, l or q") };
    let mut lifetime = Lifetime::Session;
    for question in questions {
        output::print(&format!("{}\n", style.yellow(&question)))?;
        loop {
            output::print(&format!(
                "  allow this? [y]es, once; for this [s]ession;{more} [n]o; [l]ater; [q]uit: "
            ))?;
            let Some(line) = line()? else { return Ok(Answer::Quit) };
            match line.as_str() {
                "y" | "yes" | "once" if said.remember => return Ok(Answer::Yes(said)),
                "y" | "yes" | "once" => {
                    lifetime = if said.lifetime == Lifetime::Session { lifetime } else { Lifetime::Once };
                    break;
                }
                "s" | "session" => break,
                "r" | "remember" if tool => {
                    return Ok(Answer::Yes(Yes { lifetime: Lifetime::Once, remember: true }));
                }
                "n" | "no" => {
                    output::print("  why, for the agent (may be empty): ")?;
                    return Ok(Answer::No(line_or_empty()?));
                }
                "l" | "later" => return Ok(Answer::Later),
                "q" | "quit" => return Ok(Answer::Quit),
                _ => output::print(&format!("  please answer {letters}\n"))?,
            }
        }
    }
    Ok(Answer::Yes(Yes { lifetime, remember: false }))
}

fn refused(error: AllowError) -> anyhow::Error {
    match error {
        AllowError::Policy(error) => error.into(),
        AllowError::NoWay { .. } => exit::not_there(
            "more asks than what an unknown tool does, so it cannot be remembered; leave `--remember` out",
        ),
        error => exit::not_there(error.to_string()),
    }
}

fn line() -> Result<Option<String>> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_ascii_lowercase()))
}

fn line_or_empty() -> Result<Option<String>> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let reason = line.trim();
    Ok((!reason.is_empty()).then(|| reason.to_owned()))
}

fn person() -> Who {
    Who { by: here::person(), at: time_format::now(), from: "terminal".to_owned() }
}
