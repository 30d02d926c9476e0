//! A day with Lictor: what people run into, through the real binary.

use serde_json::json;

use crate::sandbox::{Run, Sandbox};

/// A hook's decision about a command.
fn said(run: &Run) -> &'static str {
    match (run.code, run.stdout.contains("\"ask\"")) {
        (0, false) => "pass",
        (0, true) => "ask",
        (2, _) => "block",
        _ => "?",
    }
}

/// `a|b` in a word means either.
fn each(words: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        lines = lines
            .iter()
            .flat_map(|line| word.split('|').map(move |choice| format!("{line} {choice}").trim().to_owned()))
            .collect();
    }
    lines
}

#[test]
fn a_read_only_session_changes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\nextends: [read-only]\n");
    sandbox.write("a.txt", "text\n");
    let changes = [
        "kubectl apply|replace|patch|edit|scale x",
        "kubectl -n prod apply -f x.yaml",
        "helm install|upgrade|rollback app ./chart",
        "terraform apply|import|destroy",
        "gh pr merge|close|edit 12",
        "gh release create v1",
        "python|python3 manage.py migrate",
        "black|isort .",
        "prettier --write .",
        "npm|pnpm|yarn install|add left-pad",
        "pip|uv install requests",
        "cargo add|install serde",
        "git stash|add|fetch|pull",
        "git stash push -u",
        "git checkout|switch main",
        "git tag|branch v1",
        "git worktree|remote add x y",
        "sudo systemctl restart nginx",
        "docker run|stop|rm app",
        "docker compose up|down",
        "bash -c 'git stash'",
        "true && npm install",
        "echo x > a.txt",
        "touch b.txt",
        "crontab -r",
        "git tag -a v1 -m x",
        "git branch -m a b",
        "git symbolic-ref HEAD refs/heads/x",
        "git format-patch|repack|write-tree",
        "kubectl config use-context|set-context|delete-context prod",
        "kubectl auth reconcile -f x",
        "terraform state mv|rm a",
        "terraform get|login|providers lock",
        "terraform plan -out tf.plan",
        "ruff check --fix",
        "eslint|stylelint|markdownlint --fix .",
        "npx|bunx eslint --fix src",
        "poetry run black .",
        "codespell|typos -w",
        "gofmt|shfmt -w .",
        "npm version|dedupe|deprecate patch",
        "npm pkg set a=b",
        "go env -w A=b",
        "aws ec2 run-instances|stop-instances",
        "aws s3 cp|mv|sync a s3://b",
        "gcloud compute instances create|delete x",
        "az vm create|restart",
        "vault kv put|delete secret/a",
        "etcdctl put|del a",
        "heroku config:set A=b",
        "fly deploy status",
        "ip addr|route add x",
        "service nginx restart|stop",
        "redis-cli lpush|set|incr a",
        "bq mk|rm|load x",
        "rails db:migrate|generate",
        "bundle exec rake db:migrate",
        "gh workflow run x",
        "gh api -X DELETE repos/x/y",
        "rustup update|default stable",
        "python -m venv .venv",
        "date -s 2020-01-01",
    ];
    let looks = [
        "ls -la",
        "cat|head|wc a.txt",
        "rg text .",
        "git log|status|diff|branch|remote",
        "git stash|worktree list",
        "git branch -a",
        "kubectl get|describe pods",
        "kubectl -n prod get pods",
        "helm list|history app",
        "terraform plan|show",
        "gh pr view|list|diff 12",
        "npm ls|outdated",
        "docker ps|images",
        "docker volume ls",
        "systemctl status nginx",
        "find . -name *.txt",
        "cd src; ls | sort | head -3",
        "aws s3api list-buckets",
        "git --version",
        "git branch|tag --sort=-creatordate",
        "git tag|branch --contains|--merged HEAD",
        "git clean -nd",
        "git push|fetch --dry-run",
        "git apply --check x.patch",
        "git symbolic-ref --short HEAD",
        "kubectl config view|current-context",
        "kubectl rollout status|history deploy/x",
        "kubectl apply --dry-run=client|--dry-run=server -f x.yaml",
        "helm upgrade --dry-run app ./chart",
        "terraform state|workspace list",
        "terraform fmt -check",
        "black|isort --check .",
        "ruff format --check .",
        "prettier|gofmt -l .",
        "eslint|rubocop .",
        "npx prettier|eslint --check .",
        "npx tsc --noEmit",
        "cargo tree|metadata|audit",
        "cargo fmt -- --check",
        "npm audit",
        "npm config get registry",
        "uv pip list",
        "go list|vet ./...",
        "go env GOPATH",
        "aws logs tail|filter-log-events x",
        "aws dynamodb scan|query --table-name x",
        "gcloud logging read x",
        "gsutil ls|cat gs://x",
        "vault kv list secret/a",
        "heroku ps|logs",
        "psql -c 'SELECT 1'",
        "redis-cli get|ttl a",
        "alembic history|current",
        "python manage.py showmigrations|check",
        "rails routes",
        "gh api repos/x/y",
        "hg|svn|jj log|status",
        "ip addr|route",
        "mount",
        "make -n build",
    ];
    let unknown = [
        "make build",
        "cargo test",
        "./deploy.sh",
        "node server.js",
        "acme frobnicate",
        "psql -f x.sql",
        "psql < x.sql",
        "uv run pytest",
        "rails console",
    ];
    let groups = [("block", &changes[..]), ("pass", &looks[..]), ("ask", &unknown[..])];
    let mut wrong = Vec::new();
    for (wanted, commands) in groups {
        for command in commands.iter().flat_map(|words| {
            if words.contains(" | ") || words.contains('\'') {
                vec![(*words).to_owned()]
            } else {
                each(words)
            }
        }) {
            let run = sandbox.claude_bash(&command);
            if said(&run) != wanted {
                wrong.push(format!("{command}: {} instead of {wanted}: {}", said(&run), run.stderr));
            }
        }
    }
    let write = sandbox.claude("PreToolUse", json!({"tool_name": "Write", "tool_input": {"file_path": sandbox.project().join("a.txt"), "content": "x"}}));
    assert_eq!(said(&write), "block", "{write:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn at_most_two_reasons_and_the_deciding_one_first() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\nboundaries: {allowed_dirs: [src, docs]}\n");
    for command in
        ["rm -rf /", "rm -rf / ~ /etc /usr ../x", "sudo rm -rf / && git push --force && git reset --hard"]
    {
        let run = sandbox.claude_bash(command);
        assert_eq!(said(&run), "block", "{run:?}");
        let reasons = run.stderr.lines().take_while(|line| !line.starts_with("How to go on:")).count();
        assert!(reasons <= 2, "{command}: {}", run.stderr);
        assert!(
            run.stderr.lines().next().unwrap().contains("would delete the whole file system"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.lines().count() <= 5, "{command}: {}", run.stderr);
    }
    let run = sandbox.lictor(&["eval", "bash", "rm -rf / ~ /etc && git push --force"]);
    let shown = run.stdout.lines().last().unwrap();
    assert!(shown.contains("lictor explain") && shown.contains("more reason"), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
}

#[test]
fn sessions_go_by_bare_ids_and_their_beginnings() {
    let sandbox = Sandbox::new();
    for id in ["t5-alpha", "t5-beta"] {
        let fields = json!({"session_id": id, "tool_name": "Bash", "tool_input": {"command": "ls"}});
        assert_eq!(sandbox.claude("PreToolUse", fields).code, 0);
    }
    let query = |session: &str| sandbox.lictor(&["audit", "query", "--session", session]);
    for name in ["t5-alpha", "t5-a", "claude-code:t5-a", "claude-code:t5-alpha"] {
        let run = query(name);
        assert!(
            run.code == 0 && run.stdout.contains("t5-alpha") && !run.stdout.contains("t5-beta"),
            "{run:?}"
        );
        for args in [
            vec!["session", "show", name],
            vec!["session", "refresh", name],
            vec!["replay", "--session", name],
        ] {
            let run = sandbox.lictor(&args);
            assert_eq!(run.code, 0, "{args:?}: {run:?}");
        }
    }
    let several = query("t5");
    assert!(several.code != 0 && several.stderr.contains("fits 2 sessions"), "{several:?}");
    let none = query("t6");
    assert!(none.code != 0 && none.stderr.contains("there is no session `t6`"), "{none:?}");
}

#[test]
fn unknown_words_are_refused_and_long_lists_say_how_many_more_there_are() {
    let sandbox = Sandbox::new();
    for number in 0..5 {
        sandbox.claude_bash(&format!("echo {number}"));
    }
    let run = sandbox.lictor(&["audit", "query", "--kind", "evaluted"]);
    assert!(run.code == 64 && run.stderr.contains("did you mean `evaluated`?"), "{run:?}");
    let run = sandbox.lictor(&["audit", "query", "--kind", "evaluated", "--limit", "3"]);
    assert!(run.stdout.lines().count() == 3 && run.stderr.contains("2 more fit"), "{run:?}");
    let all = sandbox.lictor(&["audit", "query", "--kind", "evaluated", "--limit", "5"]);
    assert!(all.stderr.is_empty(), "{all:?}");
    let run = sandbox.lictor(&["eval", "bsah", "ls"]);
    assert!(run.code == 64 && run.stderr.contains("did you mean `bash`?"), "{run:?}");
    for (args, near) in [
        (["help", "alow"].as_slice(), "allow"),
        (&["man", "sesion"], "session"),
        (&["schema", "--output", "repor"], "report"),
        (&["init", "--agent", "claude"], "claude-code"),
        (&["log", "--agent", "gemini"], "gemini-cli"),
        (&["log", "--rule", "git.force-pus"], "git.force-push"),
        (&["log", "--rule", "secrt"], "secret"),
    ] {
        let run = sandbox.lictor(args);
        assert!(
            run.code == 64 && run.stderr.contains(&format!("did you mean `{near}`?")),
            "{args:?}: {run:?}"
        );
    }
    let run = sandbox.lictor(&["eval", "nonsense", "ls"]);
    assert!(run.code == 64 && run.stderr.contains("kinds: bash"), "{run:?}");
}

#[test]
fn why_not_names_the_rule_that_decided() {
    let sandbox = Sandbox::new();
    let run = sandbox.lictor(&["why-not", "bash", "git push --force"]);
    assert!(run.stdout.contains("git.force-push"), "{}", run.stdout);
    assert!(!run.stdout.contains("none is about"), "{}", run.stdout);
}

#[test]
fn a_granted_call_is_not_newly_stopped_in_a_replay() {
    let sandbox = Sandbox::new();
    let ask =
        json!({"permission_mode": "dontAsk", "tool_name": "Bash", "tool_input": {"command": "$DEPLOY now"}});
    assert_eq!(sandbox.claude("PreToolUse", ask.clone()).code, 2);
    let run = sandbox.lictor(&["approve", "--all", "--yes"]);
    assert!(run.stdout.contains("approved") && run.stdout.contains("$DEPLOY now"), "{run:?}");
    assert_eq!(sandbox.claude("PreToolUse", ask).code, 0);
    let replay = sandbox.lictor(&["replay", "--json"]).json();
    assert_eq!(replay["newly_stopped"], json!([]), "{replay}");
}

#[test]
fn only_questions_of_running_sessions_wait() {
    let sandbox = Sandbox::new();
    let ask = |session: &str, command: &str| {
        let fields = json!({"session_id": session, "permission_mode": "dontAsk", "tool_name": "Bash",
                            "tool_input": {"command": command}});
        assert_eq!(sandbox.claude("PreToolUse", fields).code, 2);
    };
    let long = format!("$DEPLOY {} --to staging", "--verbose ".repeat(20).trim());
    ask("over", "$DEPLOY --to production");
    ask("runs", &long);
    sandbox.claude("SessionEnd", json!({"session_id": "over", "reason": "exit"}));
    let run = sandbox.lictor(&["approvals"]);
    assert!(!run.stdout.contains("production"), "{}", run.stdout);
    // The whole action, in lines that fit.
    assert!(
        run.stdout.contains("--to\n      staging") && run.stdout.contains("opaque.code"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains(" left"), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
}

#[test]
fn the_log_is_followed_as_it_grows() {
    use std::io::{BufRead as _, BufReader};
    let sandbox = Sandbox::new();
    sandbox.claude_bash("echo before");
    let mut following = sandbox.start(&["log", "-f"]);
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("echo before"));
    sandbox.claude_bash("echo after");
    assert!(lines.next().unwrap().unwrap().contains("echo after"));
    following.kill().unwrap();
    following.wait().unwrap();
}

#[test]
fn transcripts_of_every_agent_are_judged() {
    let sandbox = Sandbox::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../lictor-agents/tests/transcripts/home");
    let run = sandbox.lictor(&["replay", "--transcripts", samples, "--json", "--html", "past.html"]);
    assert_eq!(run.code, 0, "{run:?}");
    let report = run.json();
    let agents: Vec<&String> = report["agents"].as_object().unwrap().keys().collect();
    assert_eq!(
        agents,
        ["claude-code", "codex", "copilot-cli", "cursor", "gemini-cli", "opencode"],
        "{report}"
    );
    assert_eq!(report["total"]["calls"], 15, "{report}");
    for rule in ["git.force-push", "delete.everything", "publish.package"] {
        assert!(report["rules"][rule]["count"].as_u64() >= Some(1), "{rule}: {report}");
    }
    assert!(run.stderr.contains("could not be read"), "{run:?}");
    let page = std::fs::read_to_string(sandbox.project().join("past.html")).unwrap();
    assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("http"), "{page}");
}

/// What Claude Code reports after a Bash call.
fn ran(sandbox: &Sandbox, command: &str) {
    sandbox.claude_bash(command);
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {}});
    sandbox.claude("PostToolUse", fields);
}

