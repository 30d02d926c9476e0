use std::collections::BTreeMap;
use std::io::Write as _;

use super::*;

fn homes(home: &Path) -> Homes {
    Homes { home: home.to_owned(), data: home.join(".local/share"), codex: None, claude: None, copilot: None }
}

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts/home")
}

/// `session cwd: what, how it ended` for every call, and how much was damaged, by agent.
fn told(found: &[Transcript]) -> BTreeMap<&'static str, (Vec<String>, u64)> {
    let mut all: BTreeMap<&'static str, (Vec<String>, u64)> = BTreeMap::new();
    for transcript in found {
        let (calls, damaged) = all.entry(transcript.agent.name()).or_default();
        let mut open: Vec<(String, usize)> = Vec::new();
        let tally = transcript.read(|entry| {
            match entry {
                Entry::Call(action) => {
                    let what = ["command", "path", "patch"].into_iter().find_map(|field| action.text(field));
                    let session = action.session.as_ref().unwrap().id.clone();
                    open.push((action.tool_use_id.clone().unwrap_or_default(), calls.len()));
                    let what = what.unwrap_or_default().lines().next().unwrap_or_default();
                    calls.push(format!("{session} {} {} {what}", action.cwd, action.kind));
                }
                Entry::Done { id, success } => {
                    let (_, at) = open.iter().find(|(known, _)| *known == id).unwrap();
                    calls[*at] += if success { " ✓" } else { " ✗" };
                }
            }
            ControlFlow::Continue(())
        });
        *damaged += tally.unwrap().damaged;
    }
    all
}

#[test]
fn every_agents_transcripts_are_read_in_old_and_new_forms() {
    let told = told(&find(&homes(&samples())));
    let calls = |agent: &str| told[agent].0.join("\n");
    assert_eq!(
        calls("claude-code"),
        "c1 /work/shop bash git push --force ✗\nc1 /work/shop write /work/shop/a.py"
    );
    assert_eq!(
        calls("codex"),
        "x-old /work/api bash ls -la ✗\nx-new /work/api bash rm -rf / ✓\nx-new /work/api write *** Begin Patch\n\
         x-new /work/other bash git status"
    );
    assert_eq!(
        calls("gemini-cli"),
        "g1 /work/docs bash make test ✓\ng1 /work/docs write /work/docs/x.md ✗\ng2 /work/docs read a.md ✓\n\
         checkpoint-tag / bash ls"
    );
    assert_eq!(calls("copilot-cli"), "cp0 / bash pwd ✓\ncp1 /work/web bash npm publish ✗");
    assert_eq!(calls("opencode"), "ses_1 /work/go bash go vet ./... ✓");
    assert_eq!(calls("cursor"), "u0 /tmp bash git commit -m \"one\nu1 /tmp bash cargo test");
}

#[test]
fn damaged_lines_are_counted_and_lose_nothing_else() {
    let told = told(&find(&homes(&samples())));
    let damaged: Vec<u64> = ["claude-code", "codex", "gemini-cli", "copilot-cli", "opencode"]
        .iter()
        .map(|agent| told[agent].1)
        .collect();
    assert_eq!(damaged, [3, 1, 0, 1, 1]);
}

#[test]
fn a_file_elsewhere_is_known_by_its_form() {
    let scratch = tempfile::tempdir().unwrap();
    for (from, name) in [
        (".claude/projects/-work-shop/c1.jsonl", "a.jsonl"),
        (".codex/sessions/2026/01/02/rollout-2026-01-02-new.jsonl", "b.jsonl"),
        (".copilot/session-state/cp1/events.jsonl", "c.jsonl"),
        (".gemini/tmp/abc/chats/session-2026-02-02-g1.json", "d.json"),
        (".cursor/projects/tmp/agent-transcripts/u1.jsonl", "e.jsonl"),
    ] {
        fs::copy(samples().join(from), scratch.path().join(name)).unwrap();
    }
    fs::write(scratch.path().join("notes.txt"), "nothing of the kind").unwrap();
    let agents: Vec<&str> = find_in(scratch.path()).iter().map(|found| found.agent.name()).collect();
    assert_eq!(agents, ["claude-code", "codex", "copilot-cli", "gemini-cli", "cursor"]);
}

#[test]
fn the_database_of_newer_opencode_is_read() {
    let scratch = tempfile::tempdir().unwrap();
    let place = scratch.path().join(".local/share/opencode");
    fs::create_dir_all(&place).unwrap();
    let open = rusqlite::Connection::open(place.join("opencode.db")).unwrap();
    open.execute_batch(
        r#"CREATE TABLE session (id TEXT, directory TEXT);
           CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
           INSERT INTO session VALUES ('ses_2', '/work/db');
           INSERT INTO part VALUES ('p1', 'm', 'ses_2', 1767225600000,
             '{"type":"tool","callID":"z","tool":"bash","state":{"status":"error","input":{"command":"ls"}}}'),
             ('p2', 'm', 'ses_2', 1767225600001, '{"type":"te');"#,
    )
    .unwrap();
    drop(open);
    let told = told(&find(&homes(scratch.path())));
    assert_eq!(told["opencode"], (vec!["ses_2 /work/db bash ls ✗".to_owned()], 1));
}

#[test]
fn a_line_without_end_needs_no_more_memory_than_a_line_may() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("rollout-x.jsonl");
    let mut file = fs::File::create(&path).unwrap();
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..40 {
        file.write_all(&chunk).unwrap();
    }
    file.write_all(b"\n{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":{\"command\":[\"ls\"]},\"call_id\":\"k\"}\n").unwrap();
    let found = transcript(Agent::Codex, &path).unwrap();
    let tally = found.read(|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(tally, Tally { calls: 1, damaged: 1 });
}

#[test]
fn times_are_read_however_they_are_written() {
    let at = Some(Timestamp(1_767_225_600_000));
    for value in [Value::from("2026-01-01T00:00:00Z"), 1_767_225_600.into(), 1_767_225_600_000_i64.into()] {
        assert_eq!(moment(&value), at, "{value}");
    }
    assert_eq!(moment(&Value::from("yesterday")), None);
}

#[test]
fn transcripts_of_one_session_belong_together() {
    let scratch = tempfile::tempdir().unwrap();
    let group = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        fs::write(&path, text).unwrap();
        Transcript { agent: Agent::ClaudeCode, path, bytes: 0, changed: None }.session_group()
    };
    assert_eq!(group("a", "{\"type\":\"summary\"}\n{\"sessionId\":\"s1\",\"cwd\":\"/\"}"), "s1");
    assert_eq!(group("b", "{\"x\": 1, \"sessionId\" : \"s1\"}"), "s1");
    assert_eq!(group("c", "{\"sessionID\":\"ses_2\"}"), "ses_2");
    for (name, text) in [("d", "no session"), ("e", "{\"sessionId\":7}"), ("f", "{\"sessionId\":\"cut o")] {
        assert!(group(name, text).ends_with(name), "{text}");
    }
}
