use lictor_core::event::Judgement;
use lictor_core::{ActionKind, Limit, Scope, SessionEvent, SessionKey, SessionState, Timestamp, Value};
use lictor_observe::FakeObserver;
use serde_json::Map;

use super::*;
use crate::testing::{judged_in, reason};

fn call(tool: &str, user: &str) -> Action {
    let mut action = Action::new(ActionKind::Tool, Map::new()).in_session("s");
    action.tool = tool.to_owned();
    action.actor.user = (!user.is_empty()).then(|| user.to_owned());
    action
}

fn row(user: &str, tool: &str, tier: Option<Tier>, decision: Decision) -> AccessRow {
    let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    AccessRow { user: named(user), tool: named(tool), tier, decision: Some(decision), ..AccessRow::default() }
}

fn value(config: &AccessConfig, action: &Action) -> Value {
    value_in(config, action, &SessionState::default(), 0)
}

fn value_in(config: &AccessConfig, action: &Action, session: &SessionState, now: i64) -> Value {
    judged_in(Access::new(config.clone()), action, &FakeObserver::empty(), session, now).value
}

#[test]
fn the_most_specific_row_counts_wherever_it_stands() {
    use Decision::{Block, Pass, Warn};
    let mut rows = vec![
        row("", "", None, Pass),
        row("carol", "", None, Block),
        row("", "write_*", None, Block),
        row("bob", "write_file", None, Pass),
        row("", "", Some(Tier::Background), Block),
        row("", "list", None, Warn),
    ];
    for _ in 0..rows.len() {
        rows.rotate_left(1);
        let config = AccessConfig { rows: rows.clone(), ..AccessConfig::default() };
        assert_eq!(value(&config, &call("read_file", "alice")), Value::Pass);
        assert_eq!(value(&config, &call("read_file", "carol")), Value::Block, "a person before everybody");
        assert_eq!(value(&config, &call("write_file", "alice")), Value::Block, "a tool before everything");
        assert_eq!(
            value(&config, &call("write_file", "bob")),
            Value::Pass,
            "a person and a tool before a tool"
        );
        assert_eq!(value(&config, &call("list", "carol")), Value::Warn, "a tool before a person");
        let night = Action { tier: Some(Tier::Background), ..call("read_file", "bob") };
        assert_eq!(value(&config, &night), Value::Block);
        let day = Action { tier: Some(Tier::Interactive), ..call("read_file", "bob") };
        assert_eq!(value(&config, &day), Value::Pass);
    }
}

/// The tier of a call that states none follows from its place, so rows of a tier cannot be avoided.
#[test]
fn a_call_without_a_tier_has_that_of_its_place() {
    let main = SessionKey { agent: String::new(), id: "main".to_owned() };
    let cases = [
        (Tier::Interactive, call("read_file", "bob"), true),
        (Tier::Background, call("read_file", "bob"), false),
        (Tier::Subagent, call("read_file", "bob"), false),
        (Tier::Subagent, Action { parent_session: Some(main), ..call("read_file", "bob") }, true),
        (
            Tier::Interactive,
            Action { parent_session: Some(SessionKey::account("bob")), ..call("read_file", "bob") },
            true,
        ),
        (Tier::Interactive, Action { tier: Some(Tier::Api), ..call("read_file", "bob") }, false),
    ];
    for (tier, action, blocked) in cases {
        let config =
            AccessConfig { rows: vec![row("", "", Some(tier), Decision::Block)], ..AccessConfig::default() };
        assert_eq!(value(&config, &action) == Value::Block, blocked, "{tier:?}: {action:?}");
    }
}

#[test]
fn a_tool_needs_its_scopes_and_every_delegation_has_to_pass_them_on() {
    let config = AccessConfig {
        needs: vec![("grant_*".to_owned(), vec!["admin.write".to_owned()])],
        roles: [("admin".to_owned(), vec!["admin.write".to_owned()])].into(),
        ..AccessConfig::default()
    };
    let mut alice = call("grant_permission", "alice");
    assert_eq!(value(&config, &alice), Value::Block, "nobody said what alice may do");
    alice.actor.scopes = Some(vec!["tools.read".to_owned()]);
    let told =
        judged_in(Access::new(config.clone()), &alice, &FakeObserver::empty(), &SessionState::default(), 0);
    assert_eq!(
        reason(&told),
        "`grant_permission` needs the scope `admin.write`, and `alice` does not have it"
    );
    let mut bob = call("grant_permission", "bob");
    (bob.actor.scopes, bob.actor.role) = (Some(Vec::new()), Some("admin".to_owned()));
    assert_eq!(value(&config, &bob), Value::Pass, "the role brings it");
    let narrowed = |scopes: &[&[&str]]| {
        let limit = |names: &&[&str]| Limit {
            scopes: Some(names.iter().map(|name| (*name).to_owned()).collect()),
            ..Limit::default()
        };
        let scope = scopes.iter().map(limit).fold(Scope::unlimited(), |scope, limit| scope.narrow(limit));
        SessionState { scope, ..SessionState::default() }
    };
    assert_eq!(value_in(&config, &bob, &narrowed(&[&["admin.write", "tools.read"]]), 0), Value::Pass);
    assert_eq!(value_in(&config, &bob, &narrowed(&[&["tools.read"]]), 0), Value::Block);
    assert_eq!(value_in(&config, &bob, &narrowed(&[&["tools.read"], &["admin.write"]]), 0), Value::Block);
    assert_eq!(value_in(&config, &bob, &narrowed(&[&[]]), 0), Value::Block);
    // Naming a scope does not give it.
    assert_eq!(value_in(&config, &alice, &narrowed(&[&["admin.write"]]), 0), Value::Block);
    assert_eq!(value(&config, &call("read_file", "alice")), Value::Pass, "no scope is needed for that");
}

#[test]
fn with_people_named_others_are_strangers() {
    let person = Person { scopes: vec!["tools.read".to_owned()], ..Person::default() };
    let config = AccessConfig {
        people: [("alice".to_owned(), person)].into(),
        needs: vec![("read_file".to_owned(), vec!["tools.read".to_owned()])],
        ..AccessConfig::default()
    };
    assert_eq!(value(&config, &call("read_file", "alice")), Value::Pass);
    for stranger in ["", "mallory", "Alice"] {
        assert_eq!(value(&config, &call("read_file", stranger)), Value::Block, "{stranger:?}");
    }
    let mut told = call("read_file", "guest");
    told.actor.scopes = Some(vec!["tools.read".to_owned()]);
    assert_eq!(value(&config, &told), Value::Pass, "a server knows them");
}

#[test]
fn rates_come_from_the_most_specific_row_and_count_what_was_allowed() {
    let rate = |user: &str, max| AccessRow {
        max_per_minute: Some(max),
        decision: None,
        ..row(user, "", None, Decision::Pass)
    };
    let config = AccessConfig { rows: vec![rate("", 2), rate("bob", 3)], ..AccessConfig::default() };
    let after = |count, user: &str| {
        let mut session = SessionState::default();
        for _ in 0..count {
            let allowed = Judgement::new(&Action::read("x"), Decision::Pass);
            session.apply(&SessionEvent::Judged(allowed), Timestamp(100_000));
        }
        value_in(&config, &call("read_file", user), &session, 101_000)
    };
    assert_eq!([after(1, "alice"), after(2, "alice")], [Value::Pass, Value::Block]);
    assert_eq!([after(2, "bob"), after(3, "bob")], [Value::Pass, Value::Block]);
    let nowhere = Action { session: None, ..call("read_file", "bob") };
    assert_eq!(value(&config, &nowhere), Value::Error);
}
