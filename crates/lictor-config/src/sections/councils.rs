//! `councils:`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::command::{self, Command};
use super::section::{Section, value};
use crate::diagnostic::suggest;
use crate::reader::{Fields, Reader};
use crate::table::{Key, PATHS, Shape, Table};
use crate::yaml::{Key as YamlKey, Tree, Yaml};

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "councils",
        Shape::Names(&Shape::Fields(&COUNCIL)),
        "{ship-it: {on: [pre-commit], reviewers: [{name: lint, preset: clippy}]}}",
        "Reviewers that meet at a moment and whose findings can stop a commit.",
    )],
    read: |r, file, said| said.councils = value(r, file, "councils", read).unwrap_or_default(),
    guards: &[],
};

const MOMENTS: [&str; 6] = ["pre-commit", "pre-push", "session-start", "session-end", "ci", "manual"];
/// The default timeout of a reviewer.
const DEFAULT_TIMEOUT: u64 = 300_000;

static SAVED: Table = Table {
    name: "councils.*.on[]",
    about: "A moment that needs more than a word.",
    keys: &[Key::new(
        "file-save",
        PATHS,
        "\"*.rs\"",
        "After a file was saved that matches one of these globs.",
    )],
};
static SCOPE: Table = Table {
    name: "councils.*.scope",
    about: "What a council looks at.",
    keys: &[
        Key::new("files", SCOPE_FILES, "staged", "Which files it starts from.").required(),
        Key::new("dependents", Shape::Bool, "true", "Whether files that mention one of them are added."),
    ],
};
const SCOPE_FILES: Shape = Shape::OneOf(&[Shape::Word(&["staged", "diff", "full"]), PATHS]);
static BUDGET: Table = Table {
    name: "councils.*.budget",
    about: "How much a council may cost.",
    keys: &[
        Key::new("time", Shape::Duration, "10m", "Time for all reviewers together."),
        Key::new("max_files", Shape::Integer, "200", "The most files that a plan may hold."),
    ],
};
static REVIEWER: Table = Table {
    name: "councils.*.reviewers[]",
    about: "Who looks at files and reports: a program (`command` or `preset`), or an agent that is handed the plan \
            (`agent: true`; see [guardrails.md](guardrails.md#agents-as-reviewers)).",
    keys: &[
        Key::new("name", Shape::Text, "security-reviewer", "Its name; findings carry it.").required(),
        Key::new("command", Shape::Argv, "[scripts/review.sh]", "The program and its arguments. No shell."),
        Key::new("preset", Shape::Word(&["clippy", "ruff"]), "clippy", "A ready-made reviewer."),
        Key::new(
            "agent",
            Shape::Bool,
            "true",
            "An agent: `lictor council plan` hands out what to look at with a token, `lictor council report` takes what it \
             found.",
        ),
        Key::new(
            "format",
            Shape::Word(&["jsonl", "sarif", "exit-code"]),
            "sarif",
            "How it reports. `jsonl` when it is not said: one finding a line, no line means clean.",
        ),
        command::READS,
        Key::new("timeout", Shape::Duration, "2m", "How long it may take. 5m when it is not said."),
        Key::new("globs", PATHS, "[\"*.py\"]", "Which of the files it is for. All when it is not said."),
        Key::new(
            "level",
            Shape::Word(&["LOW", "MEDIUM", "HIGH", "CRITICAL"]),
            "HIGH",
            "How bad a failure is when all it reports is an exit code.",
        ),
    ],
};

pub(crate) static COUNCIL: Table = Table {
    name: "councils.*",
    about: "Reviewers that look at the same files at the same moment.",
    keys: &[
        Key::new(
            "on",
            Shape::List(&Shape::OneOf(&[
                Shape::Word(&["pre-commit", "pre-push", "session-start", "session-end", "ci", "manual"]),
                Shape::Fields(&SAVED),
            ])),
            "[pre-commit]",
            "When it meets.",
        ),
        Key::new(
            "scope",
            Shape::OneOf(&[Shape::Word(&["staged", "diff", "full"]), PATHS, Shape::Fields(&SCOPE)]),
            "staged",
            "What it looks at. `staged` when it is not said.",
        ),
        Key::new(
            "guardrail",
            Shape::Bool,
            "true",
            "Whether its findings and its absence stop a commit. `false` when it is not said.",
        ),
        Key::new(
            "reviewers",
            Shape::List(&Shape::Fields(&REVIEWER)),
            "[{name: lint, preset: clippy}]",
            "Who looks.",
        )
        .required(),
        Key::new("budget", Shape::Fields(&BUDGET), "{time: 10m}", "How much it may cost."),
    ],
};

