//! How a run begins and ends: exit codes, signals, terminals, and everything put back.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use lictor_run::mounts::Network;
use lictor_run::{client, session};

use super::{can_run, world};
use crate::sandbox::Sandbox;

/// Everything of the project but git's own files.
fn files(sandbox: &Sandbox) -> Vec<String> {
    let found = sandbox.program("find", &[".", "-path", "./.git/objects", "-prune", "-o", "-print"], "");
    let mut files: Vec<String> = found.stdout.lines().map(str::to_owned).collect();
    files.sort();
    files
}

fn home_files(sandbox: &Sandbox) -> Vec<String> {
    let found = sandbox.program(
        "find",
        &["..", "-path", "../.local/state", "-prune", "-o", "-path", "../project", "-prune", "-o", "-print"],
        "",
    );
    let mut files: Vec<String> = found.stdout.lines().map(str::to_owned).collect();
    files.sort();
    files
}

/// Starts a run whose agent says `ready` and goes on.
fn started(sandbox: &Sandbox, script: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = sandbox.start(&["run", "--", "sh", "-c", script]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, out)
}

fn kill(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

fn soon(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what} never came to hold");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn exit_codes_and_output_are_the_agents() {
    can_run();
    let sandbox = world();
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)] {
        let run = sandbox.lictor(&["run", "--", "sh", "-c", script]);
        assert_eq!(run.code, code, "{script}: {run:?}");
    }
    let run = sandbox.lictor_with(&["run", "--", "sh", "-c", "cat; echo err >&2"], "typed");
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("typed", "err\n"), "no word of Lictor's own");
    let run = sandbox.lictor(&["run", "--", "no-such-agent"]);
    assert!(run.code == 127 && run.stderr.contains("cannot run `no-such-agent`"), "{run:?}");
}

#[test]
fn signals_reach_the_agent() {
    can_run();
    let sandbox = world();
    for (signal, name) in [("-TERM", "term"), ("-INT", "int"), ("-HUP", "hup"), ("-USR1", "usr1")] {
        // A shell cannot trap what was ignored when it started, as under `nohup`.
        let script = "exec env --default-signal sh -c 'for s in TERM INT HUP USR1; do \
                      trap \"echo $s | tr A-Z a-z; exit 3\" $s; done; echo ready; while :; do sleep 0.1; done'";
        let (mut child, mut out) = started(&sandbox, script);
        kill(signal, child.id());
        let mut said = String::new();
        out.read_to_string(&mut said).unwrap();
        assert_eq!((said.trim(), child.wait().unwrap().code()), (name, Some(3)));
    }
    // An agent that does not handle the signal ends by it, and the caller sees that.
    let (mut child, _out) = started(&sandbox, "echo ready; exec sleep 60");
    kill("-TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
fn everything_is_put_back_however_a_run_ends() {
    can_run();
    let sandbox = world();
    let before = (files(&sandbox), home_files(&sandbox));
    assert_eq!(sandbox.lictor(&["run", "true"]).code, 0);
    assert_eq!((files(&sandbox), home_files(&sandbox)), before, "after an ordinary end");
    let (mut child, _out) = started(&sandbox, "echo ready; sleep 60");
    assert_ne!(files(&sandbox), before.0, "mount points lie about meanwhile, or this proves nothing");
    kill("-KILL", child.id());
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    soon("the janitor's work", || (files(&sandbox), home_files(&sandbox)) == before);
    soon("the end of what ran inside", || {
        let held = format!("{}/project", sandbox.home().display());
        let all = fs::read_dir("/proc").unwrap().flatten();
        !all.filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok())
            .any(|cwd| cwd.starts_with(&held))
    });
}

#[test]
fn what_was_closed_inside_is_open_again_outside() {
    use std::os::unix::fs::PermissionsExt as _;
    can_run();
    let sandbox = world();
    let modes = || {
        [".claude", ".git", "."]
            .map(|path| fs::metadata(sandbox.project().join(path)).unwrap().permissions().mode())
    };
    let before = modes();
    sandbox.lictor(&["run", "sh", "-c", "chmod 000 .claude .git; chmod 000 ."]);
    assert_eq!(modes(), before);
}

#[test]
fn two_runs_of_a_project_do_not_disturb_each_other() {
    can_run();
    let sandbox = world();
    let before = files(&sandbox);
    let (mut first, _first_out) = started(&sandbox, "echo ready; read line");
    let (mut second, mut out) =
        started(&sandbox, "echo ready; read line; echo x > opencode.json || echo held");
    drop(first.stdin.take());
    first.wait().unwrap();
    thread::sleep(Duration::from_millis(300));
    drop(second.stdin.take());
    let mut said = String::new();
    out.read_to_string(&mut said).unwrap();
    assert_eq!((said.as_str(), second.wait().unwrap().code()), ("held\n", Some(0)));
    assert_eq!(files(&sandbox), before);
}

#[test]
fn a_governing_file_that_is_replaced_from_outside_ends_the_sandbox() {
    can_run();
    for file in ["governance.yaml", ".claude/settings.json", ".git/config"] {
        let sandbox = world();
        let (mut child, _out) = started(&sandbox, "echo ready; sleep 60");
        let begun = Instant::now();
        let script = format!("cp {file} new && mv new {file}");
        assert_eq!(sandbox.program("sh", &["-c", &script], "").code, 0);
        let status = child.wait().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(5), "{file}: {:?}", begun.elapsed());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.contains(file) && said.contains("was replaced from outside"), "{file}: {said}");
        assert_ne!(status.code(), Some(0));
    }
    // Editing one in place, and replacing other files, is allowed.
    let sandbox = world();
    let (mut child, _out) = started(&sandbox, "echo ready; read line; exit 5");
    let edit = "echo '# a remark' >> governance.yaml; cp a.txt new && mv new a.txt; touch x && rm x";
    assert_eq!(sandbox.program("sh", &["-c", edit], "").code, 0);
    thread::sleep(Duration::from_millis(500));
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn a_run_inside_a_run_is_refused() {
    can_run();
    let sandbox = world();
    let run = sandbox.lictor(&["run", "--", env!("CARGO_BIN_EXE_lictor"), "run", "true"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("inside of `lictor run` already"), "{run:?}");
}

#[test]
fn other_sandboxes_work_inside() {
    can_run();
    let sandbox = world();
    let script = "unshare -Urm sh -c 'mount -t tmpfs none /mnt && echo mounted' && \
                  bwrap --ro-bind / / --dev /dev --proc /proc --unshare-pid --bind $PWD $PWD sh -c 'echo y > nested && echo nested' && \
                  bwrap --ro-bind / / --dev /dev --bind $PWD $PWD sh -c 'echo y > governance.yaml' 2>/dev/null || echo held";
    let run = sandbox.lictor(&["run", "--", "sh", "-c", script]);
    assert_eq!(run.stdout, "mounted\nnested\nheld\n", "{run:?}");
}

#[test]
fn programs_that_need_other_rights_say_why_they_do_not_work() {
    can_run();
    let mut sandbox = world();
    let bin = sandbox.home().join("bin");
    sandbox.write_at(&bin.join("sudo"), "#!/bin/sh\necho became root\n");
    assert_eq!(sandbox.program("chmod", &["+x", "../bin/sudo"], "").code, 0);
    sandbox.on_path(&bin);
    let run = sandbox.lictor(&["run", "--", "sh", "-c", "sudo ls; echo $?; su -c ls; echo $?"]);
    assert_eq!(run.stdout, "1\n1\n", "{run:?}");
    for program in ["sudo", "su"] {
        assert!(run.stderr.contains(&format!("{program}: inside of 'lictor run'")), "{run:?}");
    }
}

#[test]
fn commands_inside_show_the_record_or_say_who_can() {
    can_run();
    let sandbox = world();
    let lictor = env!("CARGO_BIN_EXE_lictor");
    let inside = |args: &str| sandbox.lictor(&["run", "--", "sh", "-c", &format!("{lictor} {args}")]);
    for args in ["log", "log --json", "log -n 5 --since 1d", "audit verify", "audit tail"] {
        let run = inside(args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args}: {run:?}");
        assert!(!run.stdout.is_empty(), "{args}");
    }
    for args in ["doctor", "log --all", "log -fn5", "audit verify --anchor=/etc/passwd", "report --json"] {
        let run = inside(args);
        assert!(run.code == 2 && run.stderr.contains("a person runs it outside"), "{args}: {run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{args}: {run:?}");
    }
    let run = inside("approve --all");
    assert!(run.code == 2 && run.stderr.contains("`lictor approve` is for people"), "{run:?}");
}

#[test]
fn a_file_with_both_hooks_and_state_is_a_copy() {
    can_run();
    let sandbox = world();
    let file = sandbox.home().join(".claude.json");
    sandbox.write_at(&file, "{\"projects\": {}}\n");
    let script = "cat ~/.claude.json && echo '{}' > ~/.claude.json && cat ~/.claude.json";
    let run = sandbox.lictor(&["run", "--", "sh", "-c", script]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "{\"projects\": {}}\n{}\n"), "{run:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"projects\": {}}\n");
}

