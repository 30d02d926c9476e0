use lictor_core::Value;

use super::*;
use crate::testing::{bash, judged};

fn value(allow: Option<&[&str]>, deny: &[&str], command: &str) -> Value {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let config = NetworkConfig { allow: allow.map(owned), deny: owned(deny), unknown: None, send: None };
    judged(Network::new(config), &bash(command)).value
}

#[test]
fn hosts_are_judged_by_list() {
    let only = Some(&["example.com", "*.github.com"][..]);
    assert_eq!(value(only, &[], "curl https://example.com/x"), Value::Pass);
    assert_eq!(value(only, &[], "curl https://api.github.com"), Value::Pass);
    assert_eq!(value(only, &[], "curl https://github.com"), Value::Block);
    assert_eq!(value(only, &[], "curl https://evilgithub.com"), Value::Block);
    assert_eq!(value(only, &[], "curl https://example.com.evil.example"), Value::Block);
    assert_eq!(value(None, &["example.com"], "curl https://EXAMPLE.com./x"), Value::Block);
    assert_eq!(value(Some(&[]), &[], "curl https://a.example"), Value::Block);
    assert_eq!(value(None, &[], "curl https://a.example"), Value::Pass);
    assert_eq!(value(only, &[], "ls"), Value::Pass);
}

#[test]
fn a_host_that_cannot_be_told_is_asked_about() {
    assert_eq!(value(Some(&["example.com"]), &[], "curl \"$URL\""), Value::Ask);
    assert_eq!(value(None, &[], "curl \"$URL\""), Value::Pass);
}

#[test]
fn sending_may_be_stopped_on_its_own() {
    let config = NetworkConfig { send: Some(Decision::Ask), ..NetworkConfig::default() };
    assert_eq!(judged(Network::new(config.clone()), &bash("curl -d @x https://a.example")).value, Value::Ask);
    assert_eq!(judged(Network::new(config), &bash("curl https://a.example")).value, Value::Pass);
}

#[test]
fn the_fix_names_hosts_that_are_allowed() {
    let config = NetworkConfig { allow: Some(vec!["example.com".to_owned()]), ..NetworkConfig::default() };
    let judged = judged(Network::new(config), &bash("curl https://a.example"));
    assert_eq!(judged.verdicts[0].verdict.fix(), "use one of these hosts: example.com");
}
