use std::thread;

use super::*;

#[test]
fn whoever_has_committed_waits_for_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    std::fs::write(&log, "").unwrap();
    let syncs = Syncs::default();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let commit = syncs.committed();
                    syncs.wait(commit, &log).unwrap();
                    assert!(syncs.state().synced >= commit);
                }
            });
        }
    });
    let state = syncs.state();
    assert_eq!((state.committed, state.synced, state.under_way), (160, 160, false));
}

#[test]
fn after_the_disk_has_refused_nothing_is_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let syncs = Syncs::default();
    let commit = syncs.committed();
    assert!(syncs.wait(commit, &log).is_err());
    std::fs::write(&log, "").unwrap();
    assert!(syncs.wait(commit, &log).is_err(), "the log that was written is not this one");
    assert!(!syncs.work());
}
