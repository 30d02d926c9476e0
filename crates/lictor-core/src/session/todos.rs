use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::Action;

/// How many open items are kept with their text; the others are only counted.
const ITEMS_KEPT: usize = 8;
/// How many characters of an item are kept.
const ITEM_LENGTH: usize = 120;
/// How many characters of a task's id are kept.
const ID_LENGTH: usize = 32;

/// How many individual tasks are kept; further ones are dropped.
const TASKS_KEPT: usize = 256;

/// The agent's own to-do list, as it last wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Todos {
    /// How many items are not done.
    pub open: u64,
    /// The first of them.
    pub items: Vec<String>,
    /// For lists that are changed one item at a time: how many items were added so far.
    created: u64,
    /// And which, by their ids.
    tasks: BTreeMap<String, Task>,
}

/// One item of a list that is not written as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Task {
    words: String,
    /// Its place in the list.
    at: u64,
    /// The id is a guess: the agent numbers its tasks, but reports the number only when it changes one.
    guessed: bool,
    /// Done or given up.
    over: bool,
}

impl Todos {
    /// The list after an action, given the previous list; `None` when the action does not change it. An action
    /// may write the whole list, or add one task, or change one.
    #[must_use]
    pub fn after(before: Option<&Self>, action: &Action) -> Option<Self> {
        match action.tool.as_str() {
            "TaskCreate" => {
                let words = words(&Value::Object(action.payload.clone()));
                Some(before.cloned().unwrap_or_default().with_task(words))
            }
            "TaskUpdate" => before.cloned().unwrap_or_default().with_change(action),
            _ => Self::written_by(action),
        }
    }

    fn with_task(mut self, words: String) -> Self {
        self.created = self.created.saturating_add(1);
        let task = Task { words, at: self.created, guessed: true, over: false };
        let id = self.created.to_string();
        self.keep(id, task)
    }

    fn with_change(mut self, action: &Action) -> Option<Self> {
        let text = |name: &str| action.payload.get(name).and_then(Value::as_str);
        let id = match action.payload.get("taskId").or_else(|| action.payload.get("task_id"))? {
            Value::String(id) => short(id, ID_LENGTH),
            Value::Number(id) => id.to_string(),
            _ => return None,
        };
        // A list that is older than this session has other numbers: the oldest task with a guessed number is the
        // one that is meant.
        let known = self.tasks.remove(&id).or_else(|| {
            let guessed = self.tasks.iter().filter(|(_, task)| task.guessed);
            let oldest = guessed.min_by_key(|(_, task)| task.at).map(|(id, _)| id.clone())?;
            self.tasks.remove(&oldest)
        });
        let over = text("status").map(is_over);
        let at = known.as_ref().map_or(self.created.saturating_add(1), |task| task.at);
        let over = over.unwrap_or_else(|| known.as_ref().is_some_and(|task| task.over));
        let words = text("subject").map(|words| short(words, ITEM_LENGTH)).or(known.map(|task| task.words));
        let words = words.filter(|words| !words.is_empty()).unwrap_or_else(|| NO_WORDS.to_owned());
        // The text of a finished task is not needed.
        let words = if over { String::new() } else { words };
        Some(self.keep(id, Task { words, at, guessed: false, over }))
    }

    /// Keeps a task, replacing a finished one if necessary, and counts it.
    fn keep(mut self, id: String, task: Task) -> Self {
        if self.tasks.len() >= TASKS_KEPT {
            let over = self.tasks.iter().find(|(_, task)| task.over).map(|(id, _)| id.clone());
            over.and_then(|id| self.tasks.remove(&id));
        }
        if self.tasks.len() < TASKS_KEPT {
            self.tasks.insert(id, task);
        }
        let mut open: Vec<&Task> = self.tasks.values().filter(|task| !task.over).collect();
        open.sort_by_key(|task| task.at);
        self.open = u64::try_from(open.len()).unwrap_or(u64::MAX);
        self.items = open.iter().take(ITEMS_KEPT).map(|task| task.words.clone()).collect();
        self
    }

    /// The list that an action writes, if it writes the whole list: `todos` or `plan`, each item with a `status`.
    #[must_use]
    pub fn written_by(action: &Action) -> Option<Self> {
        let list = ["todos", "plan"].iter().find_map(|field| action.payload.get(*field)?.as_array())?;
        let mut todos = Self::default();
        for item in list {
            let status = item.get("status").and_then(Value::as_str)?;
            if is_over(status) {
                continue;
            }
            todos.open = todos.open.saturating_add(1);
            if todos.items.len() < ITEMS_KEPT {
                todos.items.push(words(item));
            }
        }
        Some(todos)
    }
}

/// The text of an item without text.
const NO_WORDS: &str = "(no words)";

fn is_over(status: &str) -> bool {
    matches!(status, "completed" | "done" | "cancelled" | "canceled" | "deleted")
}

fn words(item: &Value) -> String {
    let fields = ["content", "step", "subject", "description", "title"];
    short(fields.iter().find_map(|field| item.get(*field)?.as_str()).unwrap_or(NO_WORDS), ITEM_LENGTH)
}

/// Text as it fits into the state.
fn short(text: &str, length: usize) -> String {
    text.chars().take(length).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests;
