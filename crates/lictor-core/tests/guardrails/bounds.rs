//! The cost of a session does not grow: its state is bounded, rule by rule.

use lictor_core::event::{Happened, Judgement};
use lictor_core::feedback::{Advice, Feedback, Said};
use lictor_core::history::{Ended, History, Pattern, RECENT_TIMES, What};
use lictor_core::session::Todos;
use lictor_core::tools::{FILES_KEPT, Knowledge};
use lictor_core::{Decision, Digest, Facts, Outcome, SessionEvent, SessionState, Standing, Timestamp};

use crate::session::{Session, call};

const EVENTS: usize = 100_000;

/// The history of a policy with rules of every kind.
fn history() -> History {
    let mut history = History::default();
    history.track(Pattern::of(What::Name("write".into())), None);
    history.track(Pattern::of(What::Name("test".into())).ended(Ended::Ok), None);
    history.track(Pattern::of(What::Name("deploy".into())), Some(36_000_000));
    history
}

fn size(session: &Session) -> usize {
    session.state.to_bytes().unwrap().len()
}

#[test]
fn the_state_of_a_long_session_is_no_larger_than_that_of_a_short_one() {
    let history = history();
    let mut session = Session::default();
    let mut sizes = Vec::new();
    for event in 0..EVENTS {
        let action = call(["write", "test", "deploy", "x"][event % 4]);
        let id = session.judge(&action, &Facts::none(), &history, Decision::Pass);
        session.end(&action, &Facts::none(), &id, event % 3 > 0);
        if event % 10 == 0 {
            let said = Said::Feedback(Feedback::say("go on"));
            let provider = format!("provider {event}");
            session.apply(&SessionEvent::Advised { advice: vec![Advice { provider, by_file: false, said }] });
        }
        if [10_000, EVENTS - 1].contains(&event) {
            sizes.push(size(&session));
        }
    }
    assert_eq!(session.state.action_count, EVENTS as u64);
    let [early, late] = sizes[..] else { panic!("{sizes:?}") };
    // Only numbers grow.
    assert!(late <= early + early / 10, "{early} bytes after 10 000 events, {late} after {EVENTS}");
    assert!(late < 64 * 1024, "{late} bytes");
    // The bound of each rule: one track, and for a count over a window its timestamps.
    let tracks = &session.state.past.tracks;
    assert_eq!(tracks.len(), 3);
    assert!(tracks.values().all(|track| track.recent.len() <= RECENT_TIMES));
    assert_eq!(tracks.values().filter(|track| track.recent.is_empty()).count(), 2);
}

/// The bounds of a session in `docs/guardrails.md`. The list of tasks and the known files are additional.
const STATE: usize = 16 * 1024;
const TASKS: usize = 176 * 1024;
const GROUP: usize = 16 * 80;

/// A different name each time, sometimes a long or hostile one.
fn chosen(what: &str, number: usize) -> String {
    match number % 1_000 {
        998 => format!("{what} {number} {}", "\u{1}\"\\".repeat(2_000)),
        999 => format!("{what} {number} {}", "x".repeat(10_000)),
        _ => format!("{what}-{number}"),
    }
}

#[test]
fn a_hostile_session_stays_within_its_bounds() {
    let history = history();
    let mut state = SessionState::default();
    let mut largest = [0; 2];
    for event in 0..EVENTS {
        let now = Timestamp(1_790_000_000_000 + event as i64 * 997);
        let mut action = call(["write", "test", "deploy", "TaskCreate"][event % 4]);
        if event < 3_000 {
            action.payload.insert("subject".to_owned(), "\u{10ffff}\u{1}".repeat(500).into());
        }
        let id = chosen("call", event);
        let judgement = Judgement {
            action: Digest::of(&event.to_le_bytes()),
            kind: chosen("kind", event),
            tool: chosen("tool", event),
            tool_use_id: Some(id.clone()),
            dialect: Some("claude-code".to_owned()),
            marks: history.marks(&action, &Facts::none()),
            ..Judgement::new(&action, if event % 5 == 0 { Decision::Block } else { Decision::Pass })
        };
        let digest = judgement.action;
        let judged = SessionEvent::Judged(judgement);
        state.apply(&judged, now);
        state.apply_below(&judged, now);
        // Half of the outcomes are never reported.
        if event % 2 == 0 {
            let learned = vec![Knowledge { path: chosen("/p/file", event), content: Some(digest) }];
            let happened = Happened {
                action: digest,
                tool_use_id: Some(id),
                standing: Standing::Governed,
                outcome: Outcome::success(),
                marks: Vec::new(),
                learned,
                left: Vec::new(),
                notes: Vec::new(),
            };
            state.apply(&SessionEvent::Happened(happened), now);
        }
        if let Some(todos) = Some(&action)
            .filter(|_| event < 3_000)
            .and_then(|action| Todos::after(state.todos.as_ref(), action))
        {
            state.apply(&SessionEvent::Listed { todos }, now);
        }
        if event % 1_000 == 999 {
            let files = std::mem::take(&mut state.files);
            let todos = state.todos.take();
            let sizes = [state.to_bytes().unwrap().len(), serde_json::to_vec(&todos).unwrap().len()];
            largest = [largest[0].max(sizes[0]), largest[1].max(sizes[1])];
            (state.files, state.todos) = (files, todos);
        }
    }
    assert!(largest[0] <= STATE, "{} bytes", largest[0]);
    assert!(largest[1] <= TASKS, "{} bytes of tasks", largest[1]);
    assert!(state.files.groups().all(|(_, text)| text.len() <= GROUP));
    let files: usize = state.files.groups().map(|(_, text)| text.len()).sum();
    assert_eq!(files, FILES_KEPT * 80, "all of the room is used, and no more");
}