#[test]
fn without_a_guardian_that_answers_everything_is_blocked() {
    can_run();
    let sandbox = world();
    sandbox.write(
        "event.json",
        &format!(
            "{{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"k\",\"cwd\":\"{}\",\"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"ls\"}}}}",
            sandbox.project().display()
        ),
    );
    let lictor = env!("CARGO_BIN_EXE_lictor");
    let script = format!(
        "{lictor} hook claude-code < event.json; echo first $?; echo ready; read line; \
         {lictor} hook claude-code < event.json 2>&1; echo then $?"
    );
    let mut child = sandbox.start(&["run", "--", "sh", "-c", &script]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.ends_with("ready\n") {
        assert!(out.read_line(&mut said).unwrap() > 0, "{said}");
    }
    assert!(said.contains("first 0"), "{said}");
    // A stopped guardian does not answer: the hook's own deadline applies.
    kill("-STOP", child.id());
    drop(child.stdin.take());
    let mut line = String::new();
    while !line.contains("then") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0);
    }
    kill("-CONT", child.id());
    assert!(line.ends_with("then 2\n"), "{line}");
    child.wait().unwrap();
}

/// What is left when the guardian is killed before bubblewrap would end with it.
#[test]
fn an_agent_that_has_lost_its_guardian_is_not_started() {
    can_run();
    let sandbox = world();
    let state = sandbox.project().join("state");
    let lictor = env!("CARGO_BIN_EXE_lictor");
    let first = [lictor, session::INSIDE, Network::All.as_str(), "echo", "started"];
    let mount = ["--ro-bind", "/", "/", "--dev", "/dev", "--symlink", state.to_str().unwrap(), client::SIGN];
    let ended = sandbox.program("bwrap", &[&mount[..], &["--"], &first].concat(), "");
    assert_eq!((ended.code, ended.stdout.as_str()), (127, ""));
    assert!(ended.stderr.contains("nobody answers"), "{}", ended.stderr);
}
