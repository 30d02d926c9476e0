//! `lictor rpc` from programs in other languages, and under bad input.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

fn example_of(folder: &str, file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    fs::read_to_string(folder.join(file)).unwrap()
}

fn example(file: &str) -> String {
    example_of("any-language", file)
}

fn run(program: &str, file: &str) -> (Sandbox, Run) {
    run_of("any-language", program, file)
}

/// A sandbox with the example's policy and one of its programs, and what that printed.
fn run_of(folder: &str, program: &str, file: &str) -> (Sandbox, Run) {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", &example_of(folder, "governance.yaml"));
    sandbox.write(file, &example_of(folder, file));
    let binaries = Path::new(env!("CARGO_BIN_EXE_lictor")).parent().unwrap().display().to_string();
    let run = sandbox.program("sh", &["-c", &format!("PATH={binaries}:$PATH {program} {file}")], "");
    (sandbox, run)
}

fn calls(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn call(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn answers(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_shell_script_is_governed_without_dependencies() {
    let (_, run) = run("sh", "agent.sh");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.stdout,
        "research: pass\nafterwards: governed\nmay it stop? incomplete\nand now? complete\n"
    );
}

#[test]
fn javascript_is_governed_without_dependencies() {
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: node is not installed");
        return;
    }
    let (sandbox, run) = run("node", "agent.mjs");
    assert_eq!(run.code, 0, "{run:?}");
    for said in [
        "refused: only pages are published",
        "asked: a page is about to be published\npublished notes.md",
        "refused: a person said no: not on a Friday",
        "invalid_params: correct the parameters",
        "3 actions, 120 tokens",
    ] {
        assert!(run.stdout.contains(said), "{said}: {run:?}");
    }
    // Calls through rpc are on record like all others.
    let kinds: Vec<Value> = sandbox
        .lictor(&["audit", "query", "--session", "node", "--json"])
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone())
        .collect();
    let count = |kind: &str| kinds.iter().filter(|known| **known == kind).count();
    assert_eq!((count("evaluated"), count("resolved"), count("happened")), (3, 2, 1), "{kinds:?}");
}

#[test]
fn bad_lines_get_an_error_each_and_the_rest_is_answered() {
    let sandbox = Sandbox::new();
    let good = call(1, "evaluate", json!({"action": {"kind": "bash", "payload": {"command": "ls"}}}));
    let long = format!("\"{}\"", "x".repeat(17 * 1024 * 1024));
    let twice = "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"evaluate\", \"params\": {\"action\": {\"kind\": \"bash\", \
                 \"payload\": {\"command\": \"rm -rf /\", \"command\": \"ls\"}}}}";
    let bad: [(&str, i64); 9] = [
        ("{", -32700),
        (twice, -32700),
        ("\u{0}", -32700),
        (&long, -32600),
        ("7", -32600),
        ("{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"evaluate\"}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"evaluate\"}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"evaluate\", \"params\": [1]}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"judge\"}", -32601),
    ];
    let mut input = String::new();
    for (line, _) in &bad {
        input += &format!("{line}\n{good}\n\n");
    }
    let run = sandbox.lictor_with(&["rpc"], &input);
    let answers = answers(&run);
    assert_eq!((run.code, answers.len()), (0, 2 * bad.len()), "{}", run.stderr);
    for (pair, (line, code)) in answers.chunks(2).zip(bad) {
        let shown: String = line.chars().take(80).collect();
        assert_eq!(pair[0]["error"]["code"], code, "{shown}: {}", pair[0]);
        assert!(pair[0]["error"]["data"]["fix"].as_str().is_some_and(|fix| !fix.is_empty()));
        assert!(
            pair[0]["id"].is_null() || pair[0]["id"] == 1,
            "an id that is none is not said back: {}",
            pair[0]
        );
        // One line has no lines.
        assert!(!pair[0]["error"]["message"].to_string().contains("at line"), "{}", pair[0]);
        assert_eq!(pair[1]["result"]["decision"], "pass", "{shown}");
    }
}