/// The councils of a file, by name.
pub type Councils = BTreeMap<String, Council>;

/// Reviewers that review the same files at the same moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Council {
    /// Moments, by name.
    pub on: Vec<String>,
    /// Globs of files after whose saving it meets.
    pub saved: Vec<String>,
    /// What it reviews: `staged`, `diff`, `full`, or globs.
    pub scope: Vec<String>,
    /// Whether files that mention one of them are added.
    pub dependents: bool,
    /// Whether it stops a commit.
    pub guardrail: bool,
    /// The reviewers.
    pub reviewers: Vec<Reviewer>,
    /// Time for all reviewers, in milliseconds.
    pub time: Option<u64>,
    /// The most files.
    pub max_files: Option<u64>,
}

/// A program that reads files and reports findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewer {
    /// Its name.
    pub name: String,
    /// What it runs, unless it has a preset.
    pub command: Option<Command>,
    /// A ready-made one.
    pub preset: Option<String>,
    /// The output format.
    pub format: Option<String>,
    /// How long it may take, in milliseconds.
    pub timeout: Option<u64>,
    /// The files that it reviews.
    pub globs: Vec<String>,
    /// The level of a failure.
    pub level: Option<String>,
    /// An agent that receives the plan.
    pub agent: bool,
}

impl Council {
    /// The same in the form that the ledger reads.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut on: Vec<Json> = self.on.iter().map(|word| json!(word)).collect();
        if !self.saved.is_empty() {
            on.push(json!({"file-save": self.saved}));
        }
        let files = match self.scope.as_slice() {
            [word] if matches!(word.as_str(), "staged" | "diff" | "full") => json!(word),
            globs => json!(globs),
        };
        let reviewers: Vec<Json> = self.reviewers.iter().map(Reviewer::to_json).collect();
        json!({
            "on": on,
            "scope": {"files": files, "dependents": self.dependents},
            "guardrail": self.guardrail,
            "reviewers": reviewers,
            "budget": {"time": self.time.map(|time| format!("{time}ms")), "max_files": self.max_files},
        })
    }
}

