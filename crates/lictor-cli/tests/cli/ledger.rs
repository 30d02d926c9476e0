//! `lictor verdict` and `lictor council` as people and git run them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use lictor_ledger::hooks::{Home, install, read_file};

use crate::sandbox::{Run, Sandbox};

const USERS: &str = "import db\n\ndef find(name):\n    return db.run('select ' + name)\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, value) in [("user.name", "t"), ("user.email", "t@example.com")] {
        assert_eq!(git(&sandbox, &["config", name, value]).code, 0);
    }
    sandbox.write("src/users.py", USERS);
    git(&sandbox, &["add", "."]);
    sandbox
}

fn git(sandbox: &Sandbox, args: &[&str]) -> Run {
    sandbox.program("git", args, "")
}

fn hooked() -> Sandbox {
    let sandbox = project();
    let home = Home::of(&sandbox.project().join(".git/hooks"));
    install(&home, env!("CARGO_BIN_EXE_lictor"), read_file).apply().unwrap();
    sandbox
}

fn record(sandbox: &Sandbox, level: &str, title: &str, evidence: &str) -> Run {
    let args =
        ["verdict", "record", "--plan-hash", "abc123", "--level", level, "--title", title, "--agent", "sec"];
    sandbox.lictor(&[&args[..], &["--evidence", evidence]].concat())
}

#[test]
fn the_document_from_record_to_clear() {
    let sandbox = project();
    let run = sandbox.lictor(&["verdict", "retro"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "[retro] no verdicts yet.\n"));
    for command in ["show", "explain"] {
        let run = sandbox.lictor(&["verdict", command, "--plan-hash", "abc123"]);
        assert_eq!((run.code, run.stderr.as_str()), (1, "No verdict for plan abc123\n"));
    }
    let injection = [
        "verdict",
        "record",
        "--plan-hash",
        "abc123",
        "--level",
        "MEDIUM",
        "--title",
        "SQL injection in users.py",
        "--agent",
        "security-reviewer",
        "--evidence",
        "src/users.py:4:unescaped input",
        "--rationale",
        "req.form values flow into raw SQL",
    ];
    assert_eq!(sandbox.lictor(&injection).code, 0);
    let worse = injection.map(|word| if word == "MEDIUM" { "HIGH" } else { word });
    assert_eq!(sandbox.lictor(&worse).code, 0);
    assert_eq!(record(&sandbox, "LOW", "style: trailing whitespace", "src/users.py:57").code, 0);
    let run = sandbox.lictor(&["verdict", "explain", "--plan-hash", "abc123"]);
    assert_eq!(
        run.stdout,
        "[verdict] plan=abc123  level=HIGH  2 finding(s): 1 high, 1 low\n\
        \x20 - [HIGH] SQL injection in users.py  (agent: security-reviewer)\n\
        \x20     why: req.form values flow into raw SQL\n\
        \x20     evidence: src/users.py:4 — unescaped input\n\
        \x20 - [LOW] style: trailing whitespace  (agent: sec)\n\
        \x20     evidence: src/users.py:57\n"
    );
    let verdict = sandbox.lictor(&["verdict", "show", "--plan-hash", "abc", "--json"]).json();
    assert_eq!((&verdict["level"], &verdict["findings"][0]["level"]), (&"HIGH".into(), &"HIGH".into()));
    assert_eq!(verdict["findings"][0]["history"][1]["what"], "raised");
    let run = sandbox.lictor(&["verdict", "retro", "--limit", "10", "--min-level", "HIGH"]);
    assert_eq!(
        run.stdout,
        "[retro] 1 recent verdict(s):\n  - abc123  HIGH      BLOCK  2 finding(s): 1 high, 1 low\n"
    );
    let run = sandbox.lictor(&["verdict", "gate", "--plan-hash", "abc123"]);
    assert_eq!(run.code, 2, "{run:?}");
    let id = verdict["findings"][0]["id"].as_str().unwrap().to_owned();
    let run = sandbox.lictor(&["verdict", "clear", "--plan-hash", "abc123", "--id", &id]);
    assert!(run.stdout.starts_with("[verdict] plan=abc123  level=LOW  1 finding(s): 1 low\n"), "{run:?}");
    assert_eq!(sandbox.lictor(&["verdict", "clear", "--plan-hash", "abc123", "--id", "nope"]).code, 0);
    let run = sandbox.lictor(&["audit", "query", "--kind", "finding.cleared", "--json"]);
    assert!(run.stdout.contains("finding.cleared"), "{run:?}");
}

