//! Tool policies over a session that is driven event by event, as the engine drives it.

use super::*;
use crate::action::Action;
use crate::clock::Timestamp;
use crate::context::Context;
use crate::decision::Decision;
use crate::digest::Digest;
use crate::event::{Happened, Judgement, Outcome, SessionEvent, Standing};
use crate::facts::{Access, Command, Effect, Existence, Facts, Place, Zone};
use crate::guard::Guard;
use crate::history::{History, Pattern, What};
use crate::session::SessionState;
use crate::verdict::Verdict;

fn tool(name: &str) -> Action {
    let mut action = Action::new(crate::ActionKind::Tool, serde_json::Map::new());
    action.tool = name.to_owned();
    action
}

fn pattern(name: &str) -> Pattern {
    let what = match name.strip_prefix("bash ") {
        Some(words) => What::Bash(words.split(' ').map(str::to_owned).collect()),
        None => What::Name(name.to_owned()),
    };
    Pattern::of(what)
}

fn need(name: &str) -> Need {
    Need { what: pattern(name), within: None, undone_by: vec![] }
}

fn rule(gated: &str, needs: Vec<Need>) -> RequireFirst {
    RequireFirst { gated: pattern(gated), needs, same_line: false }
}

/// A session with one sequence, and a clock that advances one second per event.
struct Session {
    history: History,
    sequence: Sequence,
    state: SessionState,
    now: Timestamp,
}

impl Session {
    fn new(rules: Vec<RequireFirst>) -> Self {
        let mut history = History::default();
        let sequence = Sequence::new("tools", rules, &mut history).unwrap();
        Self { history, sequence, state: SessionState::default(), now: Timestamp(0) }
    }

    fn check(&self, action: &Action, facts: &Facts) -> Verdict {
        self.sequence.check(action, &mut Context::new(action, facts, &self.state, self.now))
    }

    /// Judges it and, unless it is blocked, reports this outcome.
    fn step(&mut self, action: &Action, facts: &Facts, success: bool) -> Verdict {
        let verdict = self.check(action, facts);
        let marks = self.history.marks(action, facts);
        self.now = self.now.plus_millis(1_000);
        let decision = verdict.value().settle();
        let digest = action.digest();
        let judged = SessionEvent::Judged(Judgement { marks, ..Judgement::new(action, decision) });
        self.state.apply(&judged, self.now);
        if decision != Decision::Block {
            let outcome = if success { Outcome::success() } else { Outcome::failure("no") };
            let learned = Knowledge::gained(facts);
            let happened = Happened {
                action: digest,
                tool_use_id: None,
                standing: Standing::Governed,
                outcome,
                marks: vec![],
                learned,
                left: Vec::new(),
                notes: Vec::new(),
            };
            self.state.apply(&SessionEvent::Happened(happened), self.now);
        }
        verdict
    }

    fn run(&mut self, name: &str) -> Verdict {
        self.step(&tool(name), &Facts::none(), true)
    }
}

fn commands(lines: &[(&str, bool)]) -> Facts {
    let effect = |(line, attributable): &(&str, bool)| {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Effect::Run(Command {
            program: words[0].clone(),
            args: words[1..].iter().cloned().map(Some).collect(),
            through: vec![],
            attributable: *attributable,
            certain: true,
            directory: None,
            words,
        })
    };
    Facts { effects: lines.iter().map(effect).collect(), opaque: vec![] }
}

#[test]
fn only_what_is_missing_is_named_sorted() {
    let mut session = Session::new(vec![rule("deploy", vec![need("test"), need("build")])]);
    assert!(session.run("unrelated").passed());
    assert_eq!(session.run("deploy").reason(), "Tool 'deploy' requires: build, test");
    session.run("build");
    assert_eq!(session.run("deploy").reason(), "Tool 'deploy' requires: test");
    session.run("test");
    assert!(session.run("deploy").passed());
    assert!(session.run("deploy").passed(), "without invalidation one build serves for good");
}

#[test]
fn a_failure_does_not_count() {
    let mut session = Session::new(vec![rule("deploy", vec![need("build")])]);
    session.step(&tool("build"), &Facts::none(), false);
    assert!(!session.run("deploy").passed());
}

