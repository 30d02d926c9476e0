//! Fields of tools without a description: statements, commands, code and URLs are judged as such. The name of a
//! field indicates its content; otherwise the text must be unambiguous.

use lictor_core::Action;
use lictor_core::facts::{Effect, Facts, Opaque, OpaqueWhat, Reach};
use serde_json::{Map, Value};

use super::tools::{arguments_in, json_in, quoted, words};
use super::{code, described, opaque, shorten};
use crate::place::Looker;

/// The maximum depth of a tool's input that is analysed, and the maximum number of texts.
const DEEPEST: usize = 6;
const MOST_TEXTS: usize = 256;

/// The content of a field, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Sql,
    /// A question in words, or a statement.
    Query,
    Command,
    /// A program, with its words in another field.
    Program,
    /// A command, or code.
    Script,
    Code,
    Address,
    Host,
    /// Input typed into a running program, if the tool is a terminal.
    Typed,
    /// Text for people.
    Prose,
    Other,
}

/// The last words of field names that indicate the content.
const LAST_WORDS: [(Holds, &str); 10] = [
    (Holds::Sql, " sql ddl dml cql hql "),
    (Holds::Query, " query queries q statement statements "),
    (Holds::Command, " command commands cmd cmds commandline shell bash exec "),
    (Holds::Program, " program executable binary "),
    (Holds::Script, " script scripts "),
    (
        Holds::Code,
        " code snippet python py javascript js typescript ts ruby perl php lua expression function cell ",
    ),
    (
        Holds::Address,
        " url urls uri uris href link links endpoint endpoints webhook webhooks address callback ",
    ),
    (Holds::Host, " host hosts hostname hostnames domain domains "),
    (Holds::Typed, " input text keys line stdin data "),
    (
        Holds::Prose,
        " content contents body string prompt message messages description title comment comments summary note notes \
          instruction instructions markdown html subject name label reason thought answer question schema pattern ",
    ),
];

fn holds(name: &str) -> Holds {
    let words = words(name);
    let last = words.last().map(String::as_str).unwrap_or_default();
    let is = |list: &str| list.split_ascii_whitespace().any(|word| word == last);
    match words.as_slice() {
        // `sql_query`, `sqlStatement`
        words if words.iter().any(|word| word == "sql") => Holds::Sql,
        [.., command, line] if command == "command" && line == "line" => Holds::Command,
        [.., code, source] if (code == "code" || code == "cell") && source == "source" => Holds::Code,
        _ => LAST_WORDS.iter().find(|(_, list)| is(list)).map_or(Holds::Other, |(holds, _)| *holds),
    }
}

/// Words in names of tools that pass their input to a running shell.
const TERMINALS: [&str; 10] =
    ["shell", "bash", "terminal", "console", "ssh", "tmux", "pty", "tty", "process", "powershell"];
/// Words in names of search tools.
const SEARCHES: [&str; 12] = [
    "search", "find", "lookup", "docs", "web", "browse", "retrieve", "suggest", "ask", "recall", "research",
    "grep",
];
/// Words of names of tools that send something to an address.
const SENDS: [&str; 8] = ["post", "send", "upload", "push", "submit", "notify", "webhook", "publish"];
/// Names of fields that contain the language of code in another field.
const LANGUAGES: [&str; 4] = ["language", "lang", "runtime", "kernel"];

/// A tool at hand.
struct Tool<'a> {
    words: &'a [String],
    looker: &'a Looker<'a>,
    /// A command of its input that has been read already.
    read: Option<&'a str>,
    /// What was found.
    facts: Facts,
    texts: usize,
}

/// Adds the effects that the fields of a tool's input show.
pub(super) fn judge(
    action: &Action,
    words: &[String],
    read: Option<&str>,
    looker: &Looker<'_>,
    facts: &mut Facts,
) {
    let mut tool = Tool { words, looker, read, facts: Facts::none(), texts: 0 };
    tool.object(&action.payload, &action.payload, 0);
    let Facts { effects, opaque: unclear } = tool.facts;
    // Such a tool may do more than its fields show.
    let shown = |effect: &Effect<_>| matches!(effect, Effect::File { .. } | Effect::Run(_));
    if effects.iter().any(shown) {
        facts.opaque.push(opaque(OpaqueWhat::Tool, &action.tool));
    }
    append(facts, Facts { effects, opaque: unclear });
}

