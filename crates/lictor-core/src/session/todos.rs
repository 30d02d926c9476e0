use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::Action;

/// How many open items are kept by their words; of the others only their number is known.
const ITEMS_KEPT: usize = 8;
/// How many characters of an item are kept.
const ITEM_LENGTH: usize = 120;

/// The agent's own list of what is left to do, as it last wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Todos {
    /// How many items are not done.
    pub open: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
}

impl Todos {
    /// The list that an action writes, if it writes the whole list: `todos` or `plan`, each item with a `status`.
    #[must_use]
    pub fn written_by(action: &Action) -> Option<Self> {
        let list = ["todos", "plan"].iter().find_map(|field| action.payload.get(*field)?.as_array())?;
        let mut todos = Self::default();
        for item in list {
            let status = item.get("status").and_then(Value::as_str)?;
            if matches!(status, "completed" | "done" | "cancelled" | "canceled") {
                continue;
            }
            todos.open = todos.open.saturating_add(1);
            if todos.items.len() < ITEMS_KEPT {
                let words = ["content", "step", "description", "title"];
                let text = words.iter().find_map(|field| item.get(*field)?.as_str()).unwrap_or("(no words)");
                todos.items.push(text.chars().take(ITEM_LENGTH).collect());
            }
        }
        Some(todos)
    }
}