#[test]
fn an_edit_makes_the_last_test_run_not_count() {
    let undone = Need { undone_by: vec![pattern("write")], ..need("bash cargo test") };
    let mut session = Session::new(vec![rule("bash git push", vec![undone])]);
    let push = commands(&[("git push origin main", true)]);
    let test = commands(&[("cargo test -q", true)]);
    assert!(!session.step(&Action::bash("git push origin main"), &push, true).passed());
    session.step(&Action::bash("cargo test -q"), &test, true);
    assert!(session.check(&Action::bash("git push origin main"), &push).passed());
    session.step(&Action::write("src/a.rs"), &file(Access::Write, "/p/src/a.rs", Some("2")), true);
    let refused = session.check(&Action::bash("git push origin main"), &push);
    assert_eq!(
        refused.reason(),
        "Tool 'bash(\"git push\")' requires: bash(\"cargo test\"); the last `bash(\"cargo test\")` does not count since `write`"
    );
    session.step(&Action::bash("cargo test -q"), &test, true);
    assert!(session.check(&Action::bash("git push origin main"), &push).passed());
}

#[test]
fn success_must_be_the_commands_own() {
    let mut session = Session::new(vec![rule("bash git push", vec![need("bash cargo test")])]);
    session.step(
        &Action::bash("cargo test || true"),
        &commands(&[("cargo test", false), ("true", true)]),
        true,
    );
    assert!(!session.check(&Action::bash("git push"), &commands(&[("git push", true)])).passed());
}

#[test]
fn one_line_counts_only_where_the_policy_says_so() {
    let line = commands(&[("cargo test", true), ("git push", true)]);
    let loose = commands(&[("cargo test", false), ("git push", true)]);
    let late = commands(&[("git push", true), ("cargo test", true)]);
    let action = Action::bash("cargo test && git push");
    let strict = Session::new(vec![rule("bash git push", vec![need("bash cargo test")])]);
    assert!(!strict.check(&action, &line).passed());
    let mut lenient = rule("bash git push", vec![need("bash cargo test")]);
    lenient.same_line = true;
    let lenient = Session::new(vec![lenient]);
    assert!(lenient.check(&action, &line).passed());
    assert!(!lenient.check(&action, &loose).passed());
    assert!(!lenient.check(&action, &late).passed());
}

#[test]
fn a_prerequisite_expires() {
    let brief = Need { within: Some(2_500), ..need("test") };
    let mut session = Session::new(vec![rule("deploy", vec![brief])]);
    session.run("test");
    assert!(session.run("deploy").passed());
    session.run("x");
    session.run("x");
    assert_eq!(
        session.run("deploy").reason(),
        "Tool 'deploy' requires: test; the last `test` was too long ago"
    );
}

#[test]
fn all_rules_report() {
    let rules = vec![rule("deploy", vec![need("build")]), rule("deploy", vec![need("review")])];
    let session = Session::new(rules);
    let (action, facts) = (tool("deploy"), Facts::none());
    let mut context = Context::new(&action, &facts, &session.state, session.now);
    assert_eq!(session.sequence.check(&action, &mut context).reason(), "Tool 'deploy' requires: build");
    assert_eq!(context.asked.further.len(), 1);
    assert_eq!(context.asked.further[0].0.reason(), "Tool 'deploy' requires: review");
}

#[test]
fn what_can_never_be_met_is_refused_at_load() {
    let refuse = |rules| Sequence::new("tools", rules, &mut History::default()).unwrap_err();
    assert_eq!(refuse(vec![rule("a", vec![need("a")])]), [SequenceError::Itself("a".into())]);
    let cycle = vec![rule("a", vec![need("b")]), rule("b", vec![need("c")]), rule("c", vec![need("a")])];
    assert_eq!(
        refuse(cycle)[0].to_string(),
        "these require each other, so none of them could ever run: a → b → c → a"
    );
    let undone = Need { undone_by: vec![pattern("test")], ..need("test") };
    assert!(matches!(refuse(vec![rule("a", vec![undone])])[0], SequenceError::Undone { .. }));
}

fn place(path: &str, content: Option<&str>) -> Place {
    Place {
        path: path.to_owned(),
        existence: if content.is_some() { Existence::File } else { Existence::Missing },
        content: content.map(|text| Digest::of(text.as_bytes())),
        ..Place::project_file("/p", path.trim_start_matches("/p/"))
    }
}

