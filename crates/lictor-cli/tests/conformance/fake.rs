//! A simulated agent: starts the hooks in its settings as the real one does, and obeys their replies.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lictor_agents::conformance::{Conformance, Expect, Intent, Obeyed, Sent, obey};
use lictor_agents::install::{Scope, Settings, Where};
use lictor_agents::{Agent, Rendered};
use serde_json::{Map, Value, json};

use crate::sandbox::Sandbox;

/// One agent at work in one project.
pub struct Fake {
    pub agent: Agent,
    pub sandbox: Sandbox,
    /// The command line of each event, as it stands in the settings.
    lines: BTreeMap<String, String>,
    words: Conformance,
    calls: u32,
}

impl Fake {
    /// An agent in a project with that policy and that reviewer, with the hooks that `init` installs for it.
    pub fn new(agent: Agent, policy: &str, reviewer: &str) -> Self {
        let sandbox = Sandbox::bare();
        sandbox.write("scripts/review.sh", reviewer);
        sandbox.program("chmod", &["+x", "scripts/review.sh"], "");
        sandbox.write("governance.yaml", policy);
        sandbox.write("src/lib.rs", "pub fn f() {}\n");
        let run = sandbox.lictor(&["init", "--yes", "--git", "--agent", agent.name()]);
        // Codex is not installed, so whether it trusts the hooks is unknown.
        assert_eq!(run.code, i32::from(agent == Agent::Codex), "{agent}: {run:?}");
        let place = Where::new(sandbox.home(), sandbox.project(), |_| None);
        let settings = Settings::of(agent, Scope::Project, &place, Path::exists).unwrap();
        let text = fs::read_to_string(settings.path()).unwrap();
        let hooks = settings.inspect(&text, &PathBuf::from(env!("CARGO_BIN_EXE_lictor"))).hooks;
        assert!(hooks.iter().all(|hook| hook.problems.is_empty()), "{hooks:?}");
        let lines = hooks.into_iter().map(|hook| (hook.event, hook.line)).collect();
        Self { agent, sandbox, lines, words: Conformance::load().unwrap(), calls: 0 }
    }

    /// The command line that the agent runs for an event.
    fn line(&self, event: &str) -> String {
        let own = match (self.agent, event) {
            // VS Code reads Copilot's file and maps its event names.
            (Agent::VsCode, "PreToolUse") => "preToolUse",
            (Agent::VsCode, "PostToolUse") => "postToolUse",
            (Agent::VsCode, "Stop") => "agentStop",
            // The plugin passes the name of the event on.
            (Agent::OpenCode, event) => {
                return format!("{} hook opencode {event}", env!("CARGO_BIN_EXE_lictor"));
            }
            (_, event) => event,
        };
        self.lines.get(own).unwrap_or_else(|| panic!("{}: no hook for {own}", self.agent)).clone()
    }

    fn fire(&self, event: &str, payload: &Map<String, Value>) -> Obeyed {
        let run =
            self.sandbox.program("sh", &["-c", &self.line(event)], &serde_json::to_string(payload).unwrap());
        let exit = u8::try_from(run.code).unwrap();
        obey(self.agent, event, &Rendered { stdout: run.stdout, stderr: run.stderr, exit })
    }

    /// Uses a tool unless it is stopped. Returns the replies before and after.
    pub fn uses(&mut self, deed: &str, values: &[(&str, &str)]) -> (Obeyed, Option<Obeyed>) {
        self.calls += 1;
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let intent = Intent {
            id: format!("call-{}", self.calls),
            deed: deed.to_owned(),
            expect: Expect::Same,
            values,
        };
        let (cwd, home) = (self.sandbox.project(), self.sandbox.home());
        let sent = self
            .words
            .send(self.agent, &intent, cwd.to_str().unwrap(), home.to_str().unwrap())
            .unwrap_or_else(|| panic!("{} has no tool for {deed}", self.agent));
        let before = self.fire(&sent.event, &sent.payload);
        let after = matches!(before, Obeyed::Proceeds | Obeyed::Told(_)).then(|| {
            let (event, payload) = self.report(&sent);
            self.fire(event, &payload)
        });
        (before, after)
    }

    /// Runs a command that works.
    pub fn runs(&mut self, command: &str) -> Obeyed {
        self.uses("bash", &[("command", command)]).0
    }

    /// Writes a file of the project, by whatever tool the agent has for it.
    pub fn writes(&mut self, path: &str, content: &str) -> (Obeyed, Option<Obeyed>) {
        let full = self.sandbox.project().join(path);
        let told = if self.agent == Agent::Codex {
            let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
            let patch = format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n");
            // The file has to be there by the time the agent reports.
            self.sandbox.write(path, content);
            self.uses("patch", &[("patch", &patch)])
        } else {
            self.sandbox.write(path, content);
            self.uses("write", &[("path", full.to_str().unwrap()), ("content", content)])
        };
        if !matches!(told.0, Obeyed::Proceeds | Obeyed::Told(_)) {
            fs::remove_file(full).unwrap();
        }
        told
    }

