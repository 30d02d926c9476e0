//! Calls that need approval: asked in the client's own form if that counts, else held for a while, with the
//! page's URL for clients that support one, else refused with the id of the question.

use std::time::{Duration, Instant};

use lictor::{ApprovalState, Evaluation, GRANT_LASTS_MS, Lifetime, Request, Who};
use serde_json::{Value, json};

use super::calls::{Call, Form};
use super::{CAPABILITIES, Gateway, Out, VERSION, reply};
use crate::message::Message;
use crate::state::{LASTS_MS, Sealer};

/// The key of our own question among those of a round.
const OURS: &str = "lictor-approval";
/// How long a call is held for a person who has been sent to the page, if the policy does not set it.
const ON_THE_PAGE: Duration = Duration::from_secs(50);
/// The interval of progress notifications for a waiting client.
const PROGRESS: Duration = Duration::from_secs(2);

/// A call that waits for a person.
pub(super) struct Question {
    call: Call,
    /// The id under which a person finds it.
    approval: String,
    /// Why it is asked.
    reason: String,
    /// The record that explains it.
    explained: Option<String>,
    /// Our request to the client, where it is asked in its own way.
    form: Option<(Value, Shown)>,
    /// When it was first checked.
    since: Option<Instant>,
    /// How long it waits.
    patience: Duration,
    /// The number of notifications sent.
    told: u32,
}

impl Question {
    pub(super) fn is_for(&self, id: &Value) -> bool {
        self.call.answers(id) || self.form.as_ref().is_some_and(|(form, _)| form == id)
    }
}

/// How a client presents a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// A form, whose answer counts.
    Form,
    /// The page's URL, where the answer is given.
    Page,
}

/// The answer in a client's form.
enum Answer {
    Yes,
    No,
    Nothing,
}

impl Gateway {
    /// Whether a question is pending, so that [`tick`](Self::tick) has work to do.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Looks whether people have answered. Called every few milliseconds while [`is_asking`](Self::is_asking).
    pub fn tick(&mut self, now: Instant) -> Vec<Out> {
        let mut out = Vec::new();
        for mut question in std::mem::take(&mut self.questions) {
            let since = *question.since.get_or_insert(now);
            let waited = now.saturating_duration_since(since);
            let state = self.runtime.approvals().find(&question.approval).map(|approval| approval.state);
            if !matches!(state, Ok(ApprovalState::Pending)) {
                out.extend(self.ask_again(question));
            } else if waited >= question.patience {
                out.push(Out::Client(unanswered(&question)));
            } else {
                out.extend(progress(&mut question, waited).map(Out::Client));
                self.questions.push(question);
            }
        }
        out
    }

    /// A call that did not pass: asks where an answer would lift it.
    pub(super) fn ask_or_refuse(&mut self, call: Call, evaluation: &Evaluation) -> Vec<Out> {
        let request = Request {
            action: evaluation.action,
            session: call.action.session.clone(),
            policy: evaluation.policy,
        };
        let approval = request.id();
        let pending = self.runtime.approvals().find(&approval).ok();
        // An answer does not lift an additional block.
        let asks = pending.is_some_and(|approval| approval.state == ApprovalState::Pending)
            && evaluation.verdicts.iter().any(|given| given.counts() && given.guard() == "approval");
        if !asks {
            return Self::refused(&call, evaluation, None);
        }
        let shown = self.shown_for(&call.message, &approval);
        let params = shown.map(|shown| self.params_of(shown, evaluation, &approval));
        if let (Some(params), true) = (&params, call.message.meta(VERSION).is_some()) {
            return vec![Out::Client(self.round_of(&call, params, approval))];
        }
        let wait = self.wait_for(&approval);
        if wait.is_zero() && shown.is_none() {
            return Self::refused(&call, evaluation, Some(&how_to_approve(&approval)));
        }
        let mut out = Vec::new();
        let mut form = None;
        if let (Some(shown), Some(params)) = (shown, params) {
            let id = self.own_id();
            out.push(Out::Client(Message::request(&id, "elicitation/create", params)));
            form = Some((Value::String(id), shown));
        }
        let patience = if form.is_some() { Duration::from_millis(LASTS_MS.unsigned_abs()) } else { wait };
        let (reason, explained) = (evaluation.reason_for_agent(), evaluation.id.map(|id| id.to_string()));
        let question = Question { call, approval, reason, explained, form, since: None, patience, told: 0 };
        self.questions.push(question);
        out
    }