impl Reviewer {
    fn to_json(&self) -> Json {
        json!({
            "name": self.name,
            "command": self.command.as_ref().map(|command| command.argv.clone()).unwrap_or_default(),
            "reads": self.command.as_ref().map(|command| command.reads.clone()).unwrap_or_default(),
            "preset": self.preset,
            "format": self.format,
            "timeout": self.timeout.map(|timeout| format!("{timeout}ms")),
            "globs": self.globs,
            "level": self.level,
            "agent": self.agent,
        })
    }
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<Councils> {
    let names = r.names(tree, "councils")?;
    let mut councils = Councils::new();
    for (key, tree) in names.iter() {
        let Some(f) = r.fields(tree, &COUNCIL) else { continue };
        councils.extend(council(r, key, &f).map(|council| (key.text.clone(), council)));
    }
    Some(councils)
}

fn council(r: &mut Reader<'_>, key: &YamlKey, f: &Fields<'_>) -> Option<Council> {
    let mut on = Vec::new();
    let mut saved = Vec::new();
    for item in f.get("on").map(|tree| r.maps(tree, "`councils.*.on`")).unwrap_or_default() {
        moment(r, item, &mut on, &mut saved);
    }
    let (scope, dependents) = f.get("scope").and_then(|tree| scope(r, tree)).unwrap_or_else(staged);
    let guardrail = r.field(f, "guardrail", Reader::boolean).unwrap_or_default();
    let budget = f.get("budget").and_then(|tree| r.fields(tree, &BUDGET));
    let time = budget.as_ref().and_then(|f| r.field(f, "time", Reader::duration));
    let max_files = budget.as_ref().and_then(|f| r.field(f, "max_files", Reader::integer));
    let mut reviewers: Vec<Reviewer> = Vec::new();
    let items = f.get("reviewers").map(|tree| r.maps(tree, "`councils.*.reviewers`")).unwrap_or_default();
    if let Some(place) = f.get("reviewers").filter(|_| items.is_empty()) {
        r.error(place.span, format!("nobody sits in the council `{}`", key.text), "name a reviewer");
    }
    for item in items {
        let Some(f) = r.fields(item, &REVIEWER) else { continue };
        let Some(reviewer) = reviewer(r, &f) else { continue };
        if let Some(place) = f.get("name").filter(|_| reviewers.iter().any(|one| one.name == reviewer.name)) {
            r.error(place.span, format!("`{}` sits in it twice", reviewer.name), "give each its own name");
        }
        reviewers.push(reviewer);
    }
    Some(Council { on, saved, scope, dependents, guardrail, reviewers, time, max_files })
}

fn moment(r: &mut Reader<'_>, tree: &Tree, on: &mut Vec<String>, saved: &mut Vec<String>) {
    if let Yaml::Map(_) = &tree.value {
        let Some(f) = r.fields(tree, &SAVED) else { return };
        saved.extend(r.field(&f, "file-save", Reader::paths).unwrap_or_default());
        return;
    }
    let Some(word) = r.sentence(tree, "`councils.*.on`") else { return };
    if MOMENTS.contains(&word.as_str()) {
        on.push(word);
    } else if word == "file-save" {
        r.error(tree.span, "`file-save` needs globs", "write `{file-save: \"*.rs\"}`");
    } else {
        let help = suggest(&word, "the moments are", MOMENTS.into_iter().chain(["file-save"]));
        r.error(tree.span, format!("there is no moment `{word}`"), help);
    }
}

fn staged() -> (Vec<String>, bool) {
    (vec!["staged".to_owned()], false)
}

fn scope(r: &mut Reader<'_>, tree: &Tree) -> Option<(Vec<String>, bool)> {
    let what = "`councils.*.scope`";
    match &tree.value {
        Yaml::Map(_) => {
            let f = r.fields(tree, &SCOPE)?;
            let dependents = r.field(&f, "dependents", Reader::boolean).unwrap_or_default();
            let (files, _) = scope(r, f.get("files")?)?;
            Some((files, dependents))
        }
        Yaml::List(_) => Some((r.paths(tree, what)?, false)),
        Yaml::Scalar { .. } => {
            let words = [("staged", "staged"), ("diff", "diff"), ("full", "full")];
            let word = r.choice(tree, what, &words)?;
            Some((vec![word.to_owned()], false))
        }
    }
}

fn reviewer(r: &mut Reader<'_>, f: &Fields<'_>) -> Option<Reviewer> {
    let name = r.field(f, "name", Reader::sentence);
    let timeout = r.field(f, "timeout", Reader::duration);
    let argv = r.field(f, "command", command::argv);
    let reads = command::reads(r, f);
    let preset = r.field(f, "preset", |r, tree, what| word(r, tree, what, &["clippy", "ruff"]));
    let agent = r.field(f, "agent", Reader::boolean).unwrap_or_default();
    match (f.get("command"), f.get("preset")) {
        (Some(_), Some(place)) => {
            r.error(place.span, "a reviewer has a `command` or a `preset`, not both", "keep one of them");
        }
        (Some(place), None) | (None, Some(place)) if agent => {
            r.error(place.span, "an agent is not run, it is handed the plan", "leave out one of them");
        }
        (None, None) if !agent => {
            r.error(f.span, "the reviewer has nothing to run", "add `command: […]` or `preset: clippy`");
        }
        _ => {}
    }
    if let Some(place) = f.get("reads").filter(|_| argv.is_none()) {
        r.error(place.span, "only a `command` has `reads`", "leave it out");
    }
    for key in ["format", "timeout", "level"] {
        if let Some(place) = f.get(key).filter(|_| agent) {
            r.error(place.span, format!("an agent has no `{key}`"), "leave it out");
        }
    }
    Some(Reviewer {
        command: argv.map(|argv| Command { argv, timeout: timeout.unwrap_or(DEFAULT_TIMEOUT), reads }),
        preset,
        format: r.field(f, "format", |r, tree, what| word(r, tree, what, &["jsonl", "sarif", "exit-code"])),
        timeout,
        globs: r.field(f, "globs", Reader::paths).unwrap_or_default(),
        level: r
            .field(f, "level", |r, tree, what| word(r, tree, what, &["LOW", "MEDIUM", "HIGH", "CRITICAL"])),
        agent,
        name: name?,
    })
}

fn word(r: &mut Reader<'_>, tree: &Tree, what: &str, words: &[&'static str]) -> Option<String> {
    let pairs: Vec<(&str, &str)> = words.iter().map(|word| (*word, *word)).collect();
    r.choice(tree, what, &pairs).map(str::to_owned)
}
