//! Actions and answers as input and output: the words of `lictor eval`, and JSON.

use std::path::{Path, PathBuf};

use lictor_core::facts::Effect;
use lictor_core::{Action, ActionKind, Evaluation, GivenVerdict, SessionKey, Tier, Value as Said};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::{Map, Value};

use crate::dirs;
use crate::rpc::AskedForm;
use crate::runtime::Runtime;

/// JSON Schemas of types that several outputs share, by name: of the command's `--json`, of `lictor rpc`, and
/// over HTTP.
pub const DEFINITIONS: &str = include_str!("forms/defs.json");

/// An action from words: its kind, and its command, path, URL, code, task or tool.
#[must_use]
pub fn action(kind: &str, what: &str) -> Action {
    with_payload(kind, what, Map::new())
}

/// The same with more in its payload.
#[must_use]
pub fn with_payload(kind: &str, what: &str, mut payload: Map<String, Value>) -> Action {
    let kind = ActionKind::from_name(kind);
    let (mut task_type, mut tool) = (None, String::new());
    let field = match &kind {
        ActionKind::Bash => Some("command"),
        ActionKind::Read | ActionKind::Write => Some("path"),
        ActionKind::Fetch => Some("url"),
        ActionKind::ExecuteCode => Some("code"),
        ActionKind::Delegate => Some("agent"),
        ActionKind::SubmitTask => {
            task_type = Some(what.to_owned());
            None
        }
        ActionKind::Tool | ActionKind::Other(_) => {
            what.clone_into(&mut tool);
            None
        }
    };
    if let Some(field) = field {
        payload.insert(field.to_owned(), Value::String(what.to_owned()));
    }
    let mut action = Action::new(kind, payload);
    action.task_type = task_type;
    action.tool = tool;
    action
}

/// An action as JSON: one line of `lictor eval --batch`, or the `action` of a call.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ActionForm {
    /// The kind of action.
    pub kind: ActionKind,
    /// The tool's input.
    #[serde(default)]
    pub payload: Map<String, Value>,
    /// The directory that it happens in; relative to the project's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The agent's own name for the tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// For `submit_task` and for routing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The agent's id for this one call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The agent program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Main agent first, then each subagent that was started by the one before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<String>,
    /// How it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// An id of test data, handed back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
}

impl ActionForm {
    /// The action; a relative directory is resolved against `base`.
    #[must_use]
    pub fn into_action(self, base: &Path) -> Action {
        let mut action = Action::new(self.kind, self.payload);
        let cwd = dirs::absolute(self.cwd.as_deref().unwrap_or(Path::new("")), base);
        action.cwd = cwd.to_string_lossy().into_owned();
        action.tool = self.tool;
        action.task_type = self.task_type;
        action.tool_use_id = self.tool_use_id;
        action.session = self.session_id.map(|id| SessionKey { agent: self.agent.clone(), id });
        action.actor.agent = self.agent;
        action.actor.user = self.user;
        action.actor.tenant = self.tenant;
        action.actor.chain = self.chain;
        action.tier = self.tier;
        action
    }
}

/// The kinds of actions that Lictor knows by itself.
pub const KINDS: [&str; 8] =
    ["bash", "read", "write", "execute_code", "submit_task", "fetch", "tool", "delegate"];

/// The known kind that an unknown name probably means: the same word in other letters (`Bash`, `execute-code`), or one typo
/// away.
#[must_use]
pub fn near_kind(name: &str) -> Option<&'static str> {
    if KINDS.contains(&name) {
        return None;
    }
    let word = name.trim().to_lowercase().replace(['-', ' '], "_");
    KINDS.into_iter().find(|known| is_one_slip(&word, known))
}

/// As [`near_kind`], for an action whose kind the project does not describe.
#[must_use]
pub fn meant_kind(runtime: &Runtime, action: &Action) -> Option<&'static str> {
    let ActionKind::Other(kind) = &action.kind else { return None };
    let near = near_kind(kind)?;
    let facts = runtime.engine().facts(action);
    let unknown = facts.effects.iter().any(|effect| matches!(effect, Effect::Tool { described: None, .. }));
    unknown.then_some(near)
}

/// Whether one letter is missing, added, replaced, or swapped with its neighbour.
fn is_one_slip(word: &str, meant: &str) -> bool {
    let (mut word, mut meant): (Vec<char>, Vec<char>) = (word.chars().collect(), meant.chars().collect());
    for _ in 0..2 {
        while word.last().is_some() && word.last() == meant.last() {
            word.pop();
            meant.pop();
        }
        word.reverse();
        meant.reverse();
    }
    match (word.as_slice(), meant.as_slice()) {
        ([a, b], [c, d]) => a == d && b == c,
        (word, meant) => word.len() <= 1 && meant.len() <= 1,
    }
}

/// Why one line of text is not JSON: the parser's own message with line numbers is of no use here.
#[must_use]
pub fn not_json(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Eof => "it ends too early".to_owned(),
        Category::Syntax => format!("it goes wrong at character {}", error.column()),
        Category::Data | Category::Io => {
            let told = error.to_string();
            told.split(" at line ").next().unwrap_or_default().to_owned()
        }
    }
}

/// Why, and what to do instead.
#[derive(Debug, PartialEq, Serialize)]
pub struct WordsForm {
    /// The reason.
    pub reason: String,
    /// The fix.
    pub fix: String,
}

impl WordsForm {
    fn for_agent(evaluation: &Evaluation) -> Option<Self> {
        let failed = |given: &GivenVerdict| given.verdict.value() == Said::Error;
        evaluation
            .verdicts
            .iter()
            .any(failed)
            .then(|| Self { reason: evaluation.reason_for_agent(), fix: evaluation.fix_for_agent() })
    }
}

/// An evaluation as `lictor eval --json` prints it.
#[derive(Debug, Serialize)]
pub struct EvaluationForm<'a> {
    /// The reason of the deciding verdict and of at most one more; `verdicts` has all.
    pub reason: String,
    /// The fix.
    pub fix: String,
    /// The text for the agent's model, if reason and fix contain details for the operator only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_agent: Option<WordsForm>,
    /// The questions for a person, if the decision is `ask`: `resolve` takes one answer for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<AskedForm>,
    /// Everything else.
    #[serde(flatten)]
    pub evaluation: &'a Evaluation,
}

impl<'a> From<&'a Evaluation> for EvaluationForm<'a> {
    fn from(evaluation: &'a Evaluation) -> Self {
        let told = evaluation.deciding();
        let reasons: Vec<&str> = told.iter().map(|given| given.verdict.reason()).collect();
        let mut fixes: Vec<&str> = told.iter().map(|given| given.verdict.fix()).collect();
        fixes.retain(|fix| !fix.is_empty());
        fixes.dedup();
        Self {
            reason: reasons.join("\n"),
            fix: fixes.join("\n"),
            for_agent: WordsForm::for_agent(evaluation),
            asked: AskedForm::of(evaluation),
            evaluation,
        }
    }
}

#[cfg(test)]
mod tests;
