//! Requests with effects: each is an action, judged before it is forwarded to the server.

use lictor::guards::{DESTRUCTIVE, ServersWord};
use lictor::{Action, ActionKind, Evaluation, Outcome};
use lictor_core::{feedback, strict};
use serde_json::{Map, Value, json};

use super::spelling::respelled;
use super::{Gateway, HEADER_MISMATCH, INVALID_PARAMS, Out, Waiting, reply};
use crate::message::Message;
use crate::mirror;

/// How a refusal looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A result that the model reads.
    Result,
    /// An error, where the protocol has no result for it.
    Error,
}

/// What is known about a tool or a prompt besides the call itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Concern {
    /// Why a person should review each call.
    pub(super) caution: Option<String>,
    /// The server's annotations of it.
    pub(super) word: ServersWord,
}

/// A judged call that waits for the server.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The client's id for it.
    pub(super) id: Value,
    pub(super) action: Action,
    /// As it was sent, for when the server asks something back.
    pub(super) message: Message,
    pub(super) form: Form,
    pub(super) concern: Concern,
    /// How often the gateway has answered the server itself.
    pub(super) rounds: u8,
    /// Its outcome is recorded here. A call that a hook of the agent has judged counts there; a request that needs no
    /// decision counts nowhere.
    pub(super) counts: bool,
}

impl Call {
    pub(super) fn answers(&self, id: &Value) -> bool {
        self.id == *id
    }
}

impl Gateway {
    pub(super) fn called(&mut self, id: &Value, mut message: Message) -> Vec<Out> {
        let name = message.param("name").and_then(Value::as_str).map(str::to_owned);
        let arguments = match message.param("arguments") {
            None | Some(Value::Null) => Some(Map::new()),
            Some(Value::Object(fields)) => Some(fields.clone()),
            Some(_) => None,
        };
        let (Some(name), Some(arguments)) = (name, arguments) else {
            let told = "`tools/call` needs a `name`, and `arguments` that are an object";
            return vec![Out::Client(Message::error(id, INVALID_PARAMS, told))];
        };
        // A client must not distinguish a hidden tool from a missing one.
        let Some(known) = self.known.get(&format!("tool/{name}")) else {
            let unknown = || Message::error(id, INVALID_PARAMS, &format!("unknown tool: {name}"));
            return vec![Out::Client(self.no_tools.clone().map_or_else(unknown, |told| told.with_id(id)))];
        };
        if !arguments.values().all(strict::is_exact) {
            // It would be written anew as another number.
            let told = "a number in `arguments` is too large to be told from others; pass it as text";
            return vec![Out::Client(Message::error(id, INVALID_PARAMS, told))];
        }
        if let Some((given, meant)) = respelled(&known.schema, &arguments) {
            let told = format!("the argument `{given}` is another spelling of `{meant}`");
            return vec![Out::Client(Message::error(id, INVALID_PARAMS, &told))];
        }
        if let Some(sent) = &message.1
            && let Err(told) = mirror::agree(&known.mirrored, &arguments, sent)
        {
            return vec![Out::Client(Message::error(id, HEADER_MISMATCH, &told))];
        }
        let headers = mirror::of_arguments(&known.mirrored, &arguments);
        message.1 = (!headers.is_empty()).then_some(headers);
        let concern = Concern { caution: known.suspicious.clone(), word: known.word };
        let action = self.action(&name, arguments, id);
        self.judged(id, message, action, Form::Result, concern)
    }

    /// A prompt's text goes to the model, so getting one is an action too.
    pub(super) fn prompted(&mut self, id: &Value, message: Message) -> Vec<Out> {
        let name = message.param("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let caution = match self.offered_prompt(id, &name) {
            Ok(caution) => caution,
            Err(refused) => return vec![Out::Client(refused)],
        };
        let payload = match message.param("arguments") {
            Some(Value::Object(fields)) => fields.clone(),
            _ => Map::new(),
        };
        let action = self.action(&format!("prompt:{name}"), payload, id);
        self.judged(id, message, action, Form::Error, Concern { caution, ..Concern::default() })
    }

    fn offered_prompt(&self, id: &Value, name: &str) -> Result<Option<String>, Message> {
        match self.known.get(&format!("prompt/{name}")) {
            Some(known) => Ok(known.suspicious.clone()),
            None => Err(Message::error(id, INVALID_PARAMS, &format!("unknown prompt: {name}"))),
        }
    }

