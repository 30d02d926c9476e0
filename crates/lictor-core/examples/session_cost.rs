//! The cost of one tool call in a session after 10 to 100 000 calls: what two hook processes do with the state,
//! before the call and after it. Each reads it; the first judges the call by rules about the past, the second
//! takes what came of it; both take their event in and write the state back.
//!
//! `cargo xtask bench session` runs this and writes the table of `docs/benchmarks.md`:
//!
//! - `session_cost DIRECTORY` goes through a session, leaves its state in the directory at each length, and prints
//!   `calls`, `bytes` that a hook reads and `nanoseconds` for a call of the fastest round;
//! - `session_cost FILE` makes the same few calls on top of such a state, for a tool that counts the instructions of
//!   [`parse`], [`judge`], [`fold`] and [`write`].
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example that measures"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use lictor_core::event::{Happened, Judgement};
use lictor_core::facts::{Access, Effect, Existence, Place};
use lictor_core::history::{Ended, History, Pattern, What};
use lictor_core::tools::{Group, Knowledge, Need, ReadBeforeWrite, RequireFirst, Sequence, asked};
use lictor_core::{
    Action, ActionKind, All, Decision, Digest, Facts, Graph, Outcome, SessionEvent, SessionState, Standing,
    Timestamp,
};

/// The lengths of session that are measured.
const LENGTHS: [u64; 5] = [10, 100, 1_000, 10_000, 100_000];
/// In turns. `deploy` may run after `test`; `release` may not, and is blocked each time. `read` reads a file that was not
/// seen before, and the two `write` after it may overwrite it.
const TOOLS: [&str; 8] = ["write", "test", "deploy", "search", "read", "release", "search", "write"];
/// How many rounds of calls are timed.
const TIMED: u32 = 250;

struct Policy {
    graph: Graph,
    history: History,
}

impl Policy {
    fn new() -> Self {
        let name = |name: &str| Pattern::of(What::Name(name.to_owned()));
        let mut history = History::default();
        let need = |what: &str, within, undone_by: &[&str]| Need {
            what: name(what),
            within,
            undone_by: undone_by.iter().map(|by| name(by)).collect(),
        };
        let rules = vec![
            RequireFirst {
                gated: name("deploy"),
                needs: vec![need("test", Some(3_600_000), &["write"])],
                same_line: false,
            },
            RequireFirst { gated: name("release"), needs: vec![need("sign", None, &[])], same_line: false },
        ];
        let sequence = Sequence::new("tools", rules, &mut history).unwrap();
        // As `count(ok("deploy"), "10m") < 9` has it kept.
        history.count(name("deploy").ended(Ended::Ok), 600_000, Some(10));
        let graph = Graph::new(All::new((sequence, ReadBeforeWrite::new("read_before_write")))).unwrap();
        Self { graph, history }
    }
}

/// A session as a store keeps it: the state, and the groups of files that it knows.
#[derive(Clone)]
struct Stored {
    state: Vec<u8>,
    groups: BTreeMap<Group, String>,
}

/// One call of a session.
struct Call {
    action: Action,
    facts: Facts,
    now: Timestamp,
}

impl Call {
    fn number(number: u64) -> Self {
        let mut action = Action::new(ActionKind::Tool, serde_json::Map::new());
        let index = usize::try_from(number).unwrap() % TOOLS.len();
        action.tool = TOOLS.get(index).copied().unwrap_or("x").to_owned();
        action.payload.insert("number".to_owned(), number.into());
        // As long as those of Claude Code.
        action.tool_use_id = Some(format!("toolu_01{number:022}"));
        let facts = match index {
            4 => touching(Access::Read, number),
            7 | 0 => touching(Access::Write, number.saturating_sub(if index == 7 { 3 } else { 4 })),
            _ => Facts::none(),
        };
        let now = Timestamp(1_790_000_000_000 + i64::try_from(number).unwrap() * 1_000);
        Self { action, facts, now }
    }
}

/// A file of the project that never changes.
fn touching(access: Access, number: u64) -> Facts {
    let path = format!("src/module_{number}/handler.rs");
    let content = Some(Digest::of(path.as_bytes()));
    let target =
        Place { existence: Existence::File, content, ..Place::project_file("/home/user/project", &path) };
    Facts { effects: vec![Effect::File { access, target, recursive: false, by: None }], opaque: vec![] }
}

