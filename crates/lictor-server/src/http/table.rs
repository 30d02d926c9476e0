//! The table of all JSON endpoints that need a token. The router and `/openapi.json` are generated from it.

use axum::http::Method;
use lictor::rpc::{
    DelegateParams, EvaluateParams, GateParams, PostParams, PromptParams, RecordParams, ResolveParams,
    SessionParams, StopParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    Answer, Call, Handler, Text, admin, entrance, export, findings, judge, policy, records, sessions,
};
use crate::identity::{Need, Role};
use crate::registry::Tenant;

/// One endpoint.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) about: &'static str,
    pub(crate) need: Need,
    /// The query parameters.
    pub(crate) query: &'static [&'static [Param]],
    /// The body; none when there is none.
    pub(crate) takes: Option<Taken>,
    /// The schema of the answer.
    pub(crate) gives: &'static str,
    /// The response to a repeated request with the same key.
    pub(crate) again: Again,
    pub(crate) handler: Handler,
}

/// What a body is.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    /// Its schema, by its name in `schemas.json`.
    pub(crate) schema: &'static str,
    /// Reads a body as the type that the handler reads: tests hold type and schema together.
    pub(crate) read: fn(Value) -> Result<(), serde_json::Error>,
}

impl Taken {
    pub(super) const fn of<T: DeserializeOwned>(schema: &'static str) -> Self {
        Self { schema, read: |body| serde_json::from_value::<T>(body).map(drop) }
    }
}

/// What happens to a request that is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It gets the answer of the first one.
    Answer,
    /// A note that it was executed: the response contains a secret, and secrets are not stored.
    Told,
    /// It is carried out again, which changes nothing.
    Harmless,
}

/// One key of a query.
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: ParamKind,
    pub(crate) about: &'static str,
}

/// What the value of a key may be.
pub(crate) enum ParamKind {
    Text,
    /// The name of a machine's chain: its owner, a dot, and the machine.
    Chain,
    /// A number from the first to the second.
    Number(u64, u64),
    Word(&'static [&'static str]),
    /// A day or a time.
    Time,
}

const fn text(name: &'static str, about: &'static str) -> Param {
    Param { name, kind: ParamKind::Text, about }
}

const fn number(name: &'static str, least: u64, most: u64, about: &'static str) -> Param {
    Param { name, kind: ParamKind::Number(least, most), about }
}

/// The largest number of a record: programs in other languages cannot count further.
pub(crate) const MOST_SEQ: u64 = (1 << 53) - 1;

const MACHINE: Param = Param {
    name: "machine",
    kind: ParamKind::Chain,
    about: "The record that this machine sent, instead of the tenant's own.",
};
const SESSIONS: &[Param] = &[
    text("since", "Only sessions after this one: the cursor."),
    number("limit", 1, sessions::MOST, "At most so many; 100 when it is not said."),
];
const FINDINGS: &[Param] = &[
    text("plan", "All findings of this plan."),
    Param {
        name: "level",
        kind: ParamKind::Word(&["LOW", "MEDIUM", "HIGH", "CRITICAL"]),
        about: "Only plans of this level or worse.",
    },
    number("limit", 1, findings::MOST, "At most so many plans; 100 when it is not said."),
];
const VERSION: &[Param] = &[number("version", 1, MOST_SEQ, "The earlier one.")];
/// The filters for records, in pages and in the stream.
pub(super) const FILTERS: &[Param] = &[
    text("session", "Only of this session: `agent:id`."),
    text("kind", "Only of this kind: `evaluated`, `happened`, …."),
    Param {
        name: "decision",
        kind: ParamKind::Word(&["pass", "warn", "ask", "block"]),
        about: "Only decisions of this strictness or more.",
    },
    text("user", "Only actions for this person."),
    text("tool", "Only actions with this tool."),
    text("rule", "Only where this rule or guard decided."),
    text("text", "Only where this stands in the record; small and capital letters are alike."),
    Param { name: "from", kind: ParamKind::Time, about: "Not before this day (in UTC) or time." },
    Param {
        name: "until",
        kind: ParamKind::Time,
        about: "Not after this day (in UTC), or before this time.",
    },
    MACHINE,
];
const RECORDS: &[Param] = &[
    number("since", 0, MOST_SEQ, "Only records after this one: the cursor."),
    number("before", 0, MOST_SEQ, "Only records before this one."),
    number("limit", 1, records::MOST, "At most so many; 100 when it is not said."),
];