    /// Completing an argument reveals what exists: file names, for a file resource.
    pub(super) fn completed(&mut self, id: &Value, message: Message) -> Vec<Out> {
        let about = message.param("ref").cloned().unwrap_or_default();
        let text = |field: &str| about.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        match about.get("type").and_then(Value::as_str) {
            Some("ref/prompt") => match self.offered_prompt(id, &text("name")) {
                Ok(_) => {
                    let payload = message.0.get("params").and_then(Value::as_object).cloned();
                    let action = self.action("completion", without_round(payload.unwrap_or_default()), id);
                    self.forwarded(id, message, action)
                }
                Err(refused) => vec![Out::Client(refused)],
            },
            Some("ref/resource") => {
                let template = text("uri");
                if template.is_empty() {
                    let told = "a `ref` to a resource needs a `uri`";
                    return vec![Out::Client(Message::error(id, INVALID_PARAMS, told))];
                }
                let uri = completed_address(&template, &message);
                self.addressed(id, message, &uri)
            }
            _ => {
                let told = "`completion/complete` needs a `ref` to a prompt or a resource";
                vec![Out::Client(Message::error(id, INVALID_PARAMS, told))]
            }
        }
    }

    pub(super) fn resource(&mut self, id: &Value, message: Message) -> Vec<Out> {
        match message.param("uri").and_then(Value::as_str).map(str::to_owned) {
            Some(uri) => self.addressed(id, message, &uri),
            None => vec![Out::Client(Message::error(id, INVALID_PARAMS, "`resources/read` needs a `uri`"))],
        }
    }

    fn addressed(&mut self, id: &Value, message: Message, uri: &str) -> Vec<Out> {
        if self.held_back {
            return vec![Out::Client(Message::error(
                id,
                INVALID_PARAMS,
                &format!("unknown resource: {uri}"),
            ))];
        }
        if let Some(action) = self.access_to(uri, id) {
            return self.judged(id, message, action, Form::Error, Concern::default());
        }
        // A name of the server's own: reading what it offers is what the server is for.
        let payload = Map::from_iter([("uri".to_owned(), json!(uri))]);
        let action = self.action("resource", payload, id);
        self.forwarded(id, message, action)
    }

    /// Reading the file or fetching the URL behind an address; `None` for a name of the server's own.
    pub(super) fn access_to(&self, uri: &str, id: &Value) -> Option<Action> {
        let (kind, key, value) = match Address::of(uri) {
            Address::File(path) => (ActionKind::Read, "path", path),
            Address::Web(url) => (ActionKind::Fetch, "url", url),
            Address::Own => return None,
        };
        let mut action = self.action("resource", Map::from_iter([(key.to_owned(), json!(value))]), id);
        action.kind = kind;
        Some(action)
    }

    /// A request that is forwarded without a decision of its own. What the server asks before it answers is judged.
    fn forwarded(&mut self, id: &Value, message: Message, mut action: Action) -> Vec<Out> {
        let (message, _) = match self.next_round(id, message, &mut action, Form::Error) {
            Ok(round) => round,
            Err(out) => return out,
        };
        let (form, concern) = (Form::Error, Concern::default());
        self.forward(Call { id: id.clone(), action, message, form, concern, rounds: 0, counts: false })
    }

    pub(super) fn judged(
        &mut self,
        id: &Value,
        message: Message,
        mut action: Action,
        form: Form,
        concern: Concern,
    ) -> Vec<Out> {
        let (message, begun) = match self.next_round(id, message, &mut action, form) {
            Ok(round) => round,
            Err(out) => return out,
        };
        let counts = begun.as_ref().is_none_or(|begun| begun.counts);
        let mut call = Call { id: id.clone(), action, message, form, concern, rounds: 0, counts };
        if begun.is_some() {
            return self.forward(call);
        }
        // Concerns that only this proxy sees must be asked here, whatever a hook decided.
        let judged = if call.concern.caution.is_some() { None } else { self.judged_by_hook(&call.action) };
        let judged = judged.filter(|_| !self.shows_here(&call));
        call.counts = judged.is_none();
        let evaluation = self.judge(judged.as_ref().unwrap_or(&call.action), &call.concern);
        if evaluation.passed() {
            return self.forward(call);
        }
        if !call.counts {
            return Self::refused(&call, &evaluation, None);
        }
        self.ask_or_refuse(call, &evaluation)
    }

    /// Whether the call asks because of the server's annotations, which hooks do not see.
    fn shows_here(&self, call: &Call) -> bool {
        let asked = |evaluation: Evaluation| {
            let verdicts = evaluation.verdicts.iter();
            verdicts.filter(|given| given.counts()).any(|given| given.verdict.rule() == Some(DESTRUCTIVE))
        };
        call.concern.word.destructive && asked(self.looked_at(&call.action, &call.concern))
    }

    /// To the server, under the client's id.
    pub(super) fn forward(&mut self, call: Call) -> Vec<Out> {
        let (id, message) = (call.id.clone(), call.message.clone());
        self.sent_on(&id, message, Waiting::Call(Box::new(call)))
    }

