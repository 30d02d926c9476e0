//! Descriptions of tools: what the fields of their input mean.
//!
//! The same types are used for shipped descriptions (`tools/*.yaml`, compiled by the build script) and for users'
//! descriptions under `describe: {tools: …}`. A description can only add knowledge: every field is still judged
//! by its content.
//!
//! ```yaml
//! mcp__postgres__query: {sql: sql}                         # judged as if given to psql
//! mcp__filesystem__write_file: {writes: path}
//! mcp__ide__executeCode: {kind: execute_code, language: python, code: code}
//! mcp__queue__submit: {kind: submit_task, task_type: type}  # the field `type` says what kind of task
//! mcp__jira__*: {verb: read, object: ticket}
//! mcp__acme__drop: {effect: destroys, what: the environment}
//! ```
//!
//! A field is a name of the input; `a|b` either, `a.b` a field of the values of `a`. Texts and lists of texts count.

use std::borrow::Cow;

use serde::Deserialize;

/// Text of a description.
pub type Text = Cow<'static, str>;

/// The effects of one kind of tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Names of the server, globs among them; empty for an agent's own tools.
    pub servers: Text,
    /// Names of the tool, globs among them.
    pub names: Text,
    /// What it does.
    pub acts: Cow<'static, [Act]>,
}

/// One thing that a tool does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A field holds SQL.
    Sql(Text),
    /// A field contains a shell command.
    Command(Text),
    /// A field contains code of a language.
    Code(Text, Text),
    /// A field contains a URL that is fetched.
    Fetches(Text),
    /// A field contains a URL that data is sent to.
    Posts(Text),
    /// A field contains paths with this access.
    File(How, Text),
    /// A deed in the words of the policy catalogue.
    Deed(Text, Text, Option<Text>),
    /// Something of a service goes; wholesale when true.
    Destroys(Text, bool),
    /// Something gets published.
    Publishes,
    /// A secret is shown.
    Reveals,
    /// A task is submitted; a field contains its type.
    Task(Text),
}

/// The kind of access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Its content is read.
    Reads,
    /// Its name or a directory listing is read.
    Lists,
    /// It is written as a whole.
    Writes,
    /// Something is added to it.
    Appends,
    /// Parts of it are changed.
    Modifies,
    /// It is deleted.
    Deletes,
    /// It is moved away.
    Moves,
    /// A directory is made.
    Makes,
}

/// The written form of what a tool does.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    kind: Option<String>,
    task_type: Option<String>,
    sql: Option<String>,
    command: Option<String>,
    code: Option<String>,
    language: Option<String>,
    fetches: Option<String>,
    posts: Option<String>,
    reads: Option<String>,
    lists: Option<String>,
    writes: Option<String>,
    appends: Option<String>,
    modifies: Option<String>,
    deletes: Option<String>,
    moves: Option<String>,
    makes: Option<String>,
    verb: Option<String>,
    object: Option<String>,
    effect: Option<String>,
    what: Option<String>,
}

/// The keys of the written form, for messages and schemas.
pub const KEYS: [&str; 20] = [
    "kind",
    "task_type",
    "sql",
    "command",
    "code",
    "language",
    "fetches",
    "posts",
    "reads",
    "lists",
    "writes",
    "appends",
    "modifies",
    "deletes",
    "moves",
    "makes",
    "verb",
    "object",
    "effect",
    "what",
];

impl Source {
    /// What it says.
    ///
    /// # Errors
    /// Keys that do not belong together, or an effect that is none.
    pub fn read(&self) -> Result<Vec<Act>, String> {
        let text = |text: &str| Text::Owned(text.to_owned());
        let mut acts: Vec<Act> = self.task()?.map(|field| Act::Task(text(field))).into_iter().collect();
        acts.extend(self.sql.as_deref().map(|field| Act::Sql(text(field))));
        acts.extend(self.command.as_deref().map(|field| Act::Command(text(field))));
        match (&self.code, &self.language) {
            (Some(code), Some(language)) => acts.push(Act::Code(text(language), text(code))),
            (None, None) => {}
            (Some(_), None) => {
                return Err("`code` needs `language`, for example `language: python`".to_owned());
            }
            (None, Some(_)) => {
                return Err("`language` needs `code`, the field that holds the code".to_owned());
            }
        }
        acts.extend(self.fetches.as_deref().map(|field| Act::Fetches(text(field))));
        acts.extend(self.posts.as_deref().map(|field| Act::Posts(text(field))));
        let files = [
            (&self.reads, How::Reads),
            (&self.lists, How::Lists),
            (&self.writes, How::Writes),
            (&self.appends, How::Appends),
            (&self.modifies, How::Modifies),
            (&self.deletes, How::Deletes),
            (&self.moves, How::Moves),
            (&self.makes, How::Makes),
        ];
        acts.extend(
            files.into_iter().filter_map(|(field, how)| Some(Act::File(how, text(field.as_deref()?)))),
        );
        match (&self.verb, &self.object) {
            (Some(verb), Some(object)) => {
                acts.push(Act::Deed(text(verb), text(object), self.what.as_deref().map(text)));
            }
            (None, None) => {}
            _ => return Err("`verb` and `object` belong together".to_owned()),
        }
        let what = || text(self.what.as_deref().unwrap_or("something of a service"));
        match self.effect.as_deref() {
            Some("destroys") => acts.push(Act::Destroys(what(), false)),
            Some("destroys-all") => acts.push(Act::Destroys(what(), true)),
            Some("publishes") => acts.push(Act::Publishes),
            Some("reveals") => acts.push(Act::Reveals),
            Some(other) => {
                return Err(format!(
                    "`{other}` is no effect; there are destroys, destroys-all, publishes, reveals"
                ));
            }
            None if self.what.is_some() && self.verb.is_none() => {
                return Err("`what` needs `effect: destroys`, or `verb` and `object`".to_owned());
            }
            None => {}
        }
        Ok(acts)
    }

    /// The field with the type of the task, if the tool submits one.
    fn task(&self) -> Result<Option<&str>, String> {
        match (self.kind.as_deref(), self.task_type.as_deref()) {
            (Some("submit_task"), Some(field)) => Ok(Some(field)),
            (Some("submit_task"), None) => {
                Err("`kind: submit_task` needs `task_type`, the field that holds the type".to_owned())
            }
            (_, Some(_)) => Err("`task_type` needs `kind: submit_task`".to_owned()),
            (Some("execute_code"), None) if self.code.is_none() => {
                Err("`kind: execute_code` needs `code` and `language`".to_owned())
            }
            (Some("execute_code") | None, None) => Ok(None),
            (Some(other), None) => {
                Err(format!("`{other}` is no kind that a tool can have; there are submit_task, execute_code"))
            }
        }
    }
}
