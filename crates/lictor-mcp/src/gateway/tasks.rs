//! Tasks: calls whose results are fetched later. A task belongs to the judged call that created it, and what its server
//! asks meanwhile is judged like every question of a server.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::calls::Form;
use super::inputs::no_to;
use super::{Gateway, INVALID_PARAMS, Out, Waiting};
use crate::message::{CAPABILITIES, Message, VERSION};

/// How many answers about questions are kept for one task, which is asked for its state again and again.
const MOST_JUDGED: usize = 64;

/// The tasks of judged calls, each with the questions that were judged: whether each may be asked.
#[derive(Default)]
pub(super) struct Tasks(HashMap<String, HashMap<String, bool>>);

impl Tasks {
    pub(super) fn insert(&mut self, task: String) {
        self.0.entry(task).or_default();
    }

    fn has(&self, task: &Value) -> bool {
        task.as_str().is_some_and(|task| self.0.contains_key(task))
    }
}

impl Gateway {
    /// A request about a task. Other tasks do not exist.
    pub(super) fn task(&mut self, id: &Value, message: Message) -> Vec<Out> {
        let lists = message.method() == Some("tasks/list");
        if !lists && !message.param("taskId").is_some_and(|task| self.tasks.has(task)) {
            return vec![Out::Client(Message::error(id, INVALID_PARAMS, "unknown task"))];
        }
        self.sent_on(id, message.clone(), Waiting::Task(Box::new(message)))
    }

    /// The state of a task, or its outcome.
    pub(super) fn task_answered(&mut self, asked: &Message, mut message: Message) -> Vec<Out> {
        let mut out = Vec::new();
        if let Some(result) = message.result_mut() {
            if let Some(Value::Array(tasks)) = result.get_mut("tasks") {
                tasks.retain(|task| task.get("taskId").is_some_and(|task| self.tasks.has(task)));
            }
            let task = asked.param("taskId").and_then(Value::as_str).unwrap_or_default();
            out.extend(self.questions_of_task(task, result, asked.meta(VERSION)));
        }
        out.push(Out::Client(self.looked_through(message, Form::Error)));
        out
    }

    /// A notification about a task; `None` if it is about a task of another client.
    pub(super) fn task_told(&mut self, message: &mut Message) -> Option<Option<Out>> {
        let task = message.param("taskId").filter(|task| self.tasks.has(task))?.as_str()?.to_owned();
        let revision = message.meta(VERSION).cloned();
        let Some(params) = message.params_mut() else { return Some(None) };
        Some(self.questions_of_task(&task, params, revision.as_ref()))
    }

    /// Removes the questions that the policy does not let the server ask. Returns the answers to those.
    fn questions_of_task(
        &mut self,
        task: &str,
        fields: &mut Map<String, Value>,
        revision: Option<&Value>,
    ) -> Option<Out> {
        let asked = fields.get("inputRequests")?.as_object().cloned();
        let Some(asked) = asked else {
            fields.remove("inputRequests");
            return None;
        };
        let mut declined = Map::new();
        for (key, question) in &asked {
            if !self.may_ask_for_task(task, key, question) {
                let method = question.get("method").and_then(Value::as_str).unwrap_or_default();
                declined.insert(key.clone(), no_to(method));
            }
        }
        if let Some(Value::Object(left)) = fields.get_mut("inputRequests") {
            left.retain(|key, _| !declined.contains_key(key));
        }
        if declined.is_empty() {
            return None;
        }
        let id = self.own_id();
        let mut params = json!({"taskId": task, "inputResponses": declined});
        if let (Some(params), Some(revision)) = (params.as_object_mut(), revision) {
            params.insert("_meta".to_owned(), json!({VERSION: revision, CAPABILITIES: {}}));
        }
        self.waiting.insert(Value::String(id.clone()).to_string(), Waiting::Ours);
        Some(Out::Server(Message::request(&id, "tasks/update", params)))
    }

    /// The same question is judged once, however often the client asks for the state of the task.
    fn may_ask_for_task(&mut self, task: &str, key: &str, question: &Value) -> bool {
        let whole = format!("{key} {question}");
        if let Some(judged) = self.tasks.0.get(task).and_then(|judged| judged.get(&whole)) {
            return *judged;
        }
        let method = question.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = question.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
        let may = self.is_let_ask(method, params, &json!(format!("{task} {key}"))) == Some(true);
        let judged = self.tasks.0.entry(task.to_owned()).or_default();
        if judged.len() >= MOST_JUDGED {
            judged.clear();
        }
        judged.insert(whole, may);
        may
    }
}
