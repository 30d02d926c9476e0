//! What one tool call costs a session that has been through 10 to 100 000 of them: what two hook processes do with the
//! state, before the call and after it. Each reads it; the first judges the call by rules about the past, the second
//! takes what came of it; both take their event in and write the state back.
//!
//! `cargo xtask bench session` runs this and writes the table of `docs/benchmarks.md`:
//!
//! - `session_cost DIRECTORY` goes through a session, leaves its state in the directory at each length, and prints
//!   `calls`, `bytes` and `nanoseconds for a call`;
//! - `session_cost FILE` makes the same few calls on top of such a state, for a tool that counts instructions.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example that measures"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use lictor_core::event::{Happened, Judgement};
use lictor_core::history::{Ended, History, Pattern, What};
use lictor_core::tools::{Need, RequireFirst, Sequence};
use lictor_core::{
    Action, ActionKind, Decision, Facts, Graph, Outcome, SessionEvent, SessionState, Standing, Timestamp,
};

/// The lengths of session that are measured.
const LENGTHS: [u64; 5] = [10, 100, 1_000, 10_000, 100_000];
/// In turns. `deploy` may run after `test`; `release` may not, and is blocked each time.
const TOOLS: [&str; 8] = ["write", "test", "deploy", "search", "read", "release", "search", "write"];
/// How many rounds of calls are timed.
const TIMED: u128 = 250;

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
        Self { graph: Graph::new(sequence).unwrap(), history }
    }
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
        Self {
            action,
            facts: Facts::none(),
            now: Timestamp(1_790_000_000_000 + i64::try_from(number).unwrap() * 1_000),
        }
    }
}

#[inline(never)]
fn parse(bytes: &[u8]) -> SessionState {
    serde_json::from_slice(black_box(bytes)).unwrap()
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
fn write(state: &SessionState) -> Vec<u8> {
    serde_json::to_vec(black_box(state)).unwrap()
}

fn before(policy: &Policy, call: &Call, stored: &[u8]) -> (Vec<u8>, Decision) {
    let mut state = parse(stored);
    let judgement = judge(policy, call, &state);
    let decision = judgement.decision;
    fold(&mut state, &SessionEvent::Judged(judgement), call.now);
    (write(&state), decision)
}

fn after(call: &Call, stored: &[u8]) -> Vec<u8> {
    let mut state = parse(stored);
    let event = SessionEvent::Happened(Happened {
        action: call.action.digest(),
        tool_use_id: call.action.tool_use_id.clone(),
        standing: Standing::Governed,
        outcome: Outcome::success(),
        marks: Vec::new(),
        learned: Vec::new(),
    });
    fold(&mut state, &event, call.now);
    write(&state)
}

/// One call from beginning to end.
fn make(policy: &Policy, number: u64, stored: &[u8]) -> Vec<u8> {
    let call = Call::number(number);
    let (stored, decision) = before(policy, &call, stored);
    assert_eq!(
        decision == Decision::Block,
        call.action.tool == "release",
        "the rules give the right answers"
    );
    if decision == Decision::Block { stored } else { after(&call, &stored) }
}

/// Each tool once more.
fn a_round(policy: &Policy, number: u64, stored: Vec<u8>) -> Vec<u8> {
    (1..=TOOLS.len() as u64).fold(stored, |stored, more| make(policy, number + more, &stored))
}

fn main() {
    let place = std::env::args().nth(1).unwrap();
    let place = Path::new(&place);
    let policy = Policy::new();
    if place.is_file() {
        let number = place.file_stem().unwrap().to_str().unwrap().parse::<u64>().unwrap();
        a_round(&policy, number, std::fs::read(place).unwrap());
        return;
    }
    let mut stored = b"{}".to_vec();
    let mut number = 0;
    for length in LENGTHS {
        while number < length {
            number += 1;
            stored = make(&policy, number, &stored);
        }
        std::fs::write(place.join(format!("{length}.json")), &stored).unwrap();
        // What is timed does not count for the session, so each row is about the session of its length.
        let begun = Instant::now();
        for _ in 0..TIMED {
            black_box(a_round(&policy, number, stored.clone()));
        }
        let calls = TIMED * TOOLS.len() as u128;
        println!("{length} {} {}", stored.len(), begun.elapsed().as_nanos() / calls);
    }
}
