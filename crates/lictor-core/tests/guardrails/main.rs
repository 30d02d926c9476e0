//! The behaviour of tool policies, feedback and the stop gate as reviewed data, and what a long session costs.

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod completion;
#[cfg(test)]
mod feedback;
#[cfg(test)]
mod sequence;
#[cfg(test)]
mod session;
#[cfg(test)]
mod wording;

/// The cases of one file. Ids are unique.
#[cfg(test)]
fn cases(text: &str) -> Vec<serde_json::Value> {
    let cases: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
    let mut ids: Vec<&str> = cases.iter().map(|case| case["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id stands twice");
    cases
}