#[test]
fn a_run_whose_exit_code_was_lost_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "governance.yaml",
        "version: 1\ntools: {require_first: {bash(\"git push\"): [bash(\"pytest\")]}}\n",
    );
    let never = sandbox.claude_bash("git push");
    assert!(never.code == 2 && !never.stderr.contains("was seen"), "{never:?}");
    ran(&sandbox, "pytest -q | tail -5");
    let lost = sandbox.claude_bash("git push");
    assert!(
        lost.code == 2 && lost.stderr.contains("was seen") && lost.stderr.contains("pipefail"),
        "{lost:?}"
    );
    ran(&sandbox, "set -o pipefail; pytest -q | tail -5");
    assert_eq!(sandbox.claude_bash("git push").code, 0);
}

#[test]
fn a_block_by_an_older_policy_says_how_to_go_on() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\nbash_safety: {blocked_programs: [make]}\n");
    assert!(!sandbox.claude_bash("make").stderr.contains("refresh"));
    sandbox.write("governance.yaml", "version: 1\n");
    let still = sandbox.claude_bash("make");
    assert!(still.code == 2 && still.stderr.contains("earlier version of the policy"), "{still:?}");
    assert!(still.stderr.contains("lictor session refresh s1"), "{still:?}");
    assert!(still.stderr.lines().count() <= 5, "{still:?}");
    assert_eq!(sandbox.lictor(&["session", "refresh", "s1"]).code, 0);
    assert_eq!(sandbox.claude_bash("make").code, 0);
}

