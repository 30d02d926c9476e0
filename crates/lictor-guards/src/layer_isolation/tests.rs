use lictor_core::{Action, Value};

use super::*;
use crate::testing::{ROOT, judged, reason};

fn layers() -> LayersConfig {
    let layer = |files: &str, may_touch: MayTouch| LayerConfig {
        files: vec![files.to_owned()],
        may_touch,
        agents: Vec::new(),
    };
    LayersConfig::from([
        ("ui".to_owned(), layer("src/ui/**", MayTouch::Any(vec!["api".to_owned()]))),
        ("api".to_owned(), layer("src/api/**", MayTouch::default())),
        (
            "tests".to_owned(),
            layer("tests/**", MayTouch::Apart { read: vec!["ui".to_owned()], write: Vec::new() }),
        ),
    ])
}

fn value(agent: &str, action: Action) -> Value {
    judged(LayerIsolation::new(layers()).unwrap(), &action.by_agent(agent).in_dir(ROOT)).value
}

#[test]
fn a_layer_touches_itself_and_what_it_may() {
    assert_eq!(value("ui", Action::write("src/ui/a.ts")), Value::Pass);
    assert_eq!(value("ui", Action::write("src/api/a.ts")), Value::Pass);
    assert_eq!(value("api", Action::write("src/ui/a.ts")), Value::Block);
    assert_eq!(value("api", Action::bash("cat src/ui/a.ts")), Value::Block);
    assert_eq!(value("tests", Action::read("src/ui/a.ts")), Value::Pass);
    assert_eq!(value("tests", Action::write("src/ui/a.ts")), Value::Block);
}

#[test]
fn files_of_no_layer_are_another_guards_business() {
    assert_eq!(value("api", Action::write("README.md")), Value::Pass);
    let strict = LayerIsolation::new(layers()).unwrap().strict();
    assert_eq!(judged(strict, &Action::write("README.md").by_agent("api").in_dir(ROOT)).value, Value::Block);
}

#[test]
fn an_actor_without_a_layer_is_stopped_at_a_layer() {
    assert_eq!(value("claude-code", Action::write("src/ui/a.ts")), Value::Block);
    assert_eq!(value("claude-code", Action::write("README.md")), Value::Pass);
}

#[test]
fn the_directory_of_the_action_says_which_layer_acts() {
    let action = Action::write("a.ts").by_agent("x").in_dir("/home/user/project/src/ui");
    assert_eq!(judged(LayerIsolation::new(layers()).unwrap(), &action).value, Value::Pass);
}

#[test]
fn the_reason_names_both_layers() {
    let judged = judged(
        LayerIsolation::new(layers()).unwrap(),
        &Action::write("src/ui/a.ts").by_agent("api").in_dir(ROOT),
    );
    assert_eq!(reason(&judged), "`src/ui/a.ts` belongs to layer `ui`, which layer `api` may not touch");
}

#[test]
fn an_edge_to_nowhere_is_refused() {
    let mut layers = layers();
    layers.get_mut("api").unwrap().may_touch = MayTouch::Any(vec!["db".to_owned()]);
    assert!(matches!(LayerIsolation::new(layers), Err(LayersError::UnknownLayer { .. })));
}