/// Appends separately derived facts, with their command indexes shifted.
fn append(facts: &mut Facts, more: Facts) {
    let before = u32::try_from(facts.commands().count()).unwrap_or(u32::MAX);
    facts.opaque.extend(more.opaque);
    facts.effects.extend(more.effects.into_iter().map(|mut effect| {
        if let Effect::File { by: Some(by), .. } = &mut effect {
            *by = by.saturating_add(before);
        }
        effect
    }));
}

impl Tool<'_> {
    fn is_one_of(&self, names: &[&str]) -> bool {
        self.words.iter().any(|word| names.contains(&word.as_str()))
    }

    fn object(&mut self, fields: &Map<String, Value>, top: &Map<String, Value>, depth: usize) {
        for (name, value) in fields {
            self.field(name, value, fields, top, depth);
        }
    }

    fn field(
        &mut self,
        name: &str,
        value: &Value,
        beside: &Map<String, Value>,
        top: &Map<String, Value>,
        depth: usize,
    ) {
        if depth > DEEPEST || self.texts >= MOST_TEXTS {
            return;
        }
        match value {
            Value::Object(fields) => self.object(fields, top, depth + 1),
            Value::Array(values) => {
                let list: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
                match list.filter(|list| !list.is_empty() && holds(name) == Holds::Command) {
                    // A list of words is one command; several items with their own words are several commands.
                    Some(list) if !list.iter().skip(1).all(|word| word.contains(' ')) || list.len() == 1 => {
                        let line = if list.len() == 1 { list.join(" ") } else { quoted(&list) };
                        self.command(&line);
                    }
                    _ => values.iter().for_each(|value| self.field(name, value, beside, top, depth + 1)),
                }
            }
            Value::String(text) => match json_in(text) {
                Some(inner) => self.field(name, &inner, beside, top, depth + 1),
                None => {
                    self.texts += 1;
                    let language = || {
                        LANGUAGES
                            .iter()
                            .find_map(|field| beside.get(*field).or_else(|| top.get(*field))?.as_str())
                    };
                    self.text(name, text, beside, language);
                }
            },
            _ => {}
        }
    }

    fn text<'l>(
        &mut self,
        name: &str,
        text: &str,
        beside: &Map<String, Value>,
        language: impl Fn() -> Option<&'l str>,
    ) {
        match holds(name) {
            Holds::Sql => self.sql(text),
            Holds::Query => self.maybe_sql(text),
            Holds::Command => match arguments_in(beside) {
                Some(words) => self.command(&format!("{text} {words}")),
                None => self.command(text),
            },
            Holds::Program => {
                if let Some(words) = arguments_in(beside) {
                    self.command(&format!("{} {words}", quoted(&[text])));
                }
            }
            Holds::Script => match language() {
                Some(language) => self.code(language, text, true),
                None if is_code(text).is_some() => self.any_code(text),
                None => self.command(text),
            },
            Holds::Code => match language().or_else(|| named_language(name, self.words)) {
                Some(language) => self.code(language, text, true),
                None => self.any_code(text),
            },
            Holds::Address => {
                let host = lictor_shell::programs::host_of(text).filter(|host| is_host(host));
                if host.is_some() && !super::tools::is_file_address(text) && !text.contains(' ') {
                    self.reach(text);
                }
            }
            Holds::Host => {
                if is_host(text) {
                    self.reach(text);
                }
            }
            Holds::Typed if self.is_one_of(&TERMINALS) => self.command(text),
            Holds::Other | Holds::Typed => {
                let is_address = text.split_once("://").is_some_and(|(scheme, rest)| {
                    scheme.chars().all(|letter| letter.is_ascii_alphanumeric())
                        && !rest.contains(char::is_whitespace)
                        && !scheme.eq_ignore_ascii_case("file")
                });
                if is_address {
                    self.reach(text);
                } else {
                    self.maybe_sql(text);
                }
            }
            Holds::Prose => {}
        }
    }

    fn sql(&mut self, text: &str) {
        let mut found = Facts::none();
        described::statement(text, self.looker, &mut found);
        append(&mut self.facts, found);
    }

    /// Text that parses as a statement. For a search tool, plain words are not SQL.
    fn maybe_sql(&mut self, text: &str) {
        let plain = |letter: char| letter.is_lowercase() || letter.is_whitespace();
        if lictor_shell::languages::is_sql(text)
            && !(self.is_one_of(&SEARCHES) && text.trim().chars().all(plain))
        {
            self.sql(text);
        }
    }

    fn command(&mut self, line: &str) {
        if self.read == Some(line) {
            return;
        }
        let mut found = Facts::none();
        self.looker.add(&mut found, lictor_shell::read(line, self.looker));
        // An apostrophe in words for people is no quote.
        let in_words = !line.contains(['-', '/', '|', ';', '$', '`', '&', '>']);
        found.opaque.retain(|unclear| !in_words || unclear.what != OpaqueWhat::Syntax);
        append(&mut self.facts, found);
    }

    /// Code without a declared language: analysed in every language in which it is valid.
    fn any_code(&mut self, body: &str) {
        if let Some(language) = is_code(body) {
            return self.code(language, body, true);
        }
        let valid = |language: &&&str| lictor_shell::languages::scan(language, body).parse_ok;
        let languages: Vec<&&str> = ["python", "javascript"].iter().filter(valid).collect();
        for language in &languages {
            self.code(language, body, false);
        }
        if languages.is_empty() {
            self.code("unknown", body, false);
        }
    }

    /// Code. If its language is only guessed, opaque parts are ignored.
    fn code(&mut self, language: &str, body: &str, sure: bool) {
        let mut found = Facts::none();
        code::run_body(language, body, self.looker, &mut found);
        if !sure {
            found.effects.retain(|effect| !matches!(effect, Effect::Code { .. }));
            found.opaque.retain(|Opaque { what, .. }| *what == OpaqueWhat::Limit);
        }
        append(&mut self.facts, found);
    }

    fn reach(&mut self, text: &str) {
        let host = lictor_shell::programs::host_of(text);
        let sends = self.is_one_of(&SENDS);
        self.facts.effects.push(Effect::Reach(Reach { host, text: shorten(text), sends }));
    }
}