#[test]
fn calls_without_an_id_are_carried_out_and_several_may_come_at_once() {
    let sandbox = Sandbox::new();
    let action = json!({"action": {"kind": "bash", "payload": {"command": "ls"}, "session_id": "s"}});
    let told = json!({"jsonrpc": "2.0", "method": "evaluate", "params": action});
    let both = json!([told, call(1, "session", json!({"session_id": "s"})), told]);
    let run = sandbox.lictor_with(&["rpc"], &calls(&[told.clone(), both, json!([told])]));
    let answers = answers(&run);
    assert_eq!(answers.len(), 1, "{run:?}");
    assert_eq!(answers[0][0]["result"]["state"]["action_count"], 2);
    assert_eq!(sandbox.lictor(&["session", "show", "s", "--json"]).json()["state"]["action_count"], 4);
}

#[test]
fn findings_the_gate_and_questions_work_as_in_the_commands() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", &example("governance.yaml"));
    sandbox.write("src/users.py", "a\nb\n");
    assert_eq!(sandbox.program("git", &["add", "src"], "").code, 0);
    let publish = json!({"kind": "submit_task", "task_type": "publish", "payload": {"page": "x.md"}, "session_id": "s"});
    let finding = json!({"plan": "p1", "level": "HIGH", "title": "SQL injection", "agent": "reviewer",
                         "evidence": ["src/users.py:2:unescaped"]});
    let run = sandbox.lictor_with(
        &["rpc"],
        &calls(&[
            call(1, "gate", json!({"event": "pre-commit"})),
            call(2, "record", json!({"finding": finding})),
            call(3, "gate", json!({"event": "pre-commit"})),
            call(4, "evaluate", json!({"action": publish, "unattended": true})),
            call(5, "approvals", json!({})),
            call(6, "record", json!({"finding": {"plan": "no blanks", "level": "HIGH", "title": "x"}})),
        ]),
    );
    let answers = answers(&run);
    assert_eq!(answers[0]["result"]["outcome"], "ok", "{run:?}");
    assert_eq!(
        (&answers[1]["result"]["level"], &answers[1]["result"]["open"]),
        (&json!("HIGH"), &json!(true))
    );
    assert_eq!(answers[2]["result"]["outcome"], "blocked");
    assert_eq!(answers[3]["result"]["decision"], "block");
    assert_eq!(answers[4]["result"][0]["action"]["task_type"], "publish");
    assert_eq!(answers[5]["error"]["data"]["kind"], "invalid_params");
    let listed = sandbox.lictor(&["approvals", "--json"]).json();
    assert_eq!(listed[0]["id"], answers[4]["result"][0]["id"]);
}

/// The samples of verdikt's README, in two languages that are not its own.
#[test]
fn the_readme_of_verdikt_works_from_shell_and_javascript() {
    let (_, shell) = run_of("verdikt", "sh", "readme.sh");
    let said = [
        "rm -rf /: block",
        "it matches the pattern",
        "src/auth/handler.py: block",
        "ls: pass",
        "afterwards: governed",
        "actions: 1",
        "deploy with a ticket: pass",
        "deploy without: warn",
    ];
    assert_eq!(shell.stdout.lines().collect::<Vec<_>>(), said, "{shell:?}");
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: node is not installed");
        return;
    }
    let (_, node) = run_of("verdikt", "node", "readme.mjs");
    let said = [
        r"rm -rf /: block: Command matches blocked pattern: rm\s+-rf\s+/",
        "fix: reach the goal with a command that the pattern does not forbid",
        "ls: pass, governed; 2 actions, 1 blocked",
        "asked: bash_safety, file_boundary, budget, intent",
        "deploy with a ticket: pass",
        "deploy without: warn",
    ];
    assert_eq!(node.stdout.lines().collect::<Vec<_>>(), said, "{node:?}");
}

