use crate::action::Action;
use crate::clock::Timestamp;
use crate::completion::{Completion, StopCheck};
use crate::decision::Decision;
use crate::event::{Happened, Judgement, Outcome, SessionEvent, Standing};
use crate::history::Mark;
use crate::scope::{Limit, Scope};

use super::*;

/// A state with a value in every field that events set.
fn busy(calls: u64) -> SessionState {
    let mut state = SessionState::default();
    let limit = Limit { read_only: true, ..Limit::default() };
    let scope = Scope::unlimited().narrow(limit);
    let policy = crate::Digest::of(b"policy");
    state.apply(&SessionEvent::Started { policy, parent: None, scope }, Timestamp(1));
    for call in 0..calls {
        let id = Some(format!("call-{call}"));
        let action = crate::Digest::of(&call.to_be_bytes());
        let mark =
            Mark { key: "bash(\"cargo test\")".to_owned(), ended: None, window: Some(60_000), most: None };
        let decision = if call % 7 == 3 { Decision::Block } else { Decision::Pass };
        let judgement = Judgement {
            action,
            tool_use_id: id.clone(),
            tags: vec!["network".to_owned()],
            marks: vec![mark],
            spends: [("tokens".to_owned(), 3)].into(),
            dialect: Some("an agent".to_owned()),
            ..Judgement::new(&Action::bash("cargo test"), decision)
        };
        let at = Timestamp(1_700_000_000_000 + i64::try_from(call).unwrap() * 900);
        state.apply(&SessionEvent::Judged(judgement), at);
        if call % 2 == 0 {
            let happened = Happened {
                action,
                tool_use_id: id,
                standing: Standing::Governed,
                outcome: Outcome::success(),
                marks: Vec::new(),
                learned: Vec::new(),
                left: Vec::new(),
                notes: Default::default(),
            };
            state.apply(&SessionEvent::Happened(happened), at);
        }
    }
    let outcome = Completion::Incomplete { reasons: vec!["tests".to_owned()], round: 1, of: 3 };
    let check =
        StopCheck { outcome, evidence: Some(policy), passes: Vec::new(), observed: false, for_person: false };
    state.apply(&SessionEvent::StopChecked(check), Timestamp(1_800_000_000_000));
    state
}

#[test]
fn a_state_comes_back_as_it_was() {
    for calls in [0, 1, 5, 100] {
        let state = busy(calls);
        let bytes = state.to_bytes().unwrap();
        assert_eq!(SessionState::from_bytes(&bytes).unwrap(), state, "{calls} calls");
        let json = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<SessionState>(&json).unwrap(), state, "{json}");
    }
    assert_eq!(
        SessionState::from_bytes(&SessionState::default().to_bytes().unwrap()),
        Ok(SessionState::default())
    );
}

#[test]
fn a_large_state_keeps_its_length() {
    let lengths: Vec<usize> = (100..120).map(|calls| busy(calls).to_bytes().unwrap().len()).collect();
    assert!(lengths.iter().all(|length| length % STEP == 0), "{lengths:?}");
    assert!(busy(1).to_bytes().unwrap().len() < SMALL);
}

#[test]
fn what_is_no_state_is_refused() {
    for bytes in [b"".as_slice(), b"\0", b"\x02", b"\x01", b"\x01\xff\xff", b"[]"] {
        assert_eq!(SessionState::from_bytes(bytes), Err(NotAState), "{bytes:?}");
    }
    let bytes = busy(3).to_bytes().unwrap();
    assert_eq!(SessionState::from_bytes(&bytes[..bytes.len() / 2]), Err(NotAState));
}

#[test]
fn a_session_of_0_1_0_begins_anew() {
    let old =
        br#"{"action_count":33,"open":[],"pace":"]{cj|g3","past":{"position":33},"started":1794854269725}"#;
    assert_eq!(SessionState::from_bytes(old), Ok(SessionState::default()));
}

#[test]
fn what_is_empty_is_not_shown() {
    let empty = SessionState::default().shown();
    assert!(empty.as_object().unwrap().values().all(serde_json::Value::is_u64), "{empty}");
    let shown = busy(4).shown();
    assert_eq!(shown["closed"][0].as_str().map(str::len), Some(16));
    assert_eq!(shown["open"][0]["position"], 2);
    assert!(shown["open"][0].get("observed").is_none() && shown.get("todos").is_none());
    assert!(shown["completion"].get("passes").is_none() && shown["completion"]["rounds"] == 1);
}