    /// The refusal for the client.
    pub(super) fn refused(call: &Call, evaluation: &Evaluation, fix: Option<&str>) -> Vec<Out> {
        let explained = evaluation.id.map(|id| id.to_string());
        let own = evaluation.fix_for_agent();
        let reason = evaluation.reason_for_agent();
        let refusal = reply::refusal(&call.id, call.form, &reason, fix.unwrap_or(&own), explained.as_deref());
        vec![Out::Client(refusal)]
    }

    /// The outcome of a call is recorded, and feedback for the agent is added as another block of text.
    pub(super) fn answered(&mut self, call: Call, message: Message) -> Vec<Out> {
        let message = message.with_id(&call.id);
        if reply::asks_back(&message) {
            return self.asked_back(call, message);
        }
        if let Some(task) = reply::task_of(&message) {
            self.tasks.insert(task);
        }
        let failed = message.0.contains_key("error")
            || message.0.get("result").and_then(|result| result.get("isError")) == Some(&Value::Bool(true));
        let outcome = if failed { Outcome::default() } else { Outcome::success() };
        let told = if !call.counts {
            String::new()
        } else {
            match self.runtime.post(&call.action, outcome) {
                Ok(posted) => feedback::render(&posted.feedback),
                Err(error) => format!("Lictor could not record this: {error}"),
            }
        };
        vec![Out::Client(reply::with_remark(self.looked_through(message, call.form), &told))]
    }
}

/// The address that a completion is about: the template with what is typed and what was typed before, up to the first gap
/// of which nothing is known.
fn completed_address(template: &str, message: &Message) -> String {
    let typed = message.param("argument");
    let text = |field: &str| typed.and_then(|typed| typed.get(field)).and_then(Value::as_str);
    let earlier = message.param("context").and_then(|context| context.get("arguments"));
    let value = |name: &str| match text("name") {
        Some(typed) if typed == name => text("value"),
        _ => earlier.and_then(|earlier| earlier.get(name)).and_then(Value::as_str),
    };
    let (mut address, mut rest, mut used) = (String::new(), template, false);
    while let Some((before, gap)) = rest.split_once('{') {
        address.push_str(before);
        let (name, after) = gap.split_once('}').unwrap_or((gap, ""));
        // `{+path}` and `{/path*}` are the variable `path` too.
        let name = name.trim_start_matches(|c: char| "+#./;?&".contains(c)).trim_end_matches('*');
        let Some(value) = value(name) else {
            // An unknown name fills the template's first placeholder.
            address.push_str(text("value").filter(|_| !used).unwrap_or_default());
            return address;
        };
        used |= text("name") == Some(name);
        address.push_str(value);
        rest = after;
    }
    address + rest
}

/// Parameters without those that differ from one round of a request to the next.
fn without_round(mut params: Map<String, Value>) -> Map<String, Value> {
    params.retain(|key, _| !matches!(key.as_str(), "_meta" | "requestState" | "inputResponses"));
    params
}

/// The target of a URL, parsed as programs parse URLs: without blanks and control characters at both ends,
/// without tabs and line ends anywhere.
enum Address {
    File(String),
    Web(String),
    Own,
}

impl Address {
    fn of(uri: &str) -> Self {
        let uri: String = uri
            .trim_matches(|c: char| c.is_whitespace() || c.is_control())
            .chars()
            .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
            .collect();
        let Some(mut parts) = schemed(&uri) else {
            // Some servers treat a text that is not a URL as a path.
            return Self::File(percent_decoded(&uri));
        };
        let mut wrapped = false;
        loop {
            let (scheme, rest) = parts;
            // `git+file:` is a `file:` too.
            let plain = scheme.rsplit('+').next().unwrap_or(scheme).to_ascii_lowercase();
            match plain.as_str() {
                "file" => {
                    let rest = rest.split(['?', '#']).next().unwrap_or(rest).replace('\\', "/");
                    // `jar:file:/a.jar!/b` reads the archive.
                    let archive = rest.split("!/").next().filter(|_| wrapped).unwrap_or(&rest);
                    return Self::File(percent_decoded(path_of(archive)));
                }
                "http" | "https" | "ftp" | "ws" | "wss" => return Self::Web(format!("{plain}:{rest}")),
                // `view-source:file:…`: what is around an address does not change what is read.
                _ => match schemed(rest) {
                    Some(inner) => parts = inner,
                    None => return Self::Own,
                },
            }
            wrapped = true;
        }
    }
}

/// Scheme and rest of an address.
fn schemed(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(scheme, _)| is_scheme(scheme))
}

fn is_scheme(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// The path in what follows `file:`, with or without a host.
fn path_of(rest: &str) -> &str {
    match rest.strip_prefix("//") {
        Some(with_host) => with_host.find('/').and_then(|at| with_host.get(at..)).unwrap_or(with_host),
        None => rest,
    }
}

/// Percent-decodes the path of a file URL. Invalid escapes are kept.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let escape = (*first == b'%').then(|| after.get(..2)).flatten();
        let value = escape
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match value {
            Some(byte) => {
                decoded.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
