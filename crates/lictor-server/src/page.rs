//! The web page for people. It decides nothing: it uses the same endpoints as programs, with the roles of the
//! signed-in person.
//!
//! [`gate`] authenticates requests and protects the browser; each view has its own file; [`live`] sends updates.

mod assets;
mod audit;
mod demo;
mod enter;
mod explain;
mod feed;
mod findings;
mod gate;
mod inbox;
mod live;
mod people;
mod places;
mod plot;
mod policy;
mod rules;
mod sessions;
mod tally;
mod words;

pub(crate) use enter::{LOCAL, entered};
pub use gate::Entrance;

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, get, on};
use jiff::tz::TimeZone;
use lictor_core::text::is_deceptive;
use lictor_core::{SessionKey, SessionState, Timestamp};
use lictor_store::{Query, Store, StoreExt as _};

use crate::http::export::Download;
use crate::http::{MOST_BYTES, Problem, Server, filter, parse_query};
use crate::identity::{Caller, Need, Role};
use crate::tenants::Open;

/// How many records of a machine's session are scanned for its state.
const MACHINE_RECORDS: usize = 1_000;

/// A request of a signed-in person.
pub(crate) struct Visit {
    pub(crate) server: Server,
    pub(crate) caller: Caller,
    /// Parts of the address.
    pub(crate) path: HashMap<String, String>,
    pub(crate) query: HashMap<String, String>,
    pub(crate) form: HashMap<String, String>,
    /// The address, without what follows the question mark.
    pub(crate) address: String,
    /// What forms carry.
    pub(crate) csrf: String,
}

/// What comes of it.
pub(crate) enum Shown {
    /// A page.
    Page(String),
    /// Look there.
    Go(String),
    /// A file to keep.
    File(Download),
}

type View = fn(&Visit) -> Result<Shown, Problem>;

/// Every view with its address and what it needs.
fn views() -> Vec<(Method, &'static str, Need, View)> {
    let viewer = Need::Role(Role::Viewer);
    vec![
        (Method::GET, "/approvals", viewer, inbox::list),
        (Method::GET, "/approvals/{id}", viewer, inbox::one),
        (Method::POST, "/approvals/{id}", Need::Role(Role::Approver), inbox::answer),
        (Method::GET, "/decisions/{seq}", viewer, explain::decision),
        (Method::POST, "/decisions/{seq}/wrong", Need::Role(Role::Author), rules::wrong),
        (Method::GET, "/feed", viewer, feed::list),
        (Method::GET, "/rules", viewer, rules::list),
        (Method::GET, "/rules/one", viewer, rules::one),
        (Method::GET, "/findings", viewer, findings::board),
        (Method::GET, "/policy", viewer, policy::look),
        (Method::POST, "/policy", Need::Role(Role::Author), policy::act),
        (Method::GET, "/people", Need::Role(Role::Admin), people::list),
        (Method::POST, "/people", Need::Role(Role::Admin), people::act),
        (Method::GET, "/projects", viewer, places::list),
        (Method::POST, "/projects", viewer, places::prove),
        (Method::GET, "/sessions", viewer, sessions::list),
        (Method::GET, "/session", viewer, sessions::one),
        (Method::GET, "/audit", viewer, audit::list),
        (Method::POST, "/audit/verify", Need::Role(Role::Auditor), audit::verify),
        (Method::GET, "/audit/export", Need::Role(Role::Auditor), audit::export),
        (Method::POST, "/demo", viewer, demo::begin),
        (Method::POST, "/sign-out", Need::Use, enter::sign_out),
    ]
}

/// The addresses of the page.
pub(crate) fn routes() -> Router<Server> {
    let mut router = Router::new();
    for (method, path, need, view) in views() {
        let Ok(filter) = MethodFilter::try_from(method) else { continue };
        let run = move |state: State<Server>, parts: Path<HashMap<String, String>>, request: Request| {
            visit(state, parts, request, need, view)
        };
        router = router.route(path, on(filter, run));
    }
    router
        .route("/", get(|| async { go("/approvals") }))
        .route("/live", get(live::records))
        .route("/sign-in", get(enter::form).post(enter::sign_in))
        .route("/enter", get(enter::once))
        .route("/setup", get(enter::setup).post(enter::begin))
        .route("/static/{digest}/{name}", get(assets::file))
        .layer(axum::middleware::from_fn(gate::headers))
}

