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
