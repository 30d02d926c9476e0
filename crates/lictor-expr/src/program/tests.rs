use serde_json::json;

use super::Program;
use crate::{Schema, Type};

fn schema() -> Schema {
    Schema::builder().root("a", Type::Dyn).root("b", Type::Dyn).build()
}

fn program(source: &str) -> Program {
    Program::compile(source, &schema(), &Type::Dyn).unwrap_or_else(|errors| panic!("{source}: {errors:?}"))
}

#[test]
fn programs_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Program>();
}

#[test]
fn a_stored_program_gives_the_same_values() {
    for source in [
        "a.x > 1 && b.exists(i, i.matches('^x[0-9]+$') && glob(i, 'x*'))",
        "b.map(i, b.filter(j, i != j).size())",
        "{'k': [1, 2.5, null, true]}",
        "count('write', '1h')",
    ] {
        let program = program(source);
        let bytes = postcard::to_stdvec(&program).expect("it can be written");
        let back: Program = postcard::from_bytes(&bytes).expect("it can be read");
        let env = json!({"a": {"x": 2}, "b": ["x1", "y"]});
        let env = env.as_object().expect("an object");
        assert_eq!(format!("{:?}", program.evaluate(env)), format!("{:?}", back.evaluate(env)), "{source}");
        assert_eq!(back.source(), source);
        assert_eq!(back.history(), program.history());
        assert_eq!(bytes, postcard::to_stdvec(&back).expect("it can be written again"));
    }
}

#[test]
fn damaged_bytes_never_panic() {
    let source = "a.x > 1 && b.exists(i, i.matches('^x') && glob(i, 'x*')) || count('write') > 2";
    let bytes = postcard::to_stdvec(&program(source)).expect("it can be written");
    let env = json!({"a": {"x": 2}, "b": ["x1", "y"]});
    let env = env.as_object().expect("an object");
    let mut accepted = 0;
    for at in 0..bytes.len() {
        for flip in [1, 2, 4, 16, 128, 255] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            if let Ok(program) = postcard::from_bytes::<Program>(&damaged) {
                accepted += 1;
                let _ = program.evaluate(env);
                let _ = program.explain(env);
                let _ = program.reads();
            }
        }
        assert!(postcard::from_bytes::<Program>(&bytes[..at]).is_err(), "cut at {at}");
    }
    assert!(accepted > 0, "the test reaches the evaluator");
}

#[test]
fn what_is_read() {
    let program = program("a.x.y == 1 && a.x.z.w && has(a.v) && b.exists(i, i.k == a[\"q\"])");
    assert_eq!(program.reads(), ["a", "a.v", "a.x.y", "a.x.z.w", "b"]);
    assert_eq!(program.roots(), ["a", "b"]);
}

#[test]
fn constants_are_found() {
    for (source, want) in [
        ("true", Some(true)),
        ("1 > 2", Some(false)),
        ("a.x == 1 && false", Some(false)),
        ("a.x == 1 || 'a' in ['a']", Some(true)),
        ("a.x == 1", None),
        ("a.x == 1 && true", None),
        ("formerly('x')", None),
        ("formerly('x') || true", Some(true)),
        ("[1, 2].all(i, i > 0)", Some(true)),
        ("[1, 2].exists(i, i == a.x)", None),
        ("1 / 0 == 1", None),
        ("has(a.x)", None),
        ("true ? a.x == 1 : true", None),
    ] {
        assert_eq!(program(source).constant(), want, "{source}");
    }
}

#[test]
fn a_count_goes_as_far_as_it_is_compared() {
    for (source, most) in [
        ("count('x', '1h') < 3", Some(4)),
        ("3 > count('x', '1h')", Some(4)),
        ("count('x', '1h') == 0 || count('x', '1h') >= 7", Some(8)),
        ("count('x', '1h') < -1", Some(1)),
        ("a.free || !(count('x', '1h') != 5)", Some(6)),
        ("count('x', '1h') < a.most", None),
        ("count('x', '1h') < 3 && count('x', '1h') < a.most", None),
        ("count('x', '1h') + 1 < 3", None),
        ("count('x', '1h') < 2 + 1", None),
        ("count('x', '1h') in [1, 2]", None),
        ("a[count('x', '1h')]", None),
        ("count('x', '1h')", None),
    ] {
        assert_eq!(program(source).counts_to(0), most, "{source}");
    }
    let two = program("count('x', '1h') < 3 && count('y', '1h') < 9");
    assert_eq!((two.counts_to(0), two.counts_to(1), two.counts_to(2)), (Some(4), Some(10), None));
}