async fn visit(
    State(server): State<Server>,
    Path(path): Path<HashMap<String, String>>,
    request: Request,
    need: Need,
    view: View,
) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MOST_BYTES).await else {
        return failed(&Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the form is too large"));
    };
    let zipped = assets::takes_gzip(&parts.headers);
    let work = tokio::task::spawn_blocking(move || -> Result<Shown, Problem> {
        gate::own_address(&server, &parts.headers)?;
        let address = parts.uri.path().to_owned();
        let Some((caller, secret)) = gate::signed_in(&server, &parts.headers)? else {
            let wanted = parts.uri.path_and_query().map_or("/", |wanted| wanted.as_str());
            let wanted = if parts.method == Method::GET { wanted } else { "/approvals" };
            return Ok(Shown::Go(format!("/sign-in?next={}", words::in_address(wanted))));
        };
        let form = parse_query(&String::from_utf8_lossy(&body));
        if parts.method != Method::GET {
            gate::own_form(&server, &parts.headers, &form, &secret)?;
        }
        if !caller.may(need) {
            let text = format!("`{}` may not look at this; an administrator gives roles", caller.owner);
            return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", text));
        }
        let query = parse_query(parts.uri.query().unwrap_or_default());
        let csrf = gate::token(&secret)?;
        view(&Visit { server, caller, path, query, form, address, csrf })
    });
    match work.await {
        Ok(Ok(Shown::Page(html))) => page(StatusCode::OK, html, zipped),
        Ok(Ok(Shown::Go(address))) => go(&address),
        Ok(Ok(Shown::File(download))) => download.into_response(),
        Ok(Err(problem)) => failed(&problem),
        Err(_) => failed(&Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "the page failed inside Lictor; the server goes on, and `--log` shows which address it was",
        )),
    }
}

impl Visit {
    /// The current project: the one in the URL, else the first.
    pub(crate) fn project(&self) -> String {
        match (&self.server.tenants.local, self.query.get("project")) {
            (Some(_), Some(named)) if !named.is_empty() => named.clone(),
            (Some(local), _) => local.first(),
            (None, _) => self.caller.tenant.clone(),
        }
    }

    /// The caller, in a project.
    pub(crate) fn caller_in(&self, project: &str) -> Caller {
        match &self.server.tenants.local {
            Some(_) => Caller { tenant: project.to_owned(), ..self.caller.clone() },
            None => self.caller.clone(),
        }
    }

    /// The project's runtime.
    pub(crate) fn open(&self) -> Result<Arc<Open>, Problem> {
        Ok(self.server.tenants.open(&self.project())?)
    }

    /// The current record: the project's, or that of a machine of the tenant.
    pub(crate) fn store(&self) -> Result<Arc<dyn Store>, Problem> {
        match self.query.get("machine").filter(|name| !name.is_empty()) {
            Some(machine) if self.server.tenants.local.is_none() => {
                Ok(self.server.tenants.sent_by(&self.caller.tenant, machine)?)
            }
            _ => Ok(Arc::clone(&self.open()?.store)),
        }
    }

    /// The state of a session of the current record. A machine sends only its record, so the state is folded from
    /// the scanned records of the session.
    pub(crate) fn session(&self, store: &dyn Store, key: &SessionKey) -> Result<SessionState, Problem> {
        if self.asked("machine").is_none() || self.server.tenants.local.is_some() {
            return Ok(self.open()?.runtime.session(key)?);
        }
        let query = Query::all().session(key.clone()).limit(MACHINE_RECORDS);
        let records = store.view(|view| view.records(&query))?;
        Ok(lictor::log::sessions(&records).remove(key).unwrap_or_default())
    }

    /// Whether the caller has a role.
    pub(crate) fn has(&self, role: Role) -> bool {
        self.caller.may(Need::Role(role))
    }

    /// A part of the address.
    pub(crate) fn part(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }

    /// A query parameter, if present.
    pub(crate) fn asked(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// The time zone of the reader, which the page's script adds to a search; that of this machine without it.
    pub(crate) fn zone(&self) -> TimeZone {
        let named = self.asked("zone").and_then(|name| TimeZone::get(name).ok());
        named.unwrap_or_else(TimeZone::system)
    }

    /// A day or a time in the address.
    pub(crate) fn moment(&self, name: &str, end: bool) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = self.asked(name) else { return Ok(None) };
        let bad =
            || Problem::bad(format!("`{}` is no day; say it as `2026-11-17`", words::clipped(text, 40)));
        filter::moment(text, &self.zone(), end).ok_or_else(bad).map(Some)
    }

    /// The machines of a team with records.
    pub(crate) fn machines(&self) -> Result<Vec<Choice>, Problem> {
        if self.server.tenants.local.is_some() {
            return Ok(Vec::new());
        }
        let chosen = self.asked("machine");
        let all = self.server.tenants.registry.machines(&self.caller.tenant)?.into_iter();
        let choice = |name: String| Choice {
            chosen: chosen == Some(name.as_str()),
            id: name.clone(),
            name,
            about: String::new(),
        };
        Ok(all.map(choice).collect())
    }