    /// How long a call is held for an answer that is given elsewhere.
    fn wait_for(&self, approval: &str) -> Duration {
        let wait = Duration::from_millis(self.runtime.policy().approval_wait());
        if wait.is_zero() && self.shown.contains(approval) { ON_THE_PAGE } else { wait }
    }

    /// A person has answered, or the question is gone: the call is judged again.
    fn ask_again(&mut self, question: Question) -> Vec<Out> {
        let evaluation = self.judge(&question.call.action, &question.call.concern);
        if evaluation.passed() {
            return self.forward(question.call);
        }
        Self::refused(&question.call, &evaluation, None)
    }

    /// What the client can show for this question: a form where its answer counts, else the page, once.
    fn shown_for(&self, message: &Message, approval: &str) -> Option<Shown> {
        let can = match message.meta(CAPABILITIES) {
            Some(capabilities) => capabilities.get("elicitation"),
            None => self.shows.as_ref(),
        }?;
        let policy = self.runtime.policy();
        // A client that names no kinds has forms, as before kinds existed.
        let forms = can.get("form").is_some() || can.get("url").is_none();
        if forms && policy.elicitation_counts() {
            return Some(Shown::Form);
        }
        let page = policy.approvals_page().is_some() && can.get("url").is_some();
        (page && !self.shown.contains(approval)).then_some(Shown::Page)
    }

    fn params_of(&mut self, shown: Shown, evaluation: &Evaluation, approval: &str) -> Value {
        let message = question_of(evaluation);
        if shown == Shown::Form {
            return json!({"mode": "form", "message": message, "requestedSchema": schema()});
        }
        self.shown.insert(approval.to_owned());
        let url = format!("{}/approvals", self.runtime.policy().approvals_page().unwrap_or_default());
        json!({"mode": "url", "message": message, "url": url, "elicitationId": approval})
    }

    /// The question as a round of the call, with a state that only comes back for the same call.
    fn round_of(&mut self, call: &Call, params: &Value, approval: String) -> Message {
        let inner = call.message.param("requestState").and_then(Value::as_str).map(str::to_owned);
        let now = self.runtime.project().options().now();
        let state = self.sealer.seal(Some(approval), call.action.digest(), inner, now);
        let asked = json!({OURS: {"method": "elicitation/create", "params": params}});
        let result = json!({"resultType": "input_required", "inputRequests": asked, "requestState": state});
        Message::result_of(&call.id, result)
    }

    /// The client has answered our own question. The rest is the original call.
    pub(super) fn form_came_back(
        &mut self,
        id: &Value,
        message: &mut Message,
        call: &lictor::Action,
        form: Form,
    ) -> Result<(), Vec<Out>> {
        let refuse =
            |reason: &str, fix: &str| Err(vec![Out::Client(reply::refusal(id, form, reason, fix, None))]);
        let Some(params) = message.params_mut() else { return Ok(()) };
        let Some(Value::String(text)) = params.get("requestState").cloned() else { return Ok(()) };
        if !Sealer::is_ours(&text) {
            return Ok(());
        }
        let responses = params.remove("inputResponses");
        params.remove("requestState");
        let now = self.runtime.project().options().now();
        let state = match self.sealer.open(&text, &call.digest(), now) {
            Ok(state) => state,
            Err(bad) => return refuse(&bad.to_string(), "send the request again, without a `requestState`"),
        };
        if let Some(inner) = state.inner {
            params.insert("requestState".to_owned(), Value::String(inner));
        }
        let Some(approval) = state.approval else {
            // A round that the server began: its answers go back to it.
            if let Some(responses) = responses {
                params.insert("inputResponses".to_owned(), responses);
            }
            return Ok(());
        };
        let response = responses.as_ref().and_then(|responses| responses.get(OURS));
        // The person answers on the opened page: the call is judged now, and held.
        if self.shown.contains(&approval) && has_opened(response) {
            return Ok(());
        }
        match answer_of(response) {
            Answer::Yes if self.runtime.policy().elicitation_counts() => {
                self.record_answer(&approval, true);
                Ok(())
            }
            Answer::No => {
                self.record_answer(&approval, false);
                Ok(())
            }
            Answer::Yes | Answer::Nothing => {
                refuse("this needs a person's yes, and nobody has answered", &how_to_approve(&approval))
            }
        }
    }