    /// What the agent sends after a tool that worked.
    fn report(&self, sent: &Sent) -> (&'static str, Map<String, Value>) {
        let mut payload = sent.payload.clone();
        let mut set = |name: &str, value: Value| {
            payload.insert(name.to_owned(), value);
        };
        let event = match self.agent {
            Agent::ClaudeCode => {
                set("tool_response", json!({"stdout": "", "stderr": "", "interrupted": false}));
                "PostToolUse"
            }
            Agent::Codex | Agent::VsCode => {
                set("tool_response", "done".into());
                "PostToolUse"
            }
            Agent::GeminiCli => {
                set("tool_response", json!({"llmContent": "Output: x\nExit Code: 0", "returnDisplay": "x"}));
                "AfterTool"
            }
            Agent::CopilotCli => {
                let text = "x\n<exited with exit code 0>";
                set("toolResult", json!({"resultType": "success", "textResultForLlm": text}));
                "postToolUse"
            }
            Agent::Cursor => {
                if let Some(command) = sent.payload.get("command").cloned() {
                    set("tool_name", "Shell".into());
                    set("tool_input", json!({"command": command}));
                }
                set("tool_output", r#"{"exitCode":0}"#.into());
                "postToolUse"
            }
            Agent::OpenCode => {
                let args = sent.payload["output"]["args"].clone();
                let mut input = sent.payload["input"].clone();
                input["args"] = args;
                set("hook", "tool.execute.after".into());
                set("input", input);
                set("output", json!({"title": "x", "output": "x", "metadata": {"exit": 0}}));
                "tool.execute.after"
            }
            other => panic!("{other} is not played here"),
        };
        if payload.contains_key("hook_event_name") {
            payload.insert("hook_event_name".to_owned(), event.into());
        }
        (event, payload)
    }

    /// Begins its session.
    pub fn begins(&self) {
        let (event, fields) = match self.agent {
            Agent::CopilotCli => ("sessionStart", json!({"source": "new", "initialPrompt": "x"})),
            Agent::Cursor => ("sessionStart", json!({"composer_mode": "agent"})),
            _ => ("SessionStart", json!({"source": "startup"})),
        };
        self.passes(event, fields);
    }

    /// Ends its session.
    pub fn ends(&self) {
        let (event, fields) = match self.agent {
            Agent::CopilotCli => ("sessionEnd", json!({"reason": "complete"})),
            Agent::Cursor => ("sessionEnd", json!({"reason": "completed"})),
            _ => ("SessionEnd", json!({"reason": "other"})),
        };
        self.passes(event, fields);
    }

    /// Reports a session event, in the agent's own envelope.
    fn passes(&self, event: &str, fields: Value) {
        let cwd = self.sandbox.project();
        let mut payload = match self.agent {
            Agent::CopilotCli => {
                json!({"sessionId": "conformance", "timestamp": 1_794_733_964_123_u64, "cwd": cwd})
            }
            Agent::Cursor => {
                json!({"conversation_id": "conformance", "session_id": "conformance", "model": "m",
                                    "cursor_version": "3.9.2", "workspace_roots": [cwd]})
            }
            Agent::GeminiCli => {
                json!({"session_id": "conformance", "cwd": cwd, "timestamp": "2026-11-15T09:12:44.123Z"})
            }
            _ => json!({"session_id": "conformance", "cwd": cwd, "permission_mode": "default"}),
        };
        let payload = payload.as_object_mut().unwrap();
        payload.extend(fields.as_object().unwrap().clone());
        if self.agent != Agent::CopilotCli {
            payload.insert("hook_event_name".to_owned(), event.into());
        }
        let obeyed = self.fire(event, payload);
        assert!(matches!(obeyed, Obeyed::Proceeds | Obeyed::Told(_)), "{}: {event}: {obeyed:?}", self.agent);
    }

    /// Wants to stop.
    pub fn stops(&self) -> Obeyed {
        let cwd = self.sandbox.project();
        let (event, payload) = match self.agent {
            Agent::ClaudeCode => (
                "Stop",
                json!({"session_id": "conformance", "cwd": cwd, "permission_mode": "default", "stop_hook_active": false}),
            ),
            Agent::Codex => (
                "Stop",
                json!({"session_id": "conformance", "turn_id": "t1", "transcript_path": null, "cwd": cwd, "model": "gpt",
                       "permission_mode": "default", "stop_hook_active": false, "last_assistant_message": "Done."}),
            ),
            Agent::GeminiCli => (
                "AfterAgent",
                json!({"session_id": "conformance", "cwd": cwd, "timestamp": "2026-11-15T09:12:44.123Z",
                       "prompt": "x", "prompt_response": "Done.", "stop_hook_active": false}),
            ),
            Agent::Cursor => (
                "stop",
                json!({"conversation_id": "conformance", "generation_id": "g1", "model": "m", "cursor_version": "3.9.2",
                       "workspace_roots": [cwd], "status": "completed", "loop_count": 0}),
            ),
            Agent::CopilotCli => (
                "agentStop",
                json!({"sessionId": "conformance", "timestamp": 1_794_733_964_123_u64, "cwd": cwd,
                       "transcriptPath": "/dev/null", "stopReason": "end_turn", "stop_hook_active": false}),
            ),
            Agent::VsCode => (
                "Stop",
                json!({"timestamp": "2026-11-15T09:12:44.123Z", "cwd": cwd, "session_id": "conformance",
                       "transcript_path": "/dev/null", "stop_hook_active": false}),
            ),
            Agent::OpenCode => (
                "session.idle",
                json!({"hook": "event", "cwd": cwd, "event": {"type": "session.idle", "properties": {"sessionID": "conformance"}}}),
            ),
            other => panic!("{other} is not played here"),
        };
        let mut payload = payload.as_object().unwrap().clone();
        if !matches!(self.agent, Agent::CopilotCli | Agent::OpenCode) {
            payload.insert("hook_event_name".to_owned(), event.into());
        }
        self.fire(event, &payload)
    }
}
