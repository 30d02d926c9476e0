//! What one event costs a session that has been through 10, 1 000 and 100 000 of them: judging with sequencing rules
//! and history questions, folding the event, serialising the state as a hook process does.
//!
//! `cargo run --release -p lictor-core --example session_cost`
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example that measures"
)]

use std::time::{Duration, Instant};

use lictor_core::event::{Happened, Judgement};
use lictor_core::history::{Ended, History, Pattern, What};
use lictor_core::tools::{Need, RequireFirst, Sequence};
use lictor_core::{
    Action, ActionKind, Facts, Graph, Outcome, SessionEvent, SessionState, Standing, Timestamp,
};

const TOOLS: [&str; 4] = ["write", "test", "deploy", "search"];
const SAMPLE: u32 = 1_000;

fn call(at: u64) -> Action {
    let mut action = Action::new(ActionKind::Tool, serde_json::Map::new());
    action.tool = TOOLS.get(usize::try_from(at).unwrap() % TOOLS.len()).copied().unwrap_or("x").to_owned();
    action.payload.insert("number".to_owned(), at.into());
    action
}

/// One call from judgement to stored state.
fn event(graph: &Graph, history: &History, state: &mut SessionState, at: u64) -> usize {
    let action = call(at);
    let now = Timestamp(i64::try_from(at).unwrap() * 1_000);
    let facts = Facts::none();
    let decision = graph.judge(&action, &facts, state, now).value.settle();
    let judgement = Judgement {
        tool_use_id: Some(format!("t{at}")),
        marks: history.marks(&action, &facts),
        ..Judgement::new(&action, decision)
    };
    state.apply(&SessionEvent::Judged(judgement), now);
    let happened = Happened {
        action: action.digest(),
        tool_use_id: Some(format!("t{at}")),
        standing: Standing::Governed,
        outcome: Outcome::success(),
        marks: Vec::new(),
        learned: Vec::new(),
    };
    state.apply(&SessionEvent::Happened(happened), now);
    serde_json::to_vec(state).map_or(0, |bytes| bytes.len())
}

fn main() {
    let name = |name: &str| Pattern::of(What::Name(name.to_owned()));
    let mut history = History::default();
    let need = Need { what: name("test"), within: Some(3_600_000), undone_by: vec![name("write")] };
    let rule = RequireFirst { gated: name("deploy"), needs: vec![need], same_line: false };
    let graph = Graph::new(Sequence::new("tools", vec![rule], &mut history).unwrap()).unwrap();
    history.track(name("deploy").ended(Ended::Ok), Some(600_000));

    let mut state = SessionState::default();
    let mut at = 0;
    println!("{:>10}  {:>12}  {:>12}", "events", "per event", "state");
    for events in [10, 1_000, 100_000] {
        while at < events {
            at += 1;
            event(&graph, &history, &mut state, at);
        }
        // The sample does not count for the session, so each row is about the session of its length.
        let mut spent = Duration::ZERO;
        let mut bytes = 0;
        for number in 0..SAMPLE {
            let mut copy = state.clone();
            let begun = Instant::now();
            bytes = event(&graph, &history, &mut copy, at + 1 + u64::from(number % 4));
            spent += begun.elapsed();
        }
        println!("{events:>10}  {:>9.1} µs  {bytes:>6} bytes", spent.as_secs_f64() * 1e6 / f64::from(SAMPLE));
    }
}