#[test]
fn a_typo_in_the_policy_is_named_and_over_once_mended() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.claude_bash("ls").code, 0);
    sandbox.write("governance.yaml", "version: 1\nbugdet: {max_actions: 1}\n");
    let typo = sandbox.claude_bash("ls");
    assert!(typo.code == 2 && typo.stderr.contains("`lictor check` shows the file and the line"), "{typo:?}");
    assert!(sandbox.lictor(&["doctor"]).stdout.contains("could not be judged lately"));
    assert!(sandbox.lictor(&["check"]).stdout.contains("governance.yaml:2:1"));
    sandbox.write("governance.yaml", "version: 1\n");
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(sandbox.claude_bash("ls").code, 0);
    let doctor = sandbox.lictor(&["doctor"]);
    assert!(!doctor.stdout.contains("could not be judged lately"), "{}", doctor.stdout);
}

#[test]
fn misspelt_files_and_programs_are_found_and_one_mistake_is_one_error() {
    let sandbox = Sandbox::new();
    sandbox.write("src/auth/handler.py", "x");
    sandbox.write(
        "governance.yaml",
        "version: 1\nboundaries: {red_line_files: [src/auth/handlr.py, \"**/.env\"]}\ncompletion: {all: [{command: [pytst, -q]}]}\n",
    );
    let run = sandbox.lictor(&["check"]);
    assert!(run.stdout.contains("`src/auth/handlr.py` matches nothing here"), "{}", run.stdout);
    assert!(run.stdout.contains("did you mean `src/auth/handler.py`?"), "{}", run.stdout);
    assert!(run.stdout.contains("there is no program `pytst` on the PATH"), "{}", run.stdout);
    assert!(!run.stdout.contains(".env` matches nothing"), "{}", run.stdout);
    sandbox.write(
        "governance.yaml",
        "version: 1\nguards: {a: {expr: 'risk <= ', reason: x, fix: y}}\npolicy: {all: [a]}\n",
    );
    let run = sandbox.lictor(&["check"]);
    assert!(run.stdout.contains("1 error, 0 warnings"), "{}", run.stdout);
}

