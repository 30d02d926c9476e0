//! A long session costs what a short one does: everything it remembers is bounded, rule by rule.

use lictor_core::feedback::{Advice, Feedback, Said};
use lictor_core::history::{Ended, History, Pattern, RECENT_TIMES, What};
use lictor_core::{Decision, Facts, SessionEvent};

use crate::session::{Session, call};

const EVENTS: usize = 100_000;

/// What a policy with a few of everything remembers.
fn history() -> History {
    let mut history = History::default();
    history.track(Pattern::of(What::Name("write".into())), None);
    history.track(Pattern::of(What::Name("test".into())).ended(Ended::Ok), None);
    history.track(Pattern::of(What::Name("deploy".into())), Some(36_000_000));
    history
}

fn size(session: &Session) -> usize {
    serde_json::to_vec(&session.state).unwrap().len()
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
    // Only numbers grow, by a digit now and then.
    assert!(late <= early + early / 10, "{early} bytes after 10 000 events, {late} after {EVENTS}");
    assert!(late < 64 * 1024, "{late} bytes");
    // The bound of each rule: one track, and for a count over a window its moments.
    let tracks = &session.state.past.tracks;
    assert_eq!(tracks.len(), 3);
    assert!(tracks.values().all(|track| track.recent.len() <= RECENT_TIMES));
    assert_eq!(tracks.values().filter(|track| track.recent.is_empty()).count(), 2);
}
