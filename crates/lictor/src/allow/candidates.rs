//! Candidates for exceptions, the smallest first.

use lictor_config::Origin;
use lictor_core::facts::{Command, Effect, Place};
use lictor_core::{ActionKind, Digest};
use lictor_engine::guards::{Pack, Pattern, RuleException};

use super::{Asked, Stop, edit};
use crate::remembered;

/// One change of a policy file.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    section: &'static str,
    /// Empty if the section is itself a list.
    key: &'static str,
    how: How,
}

#[derive(Debug, Clone)]
enum How {
    /// Entries are added, as YAML and in words.
    Add { items: Vec<String>, entries: Vec<String> },
    /// As before, for files: project-relative in the project's own file, absolute elsewhere.
    AddFile { rule: Option<String>, relative: Option<String>, whole: String },
    /// An entry no longer counts.
    TakeOut(String),
}

impl Candidate {
    pub(super) fn texts(section: &'static str, key: &'static str, entries: Vec<String>) -> Self {
        let items = entries.iter().map(|entry| edit::quoted(entry)).collect();
        Self { section, key, how: How::Add { items, entries } }
    }

    /// A tool without a description, with the current definition of its server.
    pub(super) fn remembered(tool: &str, server: Option<Digest>) -> Self {
        let server = server.map(|digest| format!(", server: '{digest}'")).unwrap_or_default();
        let items = vec![format!("{}{server}}}", edit::of_tool(tool))];
        Self {
            section: "known_tools",
            key: "remembered",
            how: How::Add { items, entries: vec![tool.to_owned()] },
        }
    }

    /// A tool that may be used on any server.
    pub(super) fn known(asked: &Asked<'_>) -> Self {
        Self::texts("known_tools", "known", vec![asked.action.tool.clone()])
    }

    fn file(section: &'static str, key: &'static str, rule: Option<&str>, place: &Place) -> Self {
        let whole = place.real.clone().unwrap_or_else(|| place.path.clone());
        let relative = place.in_project.clone().filter(|_| place.real.is_none());
        Self { section, key, how: How::AddFile { rule: rule.map(str::to_owned), relative, whole } }
    }

    /// A rule that does not hold for a tool.
    fn rule_for_tool(rule: &str, tool: &str) -> Self {
        Self::rule_for(rule, "tool", &[tool.to_owned()])
    }

    /// A rule that does not hold for these.
    pub(super) fn rule_for(rule: &str, what: &str, texts: &[String]) -> Self {
        let item = |text: &String| format!("{{rule: {}, {what}: {}}}", plain(rule), edit::quoted(text));
        let items = texts.iter().map(item).collect();
        let entries = texts.iter().map(|text| format!("{rule} for {text}")).collect();
        Self { section: "exceptions", key: "", how: How::Add { items, entries } }
    }

    /// The text of a file with the change in it.
    pub(super) fn applied(&self, text: &str, origin: Origin, note: &str) -> Option<String> {
        match &self.how {
            How::Add { items, .. } => edit::with(text, self.section, self.key, items, note),
            How::AddFile { rule, .. } => {
                let file = edit::quoted(&self.path(origin)?);
                let item = match rule {
                    Some(rule) => format!("{{rule: {}, file: {file}}}", plain(rule)),
                    None => file,
                };
                edit::with(text, self.section, self.key, &[item], note)
            }
            How::TakeOut(entry) => edit::taken_out(text, self.section, self.key, entry, note),
        }
    }

    /// The exceptions, for people.
    pub(super) fn entries(&self, origin: Origin) -> Vec<String> {
        match &self.how {
            How::Add { entries, .. } => entries.clone(),
            How::AddFile { rule, .. } => {
                let file = self.path(origin).unwrap_or_default();
                vec![rule.as_ref().map_or(file.clone(), |rule| format!("{rule} for {file}"))]
            }
            How::TakeOut(entry) => vec![entry.clone()],
        }
    }

    /// What an entry covered besides this action.
    pub(super) fn wider(&self) -> Option<String> {
        let How::TakeOut(entry) = &self.how else { return None };
        let all = match self.section {
            "boundaries" => format!("reading, writing and deleting `{entry}` pass"),
            "network" => format!("whatever reaches `{entry}` passes"),
            _ => format!("every call of `{entry}` passes"),
        };
        Some(format!("`{}` no longer has the entry: {all} this rule", self.key))
    }

    fn path(&self, origin: Origin) -> Option<String> {
        match &self.how {
            How::AddFile { relative: Some(file), .. } if origin == Origin::Repository => Some(file.clone()),
            How::AddFile { whole, .. } => Some(whole.clone()),
            _ => None,
        }
    }
}

/// Candidates for exceptions, the smallest first.
pub(super) fn candidates(asked: &Asked<'_>, stopped: &[Stop]) -> Vec<Candidate> {
    let mut all = commands(asked);
    if let Some(remembered) = tool(asked) {
        all.push(remembered);
        all.push(Candidate::known(asked));
        let rules = stopped.iter().filter_map(pack_rule);
        all.extend(rules.map(|rule| Candidate::rule_for_tool(rule, &asked.action.tool)));
        let is_blocked = |stop: &&Stop| stop.guard.ends_with("known_tools");
        if stopped.iter().any(|stop| is_blocked(&stop)) {
            all.push(taking_out("known_tools", "blocked", &asked.action.tool));
        }
    }
    all.extend(stopped.iter().flat_map(|stop| files(asked, stop)));
    all.extend(stopped.iter().filter_map(sequence).flat_map(|rule| of_sequence(asked, rule)));
    let hosts: Vec<String> = asked.facts.hosts().filter_map(|reach| reach.host.clone()).collect();
    if !hosts.is_empty() {
        all.extend(hosts.iter().map(|host| taking_out("network", "deny", host)));
        all.push(Candidate::texts("network", "allow", hosts));
    }
    all
}