#[test]
fn whoever_trusts_a_program_sees_it() {
    let sandbox = Sandbox::new();
    sandbox.write("scripts/ready.sh", "#!/bin/sh\nexit 0 # all is well\n");
    let check = || sandbox.lictor(&["check"]).stdout;
    sandbox.write(
        "governance.yaml",
        "version: 1\nguards: {ready: {command: [scripts/ready.sh]}}\npolicy: {all: [ready]}\n",
    );
    assert!(check().contains("`chmod +x scripts/ready.sh`"), "{}", check());
    assert_eq!(sandbox.program("chmod", &["+x", "scripts/ready.sh"], "").code, 0);
    sandbox.write(
        "governance.yaml",
        "version: 1\nguards: {ready: {command: [scripts/ready.sh]}}\npolicy: {all: [ready]}\n",
    );
    let run = sandbox.lictor(&["trust"]);
    assert!(run.code == 3 && run.stdout.contains("all is well"), "{run:?}");
    assert!(sandbox.lictor(&["check"]).stdout.contains("lictor trust"));
    assert_eq!(sandbox.lictor(&["trust", "--yes"]).code, 0);
    assert!(!sandbox.lictor(&["check"]).stdout.contains("lictor trust"));
}

#[test]
fn a_held_call_goes_on_as_soon_as_a_person_says_yes() {
    use std::io::Write as _;
    let sandbox = Sandbox::new();
    let user = sandbox.home().join(".config/lictor");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(user.join("governance.yaml"), "version: 1\napprovals: {wait: 20s}\n").unwrap();
    let bash = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    let unknown = json!({"tool_name": "mcp__acme__frobnicate", "tool_input": {"q": "a"}});
    let answers: [(_, &[&str], _); 3] = [
        (bash("$DEPLOY approve"), &["approve", "--yes"], 0),
        (bash("$DEPLOY deny"), &["deny"], 2),
        (unknown, &["approve", "--remember", "--yes"], 0),
    ];
    for (call, answer, code) in answers {
        let mut event = json!({"session_id": "s1", "cwd": sandbox.project(), "permission_mode": "dontAsk",
            "hook_event_name": "PreToolUse", "transcript_path": "/dev/null"});
        event.as_object_mut().unwrap().extend(call.as_object().unwrap().clone());
        let mut hook = sandbox.start(&["hook", "claude-code", "PreToolUse"]);
        hook.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        let id = loop {
            let waiting = sandbox.lictor(&["approvals", "--json"]);
            if let Some(id) =
                waiting.json().as_array().and_then(|all| all.first()?["id"].as_str().map(str::to_owned))
            {
                break id;
            }
        };
        assert!(hook.try_wait().unwrap().is_none(), "the hook did not wait");
        assert_eq!(sandbox.lictor(&[answer, &[&id]].concat()).code, 0);
        let ended = hook.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{ended:?}");
    }
}

