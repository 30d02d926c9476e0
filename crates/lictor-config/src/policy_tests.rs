//! Policy unit tests: `policy_tests/*.yaml`.
//!
//! ```yaml
//! tests:
//!   - name: a push needs a test run
//!     steps:
//!       - {bash: git push, expect: block, rule: require_first, message: requires}
//!       - {bash: cargo test, outcome: success}
//!       - {after: 5m, bash: git push, expect: pass}
//! ```

use lictor_core::{Action, ActionKind, Decision};
use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostic, Span};
use crate::reader::{Fields, Reader};
use crate::source::Origin;
use crate::table::{DECISIONS, Key, Shape, Table};
use crate::yaml::{self, Tree, Yaml};

/// A sequence of actions in one session, with the expected result of each.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyTest {
    /// Its name.
    pub name: String,
    /// Its position in the file.
    pub span: Span,
    /// In order.
    pub steps: Vec<Step>,
}

/// One action of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its position in the file.
    pub span: Span,
    /// Milliseconds after the previous step.
    pub after: u64,
    /// What the agent wants to do.
    pub action: Action,
    /// The expected decision.
    pub expect: Decision,
    /// The rule or guard that must have decided.
    pub rule: Option<String>,
    /// Text that the reason must contain.
    pub message: Option<String>,
    /// Whether it then succeeds, when it happens.
    pub success: bool,
}

const OUTCOMES: &[(&str, bool)] = &[("success", true), ("failure", false)];

/// The names of actions, and the payload field that each of them sets.
const ACTIONS: &[(&str, &str)] = &[
    ("bash", "command"),
    ("read", "path"),
    ("write", "path"),
    ("fetch", "url"),
    ("execute_code", "code"),
    ("submit_task", ""),
    ("tool", ""),
    ("delegate", "agent"),
];

static FILE: Table = Table {
    name: "",
    about: "A file of policy tests.",
    keys: &[Key::new("tests", Shape::List(&Shape::Fields(&TEST)), "[…]", "The tests.").required()],
};

static TEST: Table = Table {
    name: "tests[]",
    about: "Actions in sequence, in a session of their own.",
    keys: &[
        Key::new("name", Shape::Text, "a push needs a test run", "What it shows.").required(),
        Key::new(
            "steps",
            Shape::List(&Shape::Fields(&STEP)),
            "[{bash: ls, expect: pass}]",
            "The actions, in order.",
        )
        .required(),
    ],
};

static STEP: Table = Table {
    name: "steps[]",
    about: "One action and what is expected of it.",
    keys: &[
        Key::new("bash", Shape::Text, "git push", "Runs a command."),
        Key::new("read", Shape::Path, "src/main.rs", "Reads a file."),
        Key::new("write", Shape::Path, "src/main.rs", "Writes a file."),
        Key::new("fetch", Shape::Text, "https://example.com/", "Fetches an address."),
        Key::new("execute_code", Shape::Text, "print(1)", "Runs code; its language is `payload.language`."),
        Key::new("submit_task", Shape::Text, "deploy", "Submits a task of that type."),
        Key::new("tool", Shape::Text, "mcp__github__create_issue", "Uses a tool; its input is `payload`."),
        Key::new("delegate", Shape::Text, "reviewer", "Starts another agent."),
        Key::new("payload", Shape::Names(&Shape::Text), "{ticket: OPS-1}", "Further input."),
        Key::new("agent", Shape::Text, "claude-code", "Who does it."),
        Key::new("after", Shape::Duration, "5m", "How long after the step before it."),
        Key::new("expect", DECISIONS, "block", "What must be decided. `pass` when it is not said."),
        Key::new("rule", Shape::Text, "git.force-push", "The rule or guard that must have decided."),
        Key::new("message", Shape::Text, "overwrite", "What the reason must contain."),
        Key::new(
            "outcome",
            Shape::Word(&["success", "failure"]),
            "failure",
            "What comes of it when it happens.",
        ),
    ],
};

