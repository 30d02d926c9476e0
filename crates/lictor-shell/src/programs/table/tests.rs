use std::collections::BTreeSet;

use super::{ENTRIES, NAMES, find, is};
use crate::describe::Trait;

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

/// Every trait that code asks for stands in a description, and only there where it is true.
#[test]
fn every_trait_is_true_of_some_programs_and_not_of_all() {
    for (name, wanted) in Trait::NAMED {
        let with = NAMES.iter().filter(|(program, _)| is(program, wanted)).count();
        assert!(with > 0 && with < 100, "{name}: {with} programs");
    }
    assert!(is("tar", Trait::TakesTrees) && !is("unzip", Trait::TakesTrees));
    assert!(is("cat", Trait::PrintsFiles) && !is("head", Trait::PrintsFiles));
}
