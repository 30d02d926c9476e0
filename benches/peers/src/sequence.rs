//! One sequencing rule, "commit only after the tests passed", after 10, 1 000 and 100 000 earlier events.
//!
//! Both engines see the same session: calls and their outcomes, every tenth call a passed test run. What is timed is
//! one more call that asks to commit: deciding it and taking it into the history.

use std::hint::black_box;

use dogwood_language::{Event, EventBuilder, LoweredPolicySet, PolicySchema, ServiceSchema, TemporalEngine};
use dogwood_local_engine::LocalTemporalEngine;
use lictor_core::event::{Happened, Judgement};
use lictor_core::facts::{Command, Effect};
use lictor_core::history::{History, Pattern, What};
use lictor_core::tools::{Need, RequireFirst, Sequence};
use lictor_core::{
    Action, Digest, Facts, Graph, Outcome, Risk, SessionEvent, SessionState, Standing, Timestamp, Value,
};
use serde_json::{Value as Json, json};

use crate::measure::{Entry, Timed, interleaved};

const EARLIER: [usize; 3] = [10, 1_000, 100_000];
const ROUNDS: usize = 300;
const BATCH: u32 = 5;

/// What the agent does, in turns.
#[derive(Clone, Copy)]
enum Deed {
    Test { passes: bool },
    Read,
    Commit,
}

fn deed(number: usize) -> Deed {
    if number % 10 == 1 { Deed::Test { passes: true } } else { Deed::Read }
}

struct Lictor {
    history: History,
    graph: Graph,
    state: SessionState,
    now: Timestamp,
    test: (Action, Facts, Digest),
    read: (Action, Facts, Digest),
    commit: (Action, Facts, Digest),
}

fn bash(line: &str) -> (Action, Facts, Digest) {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let command = Command {
        program: words[0].clone(),
        args: words[1..].iter().cloned().map(Some).collect(),
        through: vec![],
        attributable: true,
        certain: true,
        words,
    };
    let action = Action::bash(line).in_session("s");
    let digest = action.digest();
    (action, Facts { effects: vec![Effect::Run(command)], opaque: vec![] }, digest)
}

impl Lictor {
    fn new() -> Self {
        let pattern = |words: [&str; 2]| Pattern::of(What::Bash(words.map(str::to_owned).to_vec()));
        let mut history = History::default();
        let rule = RequireFirst {
            gated: pattern(["git", "commit"]),
            needs: vec![Need { what: pattern(["cargo", "test"]), within: None, undone_by: vec![] }],
            same_line: false,
        };
        let sequence = Sequence::new("commit_after_tests", vec![rule], &mut history).expect("a sound rule");
        Self {
            history,
            graph: Graph::new(sequence).expect("a sound graph"),
            state: SessionState::default(),
            now: Timestamp(0),
            test: bash("cargo test"),
            read: bash("cat README.md"),
            commit: bash("git commit -m done"),
        }
    }

    /// Decides one call and takes it into the history. True: it may happen.
    fn ask(&mut self, deed: Deed) -> bool {
        self.now = self.now.plus_millis(1_000);
        let (action, facts, digest) = match deed {
            Deed::Test { .. } => &self.test,
            Deed::Read => &self.read,
            Deed::Commit => &self.commit,
        };
        let judged = self.graph.judge(black_box(action), black_box(facts), &self.state, self.now);
        let allowed = judged.value == Value::Pass;
        let event = SessionEvent::Judged(Judgement {
            action: *digest,
            kind: action.kind.to_string(),
            tool: action.tool.clone(),
            tool_use_id: None,
            decision: judged.value.settle(),
            risk: Risk::NONE,
            tags: judged.tags,
            marks: self.history.marks(action, facts),
            spends: Default::default(),
            escalated: false,
            dry: false,
            observed: false,
            duplicate: false,
            dialect: None,
        });
        self.state.apply(&event, self.now);
        allowed
    }

    fn ended(&mut self, deed: Deed) {
        let (digest, success) = match deed {
            Deed::Test { passes } => (self.test.2, passes),
            Deed::Read => (self.read.2, true),
            Deed::Commit => (self.commit.2, true),
        };
        let outcome = if success { Outcome::success() } else { Outcome::failure("no") };
        let happened = Happened {
            action: digest,
            tool_use_id: None,
            standing: Standing::Governed,
            outcome,
            marks: vec![],
            learned: vec![],
        };
        self.state.apply(&SessionEvent::Happened(happened), self.now);
    }
}

const SCHEMA: &str = r#"
namespace Agent {
  type Input = { command: String };
  type Output = { passed: Bool };
  entity Project;
  entity User;
  action "Test" appliesTo { principal: [User], resource: [Project], context: { input: Input, output: Output } };
  action "Read" appliesTo { principal: [User], resource: [Project], context: { input: Input, output: Output } };
  action "Commit" appliesTo { principal: [User], resource: [Project], context: { input: Input, output: Output } };
}
"#;

/// Without pins and with a window longer than any session, as dogwood's own workload benchmark has it: its fastest form.
const EVENTS: &str = r#"
max_window = 8760h

decision event <A>::request {
    ...inputs(A),
    callerPrincipal: principalType(A),
    callerResource: resourceType(A),
    requestId: String,
    sessionId: String,
}
event <A>::response {
    ...inputs(A),
    ...outputs(A),
    callerPrincipal: principalType(A),
    callerResource: resourceType(A),
    requestId: String,
    sessionId: String,
}
"#;