/// Whether a text is the name or number of a host.
fn is_host(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || ".-:".contains(letter);
    text == "localhost"
        || text.contains(['.', ':']) && text.chars().all(plain) && !text.starts_with(['.', '-', ':'])
}

/// The language that the name of a field or of a tool indicates.
fn named_language(field: &str, tool: &[String]) -> Option<&'static str> {
    const NAMES: [(&str, &str); 15] = [
        ("python", "python"),
        ("py", "python"),
        ("ipython", "python"),
        ("jupyter", "python"),
        ("javascript", "javascript"),
        ("js", "javascript"),
        ("node", "javascript"),
        ("typescript", "typescript"),
        ("ts", "typescript"),
        ("ruby", "ruby"),
        ("perl", "perl"),
        ("php", "php"),
        ("lua", "lua"),
        ("bash", "bash"),
        ("shell", "bash"),
    ];
    let field = words(field);
    let named = |wanted: &str| field.iter().chain(tool).any(|word| word == wanted);
    NAMES.iter().find(|(name, _)| named(name)).map(|(_, language)| *language)
}

/// The language of a text that is code beyond doubt.
fn is_code(body: &str) -> Option<&'static str> {
    const MARKS: [(&str, &[&str]); 2] = [
        ("python", &["import ", "from ", "def ", "with ", "print("]),
        (
            "javascript",
            &["const ", "let ", "var ", "function ", "async ", "await ", "import ", "() =>", "require("],
        ),
    ];
    let first = body.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let begins = |marks: &[&str]| marks.iter().any(|mark| first.starts_with(mark));
    let valid = |language: &str| lictor_shell::languages::scan(language, body).parse_ok;
    MARKS.iter().find(|(language, marks)| begins(marks) && valid(language)).map(|(language, _)| *language)
}