/// The state with its knowledge of these files.
#[inline(never)]
fn parse<'a>(stored: &Stored, files: impl Iterator<Item = &'a str>) -> SessionState {
    let mut state = SessionState::from_bytes(black_box(&stored.state)).unwrap();
    for group in files.map(Group::of) {
        if let Some(text) = stored.groups.get(&group) {
            state.files.restore(group, text.clone()).unwrap();
        }
    }
    state
}

#[inline(never)]
fn judge(policy: &Policy, call: &Call, state: &SessionState) -> Judgement {
    let judged = policy.graph.judge(&call.action, &call.facts, state, call.now);
    Judgement {
        marks: policy.history.marks(&call.action, &call.facts),
        ..Judgement::new(&call.action, judged.value.settle())
    }
}

#[inline(never)]
fn fold(state: &mut SessionState, event: &SessionEvent, now: Timestamp) {
    state.apply(event, now);
}

#[inline(never)]
fn write(mut state: SessionState, stored: &mut Stored) {
    let files = std::mem::take(&mut state.files);
    stored.state = black_box(&state).to_bytes().unwrap();
    stored.groups.extend(files.groups().map(|(group, text)| (group, text.to_owned())));
}

fn before(policy: &Policy, call: &Call, stored: &mut Stored) -> Decision {
    let mut state = parse(stored, asked(&call.facts));
    let judgement = judge(policy, call, &state);
    let decision = judgement.decision;
    fold(&mut state, &SessionEvent::Judged(judgement), call.now);
    write(state, stored);
    decision
}

fn after(call: &Call, stored: &mut Stored) {
    let learned = Knowledge::gained(&call.facts);
    let mut state = parse(stored, learned.iter().map(|file| file.path.as_str()));
    let event = SessionEvent::Happened(Happened {
        action: call.action.digest(),
        tool_use_id: call.action.tool_use_id.clone(),
        standing: Standing::Governed,
        outcome: Outcome::success(),
        marks: Vec::new(),
        learned,
        left: Vec::new(),
        notes: Vec::new(),
    });
    fold(&mut state, &event, call.now);
    write(state, stored);
}

/// One call from beginning to end.
fn make(policy: &Policy, number: u64, stored: &mut Stored) {
    let call = Call::number(number);
    let decision = before(policy, &call, stored);
    assert_eq!(
        decision == Decision::Block,
        call.action.tool == "release",
        "the rules give the right answers"
    );
    if decision != Decision::Block {
        after(&call, stored);
    }
}

/// Each tool once more.
fn a_round(policy: &Policy, number: u64, mut stored: Stored) -> Stored {
    (1..=TOOLS.len() as u64).for_each(|more| make(policy, number + more, &mut stored));
    stored
}

fn main() {
    let place = std::env::args().nth(1).unwrap();
    let place = Path::new(&place);
    let policy = Policy::new();
    if place.is_file() {
        let number = place.file_stem().unwrap().to_str().unwrap().parse::<u64>().unwrap();
        let mut state: SessionState = serde_json::from_slice(&std::fs::read(place).unwrap()).unwrap();
        let files = std::mem::take(&mut state.files);
        let groups = files.groups().map(|(group, text)| (group, text.to_owned())).collect();
        a_round(&policy, number, Stored { state: state.to_bytes().unwrap(), groups });
        return;
    }
    let mut stored = Stored { state: SessionState::default().to_bytes().unwrap(), groups: BTreeMap::new() };
    let mut number = 0;
    for length in LENGTHS {
        while number < length {
            number += 1;
            make(&policy, number, &mut stored);
        }
        let mut state = SessionState::from_bytes(&stored.state).unwrap();
        for (group, text) in &stored.groups {
            state.files.restore(*group, text.clone()).unwrap();
        }
        std::fs::write(place.join(format!("{length}.json")), serde_json::to_vec(&state).unwrap()).unwrap();
        // The measured call is not added to the session, so each row has a session of exactly its length.
        let mut fastest = Duration::MAX;
        for _ in 0..TIMED {
            let copy = stored.clone();
            let begun = Instant::now();
            black_box(a_round(&policy, number, copy));
            fastest = fastest.min(begun.elapsed());
        }
        println!("{length} {} {}", stored.state.len(), fastest.as_nanos() / TOOLS.len() as u128);
    }
}
