use crate::load::load;
use crate::source::{Origin, Source};

fn problems(origin: Origin, text: &str) -> (bool, String) {
    let bytes = format!("version: 1\nexceptions:\n{text}\n").into_bytes();
    let sources = [Source { origin, path: "g.yaml".to_owned(), bytes }];
    match load(&sources) {
        Ok(loaded) => {
            let said: Vec<String> = loaded.check().iter().map(|problem| problem.message.clone()).collect();
            (true, said.join("\n"))
        }
        Err(error) => {
            let said =
                error.diagnostics.iter().map(|problem| format!("{}; {}", problem.message, problem.help));
            (false, said.collect::<Vec<_>>().join("\n"))
        }
    }
}

#[test]
fn an_exception_names_a_rule_and_a_file_a_tool_or_a_command() {
    for accepted in [
        "  - {rule: secret.read, file: /home/user/x/.env}",
        "  - {rule: database.drop-part, tool: mcp__pg__query}",
    ] {
        assert_eq!(problems(Origin::User, accepted), (true, String::new()), "{accepted}");
    }
    for (text, said) in [
        ("  - {rule: secret.raed, file: .env}", "did you mean `secret.read`?"),
        ("  - {rule: secret.read}", "no file, tool or command"),
        ("  - {rule: secret.read, file: a, tool: b}", "make two of it"),
        ("  - {rule: secret.read, command: cat .env}", "bash_safety.allow"),
        ("  - {rule: secret.read, file: '*.env'}", "not a glob"),
        ("  - {rule: secret.read, fle: a}", "did you mean `file`?"),
        ("  - {file: a}", "has no `rule`"),
    ] {
        let (accepted, problems) = problems(Origin::User, text);
        assert!(!accepted && problems.contains(said), "{text}: {problems}");
        assert_eq!(problems.lines().count(), 1, "{text}: {problems}");
    }
}

#[test]
fn a_repository_does_not_lift_the_base() {
    let (accepted, problems) = problems(Origin::Repository, "  - {rule: secret.read, file: .env}");
    assert!(accepted && problems.contains("cannot lift `secret.read`"), "{problems}");
}

/// Rules of `tools` are lifted only by the file that defines them.
#[test]
fn an_exception_from_a_sequence_lifts_only_its_own_file() {
    let exception = "  - {rule: 'require_first.bash(\"git push\")', command: git push --tags}";
    let (accepted, said) = problems(Origin::Repository, exception);
    assert!(accepted && said.contains("lifts nothing"), "{said}");
    let whole =
        format!("{exception}\ntools: {{require_first: {{bash(\"git push\"): [bash(\"make test\")]}}}}");
    assert_eq!(problems(Origin::Repository, &whole), (true, String::new()));
}
