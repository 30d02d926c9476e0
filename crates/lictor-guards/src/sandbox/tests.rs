use lictor_core::{ActionKind, Value};
use serde_json::json;

use super::*;
use crate::testing::{bash, judged, reason};

fn code(language: &str, body: &str) -> Action {
    let payload = json!({"language": language, "code": body});
    Action::new(ActionKind::ExecuteCode, payload.as_object().unwrap().clone())
}

fn value(language: &str, body: &str) -> Value {
    judged(Sandbox::default(), &code(language, body)).value
}

#[test]
fn code_that_computes_passes() {
    assert_eq!(value("python", "import math\nprint(math.sqrt(2))"), Value::Pass);
    assert_eq!(value("javascript", "console.log([1, 2].map(x => x * 2))"), Value::Pass);
    assert_eq!(value("typescript", "const a: number = 1; console.log(a)"), Value::Pass);
}

#[test]
fn code_that_reaches_out_is_blocked() {
    for body in [
        "import os",
        "import os.path",
        "from subprocess import run",
        "__import__('os')",
        "eval('1')",
        "open('/etc/passwd')",
        "().__class__.__bases__[0].__subclasses__()",
        "import importlib; importlib.import_module('os')",
    ] {
        assert_eq!(value("python", body), Value::Block, "{body}");
    }
    for body in ["require('fs')", "require('node:child_process')", "import x from 'net'", "eval('1')"] {
        assert_eq!(value("javascript", body), Value::Block, "{body}");
    }
}

#[test]
fn what_cannot_be_read_is_blocked() {
    assert_eq!(value("python", "def ("), Value::Block);
    assert_eq!(value("brainfuck", "+"), Value::Block);
    assert_eq!(value("python", &"x = 1\n".repeat(2_000_000)), Value::Block);
}

#[test]
fn inline_code_of_commands_is_judged_alike() {
    assert_eq!(judged(Sandbox::default(), &bash("python3 -c 'import socket'")).value, Value::Block);
    assert_eq!(judged(Sandbox::default(), &bash("python3 -c 'print(1)'")).value, Value::Pass);
    assert_eq!(judged(Sandbox::default(), &bash("python3 - <<'E'\nimport ctypes\nE")).value, Value::Block);
    assert_eq!(judged(Sandbox::default(), &bash("ls")).value, Value::Pass);
}

#[test]
fn lists_may_be_replaced() {
    let config = SandboxConfig {
        languages: Some(vec!["python".to_owned()]),
        forbid: Forbid { imports: Some(vec!["requests".to_owned()]), ..Forbid::default() },
    };
    let judged_with = |action: &Action| judged(Sandbox::new(config.clone()), action);
    assert_eq!(judged_with(&code("python", "import os")).value, Value::Pass);
    assert_eq!(judged_with(&code("javascript", "1")).value, Value::Block);
    let blocked = judged_with(&code("python", "import requests"));
    assert_eq!(reason(&blocked), "the python code uses the module `requests`, which is forbidden");
}
