use std::collections::BTreeSet;

use super::{ENTRIES, NAMES, find};

#[test]
fn names_are_sorted_and_found() {
    assert!(NAMES.is_sorted_by(|(one, _), (other, _)| one < other));
    for (name, entry) in NAMES {
        let found = find(name).unwrap();
        assert!(std::ptr::eq(found, &ENTRIES[entry]), "{name}");
        assert!(found.program.names.iter().any(|known| known == name), "{name}");
    }
    let names: BTreeSet<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), NAMES.len());
    assert!(find("mkfs.ext4").is_some() && find("mkfs.").is_some());
    assert!(find("no-such-program").is_none() && find("").is_none() && find("no.such").is_none());
}
