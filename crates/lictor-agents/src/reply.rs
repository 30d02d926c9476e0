//! Renders Lictor's reply as the bytes and the exit code that the agent obeys.

use lictor_core::text::is_deceptive;
use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::contract::{self, AskForm, BlockForm, Moment, Row, TellForm};

/// The destination of a reply. Comes from parsing, so it always names an event of the agent's own contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookContext {
    pub(crate) agent: Agent,
    pub(crate) through: Agent,
    pub(crate) row: &'static Row,
    pub(crate) person: bool,
}

impl HookContext {
    /// The destination of a reply for this agent and event before the event itself is parsed.
    #[must_use]
    pub fn hinted(agent: Agent, event: Option<&str>) -> Self {
        let row = event.and_then(|name| agent.spec().row(name)).unwrap_or(&contract::UNKNOWN);
        Self { agent, through: agent, row, person: false }
    }

    /// The agent that called.
    #[must_use]
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// The agent whose settings the hook was installed in. Some agents run the hooks of others; one tool call may
    /// then be seen twice.
    #[must_use]
    pub fn through(&self) -> Agent {
        self.through
    }

    /// The agent's own name for the event. Empty when it is not known.
    #[must_use]
    pub fn event_name(&self) -> &'static str {
        self.row.name
    }

    /// When in the agent's life this is.
    #[must_use]
    pub fn moment(&self) -> Moment {
        self.row.moment
    }

    /// Whether a block would stop anything.
    #[must_use]
    pub fn can_block(&self) -> bool {
        self.row.block != BlockForm::Impossible
    }

    /// Whether a question would reach a person. Where it would not, a block has to be answered instead.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.person && self.ask_form() != AskForm::Impossible
    }

    /// The same, as if a person sat in front of the agent: questions are left to its own prompt, where it has one.
    #[must_use]
    pub fn attended(self) -> Self {
        Self { person: true, ..self }
    }

    /// Whether a remark would reach the agent now. Where it would not, it can be kept for the next event.
    #[must_use]
    pub fn can_tell(&self) -> bool {
        self.row.tell != TellForm::Impossible
    }

    /// Cursor runs Claude Code's hooks, and which of the two forms it reads from them is not documented; exit
    /// code 2 is, and means a refusal.
    fn foreign_to_cursor(&self) -> bool {
        self.agent == Agent::Cursor && self.through != Agent::Cursor
    }

    fn ask_form(&self) -> AskForm {
        if self.foreign_to_cursor() { AskForm::Impossible } else { self.row.ask }
    }

    fn block_form(&self) -> BlockForm {
        match self.row.block {
            BlockForm::Permission | BlockForm::PermissionForUser | BlockForm::Refuse
                if self.foreign_to_cursor() =>
            {
                BlockForm::ExitTwo
            }
            form => form,
        }
    }
}

/// Every event of an agent's contract, as if a person sat in front of it.
pub fn slots(agent: Agent) -> impl Iterator<Item = HookContext> {
    agent.spec().events.iter().map(move |row| HookContext { agent, through: agent, row, person: true })
}

/// What Lictor answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// No objection and no message. Never "allow": that would skip the agent's own questions.
    Silence,
    /// A remark for the agent.
    Tell(String),
    /// A person has to approve.
    Ask(Ask),
    /// No.
    Block(Block),
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// What the person has to know, one message per open point.
    pub messages: Vec<String>,
    /// The reply if nobody can be asked: it names the pending approval.
    pub otherwise: Block,
}

/// A refusal. For a stop event: the agent has to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Why.
    pub reason: String,
    /// How to go on.
    pub fix: String,
    /// The id to give to `lictor explain`, or of the pending approval.
    pub id: Option<String>,
}

/// The output and exit code of the hook process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rendered {
    /// One JSON object, or nothing.
    pub stdout: String,
    /// For agents that read reasons there.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

/// The longest remark that is sent to an agent: Claude Code moves more than ten thousand characters to a file.
const MAX_TEXT: usize = 9_000;
/// The longest reason, and the longest fix.
const MAX_PART: usize = 4_000;

/// The answer in the form that the agent cannot ignore.
#[must_use]
pub fn render(slot: &HookContext, reply: &Reply) -> Rendered {
    match reply {
        Reply::Silence => Rendered::default(),
        Reply::Tell(text) => tell(slot, text),
        Reply::Ask(question) if slot.can_ask() => ask(slot, question),
        Reply::Ask(question) => block(slot, &question.otherwise),
        Reply::Block(refusal) => block(slot, refusal),
    }
}

