//! People, their tokens, and who is told about questions: for administrators.

use askama::Template;
use axum::http::Method;
use serde_json::json;

use super::words::When;
use super::{Frame, Shown, Visit, shown};
use crate::http::{Problem, ask};
use crate::notify::{Target, Way};
use crate::registry::Person;

/// A token as it is listed.
struct Line {
    id: String,
    kind: &'static str,
    owner: String,
    made: When,
    ends: Option<When>,
}

/// What a person may do, as a box to tick.
struct Tick {
    name: &'static str,
    about: &'static str,
}

const ROLES: [Tick; 6] = [
    Tick { name: "viewer", about: "sees everything" },
    Tick { name: "auditor", about: "verifies and exports" },
    Tick { name: "approver", about: "answers questions" },
    Tick { name: "author", about: "tries policies out" },
    Tick { name: "publisher", about: "puts them in force" },
    Tick { name: "admin", about: "manages people" },
];

#[derive(Template)]
#[template(path = "people.html")]
struct Page {
    frame: Frame,
    people: Vec<(Person, String)>,
    tokens: Vec<Line>,
    roles: [Tick; 6],
    secret: String,
    targets: Vec<Target>,
    failing: Vec<(String, String)>,
}

fn tenant(visit: &Visit) -> String {
    visit.caller.tenant.clone()
}

pub(super) fn list(visit: &Visit) -> Result<Shown, Problem> {
    page(visit, String::new())
}

fn page(visit: &Visit, secret: String) -> Result<Shown, Problem> {
    let registry = &visit.server.tenants.registry;
    let people = registry.people(&tenant(visit))?.into_iter();
    let tokens = registry.tokens(&tenant(visit))?;
    let outbox = &visit.server.outbox;
    shown(&Page {
        frame: visit.frame("People", "/people"),
        people: people
            .map(|person| {
                let roles: Vec<String> = person
                    .roles
                    .iter()
                    .map(|role| json!(role).as_str().unwrap_or_default().to_owned())
                    .collect();
                (person, roles.join(", "))
            })
            .collect(),
        tokens: tokens
            .into_iter()
            .map(|token| Line {
                kind: match token.kind {
                    crate::identity::Kind::Person => "person",
                    crate::identity::Kind::Machine => "machine",
                    crate::identity::Kind::Service => "service",
                    crate::identity::Kind::Operator => "operator",
                },
                id: token.id,
                owner: token.owner,
                made: When(token.created),
                ends: token.expires.map(When),
            })
            .collect(),
        roles: ROLES,
        secret,
        targets: registry.targets(&tenant(visit))?,
        failing: outbox.failing(&tenant(visit)),
    })
}

pub(super) fn act(visit: &Visit) -> Result<Shown, Problem> {
    let said = |name: &str| visit.form.get(name).map(|text| text.trim()).unwrap_or_default();
    let tenant = tenant(visit);
    let to = |method: Method, path: &'static str| (method, path);
    let parts = [("tenant", tenant.as_str()), ("id", said("id"))];
    match said("do") {
        "person" => {
            let roles: Vec<&str> =
                ROLES.iter().map(|role| role.name).filter(|name| visit.form.contains_key(*name)).collect();
            let email = Some(said("email")).filter(|email| !email.is_empty());
            let person = json!({"uid": said("uid"), "email": email, "roles": roles, "disabled": visit.form.contains_key("disabled")});
            let body = json!({"people": [person]});
            ask(&visit.server, &visit.caller, to(Method::PUT, "/v1/tenants/{tenant}/people"), &parts, body)?;
        }
        "token" => {
            let body = json!({"kind": said("kind"), "owner": said("owner"), "for_seconds": said("days").parse::<i64>().ok().map(|days| days * 86_400)});
            let made = ask(
                &visit.server,
                &visit.caller,
                to(Method::POST, "/v1/tenants/{tenant}/tokens"),
                &parts,
                body,
            )?;
            let secret = made.get("secret").and_then(|secret| secret.as_str()).unwrap_or_default();
            return page(visit, secret.to_owned());
        }
        "revoke" => {
            ask(
                &visit.server,
                &visit.caller,
                to(Method::DELETE, "/v1/tenants/{tenant}/tokens/{id}"),
                &parts,
                json!({}),
            )?;
        }
        "target" => {
            let way = match said("way") {
                "webhook" => Way::Webhook { url: said("to").to_owned(), secret: said("secret").to_owned() },
                "slack" => Way::Slack { url: said("to").to_owned() },
                "ntfy" => Way::Ntfy { url: said("to").to_owned() },
                "mail" => Way::Mail { server: said("server").to_owned(), to: said("to").to_owned() },
                _ => return Err(Problem::bad("a notification goes by webhook, slack, ntfy or mail")),
            };
            let target = Target { name: said("name").to_owned(), way };
            visit.server.tenants.registry.put_target(
                &tenant,
                &target,
                &visit.caller.owner,
                crate::tenants::now(),
            )?;
        }
        "forget" => {
            visit.server.tenants.registry.delete_target(
                &tenant,
                said("id"),
                &visit.caller.owner,
                crate::tenants::now(),
            )?;
        }
        _ => return Err(Problem::bad("the form does not say what to do")),
    }
    Ok(Shown::Go("/people".to_owned()))
}
