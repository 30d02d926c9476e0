//! `policies:`.

use std::sync::Arc;

use lictor_core::facts::Cardinality;
use lictor_core::policy::{Callbacks, Effect, Policy, PolicyError, Template};
use lictor_core::{Audience, Catalogue, Layer, PolicySet};
use lictor_expr::Program;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::audience;
use super::command::{self, Command};
use super::describe::how_to_say;
use super::section::{BuiltIn, Section, share, value};
use crate::command as programs;
use crate::expressions::{Condition, ExprCallback};
use crate::graph::{BuildError, LayerBuilder};
use crate::reader::{Fields, Reader};
use crate::table::{Key, PATHS, Shape, TEXTS, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "policies",
        Shape::List(&Shape::Fields(&TABLE)),
        "[{name: bulk, on: {verb: delete, object: file}, requires_confirmation: true}]",
        "Rules on verb and object, with callbacks and confirmations. Guard `policies`.",
    )],
    read: |r, file, said| {
        let catalogue = match &said.describe {
            Some(describe) => describe.extend(Catalogue::default()),
            None => Catalogue::default(),
        };
        said.policies = value(r, file, "policies", |r, tree| read(r, tree, &catalogue)).unwrap_or_default();
    },
    guards: &[BuiltIn {
        name: "policies",
        section: "policies",
        layer: Layer::Intent,
        configured: |said| !said.policies.is_empty() || said.ungrounded.is_some(),
        build: |layer| share(Some(set(layer)?)),
        last: false,
    }],
};

/// Words that people try first.
const SYNONYMS: [(&str, &str); 12] = [
    ("remove", "delete"),
    ("rm", "delete"),
    ("edit", "write"),
    ("create", "write"),
    ("modify", "write"),
    ("execute", "run"),
    ("download", "fetch"),
    ("upload", "send"),
    ("directory", "file"),
    ("folder", "file"),
    ("command", "program"),
    ("url", "host"),
];

static ON: Table = Table {
    name: "policies[].on",
    about: "What triggers the policy. Verb and object are those that `lictor explain` shows; `*` stands for any.",
    keys: &[
        Key::new("verb", Shape::Text, "delete", "What is done.").required(),
        Key::new("object", Shape::Text, "file", "To what. `file` includes directories and globs.").required(),
        Key::new("paths", PATHS, "[\"src/**\"]", "Only when a target matches one of these globs."),
        Key::new("hosts", TEXTS, "[\"*.example.com\"]", "Only when a host matches one of these globs."),
        Key::new("tools", TEXTS, "[\"mcp__*\"]", "Only when the tool matches one of these globs."),
    ],
};

static CALLBACK: Table = Table {
    name: "policies[].callback",
    about: "Who says whether it is fine: an expression, fine when true; or a program that prints `{\"passed\": true}` or \
            `{\"passed\": false, \"message\": \"…\"}`. An expression that cannot be evaluated, a program that prints anything \
            else, and a late answer are errors and block.",
    keys: &[
        Key::new("expr", Shape::Expression, "'session.failure_count == 0'", "Fine when true."),
        Key::new(
            "message",
            Shape::Text,
            "something failed before",
            "What is said, before the policy's own message, when the expression is false.",
        ),
        command::COMMAND,
        command::TIMEOUT,
        command::READS,
    ],
};

pub(crate) static TABLE: Table = Table {
    name: "policies[]",
    about: "One rule on verb and object. All triggered policies are reported together; a person answers each that asks \
            for confirmation.",
    keys: &[
        Key::new("name", Shape::Text, "bulk-delete", "What people call it.").required(),
        Key::new("on", Shape::Fields(&ON), "{verb: delete, object: file}", "What triggers it.").required(),
        Key::new(
            "cardinality",
            Shape::Word(&["single", "multiple"]),
            "multiple",
            "Only for one thing, or only for several. What cannot be counted triggers both.",
        ),
        Key::new(
            "requires_confirmation",
            Shape::Bool,
            "true",
            "A person must say yes, whatever a callback found. `false` when it is not said.",
        ),
        Key::new(
            "callback",
            Shape::Fields(&CALLBACK),
            "{command: [scripts/is-tracked.sh], timeout: 2s}",
            "An expression or a program that is asked.",
        ),
        Key::new(
            "effect",
            Shape::Word(&["inform", "block"]),
            "inform",
            "What happens when neither a person nor a callback decides.",
        ),
        Key::new(
            "message",
            Shape::Text,
            "\"{verb} on {count} {object}s\"",
            "What is said. May hold {verb}, {object}, {count}, {tool} and {target}.",
        ),
        Key::new("fix", Shape::Text, "delete one file at a time", "What to do instead, when it blocks."),
        audience::FOR,
        Key::new(
            "metadata",
            Shape::Data,
            "{owner: platform, ticket: OPS-7}",
            "Whatever you want to find again in every violation of this policy.",
        ),
    ],
};

