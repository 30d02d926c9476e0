//! Requests from servers: model output, a person's data, the client's roots. The response is data that leaves the
//! client, so each request is judged like a tool. Earlier protocol revisions send separate requests; later ones
//! answer a call with questions and are called again.

use std::collections::{HashMap, VecDeque};

use lictor::Action;
use lictor_core::Digest;
use serde_json::{Map, Value, json};

use super::calls::{Call, Concern, Form};
use super::{Gateway, Out, UNKNOWN_METHOD, Waiting, reply};
use crate::message::Message;
use crate::poison::{self, Origin, Suspicion};
use crate::state::Sealer;

/// How many calls may be between two rounds at once.
const MOST: usize = 256;
/// How often the gateway answers a server itself before it gives up on the call.
const MOST_ROUNDS: u8 = 4;

/// Calls that clients are to repeat with answers, by the state that they repeat them with.
#[derive(Default)]
pub(super) struct Rounds {
    open: HashMap<String, Round>,
    order: VecDeque<String>,
}

/// A call between two rounds.
struct Round {
    action: Digest,
    /// The id of the first round: all rounds are one call.
    tool_use_id: Option<String>,
    /// Answers to the questions that the client did not get to see.
    declined: Map<String, Value>,
    /// As in [`Call`].
    counts: bool,
}

/// A call was judged in an earlier round.
pub(super) struct Begun {
    /// As in [`Call`].
    pub(super) counts: bool,
}

impl Rounds {
    fn insert(&mut self, state: String, round: Round) {
        if self.order.len() >= MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.open.remove(&oldest);
        }
        self.order.push_back(state.clone());
        self.open.insert(state, round);
    }

    fn take(&mut self, state: &str, action: &Digest) -> Option<Round> {
        if self.open.get(state)?.action != *action {
            return None;
        }
        self.order.retain(|known| known != state);
        self.open.remove(state)
    }
}

impl Gateway {
    /// The call as it is sent on, and of which call that was judged it is a further round. A round counts once; the same
    /// state again is a new call.
    pub(super) fn next_round(
        &mut self,
        id: &Value,
        mut message: Message,
        action: &mut Action,
        form: Form,
    ) -> Result<(Message, Option<Begun>), Vec<Out>> {
        let state = message.param("requestState").and_then(Value::as_str).map(str::to_owned);
        let round = state.as_deref().and_then(|state| self.rounds.take(state, &action.digest()));
        self.form_came_back(id, &mut message, action, form)?;
        let Some(round) = round else { return Ok((message, None)) };
        action.tool_use_id = round.tool_use_id;
        if let Some(params) = message.params_mut().filter(|_| !round.declined.is_empty()) {
            let responses = params.entry("inputResponses").or_insert_with(|| json!({}));
            if let Value::Object(responses) = responses {
                responses.extend(round.declined);
            }
        }
        Ok((message, Some(Begun { counts: round.counts })))
    }

    /// The server has answered a call with questions. Those that the policy does not let it ask are answered here.
    pub(super) fn asked_back(&mut self, mut call: Call, mut message: Message) -> Vec<Out> {
        let asked = message.0.get("result").and_then(|result| result.get("inputRequests"));
        let asked = asked.and_then(Value::as_object).cloned().unwrap_or_default();
        let mut declined = Map::new();
        for (key, question) in &asked {
            let method = question.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = question.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
            match self.is_let_ask(method, params, &call.id) {
                Some(true) => {}
                Some(false) => {
                    declined.insert(key.clone(), no_to(method));
                }
                None => {
                    let reason = format!("the server asks for `{method}`, which is not known here");
                    let fix = "go on without this tool; a person can look at the server";
                    return vec![Out::Client(reply::refusal(&call.id, call.form, &reason, fix, None))];
                }
            }
        }
        let Some(result) = message.result_mut() else { return vec![Out::Client(message)] };
        if let Some(Value::Object(left)) = result.get_mut("inputRequests") {
            left.retain(|key, _| !declined.contains_key(key));
        }
        let state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
        if !declined.is_empty() && declined.len() == asked.len() {
            return self.answer_itself(call, declined, state);
        }
        let action = call.action.digest();
        let state = match state {
            // A state in our format would be opened as ours.
            Some(state) if !Sealer::is_ours(&state) => state,
            inner => {
                let now = self.runtime.project().options().now();
                let state = self.sealer.seal(None, action, inner, now);
                result.insert("requestState".to_owned(), Value::String(state.clone()));
                state
            }
        };
        let tool_use_id = call.action.tool_use_id.take();
        self.rounds.insert(state, Round { action, tool_use_id, declined, counts: call.counts });
        vec![Out::Client(self.looked_through(message, call.form))]
    }

