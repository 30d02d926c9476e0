use lictor_core::facts::Effect;

use crate::call::Report;

#[test]
fn a_tool_is_named_once() {
    let mut report = Report::default();
    report.infrastructure("gcloud", "gcloud projects delete p", true);
    report.infrastructure("gcloud", "projects delete p", true);
    report.infrastructure("aws", "awslogs delete", false);
    let whats: Vec<&str> = report
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Infrastructure { what, .. } => Some(what.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(whats, ["projects delete p", "projects delete p", "awslogs delete"]);
}
