//! `people:`, `roles:`, `access:` and `tools.scopes`.

use lictor_core::Layer;
use std::collections::BTreeMap;

use lictor_core::Tier;
use lictor_guards::{Access, AccessConfig, AccessRow, Person};

use super::section::{BuiltIn, Section, share};
use crate::reader::{Fields, Reader};
use crate::table::{DECISIONS, Key, Shape, TEXTS, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[
        Key::new(
            "people",
            Shape::Names(&Shape::Fields(&PERSON)),
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
            Shape::List(&Shape::Fields(&ROW)),
            "[{tier: background, decision: block}]",
            "Who may use which tool, how, and how often. Guard `access`.",
        ),
    ],
    read: |r, file, said| said.access = read(r, file),
    guards: &[BuiltIn {
        name: "access",
        section: "access",
        layer: Layer::Boundary,
        configured: |said| said.access.is_some(),
        build: |layer| share(layer.sections.access.clone().map(Access::new)),
        last: false,
    }],
};

pub(crate) static PERSON: Table = Table {
    name: "people.*",
    about: "A person. With any people named, an action for anybody else is blocked.",
    keys: &[
        Key::new("email", Shape::Text, "ada@example.com", "The address that the record names."),
        Key::new(
            "role",
            Shape::Text,
            "member",
            "A role of `roles`. It is worth the scopes it brings, no more.",
        ),
        Key::new("scopes", TEXTS, "[tools.read]", "What the person may do beside that."),
        Key::new("groups", TEXTS, "[backend]", "For conditions: `\"backend\" in user.groups`."),
    ],
};

pub(crate) static ROW: Table = Table {
    name: "access[]",
    about: "One row. For an action the most specific row counts: a person and a tool, then a tool, then a person, \
            then neither; with a tier before without; of equals the last. Other files can only be stricter.",
    keys: &[
        Key::new("user", Shape::Text, "ada", "For this person."),
        Key::new("tool", Shape::Text, "\"write_*\"", "For tools that match this glob."),
        Key::new(
            "tier",
            Shape::Word(&["interactive", "subagent", "background", "api"]),
            "background",
            "For actions of this tier. One that states none is `interactive`, or `subagent` below another agent.",
        ),
        Key::new("decision", DECISIONS, "block", "What they get."),
        Key::new(
            "max_per_minute",
            Shape::Integer,
            "60",
            "How many may be allowed in any minute, over all sessions of the person.",
        ),
        Key::new("reason", Shape::Text, "no writes at night", "Why."),
    ],
};

/// The four sections together; `None` when the file has none of them.
pub(crate) fn read(r: &mut Reader<'_>, file: &Fields<'_>) -> Option<AccessConfig> {
    let tools = file.get("tools").and_then(|tree| scopes(r, tree));
    let any = tools.is_some() || ["people", "roles", "access"].iter().any(|key| file.get(key).is_some());
    let roles = r.field(file, "roles", |r, tree, _| roles(r, tree)).unwrap_or_default();
    let people = r.field(file, "people", |r, tree, _| people(r, tree, &roles)).unwrap_or_default();
    let rows = r.field(file, "access", |r, tree, what| {
        Some(r.maps(tree, what).into_iter().filter_map(|item| row(r, item)).collect())
    });
    let (needs, rows) = (tools.unwrap_or_default(), rows.unwrap_or_default());
    any.then_some(AccessConfig { people, roles, needs, rows })
}

fn roles(r: &mut Reader<'_>, tree: &Tree) -> Option<BTreeMap<String, Vec<String>>> {
    let names = r.names(tree, "roles")?;
    Some(names.iter().filter_map(|(key, tree)| Some((key.text.clone(), r.texts(tree, "`roles`")?))).collect())
}

fn people(
    r: &mut Reader<'_>,
    tree: &Tree,
    roles: &BTreeMap<String, Vec<String>>,
) -> Option<BTreeMap<String, Person>> {
    let names = r.names(tree, "people")?;
    let mut people = BTreeMap::new();
    for (key, tree) in names.iter() {
        let Some(f) = r.fields(tree, &PERSON) else { continue };
        let role = r.field(&f, "role", Reader::sentence);
        if let (Some(role), Some(place)) = (&role, f.get("role"))
            && !roles.is_empty()
            && !roles.contains_key(role)
        {
            let help = crate::diagnostic::suggest(role, "the roles are", roles.keys().map(String::as_str));
            r.error(place.span, format!("there is no role `{role}`"), help);
        }
        let person = Person {
            email: r.field(&f, "email", Reader::sentence),
            role,
            scopes: r.field(&f, "scopes", Reader::texts).unwrap_or_default(),
            groups: r.field(&f, "groups", Reader::texts).unwrap_or_default(),
        };
        people.insert(key.text.clone(), person);
    }
    Some(people)
}

fn row(r: &mut Reader<'_>, tree: &Tree) -> Option<AccessRow> {
    let f = r.fields(tree, &ROW)?;
    let row = AccessRow {
        user: r.field(&f, "user", Reader::sentence),
        tool: r.field(&f, "tool", Reader::sentence),
        tier: r.field(&f, "tier", |r, tree, what| r.choice(tree, what, &Tier::ALL)),
        decision: r.field(&f, "decision", Reader::decision),
        max_per_minute: r.field(&f, "max_per_minute", Reader::integer),
        reason: r.field(&f, "reason", Reader::sentence),
    };
    if row.decision.is_none() && row.max_per_minute.is_none() {
        r.error(f.span, "this row says nothing", "add `decision: block` or `max_per_minute: 60`");
        return None;
    }
    Some(row)
}

/// `tools.scopes`.
fn scopes(r: &mut Reader<'_>, tools: &Tree) -> Option<Vec<(String, Vec<String>)>> {
    let tree = tools.at(&["scopes"])?;
    let entries = r.map(tree, "`tools.scopes`")?;
    let need =
        |(key, tree): &(crate::yaml::Key, Tree)| Some((key.text.clone(), r.texts(tree, "`tools.scopes`")?));
    Some(entries.iter().filter_map(need).collect())
}