pub(super) const STREAM: &[Param] = &[number(
    "since",
    0,
    MOST_SEQ,
    "Records after this one; those that are written from now on when it is not said.",
)];
pub(super) const EXPORT: &[Param] =
    &[Param { name: "format", kind: ParamKind::Word(&export::WORDS), about: "`jsonl` when it is not said." }];

const VERIFIED: &[Param] = &[
    number(
        "since",
        0,
        MOST_SEQ,
        "Only records after this one: what was checked before, or a part of a long record.",
    ),
    number("until", 0, MOST_SEQ, "Only records up to this one."),
    MACHINE,
];

impl Endpoint {
    fn new(
        method: &Method,
        path: &'static str,
        need: Need,
        handler: fn(&Call) -> Answer,
        about: &'static str,
    ) -> Self {
        let method = method.clone();
        Self {
            method,
            path,
            about,
            need,
            query: &[],
            takes: None,
            gives: "Anything",
            again: Again::Answer,
            handler: Handler::Tree(handler),
        }
    }

    /// An endpoint that is asked all the time.
    fn written(method: &Method, path: &'static str, need: Need, text: Text, about: &'static str) -> Self {
        let endpoint = Self::new(method, path, need, |_| Ok(Value::Null), about);
        Self { handler: Handler::Text(text), ..endpoint }
    }

    fn query(self, query: &'static [&'static [Param]]) -> Self {
        Self { query, ..self }
    }

    fn takes<T: DeserializeOwned>(self, schema: &'static str) -> Self {
        Self { takes: Some(Taken::of::<T>(schema)), ..self }
    }

    fn gives(self, gives: &'static str) -> Self {
        Self { gives, ..self }
    }

    fn again(self, again: Again) -> Self {
        Self { again, ..self }
    }
}

/// The bodies of endpoints without a token.
pub(super) const SETUP: Taken = Taken::of::<admin::Setup>("Setup");
pub(super) const SIGN_IN: Taken = Taken::of::<entrance::SignIn>("SignIn");

/// Every endpoint.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    [judging(), questions(), of_records(), of_findings(), of_policies(), of_tenants()]
        .into_iter()
        .flatten()
        .collect()
}

fn judging() -> Vec<Endpoint> {
    use Need::{Role as Has, Use};
    let (get, post) = (&Method::GET, &Method::POST);
    vec![
        Endpoint::written(
            post,
            "/v1/evaluate",
            Use,
            judge::evaluate,
            "Judge an action and record the judgement.",
        )
        .takes::<EvaluateParams>("Evaluate")
        .gives("Evaluation"),
        Endpoint::new(post, "/v1/post", Use, judge::post, "Record what came of an action.")
            .takes::<PostParams>("Post")
            .gives("Posted"),
        Endpoint::new(post, "/v1/stop", Use, judge::stop, "Ask whether an agent may stop.")
            .takes::<StopParams>("Stop")
            .gives("Stopped"),
        Endpoint::new(
            post,
            "/v1/prompt",
            Use,
            judge::prompt,
            "Tell of a person's prompt: the stop gate counts its rounds anew.",
        )
        .takes::<PromptParams>("Prompt")
        .gives("Session"),
        Endpoint::new(
            post,
            "/v1/delegate",
            Use,
            judge::delegate,
            "Start a subagent's session, with less than its parent has.",
        )
        .takes::<DelegateParams>("Delegate")
        .gives("Session"),
        Endpoint::new(post, "/v1/session", Use, judge::session, "The state of a session of one's own.")
            .takes::<SessionParams>("SessionName")
            .gives("Session"),
        Endpoint::new(
            post,
            "/v1/reset",
            Use,
            judge::reset,
            "Clear what rules remember of a session of one's own; counters and budgets go on.",
        )
        .takes::<SessionParams>("SessionName")
        .gives("Session"),
        Endpoint::new(post, "/v1/end", Use, judge::end, "End a session of one's own.")
            .takes::<SessionParams>("SessionName")
            .gives("Session"),
        Endpoint::new(
            get,
            "/v1/sessions",
            Has(Role::Viewer),
            sessions::list,
            "The sessions of the tenant, by name.",
        )
        .query(&[SESSIONS])
        .gives("Sessions"),
        Endpoint::new(
            get,
            "/v1/sessions/{session}",
            Has(Role::Viewer),
            sessions::one,
            "One session: `agent:id`.",
        )
        .gives("Session"),
        Endpoint::new(get, "/v1/whoami", Use, judge::whoami, "Whose token it is.").gives("Whoami"),
        Endpoint::new(
            get,
            "/v1/bundle",
            Use,
            policy::bundle,
            "The policy in force, and what to do while the server is away.",
        )
        .gives("Bundle"),
    ]
}

