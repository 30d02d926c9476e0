//! `describe:`.

use lictor_observe::describe as tools;
use lictor_shell::describe as programs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use lictor_core::policy::Catalogue;

use super::section::{Section, value};
use crate::diagnostic::{Span, closest, suggest};
use crate::reader::Reader;
use crate::table::{Key, Shape, TEXTS, Table};
use crate::yaml::{Key as YamlKey, Tree, Yaml};

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "describe",
        Shape::Fields(&TABLE),
        "{tools: {mcp__acme__query: {sql: sql}}}",
        "What programs and tools of your own do.",
    )],
    read: |r, file, said| said.describe = value(r, file, "describe", read),
    guards: &[],
};

pub(crate) static TABLE: Table = Table {
    name: "describe",
    about: "What programs and tools of your own do. A description can only add what is known. In a repository's file it makes \
            a tool known and asked about; only the user's and the managed file can make it one that may be used.",
    keys: &[
        Key::new(
            "programs",
            Shape::Names(&Shape::Fields(&PROGRAM)),
            "{acme: {commands: [{words: db drop, effect: destroys}]}}",
            "Programs, by name.",
        ),
        Key::new(
            "tools",
            Shape::Names(&Shape::Fields(&TOOL)),
            "{mcp__acme__query: {sql: sql}}",
            "Tools, by their full name (`mcp__server__tool`), globs among them.",
        ),
        Key::new("verbs", TEXTS, "[promote]", "More verbs that descriptions and `policies` may use."),
        Key::new("objects", TEXTS, "[dataset]", "More objects that they may use."),
    ],
};

static PROGRAM: Table = Table {
    name: "describe.programs.NAME",
    about: "One program. The first of its commands that holds counts.",
    keys: &[
        Key::new("options", Shape::Fields(&OPTIONS), "{values: [region]}", "How it spells options."),
        Key::new(
            "quiet",
            TEXTS,
            "[--plan]",
            "Options with which nothing happens; `--dry-run` and `--help` need no entry.",
        ),
        Key::new("always", Shape::Fields(&COMMAND), "{writes: [--out]}", "What holds for every call."),
        Key::new(
            "commands",
            Shape::List(&Shape::Fields(&COMMAND)),
            "[{words: deploy *, verb: deploy, object: service}]",
            "What it does, by its words.",
        ),
    ],
};

static OPTIONS: Table = Table {
    name: "describe.programs.NAME.options",
    about: "Options of a program. Those that are not named are flags.",
    keys: &[Key::new("values", TEXTS, "[region, profile]", "Options that take a value.")],
};

static COMMAND: Table = Table {
    name: "describe.programs.NAME.commands[]",
    about: "One thing that a program does. A place is an operand by its number (`2`, `last`), `rest`, or an option (`--out`).",
    keys: &[
        Key::new(
            "words",
            Shape::Text,
            "db drop|reset",
            "Its words: `a|b` either, `*` any, `--` what stands behind it.",
        ),
        Key::new("verb", Shape::Text, "deploy", "What is done, for `policies`."),
        Key::new("object", Shape::Text, "service", "What it is done to."),
        Key::new("effect", Shape::Text, "destroys", "`destroys`, `destroys-all`, `publishes`, `reveals`, …"),
        Key::new("what", Shape::Text, "the database {3}", "What, in words; `{3}` is the third word."),
        Key::new("reads", TEXTS, "[2]", "Files whose content is read."),
        Key::new("writes", TEXTS, "[--out]", "Files that are written."),
        Key::new("deletes", TEXTS, "[2]", "Files that are deleted."),
        Key::new("runs", TEXTS, "rest", "Words that are a command of their own."),
        Key::new("shell", TEXTS, "[--exec]", "Text that a shell runs."),
        Key::new("sql", TEXTS, "[-c]", "Statements for a database."),
        Key::new("uploads", TEXTS, "[2]", "Files that leave this machine."),
        Key::new("also", Shape::Bool, "true", "The commands behind it count too."),
    ],
};

