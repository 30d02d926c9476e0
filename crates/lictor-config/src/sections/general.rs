//! The file as a whole: its keys, and the settings that are not about guards.

use lictor_core::Decision;
use lictor_guards::Pack;
use serde::{Deserialize, Serialize};

use super::{
    Sections, command, completion, councils, describe, feedback, graph, guards, intent, known_tools, layers,
};
use super::{
    access, approvals, audience, bash_safety, boundaries, limits, network, policies, run, sandbox, team,
    tools,
};
use crate::diagnostic::suggest;
use crate::reader::{Fields, Reader};
use crate::table::{Key, REGEXES, Shape, TEXTS, Table};
use crate::yaml::{Key as YamlKey, Tree, Yaml};

/// Whether decisions are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They are.
    Enforce,
    /// Everything is judged and recorded, nothing is stopped.
    Observe,
}

/// The whole file.
pub(crate) static FILE: Table = Table {
    name: "",
    about: "Every section is optional.",
    keys: &[
        Key::new("version", Shape::Word(&["1"]), "1", "The version of this format."),
        Key::new(
            "extends",
            TEXTS,
            "[recommended]",
            "Packs of rules that ship with Lictor. `recommended` is always the base; only the user's or the \
             managed file can replace it, with another list or `[]`. A repository's list adds packs.",
        ),
        Key::new(
            "mode",
            Shape::Word(&["enforce", "observe"]),
            "observe",
            "`observe` judges and records everything and stops nothing.",
        )
        .trusted(),
        Key::new(
            "ask_when_unattended",
            Shape::Word(&["ask", "block"]),
            "block",
            "What a question becomes when nobody is there to answer. `block` when it is not said: it waits in `lictor \
             approvals`. `ask` leaves it to the agent's own prompt, where it has one; what an unattended agent makes of \
             that is its own affair.",
        )
        .trusted(),
        Key::new(
            "findings_without_council",
            Shape::Word(&["block", "note"]),
            "note",
            "What open HIGH and CRITICAL findings do to a commit where no council is set up. `block` when it is not said; \
             `note` mentions them. With councils, their `guardrail` decides.",
        )
        .trusted(),
        Key::new(
            "boundaries",
            Shape::Fields(&boundaries::TABLE),
            "{allowed_dirs: [src]}",
            "Where the agent may go. Guard `file_boundary`.",
        ),
        Key::new(
            "bash_safety",
            Shape::Fields(&bash_safety::TABLE),
            "{blocked_programs: [shutdown]}",
            "Commands that are forbidden by pattern or by name. Guard `bash_safety`.",
        ),
        Key::new(
            "layers",
            Shape::Names(&Shape::Fields(&layers::TABLE)),
            "{ui: {files: [\"src/ui/**\"]}}",
            "Layers of the code base that may not reach into each other. Guard `layer_isolation`.",
        ),
        Key::new(
            "sandbox",
            Shape::Fields(&sandbox::TABLE),
            "{languages: [python]}",
            "What inline code may do. Guard `sandbox`.",
        ),
        Key::new(
            "budget",
            Shape::OneOf(&[Shape::Fields(&limits::BUDGET), Shape::List(&Shape::Fields(&limits::BUDGET))]),
            "{max_actions: 500}",
            "How much one session may do. Guard `budget`. A list has several, each `for` somebody.",
        ),
        Key::new(
            "rate_limit",
            Shape::Fields(&limits::RATE_LIMIT),
            "{max_per_minute: 30}",
            "How fast one session may go. Guard `rate_limit`.",
        ),
        Key::new(
            "risk",
            Shape::Fields(&limits::RISK),
            "{ask_at: 0.5}",
            "Asks or blocks when other guards have raised the risk. Guard `risk`, judged last.",
        ),
        Key::new(
            "network",
            Shape::Fields(&network::NETWORK),
            "{allow: [crates.io]}",
            "Which hosts may be talked to. Guard `network`.",
        ),
        Key::new(
            "secrets",
            Shape::Fields(&network::SECRETS),
            "{read: block}",
            "What happens to secrets. Guard `secrets`.",
        ),
        Key::new(
            "known_tools",
            Shape::Fields(&known_tools::TABLE),
            "{unknown: block}",
            "What tools get that nobody described. Guard `known_tools`.",
        ),
        Key::new(
            "describe",
            Shape::Fields(&describe::TABLE),
            "{tools: {mcp__acme__query: {sql: sql}}}",
            "What programs and tools of your own do.",
        ),
        Key::new(
            "intent",
            Shape::List(&Shape::Fields(&intent::TABLE)),
            "[{for: test}]",
            "Rules on submitted tasks. Guard `intent`. A type of task that no rule names is blocked.",
        ),
        Key::new(
            "tools",
            Shape::OneOf(&[Shape::Fields(&tools::TABLE), Shape::List(&Shape::Fields(&tools::TABLE))]),
            "{read_before_write: true}",
            "What must have happened before. Guard `tools`. A list has several, each `for` somebody.",
        ),
        Key::new(
            "people",
            Shape::Names(&Shape::Fields(&access::PERSON)),
            "{ada: {role: member}}",
            "For whom actions may be. Guard `access`.",
        ),
        Key::new(
            "roles",
            Shape::Names(&TEXTS),
            "{member: [tools.read, tools.write]}",
            "The scopes that come with a role. Guard `access`.",
        ),
        Key::new(
            "access",
            Shape::List(&Shape::Fields(&access::ROW)),
            "[{tier: background, decision: block}]",
            "Who may use which tool, how, and how often. Guard `access`.",
        ),
        Key::new(
            "policies",
            Shape::List(&Shape::Fields(&policies::TABLE)),
            "[{name: bulk, on: {verb: delete, object: file}, requires_confirmation: true}]",
            "Rules on verb and object, with callbacks and confirmations. Guard `policies`.",
        ),
        Key::new(
            "guards",
            Shape::Names(&Shape::Fields(&guards::TABLE)),
            "{calm: {expr: 'risk <= 0.3', reason: too risky, fix: take smaller steps}}",
            "Guards of your own, for use in `policy`.",
        ),
        Key::new(
            "policy",
            Shape::Node,
            "{all: [file_boundary]}",
            "The policy graph: one more thing that every action must pass. A section that it names is judged \
             there and nowhere else.",
        ),
        Key::new(
            "feedback",
            Shape::List(&Shape::Fields(&feedback::TABLE)),
            "[{name: tests, every_n_calls: 20, say: Run the tests.}]",
            "What the agent is told after a tool call.",
        ),
        Key::new(
            "completion",
            Shape::OneOf(&[Shape::Fields(&completion::TABLE), Shape::List(&Shape::Fields(&completion::TABLE))]),
            "{all: [{files: [report.md]}]}",
            "What must hold before the agent may stop. A list has several, each `for` somebody.",
        ),
        Key::new(
            "councils",
            Shape::Names(&Shape::Fields(&councils::COUNCIL)),
            "{ship-it: {on: [pre-commit], reviewers: [{name: lint, preset: clippy}]}}",
            "Reviewers that meet at a moment and whose findings can stop a commit.",
        ),
        Key::new(
            "store",
            Shape::Text,
            "sqlite",
            "Where the record is kept: `sqlite` is a file in the state directory, also when it is not said. \
             `postgres://user@host/database` is a database, with one chain for each machine and project; `lictor-server` \
             must be installed beside `lictor`.",
        )
        .trusted(),
        Key::new(
            "server",
            Shape::Fields(&team::SERVER),
            "{url: 'https://lictor.example.com'}",
            "The team's server: it publishes a policy and collects records.",
        )
        .trusted(),
        Key::new(
            "retention",
            Shape::Fields(&team::RETENTION),
            "{keep: 90d, max_size: 1GB}",
            "How long records stay in the store before they move to archives.",
        )
        .trusted(),
        Key::new(
            "approvals",
            Shape::Fields(&approvals::TABLE),
            "{wait: 50s}",
            "How a question to a person is handled where the agent has no prompt of its own.",
        )
        .trusted(),
        Key::new(
            "notify",
            Shape::Fields(&command::NOTIFY),
            "{command: [notify-send]}",
            "A program that is told about questions and blocks.",
        )
        .trusted(),
        Key::new(
            "run",
            Shape::Fields(&run::TABLE),
            "{hide: [~/.ssh]}",
            "What the sandbox of `lictor run` shows and reaches.",
        ),
        Key::new(
            "redact",
            REGEXES,
            "['token=\\S+']",
            "Text that is left out of the record, of questions and of answers, beyond what Lictor knows as secrets; \
             `[redacted]` stands there instead. Decisions are made on the real text.",
        ),
    ],
};