#[test]
fn odd_input_is_refused_with_the_way_to_say_it() {
    let sandbox = project();
    let base = ["verdict", "record", "--plan-hash", "p", "--level", "LOW", "--title", "t"];
    let with = |more: &[&str]| sandbox.lictor(&[&base[..], more].concat());
    for (more, said) in [
        (
            &["--evidence", "src/users.py:42:unescaped", "input"][..],
            "--evidence 'src/users.py:42:unescaped input'",
        ),
        (&["--evidence", "a:99999999999"], "too large"),
        (&["--id", "a\nb"], "invalid finding id"),
        (&["--levle", "LOW"], "--levle"),
    ] {
        let run = with(more);
        assert_eq!(run.code, 64, "{run:?}");
        assert!(run.stderr.contains(said), "{run:?}");
    }
    for (wrong, said) in [
        (["INFO", "p", "t"], "use LOW, MEDIUM, HIGH or CRITICAL"),
        (["LOW", "../p", "t"], "1 to 64 letters"),
        (["LOW", "p", " "], "a finding needs a title"),
    ] {
        let [level, plan, title] = wrong;
        let run =
            sandbox.lictor(&["verdict", "record", "--plan-hash", plan, "--level", level, "--title", title]);
        assert_eq!(run.code, 64, "{run:?}");
        assert!(run.stderr.contains(said), "{run:?}");
    }
    assert_eq!(sandbox.lictor(&["verdict", "show", "--plan-hash", "p"]).code, 1);
    let run = with(&["--evidence", "a.py:1", "--evidence", "b.py:2:note: with colon", "--evidence", ":3:x"]);
    assert!(run.code == 0 && run.stderr.contains("`:3:x` names no file and is left out"), "{run:?}");
    let verdict = sandbox.lictor(&["verdict", "show", "--plan-hash", "p", "--json"]).json();
    assert_eq!(verdict["findings"][0]["evidence"].as_array().unwrap().len(), 2);
}