static TOOL: Table = Table {
    name: "describe.tools.NAME",
    about: "What the fields of a tool's input mean. `a|b` is either field, `a.b` a field of the values of `a`.",
    keys: &[
        Key::new(
            "kind",
            Shape::Word(&["submit_task", "execute_code"]),
            "submit_task",
            "What a call of it is for all rules: a submitted task, which `intent` and `max_tasks` are about, or code. A tool \
             call when it is not said. `submit_task` only in the user's or the managed file.",
        ),
        Key::new("task_type", Shape::Text, "type", "With `submit_task`: holds the type of the task."),
        Key::new("sql", Shape::Text, "sql", "Holds SQL."),
        Key::new("command", Shape::Text, "command", "Holds a shell command."),
        Key::new("code", Shape::Text, "code", "Holds code."),
        Key::new("language", Shape::Text, "python", "The language of the code."),
        Key::new("fetches", Shape::Text, "url", "Holds an address that is fetched."),
        Key::new("posts", Shape::Text, "url", "Holds an address that something is sent to."),
        Key::new("reads", Shape::Text, "path", "Names files that are read."),
        Key::new("lists", Shape::Text, "path", "Names files or directories that are looked at."),
        Key::new("writes", Shape::Text, "path", "Names files that are written."),
        Key::new("appends", Shape::Text, "path", "Names files that something is added to."),
        Key::new("modifies", Shape::Text, "path", "Names files that are changed in part."),
        Key::new("deletes", Shape::Text, "path", "Names files that are deleted."),
        Key::new("moves", Shape::Text, "source", "Names files that are moved away."),
        Key::new("makes", Shape::Text, "path", "Names directories that are made."),
        Key::new("verb", Shape::Text, "read", "What is done, for `policies`."),
        Key::new("object", Shape::Text, "data", "What it is done to."),
        Key::new("effect", Shape::Text, "destroys", "`destroys`, `destroys-all`, `publishes` or `reveals`."),
        Key::new("what", Shape::Text, "the environment", "What is destroyed, in words."),
    ],
};

/// The longest word for the catalogue.
const MAX_WORD: usize = 40;

/// Checked descriptions as written: a name, and the rest as JSON, which any cache format can hold.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DescribeSection {
    verbs: Vec<String>,
    objects: Vec<String>,
    programs: Vec<(String, String)>,
    tools: Vec<(String, String)>,
}

impl DescribeSection {
    /// The catalogue with the verbs and objects that it adds.
    #[must_use]
    pub fn extend(&self, catalogue: Catalogue) -> Catalogue {
        catalogue.with_verbs(self.verbs.iter().cloned()).with_objects(self.objects.iter().cloned())
    }

    /// The programs.
    #[must_use]
    pub fn programs(&self) -> Vec<programs::Program> {
        let read = |(name, body): &(String, String)| program(name, serde_json::from_str(body).ok()?).ok();
        self.programs.iter().filter_map(read).collect()
    }