/// Reads a whole file.
pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<Sections> {
    let f = r.fields(tree, &FILE)?;
    r.field(&f, "version", |r, tree, what| r.choice(tree, what, &[("1", ())]));
    let unknown = section(r, &f, "known_tools", known_tools::read).unwrap_or_default();
    let described = unknown.tools.as_ref().map(|tools| tools.known.clone()).unwrap_or_default();
    let (budget, scoped_budgets) =
        f.get("budget").map(|tree| audience::each(r, tree, "`budget`", limits::budget)).unwrap_or_default();
    let (tools, scoped_tools) = f
        .get("tools")
        .map(|tree| audience::each(r, tree, "`tools`", |r, tree| tools::read(r, tree, &described)))
        .unwrap_or_default();
    let (completion, scoped_completions) = f
        .get("completion")
        .map(|tree| audience::each(r, tree, "`completion`", completion::read))
        .unwrap_or_default();
    let mut sections = Sections {
        extends: r.field(&f, "extends", packs),
        mode: r.field(&f, "mode", |r, tree, what| {
            r.choice(tree, what, &[("enforce", Mode::Enforce), ("observe", Mode::Observe)])
        }),
        ask_when_unattended: r.field(&f, "ask_when_unattended", |r, tree, what| {
            r.choice(tree, what, &[("ask", Decision::Ask), ("block", Decision::Block)])
        }),
        access: access::read(r, &f),
        findings_without_council: r.field(&f, "findings_without_council", |r, tree, what| {
            r.choice(tree, what, &[("block", true), ("note", false)])
        }),
        boundaries: section(r, &f, "boundaries", boundaries::read),
        bash_safety: section(r, &f, "bash_safety", bash_safety::read),
        layers: section(r, &f, "layers", layers::read),
        sandbox: section(r, &f, "sandbox", sandbox::read),
        budget,
        scoped_budgets,
        rate_limit: section(r, &f, "rate_limit", limits::rate_limit),
        risk: section(r, &f, "risk", limits::risk),
        network: section(r, &f, "network", network::network),
        secrets: section(r, &f, "secrets", network::secrets),
        known_tools: unknown.tools,
        describe: section(r, &f, "describe", describe::read),
        opaque: unknown.opaque,
        ungrounded: unknown.ungrounded,
        intent: section(r, &f, "intent", intent::read),
        tools,
        scoped_tools,
        policies: section(r, &f, "policies", policies::read).unwrap_or_default(),
        guards: section(r, &f, "guards", guards::read).unwrap_or_default(),
        refused_guards: Vec::new(),
        approvals: section(r, &f, "approvals", approvals::read),
        policy: None,
        feedback: section(r, &f, "feedback", feedback::read).unwrap_or_default(),
        completion,
        scoped_completions,
        councils: section(r, &f, "councils", councils::read).unwrap_or_default(),
        notify: section(r, &f, "notify", |r, tree| command::read(r, tree, &command::NOTIFY)),
        redact: r.field(&f, "redact", redact).unwrap_or_default(),
        run: section(r, &f, "run", run::read),
        store: r.field(&f, "store", team::store),
        server: section(r, &f, "server", team::server),
        retention: section(r, &f, "retention", team::retention),
    };
    if let Some(names) = f.get("guards").and_then(entries) {
        let accepted = |name: &str| sections.guards.iter().any(|guard| guard.name == name);
        let refused = names.iter().map(|(key, _)| key.text.clone()).filter(|name| !accepted(name));
        sections.refused_guards = refused.collect();
    }
    sections.policy = f.get("policy").and_then(|tree| graph::read(r, tree, &sections));
    Some(sections)
}