    /// The answer to a form that was sent as a request of our own.
    pub(super) fn form_answered(&mut self, id: &Value, message: &Message) -> Vec<Out> {
        let asked = |question: &Question| question.form.as_ref().is_some_and(|(form, _)| form == id);
        let Some(at) = self.questions.iter().position(asked) else { return Vec::new() };
        let mut question = self.questions.remove(at);
        let shown = question.form.take().map(|(_, shown)| shown);
        let answer = match (shown, message.0.get("result")) {
            // Only the answer on the page counts, not opening it.
            (Some(Shown::Page), result) if !has_opened(result) => {
                return vec![Out::Client(unanswered(&question))];
            }
            (Some(Shown::Page), _) => Answer::Nothing,
            (_, result) => answer_of(result),
        };
        match answer {
            Answer::Yes => self.record_answer(&question.approval, true),
            Answer::No => self.record_answer(&question.approval, false),
            Answer::Nothing => {
                // Not answered there; a person may still answer elsewhere.
                question.since = None;
                question.patience = self.wait_for(&question.approval);
                if question.patience.is_zero() {
                    return vec![Out::Client(unanswered(&question))];
                }
                self.questions.push(question);
                return Vec::new();
            }
        }
        self.ask_again(question)
    }

    /// A failure leaves the question open, and the call is refused.
    fn record_answer(&self, approval: &str, yes: bool) {
        let at = self.runtime.project().options().now();
        let who = Who { by: format!("the person at {}", self.name), at, from: "mcp form".to_owned() };
        let approvals = self.runtime.approvals();
        let _ = if yes {
            approvals.approve(approval, who, Lifetime::Once, GRANT_LASTS_MS).map(drop)
        } else {
            approvals.deny(approval, who, None).map(drop)
        };
    }
}

fn question_of(evaluation: &Evaluation) -> String {
    let points: Vec<String> = evaluation.pending().map(|point| point.message).collect();
    lictor_core::text::clean(&format!("Lictor asks: {}. Allow this once?", points.join("; ")), 600)
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"approve": {"type": "boolean", "title": "Allow exactly this call, once", "default": false}},
        "required": ["approve"],
    })
}

fn answer_of(answer: Option<&Value>) -> Answer {
    let Some(answer) = answer else { return Answer::Nothing };
    let said = answer.get("content").and_then(|content| content.get("approve"));
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") if said == Some(&Value::Bool(true)) => Answer::Yes,
        Some("accept" | "decline") => Answer::No,
        _ => Answer::Nothing,
    }
}

/// Whether a person has agreed to open the address.
fn has_opened(answer: Option<&Value>) -> bool {
    answer.and_then(|answer| answer.get("action")).and_then(Value::as_str) == Some("accept")
}

fn how_to_approve(approval: &str) -> String {
    let short = approval.get(..12).unwrap_or(approval);
    format!("a person has to say yes: `lictor approve {short}`; then call it again")
}

fn unanswered(question: &Question) -> Message {
    let Question { call, approval, reason, explained, .. } = question;
    let reason = format!("{reason}; nobody has answered");
    reply::refusal(&call.id, call.form, &reason, &how_to_approve(approval), explained.as_deref())
}

/// A client that gave a token hears that its call is alive.
fn progress(question: &mut Question, waited: Duration) -> Option<Message> {
    let token = question.call.message.meta("progressToken")?;
    if waited < PROGRESS * question.told {
        return None;
    }
    question.told += 1;
    let message = format!("waiting for a person: {}", how_to_approve(&question.approval));
    let params = json!({"progressToken": token, "progress": question.told, "message": message});
    Some(Message::notification("notifications/progress", params))
}
