//! A whole session on every agent, offline: allowed actions, blocked actions, a prerequisite, feedback, a request
//! to stop, a commit.

use lictor_agents::Agent;
use lictor_agents::conformance::Obeyed;

use crate::fake::Fake;

const POLICY: &str = r#"version: 1
tools:
  require_first: {bash("git push"): [bash("cargo test")]}
feedback:
  - {name: plan, on_file_created: PLAN.md, say: "Follow PLAN.md and tick items off."}
completion:
  all:
    - files: [report.md]
  max_rounds: 3
councils:
  ship-it:
    on: [pre-commit]
    guardrail: true
    reviewers:
      - {name: reader, command: [scripts/review.sh], format: jsonl}
"#;

/// A reviewer that finds fault with every file that says TODO.
const REVIEW: &str = r#"#!/bin/sh
grep -q TODO src/new.rs || exit 0
echo '{"level": "HIGH", "title": "unfinished", "evidence": ["src/new.rs:1:a TODO"], "rationale": "finish it"}'
"#;

const AGENTS: [Agent; 7] = [
    Agent::ClaudeCode,
    Agent::Codex,
    Agent::GeminiCli,
    Agent::Cursor,
    Agent::CopilotCli,
    Agent::VsCode,
    Agent::OpenCode,
];

fn stopped(obeyed: &Obeyed, words: &str) -> bool {
    matches!(obeyed, Obeyed::Stopped(text) | Obeyed::Asks(text) if text.contains(words))
}

#[test]
fn whole_sessions_run_under_every_contract() {
    for agent in AGENTS {
        let mut fake = Fake::new(agent, POLICY, REVIEW);
        // Allowed actions pass silently.
        assert_eq!(fake.runs("cargo build"), Obeyed::Proceeds, "{agent}");
        // Harmful actions do not pass.
        let blocked = fake.runs("rm -rf ~");
        assert!(stopped(&blocked, "home directory"), "{agent}: {blocked:?}");
        let (policy, _) = fake.uses("bash", &[("command", "rm governance.yaml")]);
        assert!(matches!(policy, Obeyed::Stopped(_)), "{agent}: {policy:?}");

        // First the tests, then the push.
        let early = fake.runs("git push");
        assert!(stopped(&early, "cargo test"), "{agent}: {early:?}");
        assert_eq!(fake.runs("cargo test"), Obeyed::Proceeds, "{agent}");
        let push = fake.runs("git push");
        // Codex and VS Code do not report exit statuses, and an unreported success does not count.
        if matches!(agent, Agent::Codex | Agent::VsCode) {
            assert!(stopped(&push, "cargo test"), "{agent}: {push:?}");
        } else {
            assert!(matches!(push, Obeyed::Proceeds | Obeyed::Told(_)), "{agent}: {push:?}");
        }

        // Feedback comes right after the call that it is about.
        let (before, after) = fake.writes("PLAN.md", "- [ ] report\n");
        assert!(matches!(before, Obeyed::Proceeds | Obeyed::Told(_)), "{agent}: {before:?}");
        let told = matches!(&after, Some(Obeyed::Told(text)) if text.contains("Follow PLAN.md"));
        assert!(told, "{agent}: {after:?}");

        // Code that reviewers flag is not committed: git's hook runs them, and from then on the agent's own hook
        // knows the findings.
        let commit = |fake: &Fake| {
            fake.sandbox.program("git", &["add", "-A"], "");
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
            fake.sandbox.program("git", &[&who[..], &["commit", "-qm", "new"]].concat(), "")
        };
        fake.writes("src/new.rs", "// TODO\n");
        let refused = commit(&fake);
        assert!(refused.code != 0 && refused.stderr.contains("unfinished"), "{agent}: {refused:?}");
        let early = fake.runs("git commit -m new");
        assert!(stopped(&early, "unfinished"), "{agent}: {early:?}");
        fake.writes("src/new.rs", "pub fn n() {}\n");
        let committed = commit(&fake);
        assert_eq!(committed.code, 0, "{agent}: {committed:?}");

        // The agent may stop when the work is done.
        let early = fake.stops();
        assert!(stopped(&early, "report.md"), "{agent}: {early:?}");
        fake.writes("report.md", "all done\n");
        assert!(matches!(fake.stops(), Obeyed::Proceeds | Obeyed::Told(_)), "{agent}");

        let state = fake.sandbox.lictor(&["session", "list", "--json"]).json();
        assert_eq!(state.as_array().unwrap().len(), 1, "{agent}: one session, one record: {state}");
        assert_eq!(state[0]["state"]["ungoverned_count"], 0, "{agent}: {state}");
        assert_eq!(state[0]["state"]["bypass_count"], 0, "{agent}: {state}");
        assert_eq!(fake.sandbox.lictor(&["audit", "verify"]).code, 0, "{agent}");
    }
}
