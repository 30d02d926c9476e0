//! The behaviour of tool policies, feedback and the stop gate as reviewed data, and what a long session costs.

mod bounds;
mod completion;
mod feedback;
mod sequence;
mod session;
mod wording;

use serde_json::Value;

/// The cases of one file. Ids are unique.
fn cases(text: &str) -> Vec<Value> {
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    let mut ids: Vec<&str> = cases.iter().map(|case| case["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id stands twice");
    cases
}
