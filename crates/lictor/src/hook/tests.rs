use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use serde_json::json;

use super::*;

/// Counts how often files are opened, by whomever.
struct Opens {
    watch: OwnedFd,
    files: Vec<i32>,
}

impl Opens {
    fn of(files: &[&Path]) -> Self {
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        // Equal consecutive events are merged: the close events keep openings separate.
        let wanted = WatchFlags::OPEN | WatchFlags::CLOSE_NOWRITE;
        let files = files.iter().map(|file| inotify::add_watch(&watch, *file, wanted).unwrap()).collect();
        Self { watch, files }
    }

    fn counted(self) -> Vec<usize> {
        let mut counts = vec![0; self.files.len()];
        let mut buffer = [MaybeUninit::uninit(); 8192];
        let mut reader = Reader::new(&self.watch, &mut buffer);
        while let Ok(event) = reader.next() {
            let at = self.files.iter().position(|file| *file == event.wd()).unwrap();
            counts[at] += usize::from(event.events().contains(ReadFlags::OPEN));
        }
        counts
    }
}

#[test]
fn the_first_event_of_a_session_opens_each_file_of_the_policy_once() {
    let place = tempfile::tempdir().unwrap();
    let (home, project, state) =
        (place.path().join("home"), place.path().join("project"), place.path().join("state"));
    let user = home.join(".config/lictor");
    for directory in [&user, &project.join(".git")] {
        fs::create_dir_all(directory).unwrap();
    }
    let files = [user.join("governance.yaml"), project.join("governance.yaml"), state.join("policy.bin")];
    fs::write(&files[0], "version: 1\nbudget: {max_actions: 100}\n").unwrap();
    fs::write(&files[1], "version: 1\nbash_safety: {blocked_programs: [forbidden]}\n").unwrap();
    let options = Options::new().home(&home).state_dir(&state).cwd(&project);
    let said = |session: &str, command: &str| {
        let event = json!({
            "session_id": session, "cwd": &project, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": format!("toolu_{session}"),
        });
        let input = event.to_string();
        let refused = AlreadyRefusedStop::default();
        answer(Agent::ClaudeCode, None, input.as_bytes(), &refused, &options).rendered
    };
    assert_eq!(said("first", "cargo build"), Rendered::default());
    let opens = Opens::of(&files.each_ref().map(|file| file.as_path()));
    assert_eq!(said("second", "forbidden").exit, 2);
    assert_eq!(opens.counted(), [1, 1, 1]);
}

/// A project with hooks that reuse their runtime, as those of a guardian do.
struct Guarded {
    place: tempfile::TempDir,
    options: Options,
    last: Option<Runtime>,
}

impl Guarded {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let [home, project] = ["home", "project"].map(|name| place.path().join(name));
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::create_dir_all(&home).unwrap();
        let options = Options::new().home(&home).state_dir(place.path().join("state")).cwd(&project);
        Self { place, options, last: None }
    }

    fn policy(&self, text: &str) {
        fs::write(self.place.path().join("project/governance.yaml"), format!("version: 1\n{text}\n"))
            .unwrap();
    }

    /// Judges a command, and returns whether the runtime of the previous call was reused.
    fn judge(&mut self, command: &str) -> (u8, bool) {
        let project = self.place.path().join("project");
        let event = json!({
            "session_id": command, "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": format!("toolu_{command}"),
        });
        let input = event.to_string();
        let refused = AlreadyRefusedStop::default();
        let agent = Agent::ClaudeCode;
        let answered =
            answer_after(agent, None, input.as_bytes(), &refused, &self.options, self.last.as_ref());
        let runtime = answered.runtime.unwrap();
        let last = self.last.replace(runtime.clone());
        let again = last.is_some_and(|last| {
            Arc::ptr_eq(last.snapshot(), runtime.snapshot()) && Arc::ptr_eq(last.store(), runtime.store())
        });
        (answered.rendered.exit, again)
    }
}

#[test]
fn the_next_event_uses_the_policy_and_the_store_of_the_last() {
    let mut guarded = Guarded::new();
    guarded.policy("bash_safety: {blocked_programs: [forbidden]}");
    assert_eq!(guarded.judge("cargo build"), (0, false));
    assert_eq!(guarded.judge("forbidden"), (2, true));
    guarded.options = guarded.options.clone().cwd(guarded.place.path()).caller(1);
    assert_eq!(guarded.judge("other"), (0, true), "from which directory and process does not matter");
}

#[test]
fn what_has_changed_is_not_used_again() {
    let mut guarded = Guarded::new();
    guarded.judge("cargo build");
    guarded.policy("bash_safety: {blocked_programs: [other]}");
    assert_eq!(guarded.judge("other"), (2, false), "a policy file that was written");
    let state = guarded.place.path().join("state");
    for end in ["", "-wal", "-shm"] {
        fs::remove_file(state.join(format!("lictor.db{end}"))).unwrap();
    }
    assert!(!guarded.judge("cargo check").1, "a store whose file is gone");
    assert!(state.join("lictor.db").exists());
    guarded.options = guarded.options.clone().env("CLAUDE_PROJECT_DIR", "/elsewhere");
    assert!(!guarded.judge("cargo doc").1, "another environment");
    let program = guarded.place.path().join("project/check.sh");
    fs::write(&program, "#!/bin/sh\necho '{\"passed\": true}'\n").unwrap();
    guarded.policy("guards: {own: {command: [./check.sh]}}\npolicy: {all: [own]}");
    guarded.judge("cargo run");
    assert!(!guarded.judge("cargo bench").1, "programs of a policy may change at any time");
}

#[test]
fn starting_an_agent_that_no_hook_sees_is_asked_about() {
    let [delegate, bash] =
        [ActionKind::Delegate, ActionKind::Bash].map(|kind| Action::new(kind, serde_json::Map::new()));
    let why = unseen_delegation(Agent::Goose, &delegate).expect("a reason");
    assert!(why.contains("goose"), "{why}");
    assert_eq!(unseen_delegation(Agent::Goose, &bash), None, "its own calls are seen");
    assert_eq!(unseen_delegation(Agent::ClaudeCode, &delegate), None, "its subagents are seen");
}