fn tell(slot: &HookContext, text: &str) -> Rendered {
    let text = clean(text, MAX_TEXT);
    if text.is_empty() {
        return Rendered::default();
    }
    match slot.row.tell {
        TellForm::Impossible => Rendered::default(),
        TellForm::AdditionalContext => specific(slot, json!({"additionalContext": text})),
        TellForm::TopAdditionalContext => object(json!({"additionalContext": text})),
        TellForm::SnakeContext => object(json!({"additional_context": text})),
        TellForm::SystemMessage => object(json!({"systemMessage": text})),
        TellForm::InjectSteps => object(json!({"injectSteps": [{"ephemeralMessage": text}]})),
    }
}

fn ask(slot: &HookContext, question: &Ask) -> Rendered {
    let text = clean(&question.messages.join("\n"), MAX_TEXT);
    let text = if text.is_empty() { question.otherwise.text(slot.moment()) } else { text };
    match slot.ask_form() {
        AskForm::Impossible => block(slot, &question.otherwise),
        AskForm::PermissionDecision => {
            specific(slot, json!({"permissionDecision": "ask", "permissionDecisionReason": text}))
        }
        AskForm::TopPermissionDecision => {
            object(json!({"permissionDecision": "ask", "permissionDecisionReason": text}))
        }
        AskForm::Permission => object(json!({"permission": "ask", "user_message": text})),
    }
}

fn block(slot: &HookContext, refusal: &Block) -> Rendered {
    let text = refusal.text(slot.moment());
    match slot.block_form() {
        // The tool already ran, or a block is not supported: only a message is possible.
        BlockForm::Impossible => tell(slot, &text),
        BlockForm::PermissionDecision => {
            specific(slot, json!({"permissionDecision": "deny", "permissionDecisionReason": text}))
        }
        BlockForm::Behavior => specific(slot, json!({"decision": {"behavior": "deny", "message": text}})),
        BlockForm::Decision(word) => object(json!({"decision": word, "reason": text})),
        BlockForm::NestedDecision => specific(slot, json!({"decision": "block", "reason": text})),
        BlockForm::TopPermissionDecision => {
            object(json!({"permissionDecision": "deny", "permissionDecisionReason": text}))
        }
        BlockForm::TopBehavior => object(json!({"behavior": "deny", "message": text})),
        BlockForm::Permission => {
            object(json!({"permission": "deny", "user_message": text, "agent_message": text}))
        }
        BlockForm::PermissionForUser => object(json!({"permission": "deny", "user_message": text})),
        BlockForm::Halt => object(json!({"continue": false, "stopReason": text})),
        BlockForm::Refuse => object(json!({"continue": false, "user_message": text})),
        BlockForm::FollowUp => object(json!({"followup_message": text})),
        BlockForm::PermissionDecisionExitTwo => {
            let said = json!({"permissionDecision": "deny", "permissionDecisionReason": text});
            Rendered { stderr: text, exit: 2, ..specific(slot, said) }
        }
        BlockForm::ExitTwo => Rendered { stdout: String::new(), stderr: text, exit: 2 },
    }
}

impl Block {
    /// The message for the agent: reason, fix, and where to find details. Never blank.
    fn text(&self, moment: Moment) -> String {
        let opening = match moment {
            Moment::Stop | Moment::SubagentStop => "Not done yet",
            Moment::PostTool => "Lictor found a problem",
            _ => "Blocked by Lictor",
        };
        let mut text = format!("{opening}: {}", or(&self.reason, "no reason was given"));
        let fix = clean(&self.fix, MAX_PART);
        if !fix.is_empty() {
            text.push_str("\nHow to go on: ");
            text.push_str(&fix);
        }
        if let Some(id) = &self.id {
            text.push_str("\nMore: lictor explain ");
            text.push_str(&clean(id, MAX_PART));
        }
        text
    }
}

fn or(text: &str, otherwise: &str) -> String {
    let text = clean(text, MAX_PART);
    if text.is_empty() { otherwise.to_owned() } else { text }
}

/// Bounded, without white space at the ends and without characters that control a terminal, hide or reorder text,
/// because it is displayed on a terminal. Parts of emoji stay.
fn clean(text: &str, longest: usize) -> String {
    let stays = |c: char| matches!(c, '\n' | '\t' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}') || !is_deceptive(c);
    text.trim().chars().take(longest).map(|c| if stays(c) { c } else { ' ' }).collect()
}

fn specific(slot: &HookContext, fields: Value) -> Rendered {
    let mut inner = Map::new();
    inner.insert("hookEventName".to_owned(), slot.event_name().into());
    if let Value::Object(fields) = fields {
        inner.extend(fields);
    }
    object(json!({"hookSpecificOutput": inner}))
}

fn object(value: Value) -> Rendered {
    Rendered { stdout: value.to_string(), stderr: String::new(), exit: 0 }
}
