use lictor_core::Action;
use serde_json::json;

use super::*;
use crate::observer::FakeObserver;

fn of(action: &Action) -> Facts {
    let world = FakeObserver::empty();
    facts(action, &Project::discover("/w", &world), &world)
}

#[test]
fn powershell_is_read_but_not_believed() {
    let mut action = Action::bash("Remove-Item -Recurse -Force x");
    assert!(of(&action).understood());
    action.payload.insert("shell".to_owned(), "powershell".into());
    assert!(!of(&action).understood());
}

#[test]
fn every_address_of_a_fetch_is_reached() {
    let payload =
        json!({"url": "https://a.example/", "urls": ["https://a.example/", "http://169.254.169.254/x"]});
    let action = Action::new(ActionKind::Fetch, payload.as_object().cloned().unwrap_or_default());
    let hosts: Vec<_> = of(&action)
        .effects
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::Reach(reach) => reach.host,
            _ => None,
        })
        .collect();
    assert_eq!(hosts, ["a.example", "169.254.169.254"]);
}
