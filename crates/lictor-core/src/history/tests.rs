use proptest::prelude::*;

use super::reference::Log;
use super::*;
use crate::clock::Timestamp;

const KEYS: [(&str, Option<Ended>); 4] = [
    ("write", None),
    ("ok(test)", Some(Ended::Ok)),
    ("failed(test)", Some(Ended::Failed)),
    ("blocked(x)", Some(Ended::Blocked)),
];
const WINDOW: u64 = 50;
/// How far one of the patterns is counted.
const MOST: u64 = 3;

fn mark(index: usize) -> Mark {
    let (key, ended) = KEYS[index];
    Mark { key: key.to_owned(), ended, window: Some(WINDOW), most: most(key) }
}

fn most(key: &str) -> Option<u64> {
    (key == "write").then_some(MOST)
}

/// One step of a random history.
#[derive(Debug, Clone)]
enum Step {
    Judge { marks: Vec<usize>, allowed: bool, wait: u8 },
    End { which: prop::sample::Index, success: bool, wait: u8 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let marks = prop::collection::btree_set(0..KEYS.len(), 0..=3).prop_map(|set| set.into_iter().collect());
    let step =
        prop_oneof![
            (marks, prop::bool::weighted(0.8), 0u8..40).prop_map(|(marks, allowed, wait)| Step::Judge {
                marks,
                allowed,
                wait
            }),
            (any::<prop::sample::Index>(), any::<bool>(), 0u8..40)
                .prop_map(|(which, success, wait)| Step::End { which, success, wait }),
        ];
    prop::collection::vec(step, 0..60)
}

/// Runs both and compares every answer after every step. Returns the first difference.
fn difference(steps: &[Step], mutate: fn(&mut Past)) -> Option<String> {
    let (mut past, mut log) = (Past::default(), Log::default());
    let mut now = Timestamp(1_000);
    let mut open: Vec<(u64, Vec<Mark>)> = Vec::new();
    for step in steps {
        match step {
            Step::Judge { marks, allowed, wait } => {
                now = now.plus_millis(i64::from(*wait));
                let marks: Vec<Mark> = marks.iter().map(|index| mark(*index)).collect();
                let position = past.judged(&marks, *allowed, now);
                assert_eq!(position, log.judged(&marks, *allowed, now));
                if *allowed {
                    open.push((position, marks));
                }
            }
            Step::End { which, success, wait } if !open.is_empty() => {
                now = now.plus_millis(i64::from(*wait));
                let (position, marks) = open.remove(which.index(open.len()));
                past.ended(&marks, position, *success, now);
                log.ended(position, *success, now);
            }
            Step::End { .. } => {}
        }
        // As between two hooks.
        past = serde_json::from_slice(&serde_json::to_vec(&past).unwrap()).unwrap();
        mutate(&mut past);
        for (key, _) in KEYS {
            for within in [None, Some(WINDOW), Some(WINDOW / 2)] {
                if past.formerly(key, within, now) != log.formerly(key, within, now) {
                    return Some(format!("formerly {key} {within:?}"));
                }
                // Up to the limit, the count is exact.
                let far = most(key).filter(|_| within.is_some()).unwrap_or(u64::MAX);
                if past.count(key, within, now) != log.count(key, within, now).min(far) {
                    return Some(format!("count {key} {within:?}"));
                }
            }
            if past.previous(key) != log.previous(key) {
                return Some(format!("previous {key}"));
            }
            for (other, _) in KEYS {
                if past.undisturbed(key, other) != log.undisturbed(key, other) {
                    return Some(format!("undisturbed {key} {other}"));
                }
            }
            if past.since("write", key) != log.since("write", key) {
                return Some(format!("since write {key}"));
            }
        }
    }
    None
}

proptest! {
    #[test]
    fn the_tracks_agree_with_the_log(steps in steps()) {
        prop_assert_eq!(difference(&steps, |_| {}), None);
    }
}

#[test]
fn a_planted_fault_is_found() {
    let judge =
        |mark: Option<usize>, allowed| Step::Judge { marks: mark.into_iter().collect(), allowed, wait: 0 };
    let steps = [judge(Some(3), false), judge(None, true), judge(Some(0), true)];
    assert_eq!(difference(&steps, |_| {}), None);
    assert!(
        difference(&steps, |past| past.tracks.values_mut().for_each(|track| track.run_start = 0)).is_some()
    );
}

#[test]
fn an_edit_while_the_tests_run_disturbs_them() {
    let mut past = Past::default();
    let (test, write) = ([mark(1)], [mark(0)]);
    let at = Timestamp(0);
    let first = past.judged(&test, true, at);
    past.judged(&write, true, at);
    past.ended(&test, first, true, at);
    assert!(past.formerly("ok(test)", None, at));
    assert!(!past.undisturbed("write", "ok(test)"));
    let again = past.judged(&test, true, at);
    past.ended(&test, again, true, at);
    assert!(past.undisturbed("write", "ok(test)"));
}

#[test]
fn an_action_that_does_both_undoes_what_it_did() {
    let mut past = Past::default();
    let both = [mark(0), mark(1)];
    let position = past.judged(&both, true, Timestamp(0));
    past.ended(&both, position, true, Timestamp(0));
    assert!(!past.undisturbed("write", "ok(test)"));
}

#[test]
fn space_is_bounded() {
    let mut past = Past::default();
    for at in 0..100_000 {
        past.judged(
            &[Mark { key: "write".into(), ended: None, window: Some(1 << 40), most: None }],
            true,
            Timestamp(at),
        );
    }
    assert_eq!(past.tracks["write"].recent.len(), RECENT_TIMES);
    assert_eq!(past.count("write", None, Timestamp(0)), 100_000);
}

#[test]
fn only_what_makes_a_difference_is_counted() {
    let mut history = History::default();
    let deploy = || Pattern::of(What::Name("deploy".into()));
    let key = history.count(deploy(), 1_000, Some(3));
    history.track(deploy(), None);
    let mark = |history: &History| {
        let mut action = Action::bash("x");
        action.tool = "deploy".into();
        history.marks(&action, &Facts::none()).remove(0)
    };
    assert_eq!((mark(&history).window, mark(&history).most), (Some(1_000), Some(3)));
    let mut past = Past::default();
    for at in 0..10 {
        past.judged(&[mark(&history)], true, Timestamp(at));
    }
    assert_eq!((past.tracks[&key].recent.len(), past.count(&key, Some(1_000), Timestamp(9))), (3, 3));
    let asked = history.clone();
    history.count(deploy(), 500, Some(7));
    assert_eq!(
        (mark(&history).window, mark(&history).most),
        (Some(1_000), Some(7)),
        "the most that anyone asks"
    );
    assert!(asked.is_kept_by(&history) && !history.is_kept_by(&asked));
    history.count(deploy(), 500, None);
    assert_eq!(mark(&history).most, None, "somebody wants all of them");
}

#[test]
fn a_clock_that_goes_back_makes_no_room() {
    let mut past = Past::default();
    for at in [1_000, 1_000, 1_000, 0, 0, 0] {
        past.judged(&[mark(0)], true, Timestamp(at));
    }
    assert_eq!(past.count("write", Some(WINDOW), Timestamp(1_000 + WINDOW as i64)), MOST);
}

#[test]
fn globs_stay_within_a_component_unless_doubled() {
    let hit = |glob: &str, path: &str| {
        use crate::facts::{Access, Effect, Place};
        let place = Place::project_file("/p", path);
        let effect = Effect::File { access: Access::Write, target: place, recursive: false, by: None };
        let facts = Facts { effects: vec![effect], opaque: vec![] };
        let mut pattern = Pattern::of(What::Name("write".into()));
        pattern.path = Some(glob.into());
        pattern.matches(&Action::bash("x"), &facts, &facts.deeds())
    };
    assert!(hit("src/*.rs", "src/main.rs"));
    assert!(!hit("src/*.rs", "src/a/main.rs"));
    assert!(hit("src/**", "src/a/main.rs"));
    assert!(hit("**/main.rs", "src/a/main.rs"));
    assert!(hit("**/*.r?", "main.rs"));
    assert!(!hit("*.rs", "main.rsx"));
}