    /// The tools.
    #[must_use]
    pub fn tools(&self) -> Vec<tools::Tool> {
        let read = |(name, body): &(String, String)| tool(name, serde_json::from_str(body).ok()?).ok();
        self.tools.iter().filter_map(read).collect()
    }
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<DescribeSection> {
    let f = r.fields(tree, &TABLE)?;
    let mut section = DescribeSection {
        verbs: r.field(&f, "verbs", concepts).unwrap_or_default(),
        objects: r.field(&f, "objects", concepts).unwrap_or_default(),
        ..DescribeSection::default()
    };
    let catalogue = section.extend(Catalogue::default());
    for (key, check) in [("programs", true), ("tools", false)] {
        let Some(entries) = f.get(key).and_then(|tree| r.map(tree, &format!("`describe.{key}`"))) else {
            continue;
        };
        for (name, body) in entries {
            let table = if check { &PROGRAM } else { &TOOL };
            match r.fields(body, table) {
                Some(fields) if !fields.misspelt => {}
                _ => continue,
            }
            let value = json(body);
            words(r, body, &catalogue);
            submits(r, body);
            let wrong = if check {
                program(&name.text, value.clone()).err()
            } else {
                tool(&name.text, value.clone()).err()
            };
            match wrong {
                Some(problem) => {
                    let (span, message, help) = at_its_place(&problem, body).unwrap_or_else(|| {
                        let message =
                            format!("`{}` is not described in a way that can be read: {problem}", name.text);
                        (
                            body.span,
                            message,
                            "`docs/reference.md` lists what a description may say".to_owned(),
                        )
                    });
                    r.error(span, message, help);
                }
                None if check => section.programs.push((name.text.clone(), value.to_string())),
                None => section.tools.push((name.text.clone(), value.to_string())),
            }
        }
    }
    Some(section)
}

/// The place and a suggestion for a problem that names a key or an effect.
fn at_its_place(problem: &str, body: &Tree) -> Option<(Span, String, String)> {
    let word = problem.split('`').nth(1)?;
    if problem.starts_with("unknown field") {
        let span = find(body, &|key, _| (key.text == word).then_some(key.span))?;
        let help = suggest(word, "known here", COMMAND.keys.iter().map(|key| key.name));
        return Some((span, format!("unknown key `{word}`"), help));
    }
    if problem.contains("is no effect") {
        let is = |key: &YamlKey, value: &Tree| key.text == "effect" && value.scalar() == Some(word);
        let span = find(body, &|key, value| is(key, value).then_some(value.span))?;
        return Some((span, format!("`{word}` is no effect"), suggest(word, "for example", EFFECTS)));
    }
    None
}

/// The effects that descriptions of own programs need most often.
const EFFECTS: [&str; 8] =
    ["destroys", "destroys-all", "drops", "drops-part", "changes", "publishes", "reveals", "persists"];

/// The first entry that `wanted` selects, at any depth.
fn find(tree: &Tree, wanted: &dyn Fn(&YamlKey, &Tree) -> Option<Span>) -> Option<Span> {
    match &tree.value {
        Yaml::Map(entries) => {
            entries.iter().find_map(|(key, value)| wanted(key, value).or_else(|| find(value, wanted)))
        }
        Yaml::List(items) => items.iter().find_map(|item| find(item, wanted)),
        Yaml::Scalar { .. } => None,
    }
}

/// The user's own words, in the same form as the catalogue's, so that messages are uniform.
fn concepts(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<Vec<String>> {
    r.each(tree, what, |r, tree, what| {
        let word = r.sentence(tree, what)?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        if word.len() <= MAX_WORD
            && word.chars().all(plain)
            && word.starts_with(|c: char| c.is_ascii_lowercase())
        {
            return Some(word);
        }
        r.error(
            tree.span,
            format!("`{word}` is no word for the catalogue"),
            format!("write it in lower-case letters, digits, `-` and `_`, at most {MAX_WORD} of them"),
        );
        None
    })
}

/// A submitted task is another kind of action, to which rules about tools do not apply: a repository may not
/// declare one.
fn submits(r: &mut Reader<'_>, tree: &Tree) {
    let Yaml::Map(entries) = &tree.value else { return };
    let kind =
        entries.iter().find(|(key, value)| key.text == "kind" && value.scalar() == Some("submit_task"));
    if let Some((_, value)) = kind.filter(|_| !r.is_trusted()) {
        r.error(
            value.span,
            "a repository's file cannot say that a tool submits tasks",
            "put the description into the user's file (`~/.config/lictor/governance.yaml`) or the managed one",
        );
    }
}

/// The suggestion for an unknown word: a known one, or how to define it.
pub(crate) fn how_to_say(word: &str, which: &str, known: &[&str]) -> String {
    match closest(word, known.iter().copied()) {
        Some(_) => suggest(word, "", known.iter().copied()),
        None => {
            let all = suggest(word, &format!("the {which}s are"), known.iter().copied());
            format!("{all}; `describe: {{{which}s: [{word}]}}` adds it")
        }
    }
}

/// Verbs and objects must be words of the catalogue.
fn words(r: &mut Reader<'_>, tree: &Tree, catalogue: &Catalogue) {
    match &tree.value {
        Yaml::Map(entries) => {
            for (key, value) in entries {
                let Some(word) = value.scalar() else {
                    words(r, value, catalogue);
                    continue;
                };
                let known: Vec<&str> = match key.text.as_str() {
                    "verb" => catalogue.verbs().collect(),
                    "object" => catalogue.objects().collect(),
                    _ => continue,
                };
                if !known.contains(&word) {
                    let help = how_to_say(word, &key.text, &known);
                    r.error(value.span, format!("no action has the {} `{word}`", key.text), help);
                }
            }
        }
        Yaml::List(items) => items.iter().for_each(|item| words(r, item, catalogue)),
        Yaml::Scalar { .. } => {}
    }
}

fn program(name: &str, body: Value) -> Result<programs::Program, String> {
    let mut map = match body {
        Value::Object(map) => map,
        Value::Null => Map::new(),
        _ => return Err("it is no map".to_owned()),
    };
    map.insert("program".to_owned(), Value::String(name.to_owned()));
    takes_values(&mut map);
    let source: programs::source::Source =
        serde_json::from_value(Value::Object(map)).map_err(|error| error.to_string())?;
    source.read(&mut |_| None).map_err(|error| error.to_string())
}

/// An option that a description reads takes a value, without being listed again.
fn takes_values(map: &mut Map<String, Value>) {
    const PLACES: [&str; 7] = ["reads", "writes", "deletes", "runs", "shell", "sql", "uploads"];
    fn texts(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.extend(text.split_whitespace().map(str::to_owned)),
            Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
            _ => {}
        }
    }
    let commands = map.get("commands").and_then(Value::as_array).into_iter().flatten();
    let mut named = Vec::new();
    for command in commands.chain(map.get("always")) {
        for place in PLACES.iter().filter_map(|place| command.get(place)) {
            texts(place, &mut named);
        }
    }
    let options = named.iter().filter(|word| word.starts_with('-')).flat_map(|word| word.split('|'));
    let options: Vec<String> = options
        .map(|option| option.trim_start_matches('-').to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    if options.is_empty() {
        return;
    }
    let mut values = options;
    let before = map.get("options").and_then(|options| options.get("values"));
    before.into_iter().for_each(|before| texts(before, &mut values));
    values.sort();
    values.dedup();
    let spelling = map.entry("options").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(spelling) = spelling {
        spelling.insert("values".to_owned(), Value::from(values));
    }
}

fn tool(name: &str, body: Value) -> Result<tools::Tool, String> {
    let body = if body.is_null() { Value::Object(Map::new()) } else { body };
    let source: tools::Source = serde_json::from_value(body).map_err(|error| error.to_string())?;
    let acts = source.read()?.into();
    Ok(tools::Tool { servers: String::new().into(), names: name.to_owned().into(), acts })
}

/// A tree as JSON.
fn json(tree: &Tree) -> Value {
    match &tree.value {
        Yaml::Scalar { text, quoted: true } => Value::String(text.clone()),
        Yaml::Scalar { text, .. } => match text.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "" | "null" | "~" => Value::Null,
            text => text.parse::<u64>().map_or_else(|_| Value::String(text.to_owned()), Value::from),
        },
        Yaml::List(items) => Value::Array(items.iter().map(json).collect()),
        Yaml::Map(entries) => {
            Value::Object(entries.iter().map(|(key, tree)| (key.text.clone(), json(tree))).collect())
        }
    }
}

#[cfg(test)]
mod tests;
