use serde_json::json;

use super::*;
use crate::pins::{Doubts, Pinned, Standing};

fn of(words: &[&str]) -> Identity {
    let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
    Identity::of_command(&argv)
}

#[test]
fn a_version_is_part_of_the_key_and_not_of_what_it_is_held_against() {
    let [first, second] =
        ["1.2.3", "1.10.0"].map(|version| of(&["npx", &format!("server@{version}"), "."]).running());
    assert_ne!(first.key(), second.key());
    assert!(first.key().ends_with(" at 1.2.3"), "{}", first.key());
    assert_eq!(first.version_in(&second.key()), Some("1.10.0"));
    let other = of(&["npx", "server@1.2.3", "elsewhere"]).running();
    assert_eq!(first.version_in(&other.key()), None, "other arguments are another server");
    assert_eq!(Identity::of_address("https://a/mcp".to_owned()).running().key(), "https://a/mcp");
}

#[test]
fn every_way_to_another_version() {
    let [first, second, third] =
        ["1.2.3", "1.10.0", "1.9.0"].map(|version| of(&["npx", &format!("server@{version}")]).running());
    let add = json!({"name": "add", "description": "adds"});
    let mut pinned = Pinned::default();
    assert_eq!(pinned.of(&first, "demo").see("tool/add", &add, &Doubts::default()).standing, Standing::New);
    assert!(!pinned.of(&first, "demo").is_held(), "at first sight");

    let held = pinned.of(&second, "demo");
    assert!(held.is_held());
    assert_eq!(held.see("tool/add", &add, &Doubts::default()).standing, Standing::Same);
    held.see("tool/sub", &json!({"name": "sub"}), &Doubts::default());
    let package = &held.items["server/package"];
    assert_eq!(package.accepted, json!({"package": "server", "version": "1.2.3"}));
    assert_eq!(package.changed, Some(json!({"package": "server", "version": "1.10.0"})));
    assert_eq!(held.items["tool/sub"].changed, Some(json!({"name": "sub"})), "what it adds is shown");
    assert!(pinned.of(&second, "demo").is_held(), "it stays so");
    assert!(!pinned.of(&first, "demo").is_held(), "the accepted one goes on beside it");

    assert_eq!(pinned.of(&second, "demo").accept(None), 2);
    assert!(!pinned.of(&second, "demo").is_held());
    assert!(!pinned.of(&first, "demo").is_held());
    let third = pinned.of(&third, "demo");
    assert!(third.is_held());
    assert_eq!(third.items["server/package"].accepted["version"], json!("1.10.0"), "against the latest one");
}

#[test]
fn what_was_pinned_without_a_version_is_kept() {
    let add = json!({"name": "add", "description": "adds"});
    let identity = of(&["npx", "server@1.2.3"]);
    let running = identity.running();
    for key in [identity.written.clone().expect("a version is written"), identity.base.clone()] {
        let mut pinned = Pinned::default();
        pinned.servers.entry(key.clone()).or_default().see("tool/add", &add, &Doubts::default());
        let server = pinned.of(&running, "demo");
        assert!(!server.is_held());
        let other = json!({"name": "add", "description": "adds, and more"});
        assert_eq!(server.see("tool/add", &other, &Doubts::default()).standing, Standing::Changed);
        assert!(!pinned.servers.contains_key(&key));
    }
}

#[test]
fn a_version_that_can_no_longer_be_found_is_another_one() {
    let mut pinned = Pinned::default();
    pinned.of(&of(&["npx", "server@1.2.3"]).running(), "demo");
    let lost = of(&["npx", "server"]).running();
    let server = pinned.of(&lost, "demo");
    assert!(server.is_held());
    assert_eq!(server.items["server/package"].changed, Some(json!({"package": "server", "version": null})));
    let mut never = Pinned::default();
    assert!(!never.of(&lost, "demo").is_held(), "where none was ever found nothing is held back");
    assert!(!never.of(&lost, "demo").is_held());
}
