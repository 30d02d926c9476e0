use super::*;
use crate::action::Action;
use crate::event::Outcome;

const FILE: &str = "/p/src/a.rs";

fn blob(number: u8) -> Blob {
    Blob::from_bytes([number; 20])
}

fn state(number: u8) -> Vec<FileState> {
    vec![FileState { path: FILE.to_owned(), content: Some(blob(number)) }]
}

fn found(decision: Decision, number: u8) -> Judgement {
    Judgement { found: state(number), ..Judgement::new(&Action::bash(""), decision) }
}

fn left(number: u8) -> Happened {
    Happened {
        action: Digest::ZERO,
        tool_use_id: None,
        standing: Standing::Governed,
        outcome: Outcome::success(),
        marks: Vec::new(),
        learned: Vec::new(),
        left: state(number),
        notes: Vec::new(),
    }
}

/// Edits that continue from the previous one, or not.
fn after(steps: &[(u8, u8)]) -> Edits {
    let mut edits = Edits::default();
    for (before, after) in steps {
        edits.judged(&found(Decision::Pass, *before));
        edits.happened(&left(*after));
    }
    edits
}

fn contents(edits: &Edits) -> Vec<u8> {
    edits.contents(FILE).iter().map(|blob| blob.0[0]).collect()
}

#[test]
fn edits_follow_each_other() {
    assert_eq!(contents(&after(&[(1, 2), (2, 3), (3, 3), (3, 4)])), [1, 2, 3, 4]);
}

#[test]
fn what_somebody_else_changed_begins_anew() {
    assert_eq!(contents(&after(&[(1, 2), (7, 8)])), [7, 8]);
}

#[test]
fn an_edit_that_was_asked_about_says_nothing() {
    let mut edits = after(&[(1, 2)]);
    edits.judged(&found(Decision::Ask, 2));
    edits.happened(&left(3));
    assert!(contents(&edits).is_empty());
}

#[test]
fn only_what_was_judged_and_worked_counts() {
    let unseen = Happened { standing: Standing::Ungoverned, ..left(3) };
    let bypass = Happened { standing: Standing::Bypass, ..left(3) };
    let failed = Happened { outcome: Outcome::failure("x"), ..left(3) };
    for happened in [unseen, bypass, failed] {
        let mut edits = after(&[(1, 2)]);
        edits.happened(&happened);
        assert_eq!(contents(&edits), [1, 2], "{happened:?}");
    }
    for judgement in [
        found(Decision::Block, 9),
        Judgement { dry: true, ..found(Decision::Pass, 9) },
        Judgement { duplicate: true, ..found(Decision::Pass, 9) },
    ] {
        let mut edits = after(&[(1, 2)]);
        edits.judged(&judgement);
        assert_eq!(contents(&edits), [1, 2], "{judgement:?}");
    }
}

#[test]
fn what_cannot_be_read_is_forgotten() {
    let unread = vec![FileState { path: FILE.to_owned(), content: None }];
    let mut edits = after(&[(1, 2)]);
    edits.happened(&Happened { left: unread.clone(), ..left(0) });
    assert!(contents(&edits).is_empty());
    let mut edits = after(&[(1, 2)]);
    edits.judged(&Judgement { found: unread, ..found(Decision::Pass, 0) });
    assert!(contents(&edits).is_empty());
}

#[test]
fn the_first_content_outlives_many_edits() {
    let edits = after(&(1..100).map(|number| (number, number + 1)).collect::<Vec<_>>());
    let kept = contents(&edits);
    assert_eq!((kept.len(), kept[0], kept[CONTENTS_KEPT - 1]), (CONTENTS_KEPT, 1, 100));
    assert_eq!(kept[1], 86, "and the newest others");
}

#[test]
fn the_state_is_bounded() {
    let mut edits = Edits::default();
    for number in 0..20_000 {
        let path = format!("/p/{number}");
        let found = vec![FileState { path: path.clone(), content: Some(blob(1)) }];
        edits.judged(&Judgement { found, ..Judgement::new(&Action::bash(""), Decision::Pass) });
        assert_eq!(edits.contents(&path), [blob(1)]);
    }
    assert!(edits.groups.len() <= 256);
    assert!(edits.groups.values().all(|files| files.len() <= GROUP_KEPT));
}

#[test]
fn groups_come_back_as_they_were_stored() {
    let edits = after(&[(1, 2)]);
    let (group, bytes) = edits.changed().next().unwrap();
    let mut again = Edits::default();
    again.restore(group, &bytes).unwrap();
    assert_eq!(again.contents(FILE), edits.contents(FILE));
    assert_eq!(again.changed().count(), 0, "what is as it was need not be stored");
    for length in 0..bytes.len() {
        assert!(Edits::default().restore(group, &bytes[..length]).is_err());
    }
    assert!(Edits::default().restore(group, &[9, 0]).is_err());
}

#[test]
fn a_blob_is_written_as_git_writes_it() {
    let text = serde_json::to_string(&state(0xab)).unwrap();
    assert!(text.contains(&"ab".repeat(20)), "{text}");
    assert_eq!(serde_json::from_str::<Vec<FileState>>(&text).unwrap(), state(0xab));
    for wrong in ["\"ab\"".to_owned(), format!("\"{}\"", "gg".repeat(20)), format!("\"{}\"", "é".repeat(20))]
    {
        assert!(serde_json::from_str::<Blob>(&wrong).is_err());
    }
}
