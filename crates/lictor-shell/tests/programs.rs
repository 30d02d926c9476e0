//! What programs and inline code do: reviewed cases, one file a family, and laws that hold for any words.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail loudly")]

#[path = "programs/render.rs"]
mod render;

use std::collections::BTreeSet;
use std::path::Path;

use lictor_shell::describe::source::Source;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    run: String,
    does: Vec<String>,
}

fn cases(folder: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            serde_saphyr::from_str::<Vec<Case>>(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        })
        .collect()
}

fn check(folder: &str, at_least: usize) {
    let cases = cases(folder);
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len(), "an id is used twice");
    assert!(cases.len() >= at_least, "{} cases", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let found = render::does(&case.run);
            (found != case.does).then(|| {
                format!("{}: {}\n  expected {:?}\n  found    {found:?}", case.id, case.run, case.does)
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn programs_do_what_the_cases_say() {
    check("programs", 1500);
}

#[test]
fn code_does_what_the_cases_say() {
    check("languages", 290);
}

/// Lines that lose something or switch something off. A delete counts when it names a place outside the project.
fn destroys(lines: &[String]) -> bool {
    lines.iter().any(|line| {
        line.starts_with("delete")
            || line.starts_with("destroy")
            || [
                "git discard-",
                "restore -r",
                "git drop-",
                "git force-push",
                "git expire-",
                "infrastructure",
                "database drop",
                "process format",
            ]
            .iter()
            .any(|start| line.starts_with(start))
    })
}

/// Lines that a person would want to be asked about.
fn is_grave(line: &str) -> bool {
    const HARMLESS: [&str; 8] =
        ["read", "list", "write", "append", "modify", "make-directory", "reach", "send"];
    let first = line.split(' ').next().unwrap_or_default();
    !HARMLESS.contains(&first)
        && line != "database change"
        && line != "git commit"
        && line != "deed await code"
        && !first.starts_with("code")
}

/// The lines beside a description: those under `match` do something, their harmless twins under `not_match` do not.
#[test]
fn descriptions_do_what_their_lines_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut wrong = Vec::new();
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(file).unwrap();
        for source in serde_saphyr::from_str::<Vec<Source>>(&text).unwrap() {
            let names = source.program.words();
            let acts = source.always.is_some() || !source.commands.is_empty();
            if acts && source.matching.is_empty() {
                wrong.push(format!("{}: no line under `match`", names.join(" ")));
            }
            for line in source.matching.iter().chain(&source.not_match) {
                // `git x` is looked up as `git-x`.
                let line = &line.replace("git ", "git-");
                if !names.iter().any(|name| line.contains(name.trim_end_matches('*'))) {
                    wrong.push(format!("{line}: is not about {}", names.join(" ")));
                }
            }
            let silent = source.matching.iter().filter(|line| render::does(line).is_empty());
            wrong.extend(silent.map(|line| format!("{line}: does nothing")));
            for line in &source.not_match {
                let grave: Vec<String> =
                    render::does(line).into_iter().filter(|line| is_grave(line)).collect();
                if !grave.is_empty() {
                    wrong.push(format!("{line}: {grave:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is true of a command stays true behind every wrapper.
#[test]
fn wrappers_hide_nothing() {
    let commands = [
        "rm -rf /",
        "git reset --hard",
        "dropdb prod",
        "terraform destroy",
        "shred -u /etc/passwd",
        "mkfs.ext4 /dev/sda",
    ];
    let wrappers = [
        "sudo",
        "sudo -n -u root --",
        "doas",
        "env A=1",
        "env -i",
        "nice -n 5",
        "ionice -c 3",
        "nohup",
        "setsid",
        "time",
        "timeout 5",
        "timeout -k 1 5s",
        "stdbuf -oL",
        "strace -f",
        "command",
        "exec",
        "busybox",
        "xargs",
        "find . -exec",
        "flock /tmp/l",
        "chroot /",
        "unshare -r",
        "systemd-run",
        "watch",
        "bundle exec",
        "poetry run",
        "uv run",
        "npx",
        "caffeinate",
        "unbuffer",
        "taskset 1",
        "tool",
    ];
    for command in commands {
        for wrapper in wrappers {
            if wrapper == "tool" && !command.starts_with("rm") && !command.starts_with("git") {
                continue;
            }
            let line = format!("{wrapper} {command}");
            assert!(destroys(&render::does(&line)), "{line}: {:?}", render::does(&line));
        }
        for shell in ["bash -c", "sh -ec", "zsh -lc", "su -c", "script -c", "watch", "eval", "ssh host"] {
            if shell == "ssh host" && (command.contains("shred") || command.contains("mkfs")) {
                continue;
            }
            let line = format!("{shell} '{command}'");
            assert!(destroys(&render::does(&line)), "{line}: {:?}", render::does(&line));
        }
    }
}

/// Words that only mention a command do nothing.
#[test]
fn data_is_not_code() {
    let mentions = [
        "echo",
        "printf %s",
        "git commit -m",
        "gh pr create --title x --body",
        "grep -rn",
        "rg",
        "git log --grep",
        "jq -n --arg x",
        "test -n",
        "logger",
        "git tag -a v1 -m",
        "gh issue create --title x --body",
        "cargo test --",
        "npm run x --",
        "python3 script.py",
        "node x.js",
        "basename",
        "curl -s https://example.com -d",
    ];
    for mention in mentions {
        for command in ["rm -rf /", "git reset --hard", "DROP TABLE users", "$(true) rm -rf ~"] {
            let line = format!("{mention} '{command}'");
            assert!(!destroys(&render::does(&line)), "{line}: {:?}", render::does(&line));
        }
    }
}

/// Options may stand anywhere, together or apart.
#[test]
fn spelling_of_options_does_not_matter() {
    let same = [
        "rm -rf /x",
        "rm -fr /x",
        "rm -r -f /x",
        "rm /x -rf",
        "rm -f /x -r",
        "rm --recursive --force /x",
        "rm --rec /x",
        "rm -rfv /x",
        "rm -R /x",
        "/bin/rm -rf -- /x",
        "rm -rf --one-file-system /x",
        "rm --no-preserve-root -rf /x",
    ];
    for line in same {
        assert_eq!(render::does(line), ["delete -r /x"], "{line}");
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z-]{1,8}",
        "-{1,2}[a-zA-Z=]{1,6}",
        Just("--".to_owned()),
        Just("{}".to_owned()),
        Just(";".to_owned()),
        Just("'$(x'".to_owned()),
        Just("\"\\u{e9}\\n\"".to_owned()),
        Just(":::".to_owned()),
        Just("\\(".to_owned()),
        Just("/".to_owned()),
        Just("a=b".to_owned()),
        Just("-".to_owned()),
    ]
}

fn program() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        "rm mv cp chmod tar zip rsync sed awk sort find fd xargs parallel git gh sudo env su timeout watch bash sh python3 node perl ruby php lua \
         curl wget nc socat ssh scp psql mysql sqlite3 mongosh redis-cli terraform aws gcloud az kubectl helm docker systemctl kill pkill ip \
         npm yarn pnpm cargo pip make dd truncate tee split base64 xxd tr cut head printf echo vim ed tmux screen crontab flock script gdb \
         openssl rclone bq rails prisma apt-get dpkg pacman lictor claude codex pwsh cmd apply_patch patch iptables zfs mkfs.ext4 vault"
            .split_ascii_whitespace()
            .collect::<Vec<_>>(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// No argument vector makes a table entry fail.
    #[test]
    fn any_words_are_judged(program in program(), words in prop::collection::vec(word(), 0..8)) {
        render::does(&format!("{program} {}", words.join(" ")));
    }

    /// No body makes a reader of code fail.
    #[test]
    fn any_body_is_read(language in prop::sample::select(vec!["python3 -c", "node -e", "perl -e", "ruby -e", "php -r", "lua -e", "awk", "sed", "deno eval", "psql -c", "apply_patch"]), body in "[ -&(-~\n\u{e9}]{0,60}") {
        render::does(&format!("{language} '{body}'"));
    }
}

/// Bodies made to be deep or large end within their budget, and are then not called understood.
#[test]
fn hostile_bodies_end() {
    let deep = 10_000;
    let bodies = [
        ("python", format!("{}1{}", "(".repeat(deep), ")".repeat(deep))),
        ("python", format!("x = {}", "[".repeat(deep))),
        ("python", "f(".repeat(deep)),
        ("python", format!("os.system({})", vec!["'a'"; deep].join("+"))),
        ("javascript", format!("{}1{}", "(".repeat(deep), ")".repeat(deep))),
        ("javascript", "a(".repeat(deep)),
        ("javascript", format!("eval({})", vec!["'a'"; deep].join("+"))),
        ("javascript", "`${".repeat(deep)),
        ("perl", "system(".repeat(deep)),
        ("ruby", "system(\"#{".repeat(deep)),
        ("php", "eval(".repeat(deep)),
        ("awk", "{".repeat(deep)),
        ("sed", "s/a/b/;".repeat(deep)),
        ("sql", "DO $$ ".repeat(deep)),
        ("python", "os.remove('x')\n".repeat(70_000)),
        ("python", "a".repeat(2 << 20)),
    ];
    for (language, body) in bodies {
        let report = judged(language, &body);
        if body.len() > 1 << 20 {
            assert!(!report.opaque.is_empty(), "{language}: over the limit and understood");
        }
    }
}

fn judged(language: &str, body: &str) -> lictor_shell::call::Report {
    let mut report = lictor_shell::call::Report::default();
    let call = lictor_shell::call::Call {
        program: "x",
        path: "x",
        args: &[],
        cwd: &lictor_shell::Cwd::Start,
        stdin: &lictor_shell::call::Stdin::Inherited,
        source: None,
        assignments: &[],
        env: &render::World,
    };
    lictor_shell::languages::judge(language, body, &call, &mut report);
    report
}

#[test]
fn a_scan_lists_what_code_mentions() {
    let scan = lictor_shell::languages::scan(
        "python",
        "import os.path as p, json\nfrom subprocess import run as r\n__import__('socket')\nx.__class__.__bases__\neval('1')\n",
    );
    assert!(scan.parse_ok && scan.complete);
    let listed = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(listed(&scan.imports), "json os.path socket subprocess");
    assert_eq!(listed(&scan.names), "subprocess.run");
    assert_eq!(listed(&scan.calls), "__import__ eval");
    assert_eq!(listed(&scan.dunders), "__bases__ __class__ __import__");
    let scan = lictor_shell::languages::scan(
        "typescript",
        "import { x } from 'node:fs'; const c: any = require(\"child_process\"); c.exec('x')",
    );
    assert!(scan.parse_ok && scan.complete);
    assert_eq!(listed(&scan.imports), "child_process fs");
    assert!(scan.calls.contains("c.exec") && scan.attributes.contains("exec"));
    assert!(!lictor_shell::languages::scan("python", "def (").parse_ok);
}
