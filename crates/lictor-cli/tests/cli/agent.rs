//! A scripted agent that follows every fix, and a scripted person who approves.

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

/// An agent at work in one session.
pub struct Agent<'a> {
    pub sandbox: &'a Sandbox,
    pub session: String,
}

/// The consequence of a stop.
#[derive(Debug, PartialEq, Eq)]
pub enum Way {
    /// The fix worked.
    On,
    /// Only a person can act, and the message says so.
    Person,
    /// The fix is prose without a command.
    Words(String),
    /// The fix was stopped too, or had no effect.
    Nowhere(String),
}

impl Agent<'_> {
    /// One step, through the hooks before and after it: `read FILE`, `edit FILE`, `write FILE`, else a command.
    pub fn step(&self, step: &str) -> Run {
        let call = self.call(step);
        let before = self.hook("PreToolUse", call.clone());
        if stopped(&before) {
            return before;
        }
        self.change(step);
        let mut done = call;
        done["tool_response"] = json!({});
        let after = self.hook("PostToolUse", done);
        Run { code: after.code, stdout: before.stdout + &after.stdout, stderr: before.stderr + &after.stderr }
    }

    /// Changes the file that a step changes, so that git sees it. Commands are not run.
    fn change(&self, step: &str) {
        if let Some(("edit" | "write", name)) = step.split_once(' ') {
            let before = std::fs::read_to_string(self.sandbox.project().join(name)).unwrap_or_default();
            self.sandbox.write(name, &format!("{before}# {}\n", self.session));
        }
    }

    pub fn hook(&self, event: &str, mut fields: Value) -> Run {
        fields["session_id"] = self.session.as_str().into();
        self.sandbox.claude(event, fields)
    }

    fn call(&self, step: &str) -> Value {
        let file = |file: &str| self.sandbox.project().join(file);
        match step.split_once(' ') {
            Some(("edit", name)) => json!({"tool_name": "Edit", "tool_input":
                {"file_path": file(name), "old_string": "a", "new_string": "b"}}),
            Some(("write", name)) => json!({"tool_name": "Write", "tool_input":
                {"file_path": file(name), "content": "text"}}),
            Some(("read", name)) => json!({"tool_name": "Read", "tool_input": {"file_path": file(name)}}),
            _ => json!({"tool_name": "Bash", "tool_input": {"command": step}}),
        }
    }

    /// Follows the fix after a stop literally, or asks the person, who approves.
    pub fn goes_on(&self, step: &str, run: &Run) -> Way {
        if run.code != 2 {
            let yes = self.sandbox.lictor(&["approve", "--all", "--yes"]);
            return match yes.code == 0 && !stopped(&self.step(step)) {
                true => Way::On,
                false => Way::Nowhere(format!("a yes did not count: {}{}", yes.stdout, yes.stderr)),
            };
        }
        let fix = fix(run);
        for followed in steps(&fix) {
            let run = self.step(&followed);
            if stopped(&run) {
                return Way::Nowhere(format!("{fix} → `{followed}` was stopped: {}", told(&run)));
            }
        }
        if fix.contains("again") && stopped(&self.step(step)) {
            return Way::Nowhere(format!("{fix} → and it is still stopped"));
        }
        match (steps(&fix).is_empty(), fix.contains("a person")) {
            (false, _) => Way::On,
            (true, true) => Way::Person,
            (true, false) => Way::Words(fix),
        }
    }
}

/// Whether a call was not let through.
pub fn stopped(run: &Run) -> bool {
    run.code == 2 || run.stdout.contains("\"ask\"") || run.stdout.contains("\"deny\"")
}

/// The fix in the message.
pub fn fix(run: &Run) -> String {
    let fix = run.stderr.split_once("How to go on: ").map(|(_, fix)| fix).unwrap_or_default();
    fix.split("More: ").next().unwrap_or_default().trim().to_owned()
}

/// The steps that a fix names: the text in backticks, which is a file after the word `read`. A retry is not a new
/// step.
pub fn steps(fix: &str) -> Vec<String> {
    let parts: Vec<&str> = fix.split('`').collect();
    let named = parts.chunks_exact(2).map(|pair| (pair[0].trim_end(), pair[1]));
    named
        .filter(|(before, _)| !before.ends_with("try"))
        .map(|(before, text)| if before.ends_with("read") { format!("read {text}") } else { text.to_owned() })
        .collect()
}

/// All messages for the agent or the person.
pub fn told(run: &Run) -> String {
    fn texts(value: &Value, all: &mut Vec<String>) {
        match value {
            Value::String(text) => all.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
            Value::Object(fields) => fields.values().for_each(|field| texts(field, all)),
            _ => {}
        }
    }
    let mut all = vec![run.stderr.clone()];
    for line in run.stdout.lines() {
        texts(&serde_json::from_str(line).unwrap_or_default(), &mut all);
    }
    // The longest text is the message; the others belong to the protocol.
    all.into_iter().max_by_key(String::len).unwrap_or_default()
}
