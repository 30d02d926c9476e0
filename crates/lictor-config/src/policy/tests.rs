use super::*;
use crate::{Source, load};

fn source(origin: Origin, text: &str) -> Source {
    Source { origin, path: "governance.yaml".to_owned(), bytes: text.as_bytes().to_vec() }
}

fn sources(files: &[(Origin, &str)]) -> Vec<Source> {
    files.iter().map(|(origin, text)| source(*origin, text)).collect()
}

fn policy(files: &[(Origin, &str)]) -> PolicyBundle {
    load(&sources(files)).unwrap().policy
}

const EVERY_SECTION: &str = include_str!("../../tests/cases/every-section.yaml");

fn seal(parts: &[&[u8]]) -> Digest {
    Digest::of_parts([b"a secret".as_slice()].into_iter().chain(parts.iter().copied()))
}

#[test]
fn a_stored_policy_comes_back_whole() {
    let sources = sources(&[(Origin::Repository, EVERY_SECTION)]);
    let policy = load(&sources).unwrap().policy;
    let bytes = policy.to_cache(&sources, seal).unwrap();
    let back = PolicyBundle::from_cache(&bytes, &sources, seal).unwrap();
    assert_eq!((back.to_cache(&sources, seal), back.key()), (Some(bytes), policy.key()));
    assert_eq!(format!("{:?}", back.gate()), format!("{:?}", policy.gate()));
}

#[test]
fn a_damaged_or_foreign_store_is_no_store() {
    let files = sources(&[(Origin::Repository, EVERY_SECTION)]);
    let bytes = load(&files).unwrap().policy.to_cache(&files, seal).unwrap();
    let other = EVERY_SECTION.replacen("1", "1 ", 1);
    for others in
        [vec![], sources(&[(Origin::User, EVERY_SECTION)]), sources(&[(Origin::Repository, &other)])]
    {
        assert!(PolicyBundle::from_cache(&bytes, &others, seal).is_none());
    }
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        assert!(PolicyBundle::from_cache(&damaged, &files, seal).is_none(), "byte {at}");
        assert!(PolicyBundle::from_cache(&bytes[..at], &files, seal).is_none(), "cut at {at}");
    }
}

/// A cache that another build wrote under the same version is ignored, even if everything else matches.
#[test]
fn the_form_of_a_stored_policy_is_that_of_this_build() {
    let files = sources(&[(Origin::Repository, EVERY_SECTION)]);
    let bytes = load(&files).unwrap().policy.to_cache(&files, seal).unwrap();
    let form = env!("LICTOR_POLICY_FORM");
    assert_eq!(form.len(), 16);
    let other: String = form.chars().rev().collect();
    let at = bytes.windows(16).position(|bytes| bytes == form.as_bytes()).unwrap();
    let mut foreign = bytes.clone();
    foreign[at..at + 16].copy_from_slice(other.as_bytes());
    assert!(PolicyBundle::from_cache(&bytes, &files, seal).is_some());
    assert!(PolicyBundle::from_cache(&foreign, &files, seal).is_none());
}

#[test]
fn the_digest_follows_the_files_and_the_programs() {
    let one = policy(&[(Origin::User, "guards: {g: {command: [scripts/x.sh, -v]}}\npolicy: g\n")]);
    let other = policy(&[(Origin::User, "guards: {g: {command: [scripts/y.sh, -v]}}\npolicy: g\n")]);
    let bytes =
        |text: &'static str| move |word: &str| (word == "scripts/x.sh").then(|| Digest::of(text.as_bytes()));
    assert_ne!(one.key(), other.key());
    assert_ne!(one.digest(bytes("a")), one.digest(bytes("b")));
    assert_ne!(one.digest(bytes("a")), one.digest(|_| None));
    assert_eq!(one.digest(bytes("a")), one.digest(bytes("a")));
    // The same words from another place are another policy: a repository's programs need trust.
    let repository =
        policy(&[(Origin::Repository, "guards: {g: {command: [scripts/x.sh, -v]}}\npolicy: g\n")]);
    assert_ne!(one.key(), repository.key());
}

#[test]
fn every_program_is_listed_with_whose_it_is() {
    let policy =
        policy(&[(Origin::Repository, EVERY_SECTION), (Origin::User, "notify: {command: [notify-send]}\n")]);
    let found: Vec<(String, Origin, String)> = policy
        .programs()
        .into_iter()
        .map(|program| (program.what, program.origin, program.argv.join(" ")))
        .collect();
    let is = |what: &str, origin, argv: &str| (what.to_owned(), origin, argv.to_owned());
    assert_eq!(
        found,
        [
            is("notify", Origin::User, "notify-send"),
            is("guard deploy_checklist", Origin::Repository, "scripts/checklist.sh"),
            is("callback of policy bulk-delete", Origin::Repository, "scripts/is-tracked.sh"),
            is("completion", Origin::Repository, "cargo test -q"),
            is("council ship-it, reviewer security-reviewer", Origin::Repository, "scripts/review.sh"),
        ]
    );
}

#[test]
fn only_trusted_files_decide_what_is_not_about_guards() {
    let quiet =
        policy(&[(Origin::Repository, "mode: observe\nstore: postgres://x\nask_when_unattended: ask\n")]);
    assert!(!quiet.is_observing());
    assert_eq!(quiet.ask_when_unattended(), Decision::Block);
    let said = policy(&[
        (Origin::User, "mode: observe\nask_when_unattended: ask\n"),
        (Origin::Managed, "mode: enforce\nask_when_unattended: block\n"),
    ]);
    assert!(!said.is_observing(), "the managed file's word counts before the user's");
    assert_eq!(said.ask_when_unattended(), Decision::Block);
    assert!(policy(&[(Origin::User, "mode: observe\n")]).is_observing());
}

#[test]
fn packs_are_added_by_repositories_and_replaced_by_others() {
    let base = |files: &[(Origin, &str)]| {
        let policy = policy(files);
        let packs: Vec<String> = policy.base_packs().into_iter().map(str::to_owned).collect();
        (packs.join(" "), policy.added_packs().join(" "))
    };
    let is = |base: &str, added: &str| (base.to_owned(), added.to_owned());
    assert_eq!(base(&[]), is("recommended", ""));
    assert_eq!(base(&[(Origin::Repository, "extends: []\n")]), is("recommended", ""));
    assert_eq!(base(&[(Origin::Repository, "extends: [recommended]\n")]), is("recommended", ""));
    assert_eq!(base(&[(Origin::Repository, "extends: [strict]\n")]), is("recommended", "strict"));
    assert_eq!(base(&[(Origin::User, "extends: []\n")]), is("", ""));
    let both =
        [(Origin::User, "extends: [strict]\n"), (Origin::Repository, "extends: [recommended, cloud]\n")];
    assert_eq!(base(&both), is("strict", "cloud"), "strict brings recommended with it");
}

#[test]
fn a_cache_under_another_seal_is_no_cache() {
    let policy = load(&[]).unwrap().policy;
    // What an attacker can produce: the right bytes and their digest.
    let forged = policy.to_cache(&[], |parts| Digest::of_parts(parts.iter().copied())).unwrap();
    assert!(PolicyBundle::from_cache(&forged, &[], seal).is_none());
    assert!(PolicyBundle::from_cache(&policy.to_cache(&[], seal).unwrap(), &[], seal).is_some());
}
