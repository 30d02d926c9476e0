use super::GitChanges;

#[test]
fn verbs_change_what_the_table_says() {
    let changes = |index, tree, refs| Some(GitChanges { index, tree, refs });
    assert_eq!(GitChanges::of("status"), changes(false, false, false));
    assert_eq!(GitChanges::of("add"), changes(true, false, false));
    assert_eq!(GitChanges::of("clean"), changes(false, true, false));
    assert_eq!(GitChanges::of("branch"), changes(false, false, true));
    assert_eq!(GitChanges::of("merge"), changes(true, true, true));
    assert_eq!(GitChanges::of("no-such-verb"), None);
}

#[test]
fn every_row_is_well_formed() {
    for row in crate::words::GIT_VERBS {
        let (verb, changes) = row.split_once('=').unwrap_or_default();
        assert!(!verb.is_empty(), "{row}");
        let known = |part: &str| matches!(part, "index" | "tree" | "refs");
        assert!(changes == "-" || changes.split(',').all(known), "{row}");
        let same = crate::words::GIT_VERBS.iter().filter(|other| other.split('=').next() == Some(verb));
        assert_eq!(same.count(), 1, "{row}");
    }
}