    /// The frame of a view.
    pub(crate) fn frame(&self, title: &str, here: &'static str) -> Frame {
        let project = self.project();
        let projects: Vec<Choice> = match &self.server.tenants.local {
            None => Vec::new(),
            Some(local) => local
                .list()
                .into_iter()
                .map(|one| Choice { chosen: one.id == project, id: one.id, name: one.name, about: one.root })
                .collect(),
        };
        let named = projects.iter().find(|one| one.chosen).map(|one| one.name.clone());
        Frame {
            title: title.to_owned(),
            here,
            who: self.caller.owner.clone(),
            place: named.unwrap_or_else(|| project.clone()),
            keep: self.keep(),
            asset: assets::address,
            csrf: self.csrf.clone(),
            local: self.server.tenants.local.is_some(),
            admin: self.has(Role::Admin) && self.server.tenants.local.is_none(),
            address: self.address.clone(),
            projects,
        }
    }

    /// The query of links that keeps the current project: `?project=…`, or nothing.
    pub(crate) fn keep(&self) -> String {
        let named = ["project", "machine"].iter().filter_map(|name| Some((*name, self.asked(name)?)));
        let pairs: Vec<String> =
            named.map(|(name, value)| format!("{name}={}", words::in_address(value))).collect();
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }
}

/// The frame of every view.
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) here: &'static str,
    pub(crate) who: String,
    pub(crate) place: String,
    pub(crate) keep: String,
    pub(crate) asset: fn(&str) -> String,
    pub(crate) csrf: String,
    pub(crate) local: bool,
    pub(crate) admin: bool,
    pub(crate) address: String,
    pub(crate) projects: Vec<Choice>,
}

impl Frame {
    /// The views, in the order in which people ask for them.
    pub(crate) fn views(&self) -> Vec<(&'static str, &'static str)> {
        let all = [
            ("/approvals", "Approvals"),
            ("/feed", "Feed"),
            ("/sessions", "Sessions"),
            ("/rules", "Rules"),
            ("/policy", "Policy"),
            ("/findings", "Findings"),
            ("/projects", "Projects"),
            ("/audit", "Audit"),
            ("/people", "People"),
        ];
        all.into_iter().filter(|(address, _)| *address != "/people" || self.admin).collect()
    }
}

impl Frame {
    /// The same, where more follows in the address.
    pub(crate) fn and(&self) -> String {
        if self.keep.is_empty() { "?".to_owned() } else { format!("{}&", self.keep) }
    }
}

/// One selectable item.
pub(crate) struct Choice {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) chosen: bool,
}

/// A template as a page.
pub(crate) fn shown(template: &impl Template) -> Result<Shown, Problem> {
    Ok(Shown::Page(rendered(template)?))
}

/// A rendered template. Text from records is escaped.
pub(crate) fn rendered(template: &impl Template) -> Result<String, Problem> {
    let html = template.render().map_err(|error| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            format!("the page cannot be drawn: {error}"),
        )
    })?;
    Ok(readable(html))
}

/// The text with everything written out that is not seen or changes how others are seen.
pub(crate) fn readable(text: String) -> String {
    let hidden = |c: char| is_deceptive(c) && c != '\n';
    if !text.contains(hidden) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        match c {
            '\t' => out.push_str("    "),
            c if c.is_ascii_control() && hidden(c) => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

fn page(status: StatusCode, html: String, zipped: bool) -> Response {
    let bytes = html.into_bytes();
    let (bytes, zipped) = match zipped.then(|| assets::gzip(&bytes)).flatten() {
        Some(small) => (small, true),
        None => (bytes, false),
    };
    let mut response = (status, bytes).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if zipped {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

pub(crate) fn go(address: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let address = HeaderValue::from_str(address).unwrap_or_else(|_| HeaderValue::from_static("/approvals"));
    response.headers_mut().insert(header::LOCATION, address);
    response
}

#[derive(Template)]
#[template(path = "problem.html")]
struct Failed<'a> {
    asset: fn(&str) -> String,
    status: u16,
    title: &'a str,
    detail: &'a str,
    fix: &'a str,
}

/// An error response: a page for a browser, `problem+json` for a program.
pub(crate) fn refused(headers: &HeaderMap, problem: Problem) -> Response {
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    if !accepted.is_some_and(|accepted| accepted.contains("text/html")) {
        return problem.into_response();
    }
    let mut response = failed(&problem);
    gate::protect(response.headers_mut());
    response
}

/// An error as a sentence.
pub(crate) fn failed(problem: &Problem) -> Response {
    let (status, detail, fix) = problem.told();
    let title = match status {
        StatusCode::NOT_FOUND => "There is nothing here",
        StatusCode::FORBIDDEN => "This is not yours to do",
        StatusCode::CONFLICT => "That has changed meanwhile",
        StatusCode::BAD_REQUEST => "That cannot be read",
        _ => "That did not work",
    };
    let template = Failed { asset: assets::address, status: status.as_u16(), title, detail, fix };
    page(status, rendered(&template).unwrap_or_else(|_| title.to_owned()), false)
}

#[cfg(test)]
mod tests;