fn questions() -> Vec<Endpoint> {
    use Need::Role as Has;
    let (get, post) = (&Method::GET, &Method::POST);
    vec![
        Endpoint::new(
            get,
            "/v1/approvals",
            Has(Role::Viewer),
            judge::approvals,
            "Questions that wait for a person.",
        )
        .gives("Approvals"),
        Endpoint::new(post, "/v1/approvals/{id}/approve", Has(Role::Approver), judge::approve, "Say yes.")
            .takes::<judge::Approve>("Approve")
            .gives("Approved"),
        Endpoint::new(post, "/v1/approvals/{id}/deny", Has(Role::Approver), judge::deny, "Say no.")
            .takes::<judge::Deny>("Deny")
            .gives("Denied"),
        Endpoint::new(
            post,
            "/v1/resolve",
            Has(Role::Approver),
            judge::resolve,
            "Answer the questions of an evaluation.",
        )
        .takes::<ResolveParams>("Resolve")
        .gives("Evaluation"),
    ]
}

fn of_records() -> Vec<Endpoint> {
    use Need::{Role as Has, Use};
    let (get, post) = (&Method::GET, &Method::POST);
    vec![
        Endpoint::new(
            get,
            "/v1/records",
            Has(Role::Viewer),
            records::list,
            "Records, oldest first; `next` is the cursor.",
        )
        .query(&[RECORDS, FILTERS])
        .gives("Records"),
        Endpoint::new(get, "/v1/records/{seq}", Has(Role::Viewer), records::one, "One record, whole.")
            .query(&[&[MACHINE]])
            .gives("WholeRecord"),
        Endpoint::new(
            get,
            "/v1/verify",
            Has(Role::Auditor),
            records::verify_all,
            "Check chain, seals and entries.",
        )
        .query(&[VERIFIED])
        .gives("Verification"),
        Endpoint::new(
            get,
            "/v1/machines",
            Has(Role::Viewer),
            records::machines,
            "Machines that sent records.",
        )
        .gives("Machines"),
        Endpoint::new(
            post,
            "/v1/machines/{machine}/records",
            Use,
            records::ingest,
            "Records of a machine, verified on arrival.",
        )
        .takes::<records::Ingest>("Ingest")
        .gives("Ingested")
        .again(Again::Harmless),
    ]
}

fn of_findings() -> Vec<Endpoint> {
    use Need::{Role as Has, Use};
    let (get, post) = (&Method::GET, &Method::POST);
    vec![
        Endpoint::new(
            get,
            "/v1/findings",
            Has(Role::Viewer),
            findings::list,
            "Open findings, worst first, or all of one plan.",
        )
        .query(&[FINDINGS])
        .gives("Findings"),
        Endpoint::new(post, "/v1/findings", Use, judge::record, "Record a finding.")
            .takes::<RecordParams>("RecordFinding")
            .gives("RecordedFinding"),
        Endpoint::new(
            post,
            "/v1/record",
            Use,
            judge::record,
            "The same, by the name that `lictor rpc` has for it.",
        )
        .takes::<RecordParams>("RecordFinding")
        .gives("RecordedFinding"),
        Endpoint::new(
            post,
            "/v1/gate",
            Use,
            judge::gate,
            "Whether a commit, a push or a build may go on, by the findings on record.",
        )
        .takes::<GateParams>("Gate")
        .gives("gate_outcome"),
        Endpoint::new(
            post,
            "/v1/findings/{plan}/{id}/clear",
            Has(Role::Approver),
            findings::clear,
            "Say that a finding is dealt with.",
        )
        .takes::<findings::Ruling>("Ruling")
        .gives("Ruled"),
        Endpoint::new(
            post,
            "/v1/findings/{plan}/{id}/waive",
            Has(Role::Approver),
            findings::waive,
            "Let a finding be, with a reason.",
        )
        .takes::<findings::Ruling>("Ruling")
        .gives("Ruled"),
    ]
}

