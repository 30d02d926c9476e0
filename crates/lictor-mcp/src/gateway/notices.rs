//! Notifications. Nobody judges them, so only those of the protocol are forwarded: a server could do something on any
//! other one, and a client could show it to the model.

use std::collections::VecDeque;

use serde_json::Value;

use super::{Gateway, Listing, Out};
use crate::message::Message;
use crate::poison::{self, Origin, Suspicion};

/// Notifications of clients.
const OF_CLIENTS: [&str; 5] = [
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
];
/// Notifications of servers.
const OF_SERVERS: [&str; 11] = [
    "notifications/cancelled",
    "notifications/progress",
    "notifications/message",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/elicitation/complete",
    "notifications/subscriptions/acknowledged",
    "notifications/tasks",
    "notifications/tasks/status",
];

/// How many cancelled requests wait for an answer. A server need not give one.
const MOST_CANCELLED: usize = 256;

/// The keys of cancelled requests, oldest first.
#[derive(Default)]
pub(super) struct Cancelled(VecDeque<String>);

impl Cancelled {
    /// Remembers one; returns one that has waited too long.
    fn add(&mut self, key: String) -> Option<String> {
        if self.0.contains(&key) {
            return None;
        }
        self.0.push_back(key);
        if self.0.len() > MOST_CANCELLED { self.0.pop_front() } else { None }
    }
}

impl Gateway {
    /// A notification of the client.
    pub(super) fn notified(&mut self, message: Message) -> Vec<Out> {
        if !message.method().is_some_and(|method| OF_CLIENTS.contains(&method)) {
            return Vec::new();
        }
        // A client that cancels a held call must not have it run later.
        if message.method() == Some("notifications/cancelled")
            && let Some(cancelled) = message.param("requestId").cloned()
        {
            let before = (self.held.len(), self.questions.len());
            self.held.retain(|held| held.id() != Some(&cancelled));
            self.questions.retain(|question| !question.is_for(&cancelled));
            if before != (self.held.len(), self.questions.len()) {
                return Vec::new();
            }
            let message = self.cancelled_as(message, &cancelled);
            self.expect_no_answer(&message);
            return vec![Out::Server(message)];
        }
        vec![Out::Server(message)]
    }

    /// A late answer to a cancelled request is still taken, so that its outcome is recorded; most never come.
    fn expect_no_answer(&mut self, message: &Message) {
        let Some(key) = message.param("requestId").map(Value::to_string) else { return };
        if self.waiting.contains_key(&key)
            && let Some(oldest) = self.cancelled.add(key)
        {
            self.waiting.remove(&oldest);
        }
    }

    /// A notification of the server.
    pub(super) fn server_tells(&mut self, mut message: Message) -> Vec<Out> {
        let method = message.method().unwrap_or_default();
        if !OF_SERVERS.contains(&method) {
            return Vec::new();
        }
        if matches!(method, "notifications/tools/list_changed" | "notifications/prompts/list_changed") {
            // The earlier list is not valid for the next call.
            self.state = Listing::Unknown;
        }
        let mut out = Vec::new();
        if matches!(method, "notifications/tasks" | "notifications/tasks/status") {
            let Some(answer) = self.task_told(&mut message) else { return Vec::new() };
            out.extend(answer);
        }
        let said = message.0.get("params").unwrap_or(&Value::Null);
        if !poison::suspicions(said, Origin::Result).iter().any(Suspicion::is_certain) {
            out.push(Out::Client(message));
        }
        out
    }
}
