//! The JSON Schemas of what commands print with `--json`. Scripts rely on them: fields may be added, never changed.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use lictor::forms::DEFINITIONS;
use serde_json::{Map, Value, json};

/// Every command that prints JSON, with the schema of what it prints. `x-json-lines` means that each line is one
/// such document.
pub const COMMANDS: [(&str, &str); 54] = [
    ("eval", include_str!("schemas/eval.json")),
    ("explain", include_str!("schemas/explain.json")),
    ("why-not", include_str!("schemas/why-not.json")),
    ("check", include_str!("schemas/check.json")),
    ("test", include_str!("schemas/test.json")),
    ("graph", include_str!("schemas/graph.json")),
    ("init", include_str!("schemas/init.json")),
    ("doctor", include_str!("schemas/doctor.json")),
    ("agents", include_str!("schemas/agents.json")),
    ("demo", include_str!("schemas/demo.json")),
    ("approvals", include_str!("schemas/approvals.json")),
    ("approve", include_str!("schemas/approve.json")),
    ("deny", include_str!("schemas/deny.json")),
    ("session list", include_str!("schemas/session-list.json")),
    ("session show", include_str!("schemas/session-show.json")),
    ("session reset", include_str!("schemas/session-reset.json")),
    ("session refresh", include_str!("schemas/session-refresh.json")),
    ("log", include_str!("schemas/log.json")),
    ("report", include_str!("schemas/report.json")),
    ("audit tail", include_str!("schemas/audit-tail.json")),
    ("audit query", include_str!("schemas/audit-query.json")),
    ("audit export", include_str!("schemas/audit-export.json")),
    ("audit report", include_str!("schemas/audit-report.json")),
    ("audit verify", include_str!("schemas/audit-verify.json")),
    ("audit anchor", include_str!("schemas/audit-anchor.json")),
    ("audit archive", include_str!("schemas/audit-archive.json")),
    ("audit checkpoint", include_str!("schemas/audit-checkpoint.json")),
    ("audit rotate-key", include_str!("schemas/audit-rotate-key.json")),
    ("replay", include_str!("schemas/replay.json")),
    ("allow", include_str!("schemas/allow.json")),
    ("wrong", include_str!("schemas/wrong.json")),
    ("mcp pins", include_str!("schemas/mcp-pins.json")),
    ("mcp scan", include_str!("schemas/mcp-scan.json")),
    ("export", include_str!("schemas/export.json")),
    ("import", include_str!("schemas/import.json")),
    ("uninstall", include_str!("schemas/uninstall.json")),
    ("tools", include_str!("schemas/tools.json")),
    ("trust", include_str!("schemas/trust.json")),
    ("verdict record", include_str!("schemas/verdict-record.json")),
    ("verdict show", include_str!("schemas/verdict-show.json")),
    ("verdict explain", include_str!("schemas/verdict-explain.json")),
    ("verdict clear", include_str!("schemas/verdict-clear.json")),
    ("verdict purge", include_str!("schemas/verdict-purge.json")),
    ("verdict lower", include_str!("schemas/verdict-lower.json")),
    ("verdict waive", include_str!("schemas/verdict-waive.json")),
    ("verdict retro", include_str!("schemas/verdict-retro.json")),
    ("verdict gate", include_str!("schemas/verdict-gate.json")),
    ("verdict import", include_str!("schemas/verdict-import.json")),
    ("verdict export", include_str!("schemas/verdict-export.json")),
    ("council list", include_str!("schemas/council-list.json")),
    ("council plan", include_str!("schemas/council-plan.json")),
    ("council run", include_str!("schemas/council-run.json")),
    ("council report", include_str!("schemas/council-report.json")),
    ("council history", include_str!("schemas/council-history.json")),
];

/// The input of programs that a policy names; no command prints it.
const CALLED: (&str, &str) = ("called", include_str!("schemas/called.json"));

/// The schema of a command's output, or of `called`, self-contained; `None` when it prints no JSON.
///
/// # Errors
/// When a schema in this program is invalid.
pub fn of(command: &str) -> Result<Option<Value>> {
    let Some((_, text)) = COMMANDS.iter().chain([&CALLED]).find(|(name, _)| *name == command) else {
        return Ok(None);
    };
    let own: Map<String, Value> = serde_json::from_str(text).context("a schema is broken")?;
    let defs: Map<String, Value> = serde_json::from_str(DEFINITIONS).context("a schema is broken")?;
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.extend(own);
    let mut needed = BTreeSet::new();
    let mut open = named(&Value::Object(schema.clone()));
    while let Some(name) = open.pop() {
        let definition = defs.get(&name).with_context(|| format!("`{name}` is not defined"))?;
        if needed.insert(name) {
            open.extend(named(definition));
        }
    }
    let used: Map<String, Value> = defs.into_iter().filter(|(name, _)| needed.contains(name)).collect();
    if !used.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(used));
    }
    Ok(Some(Value::Object(schema)))
}

/// The definitions that a schema refers to.
fn named(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                let name = fields.get("$ref").and_then(Value::as_str);
                found.extend(name.and_then(|name| name.strip_prefix("#/$defs/")).map(str::to_owned));
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}