/// What happens when neither a person nor a callback decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyEffect {
    /// Tells the agent and writes to the log.
    Inform,
    /// It is refused.
    Block,
}

/// The callback of a triggered policy.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum PolicyCallback {
    /// A program.
    Command(Command),
    /// An expression.
    Expr {
        /// Fine when true.
        program: Arc<Program>,
        /// The message when it is false.
        message: Option<String>,
    },
}

/// One rule on verb and object.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PolicyRule {
    /// Its name.
    pub name: String,
    /// The verb.
    pub verb: String,
    /// The object.
    pub object: String,
    /// Globs of targets.
    pub paths: Vec<String>,
    /// Globs of hosts.
    pub hosts: Vec<String>,
    /// Globs of tools.
    pub tools: Vec<String>,
    /// Only for this many.
    pub cardinality: Option<Cardinality>,
    /// Whether a person must approve.
    pub requires_confirmation: bool,
    /// The callback.
    pub callback: Option<PolicyCallback>,
    /// What happens when neither a person nor a callback decides.
    pub effect: Option<PolicyEffect>,
    /// The message.
    pub message: Option<String>,
    /// The fix.
    pub fix: Option<String>,
    /// Data that is copied to every violation.
    #[serde(with = "crate::as_text")]
    pub metadata: Map<String, Json>,
    /// To whom it applies.
    pub audience: Audience,
}

fn read(r: &mut Reader<'_>, tree: &Tree, catalogue: &Catalogue) -> Option<Vec<PolicyRule>> {
    let mut rules: Vec<PolicyRule> = Vec::new();
    for item in r.maps(tree, "`policies`") {
        let Some(f) = r.fields(item, &TABLE) else { continue };
        let Some(rule) = rule(r, &f, catalogue) else { continue };
        if let Some(place) = f.get("name").filter(|_| rules.iter().any(|known| known.name == rule.name)) {
            r.error(place.span, format!("there are two policies `{}`", rule.name), "give each its own name");
        }
        rules.push(rule);
    }
    Some(rules)
}

fn rule(r: &mut Reader<'_>, f: &Fields<'_>, catalogue: &Catalogue) -> Option<PolicyRule> {
    let name = r.field(f, "name", Reader::sentence);
    let on = f.get("on").and_then(|tree| r.fields(tree, &ON));
    let words = [("single", Cardinality::Single), ("multiple", Cardinality::Multiple)];
    let cardinality = r.field(f, "cardinality", |r, tree, what| r.choice(tree, what, &words));
    let confirmation = r.field(f, "requires_confirmation", Reader::boolean);
    let callback = f.get("callback").and_then(|tree| callback(r, tree));
    let effects = [("inform", PolicyEffect::Inform), ("block", PolicyEffect::Block)];
    let effect = r.field(f, "effect", |r, tree, what| r.choice(tree, what, &effects));
    let message = r.field(f, "message", template);
    let fix = r.field(f, "fix", Reader::sentence);
    let audience = audience::of(r, f);
    let metadata = r.field(f, "metadata", Reader::data).unwrap_or_default();
    let asks = confirmation == Some(true) || f.get("callback").is_some();
    match (asks, f.get("effect")) {
        (false, None) if f.misspelt => {}
        (false, None) => r.error(
            f.span,
            "nobody decides this policy",
            "say `requires_confirmation: true`, give it a `callback`, or an `effect`: `inform` or `block`",
        ),
        (true, Some(place)) => r.error(
            place.span,
            "somebody else decides this policy already",
            "keep `effect`, or the confirmation and callback",
        ),
        _ => {}
    }
    let on = on?;
    let verb = r.field(&on, "verb", |r, tree, what| word(r, tree, what, ("verb", catalogue)));
    let object = r.field(&on, "object", |r, tree, what| word(r, tree, what, ("object", catalogue)));
    Some(PolicyRule {
        paths: r.field(&on, "paths", Reader::paths).unwrap_or_default(),
        hosts: r.field(&on, "hosts", Reader::texts).unwrap_or_default(),
        tools: r.field(&on, "tools", Reader::texts).unwrap_or_default(),
        name: name?,
        verb: verb?,
        object: object?,
        cardinality,
        requires_confirmation: confirmation.unwrap_or_default(),
        callback,
        effect,
        message,
        fix,
        metadata,
        audience,
    })
}