/// An agent of the Agent Client Protocol: reads, writes, runs, asks, and ends its turn too early.
const ACP_AGENT: &str = r#"
import { createInterface } from 'node:readline';
let last = 0;
const waiting = new Map();
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const call = (method, params) => new Promise((done) => {
  waiting.set(++last, done);
  send({ id: last, method, params: { sessionId: 's1', ...params } });
});
const told = ({ result, error }) => error ? `refused: ${error.message.split('\n')[0]}` : JSON.stringify(result);
const say = (text) => send({ method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } });
const options = [{ optionId: 'allow-1', name: 'Allow', kind: 'allow_once' }, { optionId: 'no', name: 'No', kind: 'reject_once' }];
async function work(text) {
  if (text.startsWith('Not finished')) {
    await call('fs/write_text_file', { path: 'report.md', content: 'done' });
    return say('report written');
  }
  say('read ' + told(await call('fs/read_text_file', { path: 'notes.txt' })));
  say('red line ' + told(await call('fs/write_text_file', { path: 'plan.txt', content: 'x' })));
  say('rm ' + told(await call('terminal/create', { command: 'rm', args: ['-rf', '/'] })));
  const run = await call('terminal/create', { command: 'make', args: ['test'] });
  say('make ' + told(await call('terminal/wait_for_exit', { terminalId: run.result.terminalId })));
  say('deploy ' + told(await call('session/request_permission', { toolCall: { toolCallId: 'c1', title: 'shell', rawInput: { command: './deploy.sh' } }, options })));
  say('push ' + told(await call('session/request_permission', { toolCall: { toolCallId: 'c2', title: 'shell', rawInput: { command: 'git push --force' } }, options })));
}
createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  if (!message.method) return waiting.get(message.id)(message);
  if (message.method === 'initialize') return send({ id: message.id, result: { protocolVersion: 1 } });
  await work(message.params.prompt[0].text);
  send({ id: message.id, result: { stopReason: 'end_turn' } });
});
"#;

/// An editor with a person who approves. It prints its operations and the agent's messages.
const ACP_EDITOR: &str = r#"
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { writeFileSync } from 'node:fs';
const agent = spawn('node', ['acp.mjs', 'node', 'acp-agent.mjs'], { stdio: ['pipe', 'pipe', 'inherit'] });
const send = (message) => agent.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
createInterface({ input: agent.stdout }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === 'session/update') return console.log(params.update.content.text);
  const done = (result) => send({ id, result });
  switch (method) {
    case 'fs/read_text_file': return done({ content: 'text' });
    case 'fs/write_text_file': writeFileSync(params.path, params.content); return done({});
    case 'terminal/create': console.log('runs ' + [params.command, ...params.args].join(' ')); return done({ terminalId: 't1' });
    case 'terminal/wait_for_exit': return done({ exitCode: 0 });
    case 'session/request_permission':
      console.log('asks ' + params.toolCall.rawInput.command);
      return done({ outcome: { outcome: 'selected', optionId: params.options[0].optionId } });
  }
  if (id === 1) return send({ id: 2, method: 'session/prompt', params: { sessionId: 's1', prompt: [{ type: 'text', text: 'work' }] } });
  console.log(`ended: ${result.stopReason}`);
  agent.stdin.end();
});
send({ id: 1, method: 'initialize', params: { protocolVersion: 1 } });
"#;