fn entries(tree: &Tree) -> Option<&[(YamlKey, Tree)]> {
    match &tree.value {
        Yaml::Map(entries) => Some(entries),
        _ => None,
    }
}

fn section<T>(
    r: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    read: impl FnOnce(&mut Reader<'_>, &Tree) -> Option<T>,
) -> Option<T> {
    read(r, fields.get(key)?)
}

fn packs(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<Vec<String>> {
    let items = r.list(tree, what);
    if items.is_empty() && !matches!(tree.value, Yaml::Map(_)) && !r.is_trusted() {
        r.warning(
            tree.span,
            "a repository's file cannot take packs away",
            "leave it out; `extends: []` belongs into the user's or the managed file",
        );
    }
    let mut names = Vec::new();
    for item in items {
        let Some(name) = r.sentence(item, what) else { continue };
        if Pack::named(&name).is_none() {
            let help = suggest(&name, "the packs are", Pack::all().iter().map(|pack| pack.name));
            r.error(item.span, format!("there is no pack `{name}`"), help);
        } else if names.contains(&name) {
            r.warning(item.span, format!("`{name}` is named twice"), "leave one out");
        } else {
            names.push(name);
        }
    }
    Some(names)
}

fn redact(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<Vec<String>> {
    r.each(tree, what, |r, item, what| {
        let pattern = r.regex(item, what)?;
        if let Some(word) = crate::redact::word_of_the_record(&pattern) {
            r.error(
                item.span,
                format!("this is found in `{word}`, a word that the record itself is written in"),
                "say more of what stands around it, for example `token=\\S+`",
            );
            return None;
        }
        Some(pattern)
    })
}