fn of_policies() -> Vec<Endpoint> {
    use Need::Role as Has;
    let (get, post, put, patch) = (&Method::GET, &Method::POST, &Method::PUT, &Method::PATCH);
    let current = "/v1/tenants/{tenant}/policy";
    vec![
        Endpoint::new(
            post,
            "/v1/policy/check",
            Has(Role::Author),
            policy::check,
            "Whether a policy would be accepted.",
        )
        .takes::<policy::Text>("PolicyText")
        .gives("Accepted"),
        Endpoint::new(
            post,
            "/v1/policy/test",
            Has(Role::Author),
            policy::test,
            "Run policy tests, as `lictor test` does.",
        )
        .takes::<policy::Tests>("PolicyTest")
        .gives("Tested"),
        Endpoint::new(
            post,
            "/v1/policy/simulate",
            Has(Role::Author),
            policy::simulate,
            "What a policy would have said about recorded actions.",
        )
        .takes::<policy::Simulate>("Simulate")
        .gives("Simulated"),
        Endpoint::new(put, current, Has(Role::Publisher), policy::publish, "Put a policy in force.")
            .takes::<policy::Text>("PolicyText")
            .gives("Published"),
        Endpoint::new(
            patch,
            current,
            Has(Role::Publisher),
            policy::rollback,
            "Put an earlier policy in force again.",
        )
        .takes::<policy::Version>("Version")
        .gives("Published"),
        Endpoint::new(
            get,
            current,
            Has(Role::Viewer),
            policy::get,
            "The policy in force, or an earlier one.",
        )
        .query(&[VERSION])
        .gives("Policy"),
        Endpoint::new(
            get,
            "/v1/tenants/{tenant}/policies",
            Has(Role::Viewer),
            policy::history,
            "All policies so far.",
        )
        .gives("Policies"),
    ]
}

fn of_tenants() -> Vec<Endpoint> {
    use Need::{Operate, Role as Has};
    let (get, post, put, delete) = (&Method::GET, &Method::POST, &Method::PUT, &Method::DELETE);
    let patch = &Method::PATCH;
    let (tenant, people, tokens) =
        ("/v1/tenants/{tenant}", "/v1/tenants/{tenant}/people", "/v1/tenants/{tenant}/tokens");
    vec![
        Endpoint::new(get, "/v1/tenants", Operate, admin::tenants, "All tenants.").gives("Tenants"),
        Endpoint::new(put, tenant, Operate, admin::put_tenant, "Make a tenant, or replace its settings.")
            .takes::<Tenant>("TenantSettings")
            .gives("Tenant"),
        Endpoint::new(patch, tenant, Operate, admin::patch_tenant, "Change the settings that are named.")
            .takes::<admin::Settings>("TenantSettings")
            .gives("Tenant"),
        Endpoint::new(get, tenant, Has(Role::Viewer), admin::tenant, "The settings of a tenant.")
            .gives("Tenant"),
        Endpoint::new(
            put,
            people,
            Has(Role::Admin),
            admin::put_people,
            "Add people, or replace what is known of them.",
        )
        .takes::<admin::People>("People")
        .gives("People"),
        Endpoint::new(get, people, Has(Role::Admin), admin::people, "The people of a tenant.")
            .gives("People"),
        Endpoint::new(
            put,
            "/v1/tenants/{tenant}/people/{uid}/password",
            Has(Role::Admin),
            admin::put_password,
            "Give a person a password, or take it away.",
        )
        .takes::<admin::Password>("Password")
        .gives("PasswordSet"),
        Endpoint::new(post, tokens, Has(Role::Admin), admin::mint, "Make a token; its secret is shown once.")
            .takes::<admin::Mint>("MintToken")
            .gives("MintedToken")
            .again(Again::Told),
        Endpoint::new(get, tokens, Has(Role::Admin), admin::tokens, "Tokens without their secrets.")
            .gives("Tokens"),
        Endpoint::new(
            delete,
            "/v1/tenants/{tenant}/tokens/{id}",
            Has(Role::Admin),
            admin::revoke,
            "Take a token back.",
        )
        .gives("Revoked"),
    ]
}