#[test]
fn people_are_told_about_blocks_if_they_want() {
    let sandbox = Sandbox::new();
    let user = sandbox.home().join(".config/lictor");
    std::fs::create_dir_all(&user).unwrap();
    let told = sandbox.home().join("told");
    let script = sandbox.home().join("tell.sh");
    std::fs::write(&script, format!("#!/bin/sh\ncat > {0}.new && mv {0}.new {0}\n", told.display())).unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&script).status().unwrap();
    let policy = |more: &str| {
        let text = format!("version: 1\nnotify: {{command: [{}]}}\n{more}", script.display());
        std::fs::write(user.join("governance.yaml"), text).unwrap();
    };
    policy("");
    sandbox.claude_bash("git push --force");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!told.exists());
    policy("approvals: {notify_blocks: true}\n");
    sandbox.claude(
        "PreToolUse",
        json!({"session_id": "s2", "tool_name": "Bash", "tool_input": {"command": "git push --force"}}),
    );
    let started = std::time::Instant::now();
    while !told.exists() && started.elapsed() < std::time::Duration::from_secs(20) {
        std::thread::yield_now();
    }
    let text = std::fs::read_to_string(&told).unwrap();
    assert!(text.contains("blocked") && text.contains("git push --force"), "{text}");
}

#[test]
fn the_examples_work_through_hooks() {
    let sandbox = Sandbox::new();
    let text = include_str!("../../../../examples/deploy-with-ticket/governance.yaml");
    sandbox.write("governance.yaml", text);
    let bare = sandbox.claude_bash("./deploy.sh staging");
    assert!(bare.code == 2 && bare.stderr.contains("a deploy needs a ticket"), "{bare:?}");
    assert_eq!(said(&sandbox.claude_bash("./deploy.sh production --ticket OPS-7")), "ask");
    assert_eq!(said(&sandbox.claude_bash("./deploy.sh staging --ticket OPS-7")), "pass");
}

