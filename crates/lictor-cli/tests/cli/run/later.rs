//! Files that are run later by others, and escapes in the home directory.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use super::{can_run, world};
use crate::sandbox::Sandbox;

fn inside(sandbox: &Sandbox, script: &str) -> crate::sandbox::Run {
    sandbox.lictor(&["run", "--", "sh", "-c", script])
}

#[test]
fn what_others_run_later_cannot_be_written() {
    can_run();
    let mut sandbox = world();
    let git = |args: &[&str]| assert_eq!(sandbox.program("git", args, "").code, 0, "{args:?}");
    git(&["config", "core.hooksPath", ".githooks"]);
    git(&["config", "include.path", "../shared.gitconfig"]);
    sandbox.write(".githooks/pre-commit", "#!/bin/sh\n");
    sandbox.write("shared.gitconfig", "[user]\n\tname = t\n");
    let home = sandbox.home().to_owned();
    for file in [".gradle/caches/x", ".m2/repository/x", ".bun/bin/tool", ".cargo/registry/x"] {
        sandbox.write_at(&home.join(file), "x\n");
    }
    let nested = ".git/modules/a/b";
    for file in ["HEAD", "config", "hooks/pre-commit"] {
        sandbox.write(&format!("{nested}/{file}"), "x\n");
    }
    sandbox.on_path(&home.join(".bun/bin"));
    let project = sandbox.project();
    let held = [
        ".githooks/pre-commit",
        ".githooks/post-commit",
        ".husky/pre-commit",
        "shared.gitconfig",
        "governance.yml",
        ".lictor/x",
        ".git/modules/a/b/config",
        ".git/modules/a/b/hooks/post-checkout",
        "~/.bun/bin/tool",
        "~/.bun/bin/new",
        "~/.gradle/init.d/x.gradle",
        "~/.gradle/init.gradle",
        "~/.m2/settings.xml",
    ];
    let free = ["src/x", "~/.gradle/caches/y", "~/.m2/repository/y", "~/.cargo/registry/y", "~/.bun/install"];
    let script = |files: &[&str]| {
        let tries = files.iter().map(|file| {
            let path = file.replace("~", home.to_str().unwrap());
            format!("(mkdir -p \"$(dirname {path})\"; echo x >> {path}) 2>/dev/null && echo '{file}'\n")
        });
        tries.collect::<String>() + "true\n"
    };
    let run = inside(&sandbox, &script(&held));
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    let run = inside(&sandbox, &script(&free));
    assert_eq!(run.stdout.lines().collect::<Vec<_>>(), free, "{run:?}");
    for path in [".husky", "governance.yml", ".lictor"] {
        assert!(!project.join(path).exists(), "{path}");
    }
    assert!(!home.join(".gradle/init.d").exists());
}

#[test]
fn sockets_in_the_home_directory_and_those_without_a_file_are_not_reached() {
    can_run();
    let sandbox = world();
    let there = [".docker/run/docker.sock", ".cache/editor/server.sock"];
    let mut listening = Vec::new();
    for name in there {
        let path = sandbox.home().join(name);
        sandbox.write_at(&path.with_file_name("beside"), "x\n");
        listening.push(UnixListener::bind(&path).unwrap());
        // The tests may run as another user.
        assert_eq!(
            std::process::Command::new("chmod").args(["777"]).arg(&path).status().unwrap().code(),
            Some(0)
        );
    }
    let name = format!("lictor-test-{}", std::process::id());
    listening.push(UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap());
    let connect = "import socket,sys
for path in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(path.replace('@', chr(0))); print('reached')
    except OSError: print('nothing')";
    let mut paths: Vec<String> =
        there.iter().map(|name| sandbox.home().join(name).display().to_string()).collect();
    paths.push(format!("@{name}"));
    let mut words = vec!["python3", "-c", connect];
    words.extend(paths.iter().map(String::as_str));
    let outside = sandbox.program("python3", &words[1..], "");
    assert_eq!(outside.stdout, "reached\nreached\nreached\n", "{outside:?}");
    let mut run = vec!["run", "--"];
    run.extend(&words);
    let inside = sandbox.lictor(&run);
    assert_eq!(inside.stdout, "nothing\nnothing\nnothing\n", "{inside:?}");
}

#[test]
fn a_key_that_logs_in_to_this_machine_is_hidden() {
    can_run();
    let sandbox = world();
    let ssh = sandbox.home().join(".ssh");
    sandbox.write_at(&ssh.join("authorized_keys"), "no-pty ssh-ed25519 AAAA1 me\n");
    for (name, key) in [("id_here", "AAAA1"), ("id_elsewhere", "AAAA2")] {
        sandbox.write_at(&ssh.join(name), "private\n");
        sandbox.write_at(&ssh.join(format!("{name}.pub")), &format!("ssh-ed25519 {key} me\n"));
    }
    let run = inside(&sandbox, "cat ~/.ssh/id_here; echo -; cat ~/.ssh/id_elsewhere");
    assert_eq!(run.stdout, "-\nprivate\n", "{run:?}");
    assert!(run.stderr.contains("id_here` is hidden: it logs in to this machine"), "{run:?}");
    assert!(!run.stderr.contains("id_elsewhere"), "{run:?}");
}