fn file(access: Access, path: &str, content: Option<&str>) -> Facts {
    with_place(access, place(path, content))
}

fn with_place(access: Access, target: Place) -> Facts {
    Facts { effects: vec![Effect::File { access, target, recursive: false, by: None }], opaque: vec![] }
}

/// Judges a write while the file holds `content`.
fn write(state: &SessionState, facts: &Facts) -> Verdict {
    let action = Action::write("x");
    ReadBeforeWrite::new("read_before_write")
        .check(&action, &mut Context::new(&action, facts, state, Timestamp(0)))
}

fn knows(path: &str, content: &str) -> SessionState {
    let mut state = SessionState::default();
    state.files.learn(&Knowledge::gained(&file(Access::Read, path, Some(content))));
    state
}

#[test]
fn an_existing_file_must_have_been_read() {
    let fresh = SessionState::default();
    assert!(write(&fresh, &file(Access::Write, "/p/new.txt", None)).passed(), "new files are free");
    let refused = write(&fresh, &file(Access::Write, "/p/a.txt", Some("1")));
    assert_eq!(refused.reason(), "File 'a.txt' must be read before overwriting.");
    assert!(write(&knows("/p/a.txt", "1"), &file(Access::Write, "/p/a.txt", Some("1"))).passed());
    assert!(!write(&knows("/p/b.txt", "1"), &file(Access::Modify, "/p/a.txt", Some("1"))).passed());
}

#[test]
fn a_file_that_changed_must_be_read_again() {
    let refused = write(&knows("/p/a.txt", "1"), &file(Access::Write, "/p/a.txt", Some("2")));
    assert!(refused.reason().contains("changed since it was read"), "{}", refused.reason());
}

#[test]
fn own_writes_are_knowledge() {
    let mut state = SessionState::default();
    state.files.learn(&Knowledge::gained(&file(Access::Write, "/p/n.txt", Some("1"))));
    assert!(write(&state, &file(Access::Write, "/p/n.txt", Some("1"))).passed());
}

#[test]
fn a_link_is_the_file_it_points_to() {
    let linked = |content| {
        let mut link = place("/p/link.txt", content);
        link.real = Some("/p/a.txt".into());
        link
    };
    assert!(write(&knows("/p/a.txt", "1"), &with_place(Access::Write, linked(Some("1")))).passed());
    assert!(!write(&knows("/p/link.txt", "1"), &with_place(Access::Write, linked(Some("1")))).passed());
}

#[test]
fn what_cannot_be_told_is_refused() {
    let state = SessionState::default();
    let unknown = Place {
        zone: Zone::Unknown,
        real_zone: Zone::Unknown,
        existence: Existence::Unknown,
        ..place("", None)
    };
    assert!(!write(&state, &with_place(Access::Write, unknown)).passed());
    let glob = Place { glob: true, ..place("/p/src", Some("")) };
    assert!(!write(&state, &with_place(Access::Modify, glob)).passed());
    let temp = Place { real_zone: Zone::Temp, zone: Zone::Temp, ..place("/tmp/x", Some("1")) };
    assert!(write(&state, &with_place(Access::Write, temp)).passed());
}

#[test]
fn a_listing_or_a_tree_is_not_a_reading() {
    let facts = Facts {
        effects: vec![
            Effect::File {
                access: Access::Read,
                target: place("/p/src", Some("")),
                recursive: true,
                by: None,
            },
            Effect::File {
                access: Access::List,
                target: place("/p/a.txt", Some("1")),
                recursive: false,
                by: None,
            },
        ],
        opaque: vec![],
    };
    assert_eq!(Knowledge::gained(&facts), []);
}

fn seen(path: String) -> [Knowledge; 1] {
    [Knowledge { content: Some(Digest::of(path.as_bytes())), path }]
}

#[test]
fn knowledge_is_bounded_and_the_newest_is_kept() {
    let mut files = KnownFiles::default();
    for number in 0..100_000 {
        files.learn(&seen(format!("/p/{number}")));
    }
    let kept = |range: std::ops::Range<u32>| {
        range.filter(|number| files.content(&format!("/p/{number}")).is_some()).count()
    };
    assert_eq!(kept(0..100_000), FILES_KEPT, "every group is full");
    assert!(kept(99_000..100_000) > 990, "by chance a few go early");
    assert_eq!(files.content("/p/99999"), Some(Some(Digest::of(b"/p/99999"))));
    let size: usize = files.groups().map(|(_, text)| text.len()).sum();
    assert_eq!(size, FILES_KEPT * 80);
}