#[test]
fn git_itself_is_stopped_and_every_way_around_is_noticed() {
    let sandbox = hooked();
    let run = git(&sandbox, &["commit", "-qm", "first"]);
    assert_eq!(run.code, 0, "{run:?}");
    record(&sandbox, "HIGH", "SQL injection", "src/users.py:4");
    sandbox.write("other.py", "x\n");
    git(&sandbox, &["add", "."]);
    let run = git(&sandbox, &["commit", "-qm", "still there"]);
    assert_ne!(run.code, 0, "{run:?}");
    assert!(
        run.stderr.contains("[HIGH] SQL injection") && run.stderr.contains("lictor verdict clear"),
        "{run:?}"
    );
    // The fix is not staged; `-a` and the path include it.
    sandbox.write("src/users.py", &USERS.replace("'select ' + name", "'select ?', name"));
    assert_ne!(git(&sandbox, &["commit", "-qm", "x"]).code, 0);
    let run = git(&sandbox, &["commit", "-qam", "fixed"]);
    assert_eq!(run.code, 0, "{run:?}");
    // Back again by `-a`, by path, by amending.
    sandbox.write("src/users.py", USERS);
    assert_ne!(git(&sandbox, &["commit", "-qam", "x"]).code, 0);
    assert_ne!(git(&sandbox, &["commit", "-qm", "x", "src/users.py"]).code, 0);
    assert_ne!(git(&sandbox, &["commit", "-qa", "--amend", "--no-edit"]).code, 0);
    let run = git(&sandbox, &["commit", "-qam", "x", "--no-verify"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("went around the gate; this is on record"), "{run:?}");
    let log = sandbox.lictor(&["audit", "query", "--kind", "gate.bypassed", "--json"]);
    assert!(log.stdout.contains("although the gate had blocked it"), "{log:?}");
    git(&sandbox, &["init", "-q", "--bare", "../remote.git"]);
    let run = git(&sandbox, &["push", "-q", "../remote.git", "main"]);
    assert!(run.code != 0 && run.stderr.contains("[gate] pre-push BLOCK"), "{run:?}");
    // Waived: the commit passes.
    let id =
        sandbox.lictor(&["verdict", "show", "--plan-hash", "abc123", "--json"]).json()["findings"][0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
    let args =
        ["verdict", "waive", "--plan-hash", "abc123", "--id", &id, "--reason", "internal", "--until", "30d"];
    assert_eq!(sandbox.lictor(&[&args[..], &["--by", "sec"]].concat()).code, 1);
    assert_eq!(sandbox.lictor(&[&args[..], &["--by", "ann"]].concat()).code, 0);
    let run = git(&sandbox, &["push", "-q", "../remote.git", "main"]);
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn a_repositorys_reviewers_run_only_when_trusted_as_they_are() {
    let sandbox = project();
    let script = "#!/bin/sh\ngrep -l EVIL src/* | sed 's/.*/{\"level\":\"HIGH\",\"title\":\"evil\",\"evidence\":[\"&:1\"]}/'\n";
    sandbox.write("review.sh", script);
    sandbox.program("chmod", &["+x", "review.sh"], "");
    sandbox.write(
        "governance.yaml",
        "version: 1\ncouncils:\n  ship-it:\n    on: [pre-commit]\n    guardrail: true\n    reviewers:\n      - {name: sec, command: [./review.sh]}\n",
    );
    git(&sandbox, &["add", "."]);
    let run = sandbox.lictor(&["verdict", "gate"]);
    assert!(run.code == 2 && run.stderr.contains("run `lictor trust`"), "{run:?}");
    assert_eq!(sandbox.lictor(&["trust", "--yes"]).code, 0);
    let run = sandbox.lictor(&["verdict", "gate"]);
    assert_eq!(run.code, 0, "{run:?}");
    sandbox.write("src/bad.py", "EVIL\n");
    git(&sandbox, &["add", "."]);
    let run = sandbox.lictor(&["verdict", "gate", "--json"]);
    assert_eq!((run.code, &run.json()["findings"][0]["title"]), (2, &"evil".into()));
    // Changed bytes are not what was trusted.
    sandbox.write("review.sh", "#!/bin/sh\ntrue\n");
    git(&sandbox, &["add", "."]);
    assert_eq!(sandbox.lictor(&["verdict", "gate"]).code, 2);
    let run = sandbox.lictor(&["council", "run", "ship-it"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        sandbox.lictor(&["council", "list"]).stdout.starts_with("ship-it  scope=staged  guardrail  sec\n")
    );
}

#[test]
fn what_a_reviewer_reads_is_pinned_where_the_policy_says_it() {
    let sandbox = project();
    let policy = |reads: &str| {
        format!(
            "version: 1\ncouncils:\n  ship-it:\n    on: [pre-commit]\n    guardrail: true\n    reviewers:\n      - {{name: sec, command: [sh, -c, 'find scripts -name review.sh | xargs sh']{reads}}}\n"
        )
    };
    sandbox.write("scripts/review.sh", ". scripts/rules.sh\n");
    sandbox.write("scripts/rules.sh", "true\n");
    sandbox.write("governance.yaml", &policy(""));
    git(&sandbox, &["add", "."]);
    let open = "none of that is pinned";
    let run = sandbox.lictor(&["check"]);
    assert!(run.stdout.contains(open) && run.stdout.contains("reads: ["), "{run:?}");
    let run = sandbox.lictor(&["trust"]);
    assert!(run.stdout.contains(open) && run.stdout.contains("reads: ["), "{run:?}");
    sandbox.write("governance.yaml", &policy(", reads: [scripts]"));
    git(&sandbox, &["add", "."]);
    assert!(!sandbox.lictor(&["check"]).stdout.contains(open));
    let run = sandbox.lictor(&["trust", "--yes"]);
    assert!(run.code == 0 && run.stdout.contains("--- scripts/rules.sh"), "{run:?}");
    assert_eq!(sandbox.lictor(&["verdict", "gate"]).code, 0);
    // Files that it does not read may change; files that it reads may not.
    sandbox.write("src/more.py", "x = 1\n");
    git(&sandbox, &["add", "."]);
    assert_eq!(sandbox.lictor(&["verdict", "gate"]).code, 0);
    sandbox.write("scripts/rules.sh", "exit 0\n");
    git(&sandbox, &["add", "."]);
    let run = sandbox.lictor(&["verdict", "gate"]);
    assert!(run.code == 2 && run.stderr.contains("run `lictor trust`"), "{run:?}");
}

#[test]
fn a_broken_policy_a_broken_record_and_a_missing_one_block() {
    let sandbox = project();
    sandbox.write(
        "governance.yaml",
        "councils:\n  a: {reviewers: [{name: x, command: [y]}], gaurdrail: true}\n",
    );
    let run = sandbox.lictor(&["verdict", "gate"]);
    assert!(run.code == 2 && run.stderr.contains("gaurdrail"), "{run:?}");
    fs::remove_file(sandbox.project().join("governance.yaml")).unwrap();
    assert_eq!(sandbox.lictor(&["verdict", "gate"]).code, 0);
    let state = sandbox.home().join(".local/state/lictor");
    let store = fs::read_dir(&state).unwrap().next().unwrap().unwrap().path();
    let aside = sandbox.home().join("aside");
    fs::rename(&store, &aside).unwrap();
    let run = sandbox.lictor(&["verdict", "gate"]);
    assert!(run.code == 2 && run.stderr.contains("the record of this repository is gone"), "{run:?}");
    fs::rename(&aside, &store).unwrap();
    let files = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        fs::write(file, "not a database at all, but long enough to be looked at").unwrap();
    }
    let run = sandbox.lictor(&["verdict", "gate"]);
    assert!(run.code == 2 && run.stderr.contains("the gate cannot tell whether this is safe"), "{run:?}");
}

#[test]
fn findings_travel_as_sarif_and_as_lines() {
    let sandbox = project();
    record(&sandbox, "CRITICAL", "a title", "src/users.py:4:here");
    record(&sandbox, "LOW", "another", "src/users.py:1");
    for format in ["sarif", "jsonl"] {
        let text = sandbox.lictor(&["verdict", "export", "--format", format]).stdout;
        let run = sandbox.lictor_with(&["verdict", "import", "-", "--plan-hash", format], &text);
        assert_eq!(run.stdout, format!("[verdict] recorded 2 finding(s) in plan={format}\n"), "{run:?}");
        let explain = |plan: &str| {
            let text = sandbox.lictor(&["verdict", "explain", "--plan-hash", plan]).stdout;
            text.split_once('\n').unwrap().1.to_owned()
        };
        assert_eq!(explain(format), explain("abc123"));
    }
}

#[test]
fn a_file_that_cannot_be_imported_is_refused_with_its_line_and_in_plain_words() {
    let sandbox = project();
    for (text, said) in [
        (
            "{\"level\":\"LOW\",\"title\":\"fine\"}\n{\"level\":\"LOW\"}\n",
            "line 2: not a finding: `title` is missing (column 15)",
        ),
        ("\n{\"level\":\"LOW\"", "line 2: not a finding: it ends in the middle (column 14)"),
        (
            "{\n \"version\": \"2.1.0\",\n \"runs\": 7\n}",
            "not a SARIF log: line 3, column 10: the number `7` stands where a list is wanted",
        ),
        (
            "{\n \"version\": \"2.1.0\",\n \"runs\": [}\n}",
            "not a SARIF log: line 3, column 11: it is not JSON from here on",
        ),
    ] {
        let run = sandbox.lictor_with(&["verdict", "import", "-", "--plan-hash", "bad"], text);
        assert_eq!((run.code, run.stdout.as_str()), (64, ""), "{run:?}");
        assert_eq!(run.stderr, format!("error: `-`: {said}; nothing was recorded\n"));
        assert_eq!(sandbox.lictor(&["verdict", "show", "--plan-hash", "bad"]).code, 1);
    }
}

#[test]
fn a_repository_above_the_project_is_not_the_projects() {
    let sandbox = Sandbox::new();
    fs::remove_dir_all(sandbox.project().join(".git")).unwrap();
    // People keep their home directory under version control; a folder in it is not part of a project.
    let home = sandbox.home().to_str().unwrap();
    assert_eq!(git(&sandbox, &["init", "-q", home]).code, 0);
    let above = sandbox.home().join(".git");
    let before = fs::read_dir(above.join("hooks")).unwrap().count();
    let run = sandbox.lictor(&["init", "--yes", "--git"]);
    assert!(run.code != 0 && run.stderr.contains("git init"), "{run:?}");
    for args in [&["verdict", "gate"][..], &["doctor"], &["verdict", "gate", "--event", "post-commit"]] {
        sandbox.lictor(args);
    }
    assert_eq!(fs::read_dir(above.join("hooks")).unwrap().count(), before);
    assert!(!above.join("lictor-record").exists());
    let run = sandbox.lictor(&["verdict", "gate"]);
    assert!(run.stderr.contains("is not inside a git repository"), "{run:?}");
}

#[test]
fn an_agent_is_told_before_it_commits_what_is_flagged() {
    let sandbox = project();
    assert_eq!(sandbox.claude_bash("git commit -m x").code, 0);
    record(&sandbox, "HIGH", "SQL injection", "src/users.py:4");
    for command in [
        "git commit -m x",
        "git add . && git commit -m x",
        "cd src && git commit -am x",
        "git am x.patch",
        "jj commit -m x",
        "hub commit -m x",
    ] {
        let run = sandbox.claude_bash(command);
        assert_eq!(run.code, 2, "{command}: {run:?}");
        assert!(run.stderr.contains("HIGH SQL injection at src/users.py:4"), "{run:?}");
    }
    sandbox.write("src/users.py", "fine\n");
    // Staged unfixed, fixed in the work tree: only a commit that includes the fix passes.
    assert_eq!(sandbox.claude_bash("git commit -m x").code, 2);
    for command in ["git commit -am x", "git add -A && git commit -m x", "git am --abort", "git revert HEAD"]
    {
        let run = sandbox.claude_bash(command);
        assert_eq!(run.code, 0, "{command}: {run:?}");
    }
}

/// A hook that starts git takes several times as long.
#[test]
fn git_is_not_started_for_a_commit_where_nothing_was_found() {
    let mut sandbox = project();
    let (programs, started) = (sandbox.home().join("programs"), sandbox.home().join("started"));
    let real = sandbox.program("sh", &["-c", "command -v git"], "").stdout;
    let git = format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec {} \"$@\"\n", started.display(), real.trim());
    sandbox.write_at(&programs.join("git"), &git);
    fs::set_permissions(programs.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.on_path(&programs);
    assert_eq!(sandbox.claude_bash("git commit -m x").code, 0);
    assert!(!started.exists(), "{:?}", fs::read_to_string(&started));
    assert_eq!(record(&sandbox, "HIGH", "SQL injection", "src/users.py:4").code, 0);
    assert_eq!(sandbox.claude_bash("git commit -m x").code, 2);
    assert!(started.exists(), "what is committed is git's to say");
}