    /// Nothing of what the server asks may be asked: it hears so, and the client hears nothing of it.
    fn answer_itself(
        &mut self,
        mut call: Call,
        declined: Map<String, Value>,
        state: Option<String>,
    ) -> Vec<Out> {
        call.rounds += 1;
        if call.rounds > MOST_ROUNDS {
            let fix = "go on without this tool; a person can look at the server";
            let reason = "the server goes on asking for what the policy does not let it ask";
            return vec![Out::Client(reply::refusal(&call.id, call.form, reason, fix, None))];
        }
        if let Some(params) = call.message.params_mut() {
            params.insert("inputResponses".to_owned(), Value::Object(declined));
            match state {
                Some(state) => params.insert("requestState".to_owned(), Value::String(state)),
                None => params.remove("requestState"),
            };
        }
        let own = Value::String(self.own_id());
        let message = call.message.clone().with_id(&own);
        self.sent_on(&own, message, Waiting::Call(Box::new(call)))
    }

    /// A request of the server's own, as earlier revisions send them.
    pub(super) fn server_asks(&mut self, method: &str, id: &Value, message: Message) -> Vec<Out> {
        if self.asked.contains(&id.to_string()) || self.questions.iter().any(|question| question.is_for(id)) {
            let told = "another request with this `id` has no answer yet";
            return vec![Out::Server(Message::error(id, super::INVALID_REQUEST, told))];
        }
        let payload = message.0.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
        let passes = method == "ping" || self.is_let_ask(method, payload, id) == Some(true);
        if passes {
            self.asked.insert(id.to_string());
            return vec![Out::Client(message)];
        }
        vec![Out::Server(match method {
            "roots/list" | "elicitation/create" => Message::result_of(id, no_to(method)),
            "sampling/createMessage" => {
                Message::error(id, -1, "the policy does not let this server use the model")
            }
            _ => {
                let told = format!("the method `{method}` is not known here, so it is not passed on");
                Message::error(id, UNKNOWN_METHOD, &told)
            }
        })]
    }

    /// Whether the policy allows this request of the server; `None` for an unknown method.
    pub(super) fn is_let_ask(&self, method: &str, payload: Map<String, Value>, id: &Value) -> Option<bool> {
        let asked = match method {
            "roots/list" => "roots:list",
            "elicitation/create" => "elicitation:create",
            "sampling/createMessage" => "sampling:createMessage",
            _ => return None,
        };
        // What a person or the model is asked must be what both can see.
        let said = Value::Object(payload.clone());
        let hides = poison::suspicions(&said, Origin::Result).iter().any(Suspicion::is_certain);
        let judged = |action: &Action| self.judge(action, &Concern::default()).passed();
        Some(!self.held_back && !hides && judged(&self.action(asked, payload, id)))
    }

    /// The cancelling of a call that runs under an id of ours by now.
    pub(super) fn cancelled_as(&self, mut message: Message, id: &Value) -> Message {
        let own = self
            .waiting
            .iter()
            .find(|(_, waiting)| matches!(waiting, Waiting::Call(call) if call.answers(id)));
        if let Some(own) = own.and_then(|(own, _)| serde_json::from_str::<Value>(own).ok())
            && let Some(params) = message.params_mut()
        {
            params.insert("requestId".to_owned(), own);
        }
        message
    }
}

/// The answer to a question that must not be asked.
pub(super) fn no_to(method: &str) -> Value {
    match method {
        "roots/list" => json!({"roots": []}),
        "elicitation/create" => json!({"action": "decline"}),
        _ => json!({
            "role": "assistant",
            "model": "none",
            "stopReason": "refused",
            "content": {"type": "text", "text": "The policy does not let this server use the model."},
        }),
    }
}
