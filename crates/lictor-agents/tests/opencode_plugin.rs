//! The OpenCode plugin in a real JavaScript engine, against a stand-in for the binary. Without `node` there is nothing to
//! run it in.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a broken fixture should stop the test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use lictor_agents::Agent;
use lictor_agents::install::{Scope, Settings, Where};

const DRIVER: &str = r#"
import { Lictor } from "./lictor.mjs"
const prompts = []
const client = { session: { prompt: async (request) => prompts.push(request.body.parts[0].text) } }
const hooks = await Lictor({ client, directory: process.cwd() })
const out = { output: "done" }
try {
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args: { command: "ls" } })
  out.before = "ran"
} catch (error) {
  out.before = error.message
}
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s", callID: "c", args: {} }, out)
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
await hooks.event({ event: { type: "something.else", properties: {} } })
console.log(JSON.stringify({ before: out.before, output: out.output, prompts }))
"#;

fn run(binary: &Path, directory: &Path) -> serde_json::Value {
    let place = Where::new("/h", directory, |_| None);
    let settings = Settings::of(Agent::OpenCode, Scope::Project, &place, |_| false).unwrap();
    let plugin = settings.install(None, binary).unwrap().after.unwrap();
    fs::write(directory.join("lictor.mjs"), plugin).unwrap();
    fs::write(directory.join("driver.mjs"), DRIVER).unwrap();
    let out = Command::new("node").arg("driver.mjs").current_dir(directory).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn the_plugin_obeys_and_refuses_what_it_cannot_ask_about() {
    if Command::new("node").arg("--version").output().is_err() {
        return;
    }
    // What the binary does; what becomes of the call, of its output, and of stopping.
    let rows = [
        ("cat > seen; exit 80", "ran", "done", None),
        (r#"cat > /dev/null; echo '{"decision":"block","reason":"no"}'; exit 80"#, "no", "done", Some("no")),
        (r#"cat > /dev/null; echo '{"additionalContext":"mind"}'; exit 80"#, "ran", "done\n\nmind", None),
        ("cat > /dev/null; echo bad >&2; exit 2", "Blocked by Lictor: bad", "done", None),
        ("exit 101", "Blocked by Lictor: ", "done", None),
        // Another program in its place.
        ("cat > /dev/null; exit 0", "Blocked by Lictor: ", "done", None),
        ("cat > /dev/null; echo hello; exit 80", "Blocked by Lictor: the answer is not JSON", "done", None),
    ];
    for (script, before, output, prompt) in rows {
        let directory = tempfile::tempdir().unwrap();
        let binary = directory.path().join("lictor");
        fs::write(&binary, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
        let got = run(&binary, directory.path());
        assert!(got["before"].as_str().unwrap().starts_with(before), "{script}: {got}");
        assert_eq!(got["output"], output, "{script}");
        assert_eq!(
            got["prompts"].as_array().unwrap().first().and_then(|text| text.as_str()),
            prompt,
            "{script}"
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let got = run(Path::new("/nonexistent/lictor"), directory.path());
    assert!(got["before"].as_str().unwrap().contains("cannot be started"), "{got}");
}
