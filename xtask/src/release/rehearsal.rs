//! Finds out which functions a hook runs, by running hooks.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

/// A little of everything that policies are made of and that calls meet.
const POLICY: &str = include_str!("rehearsal.yaml");

/// The functions that hooks of that binary run, those first that most events need. Everything is done below `home`, which
/// is removed again.
pub fn functions(lictor: &Path, home: &Path) -> Result<Vec<String>> {
    let project = home.join("project");
    fs::create_dir_all(project.join(".git"))?;
    fs::create_dir_all(project.join("src"))?;
    fs::write(project.join("governance.yaml"), POLICY)?;
    fs::write(project.join("src/main.rs"), "fn main() {}\n")?;
    let stage = Stage { lictor, home, project: &project };
    let functions = stage.all();
    fs::remove_dir_all(home)?;
    functions
}

struct Stage<'a> {
    lictor: &'a Path,
    home: &'a Path,
    project: &'a Path,
}

impl Stage<'_> {
    fn all(&self) -> Result<Vec<String>> {
        // Names in the order in which they are met, with the number of events that meet them.
        let mut met: Vec<String> = Vec::new();
        let mut times: HashMap<String, usize> = HashMap::new();
        for (number, (event, body)) in events(self.project).into_iter().enumerate() {
            // The first time of anything is not how it goes: there is no store yet and no compiled policy.
            self.play(&[], event, &body, &format!("first{number}"))?;
            let mut ran = self.watched(&[], event, &body, &format!("second{number}"))?;
            // Inside of `lictor run` every event takes the same way: to the guardian.
            if event == "PreToolUse" {
                ran.extend(self.watched(&["run", "--"], event, &body, &format!("inside{number}"))?);
            }
            let mut known = HashSet::new();
            for name in ran.into_iter().filter(|name| known.insert(name.clone())) {
                let count = times.entry(name.clone()).or_default();
                if *count == 0 {
                    met.push(name);
                }
                *count += 1;
            }
        }
        met.sort_by_key(|name| std::cmp::Reverse(times.get(name).copied()));
        ensure!(met.len() > 100, "only {} functions were seen to run", met.len());
        Ok(met)
    }

    /// The functions that an event runs when the program runs the hook as `through` says.
    fn watched(&self, through: &[&str], event: &str, body: &Value, id: &str) -> Result<Vec<String>> {
        // In the project, where it can be written from inside of a sandbox.
        let seen = self.project.join("seen");
        let file = format!("--callgrind-out-file={}", seen.display());
        let lictor = self.lictor.display().to_string();
        let mut watcher: Vec<&str> = Vec::new();
        if !through.is_empty() {
            watcher.push(&lictor);
            watcher.extend(through);
        }
        watcher.extend(["valgrind", "-q", "--tool=callgrind", "--demangle=no", &file]);
        self.play(&watcher, event, body, id)?;
        let text = fs::read_to_string(&seen).context("valgrind wrote nothing down")?;
        Ok(names(&text))
    }

    /// One event, which nothing forbids.
    fn play(&self, watcher: &[&str], event: &str, body: &Value, id: &str) -> Result<()> {
        let mut body = body.clone();
        for (key, value) in [
            ("session_id", "rehearsal"),
            ("hook_event_name", event),
            ("tool_use_id", id),
            ("permission_mode", "default"),
        ] {
            body[key] = json!(value);
        }
        body["cwd"] = json!(self.project);
        let lictor = self.lictor.display().to_string();
        let argv: Vec<&str> =
            watcher.iter().copied().chain([lictor.as_str(), "hook", "claude-code", event]).collect();
        let (program, args) = argv.split_first().context("there is nothing to run")?;
        let mut child = Command::new(program)
            .args(args)
            .current_dir(self.project)
            .env_clear()
            .env("HOME", self.home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{program}`"))?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that has ended does not read any more; how it ended says why.
            let _ = stdin.write_all(body.to_string().as_bytes());
        }
        let output = child.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the hook of `{event}` ended with {}: {said}", output.status);
        Ok(())
    }
}

/// What a session of an agent is made of.
fn events(project: &Path) -> Vec<(&'static str, Value)> {
    let call = |tool: &str, input: Value| json!({"tool_name": tool, "tool_input": input});
    let done = |mut call: Value| {
        call["tool_response"] = json!({"interrupted": false, "stdout": "", "stderr": ""});
        call
    };
    let file = project.join("src/main.rs");
    let test = call("Bash", json!({"command": "cargo test 2>&1 | tail -n 20"}));
    vec![
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "make it work"})),
        ("PreToolUse", call("Read", json!({"file_path": file}))),
        ("PreToolUse", call("Grep", json!({"pattern": "main", "path": project}))),
        (
            "PreToolUse",
            call("Write", json!({"file_path": project.join("src/lib.rs"), "content": "pub fn a() {}\n"})),
        ),
        ("PreToolUse", call("Edit", json!({"file_path": file, "old_string": "{}", "new_string": "{ }"}))),
        ("PreToolUse", call("Bash", json!({"command": "cargo build"}))),
        (
            "PreToolUse",
            call(
                "Bash",
                json!({"command": "cd src && ls -la *.rs | grep -v lib > ../docs/list.txt; git status"}),
            ),
        ),
        ("PreToolUse", test.clone()),
        ("PostToolUse", done(test)),
    ]
}

/// The functions that a profile names, each once. Those that the linker's script could not name are left out.
fn names(profile: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let lines =
        profile.lines().filter_map(|line| line.strip_prefix("fn=(").or_else(|| line.strip_prefix("cfn=(")));
    let named = lines.filter_map(|line| line.split_once(") ")).map(|(_, name)| {
        // A recursion is numbered.
        name.split_once('\'').map_or(name, |(name, _)| name)
    });
    let plain = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte));
    named
        .filter(plain)
        .filter(|name| !name.starts_with("0x") && seen.insert(*name))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests;