/// Commands of a line, one by one and all together.
fn commands(asked: &Asked<'_>) -> Vec<Candidate> {
    let literal = |texts: Vec<String>| texts.iter().map(|text| Pattern::literal(text)).collect();
    lines_of(asked)
        .into_iter()
        .map(|texts| Candidate::texts("bash_safety", "allow", literal(texts)))
        .collect()
}

/// The commands of a line, one by one, all together, and the line itself: piped or redirected input does not
/// belong to a single command.
fn lines_of(asked: &Asked<'_>) -> Vec<Vec<String>> {
    if asked.action.kind != ActionKind::Bash {
        return Vec::new();
    }
    let commands: Vec<String> = asked.facts.commands().filter_map(whole).collect();
    let mut all: Vec<Vec<String>> = commands.iter().map(|command| vec![command.clone()]).collect();
    if commands.len() > 1 {
        all.push(commands);
    }
    let line = asked.action.text("command").unwrap_or_default().trim();
    if !line.is_empty() && !line.contains('\n') {
        all.push(vec![line.to_owned()]);
    }
    all
}

/// The rule, when it is one about the past.
fn sequence(stop: &Stop) -> Option<&str> {
    stop.rule.as_deref().filter(|rule| RuleException::is_about_the_past(rule))
}

/// Changes for a history rule: the command, the file or the tool to except.
fn of_sequence(asked: &Asked<'_>, rule: &str) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = match rule {
        "read_before_write" => Vec::new(),
        _ => lines_of(asked).iter().map(|texts| Candidate::rule_for(rule, "command", texts)).collect(),
    };
    let places = asked.facts.files().map(|(_, place)| place).filter(|place| !place.glob && !place.malformed);
    all.extend(places.map(|place| Candidate::file("exceptions", "", Some(rule), place)));
    if asked.action.kind != ActionKind::Bash && !asked.action.tool.is_empty() {
        all.push(Candidate::rule_for_tool(rule, &asked.action.tool));
    }
    all
}

/// A rule's id in YAML syntax.
fn plain(rule: &str) -> String {
    let simple = rule.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if simple { rule.to_owned() } else { edit::quoted(rule) }
}

/// Changes for the files that one reason is about.
fn files(asked: &Asked<'_>, stop: &Stop) -> Vec<Candidate> {
    let named = |place: &&Place| {
        !place.glob
            && !place.malformed
            && !place.path.is_empty()
            && stop.reason.contains(&format!("`{}`", place.text))
    };
    let places = asked.facts.effects.iter().filter_map(|effect| match effect {
        Effect::File { target, .. } => Some(target),
        _ => None,
    });
    let mut all = Vec::new();
    for place in places.filter(named) {
        match (stop.rule.as_deref(), pack_rule(stop)) {
            (Some("allowed_dirs"), _) => all.push(Candidate::file("boundaries", "allowed_dirs", None, place)),
            (Some("red_line"), _) => all.extend(lines(place, "red_line_files")),
            (Some("blocked_path"), _) => all.extend(lines(place, "blocked_paths")),
            (_, Some(rule)) => all.push(Candidate::file("exceptions", "", Some(rule), place)),
            _ => {}
        }
    }
    all
}

/// The boundary entry that names exactly this file. A glob covers other files too and is not changed.
fn lines(place: &Place, key: &'static str) -> Vec<Candidate> {
    let names = [place.in_project.as_deref(), Some(place.path.as_str()), Some(place.text.as_str())];
    names.into_iter().flatten().map(|name| taking_out("boundaries", key, name)).collect()
}

fn taking_out(section: &'static str, key: &'static str, entry: &str) -> Candidate {
    Candidate { section, key, how: How::TakeOut(entry.to_owned()) }
}

/// The rule, when it is one of the packs'.
fn pack_rule(stop: &Stop) -> Option<&str> {
    let rule = stop.rule.as_deref()?;
    Pack::all().iter().flat_map(|pack| pack.rules()).any(|known| known.id == rule).then_some(rule)
}

/// The tool as a person's yes is remembered for it.
pub(super) fn tool(asked: &Asked<'_>) -> Option<Candidate> {
    let named = matches!(asked.action.kind, ActionKind::Tool | ActionKind::Other(_));
    let tool = asked.action.tool.as_str();
    (named && !tool.is_empty()).then(|| Candidate::remembered(tool, remembered::definition(&asked.facts)))
}

/// The text of a command whose words are all known, as exceptions are compared with it.
fn whole(command: &Command) -> Option<String> {
    let args: Option<Vec<&str>> = command.args.iter().map(Option::as_deref).collect();
    Some(std::iter::once(command.program.as_str()).chain(args?).collect::<Vec<_>>().join(" "))
}