fn callback(r: &mut Reader<'_>, tree: &Tree) -> Option<PolicyCallback> {
    let f = r.fields(tree, &CALLBACK)?;
    match (f.get("expr"), f.get("command")) {
        (Some(_), None) => {
            let program = r.field(&f, "expr", Reader::condition);
            let message = r.field(&f, "message", Reader::sentence);
            command::only_for_programs(r, &f);
            Some(PolicyCallback::Expr { program: program?, message })
        }
        (None, Some(_)) => {
            if let Some(place) = f.get("message") {
                r.error(
                    place.span,
                    "a program brings its own message",
                    "leave it out, or let the program print it",
                );
            }
            command::of(r, &f).map(PolicyCallback::Command)
        }
        (Some(_), Some(place)) => {
            r.error(
                place.span,
                "a callback has an `expr` or a `command`, not both",
                "make two policies of it",
            );
            None
        }
        (None, None) => {
            let help = "say what it checks: `expr: '…'` or `command: […]`";
            r.error(f.span, "the callback has neither `expr` nor `command`", help);
            None
        }
    }
}

/// A verb or object that some fact can have.
fn word(
    r: &mut Reader<'_>,
    tree: &Tree,
    what: &str,
    (which, catalogue): (&str, &Catalogue),
) -> Option<String> {
    let word = r.sentence(tree, what)?;
    let known: Vec<&str> =
        if which == "verb" { catalogue.verbs().collect() } else { catalogue.objects().collect() };
    if word == lictor_core::policy::ANY || known.contains(&word.as_str()) {
        return Some(word);
    }
    let meant = SYNONYMS.iter().find(|(other, _)| *other == word).map(|(_, meant)| *meant);
    let help = match meant.filter(|meant| known.contains(meant)) {
        Some(meant) => format!("that is called `{meant}` here"),
        None => how_to_say(&word, which, &known),
    };
    r.error(tree.span, format!("no action has the {which} `{word}`"), help);
    None
}

fn template(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<String> {
    let text = r.text(tree, what)?;
    match Template::parse(&text) {
        Ok(_) => Some(text),
        Err(error) => {
            let end = text.get(error.offset()..).and_then(|rest| rest.find('}')).map_or(1, |end| end + 1);
            let span = r.inside(tree, error.offset(), error.offset() + end);
            let message = error.to_string();
            let (message, help) = message.split_once("; ").unwrap_or((message.as_str(), ""));
            r.error(span, message, help);
            None
        }
    }
}

fn set(layer: &mut LayerBuilder<'_>) -> Result<PolicySet, BuildError> {
    let mut callbacks = Callbacks::new();
    let mut policies = Vec::new();
    for rule in &layer.sections.policies {
        let message = rule.message.as_deref().map(Template::parse).transpose();
        let message = message.map_err(|error| {
            BuildError::Policies(vec![PolicyError::Message { policy: rule.name.clone(), error }])
        })?;
        let registered = match &rule.callback {
            None => Ok(()),
            Some(PolicyCallback::Command(command)) => {
                let what = format!("the callback of policy `{}`", rule.name);
                let runner = Arc::clone(&layer.env.runner);
                callbacks
                    .register(&rule.name, programs::callback(runner, what, layer.origin, command.clone()))
            }
            Some(PolicyCallback::Expr { program, message }) => {
                let condition = Condition::new(program, layer.history);
                callbacks.register(&rule.name, ExprCallback { condition, message: message.clone() })
            }
        };
        registered.map_err(|error| BuildError::Policies(vec![error]))?;
        policies.push(Policy {
            name: rule.name.clone(),
            verb: rule.verb.clone(),
            object: rule.object.clone(),
            cardinality: rule.cardinality,
            requires_confirmation: rule.requires_confirmation,
            callback: rule.callback.as_ref().map(|_| rule.name.clone()),
            effect: rule.effect.map(|effect| match effect {
                PolicyEffect::Inform => Effect::Inform,
                PolicyEffect::Block => Effect::Block,
            }),
            message: message.unwrap_or_default(),
            fix: rule.fix.clone(),
            paths: rule.paths.clone(),
            hosts: rule.hosts.clone(),
            tools: rule.tools.clone(),
            metadata: rule.metadata.clone(),
            audience: rule.audience.clone(),
        });
    }
    let set = PolicySet::new(policies, &callbacks, (layer.catalogue)()).map_err(BuildError::Policies)?;
    Ok(set.ungrounded(layer.ungrounded).named(format!("{}policies", layer.origin.prefix())))
}