#[test]
fn a_file_that_is_seen_again_stays() {
    let mut files = KnownFiles::default();
    for number in 0..20_000 {
        files.learn(&seen(format!("/p/{number}")));
        files.learn(&[Knowledge { path: "/p/often".into(), content: None }]);
    }
    assert_eq!(files.content("/p/often"), Some(None), "known, but not as what");
}

#[test]
fn known_files_are_read_as_they_were_written() {
    let mut files = KnownFiles::default();
    (0..50).for_each(|number| files.learn(&seen(format!("/p/{number}"))));
    let written = serde_json::to_string(&files).unwrap();
    assert_eq!(serde_json::from_str::<KnownFiles>(&written).unwrap(), files);
    for damaged in [r#"{"00": "x"}"#, r#"{"000": ""}"#, r#"{"00": {}}"#] {
        assert!(serde_json::from_str::<KnownFiles>(damaged).is_err(), "{damaged}");
    }
}

fn keyed(name: &str, field: &str, var: &str) -> Pattern {
    Pattern { vars: vec![(field.to_owned(), var.to_owned())], ..pattern(name) }
}

fn on(name: &str, table: &str) -> Action {
    let mut action = tool(name);
    if !table.is_empty() {
        action.payload.insert("table".to_owned(), table.into());
    }
    action
}

fn tables() -> Session {
    Session::new(vec![RequireFirst {
        gated: keyed("write_table", "table", "t"),
        needs: vec![Need {
            what: keyed("read_table", "table", "t"),
            within: None,
            undone_by: vec![keyed("migrate", "table", "t")],
        }],
        same_line: false,
    }])
}

#[test]
fn a_need_with_a_variable_counts_for_the_same_value_only() {
    let mut session = tables();
    let none = Facts::none();
    assert!(!session.check(&on("write_table", "users"), &none).passed());
    session.step(&on("read_table", "users"), &none, true);
    session.step(&on("read_table", "orders"), &none, false);
    assert!(session.check(&on("write_table", "users"), &none).passed());
    let refused = session.check(&on("write_table", "orders"), &none);
    assert!(refused.reason().contains("read_table(table: \"orders\")"), "{}", refused.reason());
    // A call without a table cannot pass.
    let refused = session.check(&on("write_table", ""), &none);
    assert!(refused.reason().contains("does not say for which `table`"), "{}", refused.reason());
    // Invalidated for one table, and for all by a call without a table.
    session.step(&on("migrate", "orders"), &none, true);
    assert!(session.check(&on("write_table", "users"), &none).passed());
    session.step(&on("migrate", "users"), &none, true);
    assert!(!session.check(&on("write_table", "users"), &none).passed());
    session.step(&on("read_table", "users"), &none, true);
    assert!(session.check(&on("write_table", "users"), &none).passed());
    session.step(&on("migrate", ""), &none, true);
    assert!(!session.check(&on("write_table", "users"), &none).passed());
}

#[test]
fn values_are_bounded_and_a_success_never_outlives_what_undid_it() {
    let mut session = tables();
    let none = Facts::none();
    session.step(&on("read_table", "first"), &none, true);
    session.step(&on("migrate", "first"), &none, true);
    for number in 0..crate::history::VALUES_KEPT * 2 {
        session.step(&on("migrate", &format!("other{number}")), &none, true);
    }
    assert!(!session.check(&on("write_table", "first"), &none).passed());
    assert!(session.state.past.tracks.len() <= 3 * crate::history::VALUES_KEPT);
}

#[test]
fn a_variable_that_stands_for_nothing_is_refused() {
    let rule = RequireFirst {
        gated: keyed("write_table", "table", "t"),
        needs: vec![Need { what: keyed("read_table", "table", "x"), within: None, undone_by: vec![] }],
        same_line: false,
    };
    let problems = Sequence::new("tools", vec![rule], &mut History::default()).unwrap_err();
    assert!(matches!(problems.as_slice(), [SequenceError::Unbound { .. }]), "{problems:?}");
}
