use lictor_core::Action;
use lictor_core::facts::{Access, Effect};
use serde_json::json;

use crate::{FakeObserver, Project, facts};

/// Which watched files a search hands out.
fn found(path: &str, more: &[(&str, serde_json::Value)]) -> Vec<String> {
    let world = FakeObserver::for_judging()
        .file("/home/user/project/secrets/key", "hush")
        .file("/home/user/project/src/main.rs", "fn main() {}");
    let mut project = Project::discover("/home/user/project", &world);
    project.watched = vec!["secrets/**".to_owned()];
    let mut action = Action::read(path).in_dir("/home/user/project");
    action.payload.insert("pattern".to_owned(), "hush".into());
    action.payload.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let effects = facts(&action, &project, &world).effects;
    let read = effects.into_iter().filter_map(|effect| match effect {
        Effect::File { access: Access::Read, target, .. } => Some(target.path),
        _ => None,
    });
    read.collect()
}

#[test]
fn a_search_in_a_part_of_the_project_reads_what_is_watched_there() {
    const KEY: &str = "/home/user/project/secrets/key";
    for place in ["secrets", "secrets/", "/home/user/project/secrets"] {
        assert_eq!(found(place, &[]), [KEY], "{place}");
    }
    assert_eq!(found("secrets", &[("glob", json!("*"))]), [KEY]);
    assert_eq!(found("secrets", &[("include", json!("k*"))]), [KEY]);
    assert_eq!(found("src", &[("paths", json!(["secrets"]))]), [KEY]);
    // Names are not what stands in files; other files are not this one; all of the project is everyday work.
    assert!(found("secrets", &[("names", json!(true))]).is_empty());
    assert!(found("secrets", &[("glob", json!("*.rs"))]).is_empty());
    assert!(found("src", &[]).is_empty());
    assert!(found(".", &[]).is_empty());
}
