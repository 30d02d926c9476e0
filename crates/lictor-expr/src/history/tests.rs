use core::time::Duration;

use super::{HistoryOp, Outcome, Pattern, What};
use crate::{Program, Schema, Type};

fn history(source: &str) -> Vec<HistoryOp> {
    let program = Program::compile(source, &Schema::default(), &Type::Dyn);
    program.unwrap_or_else(|errors| panic!("{source}: {errors:?}")).history().to_vec()
}

fn name(text: &str) -> Pattern {
    Pattern::of(What::Name(text.to_owned()))
}

#[test]
fn operators_are_read() {
    let cargo_test = What::Bash(vec!["cargo".into(), "test".into()]);
    for (source, want) in [
        ("formerly('write')", HistoryOp::Formerly { pattern: name("write"), within: None }),
        (
            "formerly(bash('cargo  test'), '1h30m')",
            HistoryOp::Formerly {
                pattern: Pattern::of(cargo_test.clone()),
                within: Some(Duration::from_secs(5400)),
            },
        ),
        (
            "previous(ok('mcp__git__push'))",
            HistoryOp::Previous { pattern: Pattern { outcome: Some(Outcome::Ok), ..name("mcp__git__push") } },
        ),
        (
            "since(not('write'), ok(bash('cargo test')))",
            HistoryOp::Since {
                held: name("write"),
                negated: true,
                start: Pattern { outcome: Some(Outcome::Ok), ..Pattern::of(cargo_test) },
            },
        ),
        (
            "since('read', 'prompt')",
            HistoryOp::Since { held: name("read"), negated: false, start: name("prompt") },
        ),
        (
            "count(blocked('delete file'), '10m')",
            HistoryOp::Count {
                pattern: Pattern {
                    outcome: Some(Outcome::Blocked),
                    ..Pattern::of(What::Fact { verb: "delete".into(), object: "file".into() })
                },
                within: Some(Duration::from_secs(600)),
            },
        ),
    ] {
        assert_eq!(history(source), std::slice::from_ref(&want), "{source}");
        assert_eq!(history(&want.to_string()), [want], "what is printed can be read");
    }
}

#[test]
fn the_same_question_is_asked_once() {
    let found = history("formerly('a') && (formerly('b') || formerly(\"a\")) && count('a') > 1");
    assert_eq!(found.len(), 3);
    assert_eq!(found[1], HistoryOp::Formerly { pattern: name("b"), within: None });
}

#[test]
fn patterns_of_tool_rules() {
    for (source, printed) in [
        ("write", "\"write\""),
        ("delete file", "\"delete file\""),
        ("bash(\"git push\")", "bash(\"git push\")"),
        ("ok(bash('cargo test'))", "ok(bash(\"cargo test\"))"),
        ("failed('write')", "failed(\"write\")"),
        ("on('write', 'src/**')", "on(\"write\", \"src/**\")"),
        (
            "ok(with(with('deploy', 'region', 'eu'), 'env', 'prod'))",
            "ok(with(with(\"deploy\", \"env\", \"prod\"), \"region\", \"eu\"))",
        ),
        ("with(on(bash('cp'), 'a'), 'x', 'y')", "with(on(bash(\"cp\"), \"a\"), \"x\", \"y\")"),
        ("mcp__github__create-issue", "\"mcp__github__create-issue\""),
    ] {
        let pattern = Pattern::parse(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(pattern.to_string(), printed);
        assert_eq!(Pattern::parse(printed).as_ref(), Ok(&pattern));
    }
    let bad = ["", "   ", "a b c", "bash()", "bash('')", "bash('a && b')", "ok(ok('a'))", "bash(", "f('a')"];
    let narrowed = ["on('a')", "on('a', '[')", "on(on('a', 'b'), 'c')", "with('a', 'b')", "on(ok('a'), 'b')"];
    for source in bad.into_iter().chain(narrowed) {
        assert!(Pattern::parse(source).is_err(), "{source}");
    }
}
