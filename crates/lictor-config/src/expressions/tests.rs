use lictor_core::facts::{Access, Command, Effect, Facts, Place, Reach};
use lictor_core::history::History;
use lictor_core::{Action, Context, SessionState, Timestamp};
use lictor_expr::{Program, Type};

use super::*;

fn place(path: &str) -> Place {
    Place { secret: path == ".env", ..Place::project_file("/p", path) }
}

fn facts() -> Facts {
    let words = ["cat", ".env"].map(str::to_owned).to_vec();
    let command = Command {
        program: "cat".to_owned(),
        args: vec![Some(".env".to_owned())],
        through: vec!["sudo".to_owned()],
        attributable: true,
        certain: true,
        directory: None,
        words,
    };
    let reach =
        Reach { host: Some("crates.io".to_owned()), text: "https://crates.io".to_owned(), sends: false };
    let read = Effect::File { access: Access::Read, target: place(".env"), recursive: false, by: Some(0) };
    Facts { effects: vec![Effect::Run(command), read, Effect::Reach(reach)], opaque: Vec::new() }
}

/// The value of a condition, or why it has none.
fn test(source: &str) -> Result<bool, String> {
    let program = Program::compile(source, &schema(), &Type::Bool).map_err(|errors| errors[0].to_string())?;
    let mut action = Action::bash("cat .env").in_session("s1").by_agent("claude-code").in_dir("/p");
    action.payload.insert("n".to_owned(), 3.into());
    let mut session = SessionState { action_count: 7, block_count: 1, ..SessionState::default() };
    session.streaks.insert("secret".to_owned(), 2);
    session.started = Some(Timestamp(0));
    let facts = facts();
    let context = Context::new(&action, &facts, &session, Timestamp(5 * 60_000));
    Condition::new(&program.into(), &mut History::default()).holds(&action, &context)
}

#[test]
fn everything_that_is_declared_can_be_read() {
    for source in [
        r#"action.kind == "bash" && action.tool == "" && action.cwd == "/p" && action.agent == "claude-code""#,
        r#"action.task_type == "" && action.session_id == "s1" && action.chain.size() == 0"#,
        r#"!has(action.user) && !has(action.tenant) && action.tier == "interactive""#,
        r#"payload.command == "cat .env" && payload.n == 3 && "n" in payload"#,
        r#"facts.files.exists(f, f.secret && f.access == "read" && f.zone == "project" && f.exists)"#,
        r#"facts.files.all(f, f.in_project == ".env" && f.path == "/p/.env" && !f.glob && !f.recursive && !f.own)"#,
        r#"facts.programs == ["cat"] && facts.hosts == ["crates.io"] && !facts.opaque"#,
        r#"facts.commands[0].words[1] == ".env" && facts.commands[0].through == ["sudo"]"#,
        r#"facts.deeds.exists(d, d.verb == "read" && d.object == "secret" && d.cardinality == "single" && d.count == 1)"#,
        "session.action_count == 7 && session.block_count == 1 && session.minutes == 5",
        "session.streaks.secret == 2 && !has(session.streaks.other)",
        "risk == 0.0 && annotations.size() == 0",
        r#"count("write") == 0 && !formerly("read") && !previous("bash")"#,
    ] {
        assert_eq!(test(source), Ok(true), "{source}");
    }
}

#[test]
fn every_counter_that_is_declared_has_a_value() {
    for counter in COUNTERS {
        assert_eq!(test(&format!("session.{counter} >= 0")), Ok(true), "{counter}");
    }
}

#[test]
fn what_is_not_there_is_an_error_and_not_false() {
    for source in
        ["payload.none == 1", r#"action.user == "me""#, r#"annotations["x.y"] == 1"#, "session.streaks.x > 1"]
    {
        assert!(test(source).is_err(), "{source}");
    }
}
