//! The plugins in a real JavaScript engine, against a stand-in for the binary. Without `node` there is nothing to run them
//! in.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a broken fixture should stop the test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use lictor_agents::Agent;
use lictor_agents::install::{Scope, Settings, Where};

const OPENCODE: &str = r#"
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

/// One call, judged or not, and what is told after it.
const CLINE: &str = r#"
import lictor from "./lictor.mjs"
import { readFileSync } from "node:fs"
const [tool, given] = JSON.parse(readFileSync("call.json"))
const snapshot = { agentId: "a", conversationId: "c" }
const toolCall = { toolCallId: "t", toolName: tool }
lictor.setup({}, { session: { sessionId: "s" } })
const before = await lictor.hooks.beforeTool({ snapshot, toolCall, input: given })
const after = await lictor.hooks.afterTool({ snapshot, toolCall, input: given, result: { output: "done" } })
console.log(JSON.stringify({ before, after }))
"#;

fn run(agent: Agent, driver: &str, binary: &Path, directory: &Path) -> serde_json::Value {
    let place = Where::new("/h", directory, |_| None);
    let settings = Settings::of(agent, Scope::Project, &place, |_| false).unwrap();
    let plugin = settings.install(None, binary).unwrap().after.unwrap();
    fs::write(directory.join("lictor.mjs"), plugin).unwrap();
    fs::write(directory.join("driver.mjs"), driver).unwrap();
    let out = Command::new("node").arg("driver.mjs").current_dir(directory).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// A stand-in for the binary.
fn stand_in(directory: &Path, script: &str) -> PathBuf {
    let binary = directory.join("lictor");
    fs::write(&binary, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    binary
}

fn has_node() -> bool {
    Command::new("node").arg("--version").output().is_ok()
}

#[test]
fn the_plugin_obeys_and_refuses_what_it_cannot_ask_about() {
    if !has_node() {
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
        let binary = stand_in(directory.path(), script);
        let got = run(Agent::OpenCode, OPENCODE, &binary, directory.path());
        assert!(got["before"].as_str().unwrap().starts_with(before), "{script}: {got}");
        assert_eq!(got["output"], output, "{script}");
        assert_eq!(
            got["prompts"].as_array().unwrap().first().and_then(|text| text.as_str()),
            prompt,
            "{script}"
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let got = run(Agent::OpenCode, OPENCODE, Path::new("/nonexistent/lictor"), directory.path());
    assert!(got["before"].as_str().unwrap().contains("cannot be started"), "{got}");
}

#[test]
fn clines_plugin_skips_what_is_refused_and_what_it_cannot_ask_about() {
    if !has_node() {
        return;
    }
    // What the binary does; why the call is skipped; what is told after it.
    let rows = [
        ("cat > /dev/null; exit 80", None, None),
        (r#"cat > /dev/null; echo '{"decision":"block","reason":"no"}'; exit 80"#, Some("no"), None),
        (r#"cat > /dev/null; echo '{"additionalContext":"mind"}'; exit 80"#, None, Some("mind")),
        ("exit 1", Some("Blocked by Lictor: "), None),
        ("cat > /dev/null; exit 0", Some("Blocked by Lictor: "), None),
        ("cat > /dev/null; echo '{'; exit 80", Some("Blocked by Lictor: the answer is not JSON"), None),
    ];
    for (script, reason, told) in rows {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("call.json"), r#"["run_commands", {"commands": ["ls"]}]"#).unwrap();
        let got = run(Agent::Cline, CLINE, &stand_in(directory.path(), script), directory.path());
        assert_eq!(got["before"]["skip"].as_bool(), reason.map(|_| true), "{script}: {got}");
        let said = got["before"]["reason"].as_str().unwrap_or_default();
        assert!(said.starts_with(reason.unwrap_or_default()), "{script}: {got}");
        assert_eq!(got["after"]["appendContext"].as_str(), told, "{script}: {got}");
    }
}

/// Cline reads the input of its tools in many forms, and takes the first that fits.
#[test]
fn clines_plugin_has_everything_judged_that_an_input_may_mean() {
    if !has_node() {
        return;
    }
    let rows = [
        (r#"["run_commands", {"commands": ["a", "b '"]}]"#, r#"[{"command":"a"},{"command":"b '"}]"#),
        (r#"["run_commands", "a"]"#, r#"[{"command":"a"}]"#),
        (
            r#"["run_commands", ["a", {"command": "b", "args": ["c d"]}]]"#,
            r#"[{"command":"a"},{"command":["b","c d"]}]"#,
        ),
        (r#"["run_commands", {"cmd": "a", "commands": 5}]"#, r#"[{"command":5},{"command":"a"}]"#),
        // Not a list of words: the command is one for the shell.
        (r#"["run_commands", {"command": "rm -rf x", "args": "y"}]"#, r#"[{"command":"rm -rf x"}]"#),
        (r#"["run_commands", {"commands": []}]"#, "[]"),
        (r#"["read_files", {"files": [{"path": "a", "start_line": 1}, "b"]}]"#, r#"[{"paths":["a","b"]}]"#),
        (r#"["read_files", {"path": "a", "files": "b"}]"#, r#"[{"paths":["b","a"]}]"#),
        (r#"["read_files", [{"file_path": "a"}, {"filePath": "b"}]]"#, r#"[{"paths":["a","b"]}]"#),
        (
            r#"["editor", {"path": "a", "old_text": null, "new_text": "x"}]"#,
            r#"[{"path":"a","new_string":"x"}]"#,
        ),
        (r#"["apply_patch", "*** Begin Patch"]"#, r#"[{"input":"*** Begin Patch"}]"#),
        (r#"["fetch_web_content", {"requests": [{"url": "u", "prompt": "p"}]}]"#, r#"[{"urls":["u"]}]"#),
        (r#"["search_codebase", {"queries": ["a", "b"]}]"#, r#"[{"pattern":"a|b"}]"#),
    ];
    for (call, judged) in rows {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("call.json"), call).unwrap();
        let script = r#"line=$(cat); case $3 in beforeTool) echo "$line" >> judged;; esac; exit 80"#;
        run(Agent::Cline, CLINE, &stand_in(directory.path(), script), directory.path());
        let seen = fs::read_to_string(directory.path().join("judged")).unwrap_or_default();
        let seen: Vec<serde_json::Value> = seen
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["output"]["args"].clone())
            .collect();
        assert_eq!(
            serde_json::Value::from(seen),
            serde_json::from_str::<serde_json::Value>(judged).unwrap(),
            "{call}"
        );
    }
}
