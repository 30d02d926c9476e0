use super::{Claim, ClaimError, MAX_EVIDENCE, MAX_TITLE};
use crate::evidence::Evidence;
use crate::level::Level;

#[test]
fn a_claim_needs_a_title_and_has_limits() {
    assert_eq!(Claim::new(Level::Low, " ", "a"), Err(ClaimError::NoTitle));
    let long = Claim::new(Level::Low, "x".repeat(MAX_TITLE + 1), "a").unwrap_err();
    assert_eq!(
        long.to_string(),
        "the title is 1001 bytes long, 1000 are allowed: shorten it and point to details as evidence"
    );
    let many = (0..=u32::try_from(MAX_EVIDENCE).unwrap()).map(|line| Evidence::line("a", line));
    let many = Claim::new(Level::Low, "t", "").unwrap().with_evidence(many).unwrap_err();
    assert_eq!(many, ClaimError::TooMuchEvidence(MAX_EVIDENCE + 1));
}

#[test]
fn claims_of_one_finding_become_one_that_points_everywhere() {
    let claim = |level, title: &str, spec: &str| {
        let place = Evidence::parse(spec).unwrap();
        Claim::new(level, title, "lint").unwrap().with_evidence([place]).unwrap()
    };
    let claims = vec![
        claim(Level::Low, "t", "a.py:1"),
        claim(Level::High, "u", "a.py:1"),
        claim(Level::Medium, "t", "a.py:9"),
        claim(Level::Low, "t", "a.py:9"),
        claim(Level::Low, "t", "b.py:1"),
    ];
    let merged = Claim::coalesce(claims);
    let shown: Vec<_> = merged.iter().map(|c| (c.title(), c.level(), c.evidence().len())).collect();
    assert_eq!(shown, [("t", Level::Medium, 2), ("u", Level::High, 1), ("t", Level::Low, 1)]);
}

#[test]
fn no_place_is_lost_when_there_are_more_than_one_finding_may_have() {
    let most = u32::try_from(MAX_EVIDENCE).unwrap();
    let title = "é".repeat(MAX_TITLE / 2);
    let claims: Vec<Claim> = (0..2 * most + 1)
        .map(|line| {
            let level = if line == 2 * most { Level::High } else { Level::Low };
            let claim = Claim::new(level, title.as_str(), "lint").unwrap();
            claim.with_evidence([Evidence::line("a.py", line)]).unwrap()
        })
        .collect();
    let parts = Claim::coalesce(claims.clone());
    let places: Vec<_> = parts.iter().flat_map(|part| part.evidence().iter().cloned()).collect();
    assert_eq!(places, claims.iter().flat_map(|claim| claim.evidence().to_vec()).collect::<Vec<_>>());
    let sizes: Vec<_> = parts.iter().map(|part| (part.level(), part.evidence().len())).collect();
    assert_eq!(sizes, [(Level::High, MAX_EVIDENCE), (Level::High, MAX_EVIDENCE), (Level::High, 1)]);
    let names: std::collections::HashSet<_> = parts.iter().map(Claim::identity).collect();
    assert_eq!(names.len(), 3);
    assert!(parts.iter().all(|part| part.title().len() <= MAX_TITLE));
    assert!(parts[2].title().ends_with("é (part 3)"), "{}", parts[2].title());
}
