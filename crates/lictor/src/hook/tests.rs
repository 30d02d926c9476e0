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
        // Equal events in a row are told as one: the end of each keeps openings apart.
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