const POLICY: &str = r#"
permit (principal, action == Agent::Action::"Commit", resource)
when temporal {
    formerly within 8760h Agent::Action::"Test"::response{ output.passed: true }
};
"#;

struct Dogwood {
    engine: LocalTemporalEngine,
    now: i64,
}

impl Dogwood {
    fn new() -> Self {
        let schema = PolicySchema::from_cedarschema_str(SCHEMA).expect("the schema parses");
        let service = ServiceSchema::builder().event_schema_str(EVENTS).build().expect("an event schema");
        let policies = LoweredPolicySet::from_str(POLICY, &service, &schema)
            .unwrap_or_else(|error| panic!("the policy is not lowered: {error}"));
        let validation = dogwood_language::Validator::new().validate(&policies);
        assert!(validation.validation_passed(), "{:?}", validation.validation_errors().collect::<Vec<_>>());
        let leaves: Vec<_> = policies.temporal_fields().cloned().collect();
        let signatures: Vec<_> = policies.event_signatures().collect();
        let mut engine = LocalTemporalEngine::new();
        engine.prepare(&leaves, policies.cedar_schema(), &signatures).expect("the policy is prepared");
        Self { engine, now: 0 }
    }

    fn event(&mut self, deed: Deed, kind: &str) -> EventBuilder {
        self.now += 1;
        let (action, command) = match deed {
            Deed::Test { .. } => ("Test", "cargo test"),
            Deed::Read => ("Read", "cat README.md"),
            Deed::Commit => ("Commit", "git commit -m done"),
        };
        let command = dogwood_language::Value::String(command.to_owned());
        Event::builder(&format!("Agent::Action::{action}"), kind)
            .timestamp(self.now)
            .principal("Agent::User::\"a\"")
            .resource("Agent::Project::\"p\"")
            .field("input", "command", command.clone())
            .request_context("input", "command", command)
    }

    fn ended(&mut self, deed: Deed) {
        let passed = !matches!(deed, Deed::Test { passes: false });
        let event = self.event(deed, "response");
        let event = event.field("output", "passed", dogwood_language::Value::Bool(passed)).build();
        self.engine.observe(&event);
    }

    fn ask(&mut self, event: &Event) -> bool {
        self.engine.observe(event);
        self.engine.evaluate().expect("a value").values().all(|holds| *holds)
    }
}

/// The right answers: nothing before any test, nothing after a failed one, a commit after a passed one.
fn check() {
    let (mut lictor, mut dogwood) = (Lictor::new(), Dogwood::new());
    let mut both = |deed: Option<Deed>, may_commit: bool| {
        if let Some(deed) = deed {
            assert!(lictor.ask(deed));
            lictor.ended(deed);
            let event = dogwood.event(deed, "request").build();
            dogwood.ask(&event);
            dogwood.ended(deed);
        }
        assert_eq!(lictor.ask(Deed::Commit), may_commit, "Lictor");
        let event = dogwood.event(Deed::Commit, "request").build();
        assert_eq!(dogwood.ask(&event), may_commit, "dogwood");
    };
    both(None, false);
    both(Some(Deed::Read), false);
    both(Some(Deed::Test { passes: false }), false);
    both(Some(Deed::Test { passes: true }), true);
    both(Some(Deed::Read), true);
}

pub fn run() -> Json {
    check();
    let mut sessions: Vec<(usize, Lictor, Dogwood)> = EARLIER
        .into_iter()
        .map(|earlier| {
            let (mut lictor, mut dogwood) = (Lictor::new(), Dogwood::new());
            // Two events a call: what was asked, and what came of it.
            for deed in (0..earlier / 2).map(deed) {
                assert!(lictor.ask(deed));
                lictor.ended(deed);
                let event = dogwood.event(deed, "request").build();
                dogwood.engine.observe(&event);
                dogwood.ended(deed);
            }
            (earlier, lictor, dogwood)
        })
        .collect();
    let bytes: Vec<usize> = sessions
        .iter()
        .map(|(_, lictor, _)| serde_json::to_string(&lictor.state).expect("a state is JSON").len())
        .collect();
    let mut entries = Vec::new();
    for (_, lictor, dogwood) in &mut sessions {
        entries.push(Entry::new("Lictor", || {
            assert!(lictor.ask(Deed::Commit));
        }));
        let mut event = dogwood.event(Deed::Commit, "request").build();
        event = black_box(event);
        entries.push(Entry::new("dogwood-local-engine", move || {
            assert!(dogwood.ask(&event));
        }));
    }
    let timed = interleaved(entries, ROUNDS, BATCH);
    println!("one sequencing rule: decide a commit and take it into the history\n");
    println!(
        "| earlier events | Lictor p10 ns | Lictor p50 ns | dogwood p10 ns | dogwood p50 ns | p50 ratio | Lictor's session, bytes |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut all = Vec::new();
    for ((earlier, pair), bytes) in EARLIER.into_iter().zip(timed.chunks(2)).zip(bytes) {
        let [lictor, dogwood] = pair else { unreachable!("two entries a session") };
        println!(
            "| {earlier} | {:.0} | {:.0} | {:.0} | {:.0} | {:.1}× | {bytes} |",
            lictor.p10,
            lictor.p50,
            dogwood.p10,
            dogwood.p50,
            dogwood.p50 / lictor.p50
        );
        let rows: Vec<Json> = pair.iter().map(Timed::json).collect();
        all.push(json!({ "earlier": earlier, "engines": rows, "session_bytes": bytes }));
    }
    println!();
    Json::Array(all)
}