#[test]
fn an_agent_of_the_agent_client_protocol_is_governed_between_it_and_its_editor() {
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: node is not installed");
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "version: 1\nboundaries: {red_line_files: [plan.txt]}\ncompletion: {files: [report.md]}\n\
         guards: {deploys: {expr: '!payload.command.contains(\"deploy\")', decision: ask, reason: a deploy, fix: f}}\n\
         policy: {when: 'has(payload.command)', then: deploys}\n",
    );
    sandbox.write("notes.txt", "text");
    sandbox.write("acp.mjs", &example("acp.mjs"));
    sandbox.write("acp-agent.mjs", ACP_AGENT);
    sandbox.write("acp-editor.mjs", ACP_EDITOR);
    let binaries = Path::new(env!("CARGO_BIN_EXE_lictor")).parent().unwrap().display().to_string();
    let run = sandbox.program("sh", &["-c", &format!("PATH={binaries}:$PATH node acp-editor.mjs")], "");
    assert_eq!(run.code, 0, "{run:?}");
    let said: Vec<&str> = run.stdout.lines().collect();
    let refused = |step: &str| said.iter().any(|line| line.starts_with(&format!("{step} refused: ")));
    assert!(refused("red line") && refused("rm"), "{run:?}");
    for line in [
        "read {\"content\":\"text\"}",
        "runs make test",
        "make {\"exitCode\":0}",
        "asks ./deploy.sh",
        "deploy {\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"allow-1\"}}",
        "push {\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"no\"}}",
        "report written",
        "ended: end_turn",
    ] {
        assert!(said.contains(&line), "{line}: {run:?}");
    }
    assert_eq!(said.iter().filter(|line| line.starts_with("asks")).count(), 1, "{run:?}");
    let state = sandbox.lictor(&["session", "show", "s1", "--json"]).json()["state"].clone();
    assert_eq!((&state["block_count"], &state["ungoverned_count"]), (&json!(3), &json!(0)), "{state}");
}

/// Sixteen programs at once, each with a `lictor rpc` of its own, on one record.
#[test]
fn sixteen_programs_at_once_lose_nothing() {
    const CLIENTS: usize = 16;
    const CALLS: usize = 25;
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\nbudget: {max_actions: 100000}\n");
    // The first makes the record.
    sandbox.lictor_with(&["rpc"], &calls(&[call(0, "version", json!({}))]));
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let line = |number: usize| {
                    let session =
                        if number.is_multiple_of(2) { "shared".to_owned() } else { format!("own-{client}") };
                    let action = json!({"kind": "bash", "payload": {"command": "ls"}, "session_id": session});
                    call(number as u64, "evaluate", json!({"action": action}))
                };
                let lines: Vec<Value> = (0..CALLS).map(line).collect();
                let answers = answers(&sandbox.lictor_with(&["rpc"], &calls(&lines)));
                let ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_u64()).collect();
                assert_eq!(ids, (0..CALLS as u64).map(Some).collect::<Vec<_>>(), "{answers:?}");
                assert!(answers.iter().all(|answer| answer["result"]["decision"] == "pass"), "{answers:?}");
            });
        }
    });
    let asked: Vec<Value> = std::iter::once("shared".to_owned())
        .chain((0..CLIENTS).map(|client| format!("own-{client}")))
        .enumerate()
        .map(|(number, session)| call(number as u64, "session", json!({"session_id": session})))
        .collect();
    let counted = answers(&sandbox.lictor_with(&["rpc"], &calls(&asked)));
    let counts: Vec<u64> =
        counted.iter().map(|answer| answer["result"]["state"]["action_count"].as_u64().unwrap()).collect();
    let own = CALLS / 2;
    let mut wanted = vec![own as u64; CLIENTS + 1];
    wanted[0] = (CLIENTS * (CALLS - own)) as u64;
    assert_eq!(counts, wanted, "{counted:?}");
    let verified = sandbox.lictor(&["audit", "verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    let decided = sandbox.lictor(&["log", "-n", "100000", "--json"]).stdout.lines().count();
    assert_eq!(decided, CLIENTS * CALLS);
}

#[test]
fn at_most_two_reasons_are_told_and_every_verdict_is_there() {
    let sandbox = Sandbox::new();
    let guard =
        |name: &str| format!("  {name}: {{expr: 'false', reason: said by {name}, fix: heed {name}}}\n");
    let guards: String = ["first", "second", "third"].map(guard).concat();
    sandbox.write("governance.yaml", &format!("guards:\n{guards}policy: {{all: [first, second, third]}}\n"));
    let good = call(1, "evaluate", json!({"action": {"kind": "bash", "payload": {"command": "ls"}}}));
    let told = answers(&sandbox.lictor_with(&["rpc"], &calls(&[good])))[0]["result"].clone();
    assert_eq!(told["reason"], "said by first\nsaid by second", "{told}");
    assert_eq!(told["fix"], "heed first\nheed second", "{told}");
    assert!(told["verdicts"].to_string().contains("said by third"), "{told}");
}