/// Reads one file of tests.
///
/// # Errors
/// All its errors.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<PolicyTest>, Vec<Diagnostic>> {
    let tree = yaml::parse(file, bytes)?;
    let text = String::from_utf8_lossy(bytes);
    let mut r = Reader::new(file, Origin::Repository, &text);
    let mut tests: Vec<PolicyTest> = Vec::new();
    if let Some(list) = r.fields(&tree, &FILE).and_then(|f| f.get("tests")) {
        for item in r.maps(list, "`tests`") {
            tests.extend(test(&mut r, item));
        }
    }
    for (index, one) in tests.iter().enumerate() {
        if let Some(first) = tests.iter().take(index).find(|other| other.name == one.name) {
            let help = format!("line {} has it too", first.span.line);
            r.error(one.span, format!("two tests are called `{}`", one.name), help);
        }
    }
    let problems = r.finish();
    if problems.is_empty() { Ok(tests) } else { Err(problems) }
}

fn test(r: &mut Reader<'_>, tree: &Tree) -> Option<PolicyTest> {
    let f = r.fields(tree, &TEST)?;
    let name = r.field(&f, "name", Reader::sentence);
    let steps: Vec<Step> = match f.get("steps") {
        Some(list) => r.maps(list, "`steps`").into_iter().filter_map(|item| step(r, item)).collect(),
        None => Vec::new(),
    };
    Some(PolicyTest { name: name?, span: tree.span, steps })
}

fn step(r: &mut Reader<'_>, tree: &Tree) -> Option<Step> {
    let f = r.fields(tree, &STEP)?;
    let action = action(r, &f);
    let expect = r.field(&f, "expect", Reader::decision);
    let success = r.field(&f, "outcome", |r, tree, what| r.choice(tree, what, OUTCOMES));
    Some(Step {
        span: tree.span,
        after: r.field(&f, "after", Reader::duration).unwrap_or(0),
        rule: r.field(&f, "rule", Reader::sentence),
        message: r.field(&f, "message", Reader::sentence),
        action: action?,
        // A step without an expectation must pass.
        expect: expect.unwrap_or(Decision::Pass),
        success: success.unwrap_or(true),
    })
}

fn action(r: &mut Reader<'_>, f: &Fields<'_>) -> Option<Action> {
    let given: Vec<(&str, &str)> =
        ACTIONS.iter().copied().filter(|(word, _)| f.get(word).is_some()).collect();
    let [(word, field)] = given.as_slice() else {
        let words: Vec<String> = ACTIONS.iter().map(|(word, _)| format!("`{word}`")).collect();
        r.error(f.span, "a step does exactly one thing", format!("give one of {}", words.join(", ")));
        return None;
    };
    let what = r.field(f, word, Reader::text)?;
    let mut payload = match f.get("payload") {
        None => Map::new(),
        Some(tree) => {
            r.map(tree, "`payload`")?.iter().map(|(key, tree)| (key.text.clone(), json(tree))).collect()
        }
    };
    if !field.is_empty() {
        payload.insert((*field).to_owned(), Value::String(what.clone()));
    }
    let mut action = Action::new(ActionKind::from_name(word), payload);
    match *word {
        "submit_task" => action.task_type = Some(what),
        "tool" => action.tool = what,
        _ => {}
    }
    action.actor.agent = r.field(f, "agent", Reader::text).unwrap_or_default();
    Some(action)
}

/// A value as JSON: unquoted numbers, booleans and nulls keep their types.
fn json(tree: &Tree) -> Value {
    match &tree.value {
        Yaml::Scalar { text, quoted: true } => Value::String(text.clone()),
        Yaml::Scalar { text, quoted: false } => match text.as_str() {
            "" | "~" | "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => serde_json::from_str::<serde_json::Number>(text)
                .map_or_else(|_| Value::String(text.to_owned()), Value::Number),
        },
        Yaml::List(items) => Value::Array(items.iter().map(json).collect()),
        Yaml::Map(entries) => {
            Value::Object(entries.iter().map(|(key, tree)| (key.text.clone(), json(tree))).collect())
        }
    }
}

#[cfg(test)]
mod tests;
