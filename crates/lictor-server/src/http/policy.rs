//! Policies: current, earlier, and under test.

use std::sync::Arc;

use axum::http::StatusCode;
use lictor::config::{Origin, Source, policy_tests};
use lictor::{Snapshot, policy_run};
use serde::Deserialize;
use serde_json::json;

use super::table::MOST_SEQ;
use super::{Answer, Call, Problem};
use crate::simulate;
use crate::tenants::now;

/// Tests in one request.
const MOST_TESTS: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    text: String,
}

/// A policy that `lictor check` accepts.
fn accepted(call: &Call, text: &str) -> Result<(), Problem> {
    call.server.tenants.runtime(text, None).map(drop).map_err(Problem::from)
}

pub(super) fn check(call: &Call) -> Answer {
    let Text { text } = call.read()?;
    accepted(call, &text)?;
    Ok(json!({"accepted": true}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tests {
    text: Option<String>,
    tests: String,
}

/// Runs policy tests against a policy, or against the current one when none is given.
pub(super) fn test(call: &Call) -> Answer {
    let Tests { text, tests } = call.read()?;
    let tests = policy_tests::read("tests", tests.as_bytes()).map_err(|problems| {
        let first = problems.first().map(|problem| format!(": {}", problem.message)).unwrap_or_default();
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "tests_refused",
            format!("the tests cannot be read{first}"),
        )
        .fix("correct them; `problems` lists everything")
        .problems(problems)
    })?;
    let text = match text {
        Some(text) => text,
        None => {
            let current = call.server.tenants.registry.policy(&call.caller.tenant, None)?;
            current.map_or_else(|| "{version: 1}".to_owned(), |policy| policy.text)
        }
    };
    let runtime = call.server.tenants.runtime(&text, None)?;
    let (project, current) = (runtime.project(), runtime.snapshot());
    let (mut rows, mut failed) = (Vec::new(), 0);
    for test in tests.iter().take(MOST_TESTS) {
        let problem = policy_run::run(project, current, test, |_, _| {})?;
        failed += u32::from(problem.is_some());
        rows.push(json!({"name": test.name, "line": test.span.line, "passed": problem.is_none(), "problem": problem}));
    }
    Ok(json!({"tests": rows, "failed": failed, "problems": []}))
}

pub(super) fn publish(call: &Call) -> Answer {
    let Text { text } = call.read()?;
    accepted(call, &text)?;
    put_in_force(call, &text)
}

fn put_in_force(call: &Call, text: &str) -> Answer {
    let tenants = &call.server.tenants;
    let published = tenants.registry.publish(call.tenant()?, text, &call.caller.owner, now())?;
    tenants.forget(call.tenant()?);
    Ok(json!({"version": published.version, "by": published.by, "at": published.at}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Version {
    version: u64,
}

pub(super) fn rollback(call: &Call) -> Answer {
    let Version { version } = call.read()?;
    let earlier = call.server.tenants.registry.policy(call.tenant()?, Some(version))?;
    let missing =
        || Problem::new(StatusCode::NOT_FOUND, "not_found", format!("there is no version {version}"));
    let text = earlier.ok_or_else(missing)?.text;
    accepted(call, &text)?;
    put_in_force(call, &text)
}

pub(super) fn get(call: &Call) -> Answer {
    let version = call.number("version", 1..=MOST_SEQ)?;
    let policy = call.server.tenants.registry.policy(call.tenant()?, version)?;
    let missing = || Problem::new(StatusCode::NOT_FOUND, "not_found", "no policy was published");
    Ok(json!(policy.ok_or_else(missing)?))
}

pub(super) fn history(call: &Call) -> Answer {
    let all = call.server.tenants.registry.policies(call.tenant()?)?;
    let row = |policy: crate::registry::Published| json!({"version": policy.version, "by": policy.by, "at": policy.at});
    Ok(json!({"policies": all.into_iter().map(row).collect::<Vec<_>>()}))
}

/// The bundle that clients cache for when the server is unreachable.
pub(super) fn bundle(call: &Call) -> Answer {
    let registry = &call.server.tenants.registry;
    let tenant = registry.tenant(&call.caller.tenant)?;
    let policy = registry.policy(&call.caller.tenant, None)?;
    Ok(json!({
        "tenant": call.caller.tenant,
        "version": policy.as_ref().map_or(0, |policy| policy.version),
        "text": policy.map(|policy| policy.text),
        "away": tenant.away,
        "max_age": tenant.max_age,
        "fetched": now(),
        "owner": call.caller.owner,
        "kind": call.caller.kind,
        "email": call.caller.email,
        "role": call.caller.role,
        "scopes": call.caller.scopes,
        "groups": call.caller.groups,
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Simulate {
    text: String,
    #[serde(default)]
    since: u64,
    limit: Option<usize>,
}

/// Judges recorded actions again by another policy, in order, and lists where it differs.
pub(super) fn simulate(call: &Call) -> Answer {
    let Simulate { text, since, limit } = call.read()?;
    if limit.is_some_and(|limit| !(1..=10_000).contains(&limit)) {
        return Err(Problem::bad("`limit` is a number from 1 to 10000"));
    }
    if since > MOST_SEQ {
        return Err(Problem::bad(format!("`since` is a number from 0 to {MOST_SEQ}")));
    }
    let tenants = &call.server.tenants;
    let open = tenants.open(&call.caller.tenant)?;
    let source = Source { origin: Origin::User, path: "policy".to_owned(), bytes: text.into_bytes() };
    let candidate = Arc::new(Snapshot::from_sources(vec![source], &open.runtime.project().root)?);
    let most = limit.unwrap_or(1_000);
    let out = simulate::run(&open.runtime, &*open.store, candidate, since, most)?;
    let changed = out.changed.iter().map(|one| {
        json!({"seq": one.seq, "tool": one.action.tool, "user": one.action.actor.user, "was": one.was,
               "would_be": one.now, "reason": one.reason})
    });
    Ok(json!({"judged": out.judged, "changed": changed.collect::<Vec<_>>(), "next": out.stopped_at}))
}