/// Stashing untracked files removes the policy with them, unless git tracks or ignores it.
#[test]
fn stashing_untracked_files_never_takes_the_policy_away() {
    let sandbox = Sandbox::new();
    sandbox.write("governance.yaml", "version: 1\n");
    sandbox.write(".claude/settings.local.json", "{}\n");
    let code = |command: &str| sandbox.claude_bash(command).code;
    for taken in [
        "git stash -u",
        "git stash push --include-untracked -m wip",
        "git stash save -a x",
        "git stash -u -- .",
    ] {
        assert_eq!(code(taken), 2, "{taken}");
    }
    for kept in ["git stash", "git stash -u -- src", "git stash list", "git stash pop"] {
        assert_eq!(code(kept), 0, "{kept}");
    }
    sandbox.write(".gitignore", "governance.yaml\nsettings.local.json\n");
    assert_eq!((code("git stash -u"), code("git stash --all")), (0, 2), "ignored files stay without --all");
    sandbox.program("git", &["add", "-f", "governance.yaml", ".claude"], "");
    assert_eq!(code("git stash --all"), 0, "tracked files stay");
}

/// Restoring a work tree without changes loses nothing, and the fix for the other case works: after a stash the
/// tree is such a tree.
#[test]
fn a_clean_work_tree_can_be_put_back() {
    const ALL: [&str; 7] = [
        "git reset --hard",
        "git reset --hard HEAD",
        "git checkout .",
        "git checkout HEAD -- .",
        "git restore .",
        "git -C src restore --staged --worktree .",
        "cd src && git status && git checkout .",
    ];
    let sandbox = Sandbox::new();
    let git = |args: &[&str]| assert_eq!(sandbox.program("git", args, "").code, 0, "git {args:?}");
    sandbox.write("src/a.rs", "a\n");
    sandbox.write("README.md", "b\n");
    git(&["add", "-A"]);
    git(&["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "first"]);
    let blocked = |command: &str| sandbox.claude_bash(command).code == 2;
    sandbox.write("left-alone.txt", "git does not know it\n");
    assert!(!ALL.iter().any(|command| blocked(command)), "nothing is new");
    for also in [
        "git stash pop && git reset --hard",
        "echo c > README.md && git checkout .",
        "make && git restore .",
        "git reset --hard HEAD~1",
        "git checkout other -- .",
        "git clean -fd",
        "cd $SOMEWHERE && git reset --hard",
        "ssh host git reset --hard",
    ] {
        assert!(blocked(also), "{also}");
    }
    sandbox.write("src/a.rs", "c\n");
    assert!(ALL.iter().all(|command| blocked(command)), "a file was changed");
    git(&["add", "src/a.rs"]);
    assert!(ALL.iter().all(|command| blocked(command)), "it was staged");
    git(&["stash", "push", "-q"]);
    assert!(!ALL.iter().any(|command| blocked(command)), "what is new was put aside");
}
