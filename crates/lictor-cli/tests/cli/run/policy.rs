//! What `run:` in a policy hides, closes and opens.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use super::{can_run, world};

/// Prints what a shell inside could do: one word a line.
fn inside(sandbox: &crate::sandbox::Sandbox, script: &str) -> String {
    let run = sandbox.lictor(&["run", "--", "sh", "-c", script]);
    assert_eq!(run.code, 0, "{run:?}");
    run.stdout
}

#[test]
fn what_a_policy_hides_is_empty_inside_and_untouched_outside() {
    can_run();
    let sandbox = world();
    for file in [".ssh/id_ed25519", ".aws/credentials", ".netrc", "project/conf/prod.env"] {
        sandbox.write_at(&sandbox.home().join(file), "secret\n");
    }
    let look = "cat ~/.ssh/id_ed25519 ~/.aws/credentials ~/.netrc conf/prod.env conf/../conf/prod.env \
                /proc/self/root$HOME/.netrc 2>/dev/null; \
                unshare -Urm sh -c 'umount ~/.ssh; cat ~/.ssh/id_ed25519' 2>/dev/null; \
                mv conf conf2 2>/dev/null; cat conf2/prod.env 2>/dev/null; echo looked";
    // Without a policy that hides them they can be read, or the rest would prove nothing.
    let open = inside(&sandbox, "cat ~/.ssh/id_ed25519 ~/.netrc conf/prod.env");
    assert_eq!(open, "secret\nsecret\nsecret\n");
    sandbox.write(
        "governance.yaml",
        "version: 1\nrun:\n  hide: [~/.ssh, ~/.aws/, conf/prod.env, ~/.never-there]\n",
    );
    sandbox.write_at(
        &sandbox.home().join(".config/lictor/governance.yaml"),
        &format!("version: 1\nrun: {{hide: ['{}/.netrc']}}\n", sandbox.home().display()),
    );
    assert_eq!(inside(&sandbox, look), "looked\n");
    for write in ["echo x > ~/.ssh/config", "echo x > ~/.netrc", "rm -rf ~/.aws && test ! -e ~/.aws"] {
        assert_ne!(sandbox.lictor(&["run", "--", "sh", "-c", write]).code, 0, "{write}");
    }
    let left = std::fs::read_to_string(sandbox.home().join(".ssh/id_ed25519")).unwrap();
    assert_eq!(left, "secret\n");
}

#[test]
fn what_governs_the_agent_cannot_be_hidden() {
    can_run();
    let sandbox = world();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_lictor")).parent().unwrap();
    for hidden in [
        ".claude",
        ".claude/settings.json",
        "governance.yaml",
        ".git",
        "/usr/../",
        &program.display().to_string(),
    ] {
        sandbox.write("governance.yaml", &format!("version: 1\nrun: {{hide: ['{hidden}']}}\n"));
        let run = sandbox.lictor(&["run", "true"]);
        assert_ne!(run.code, 0, "{hidden}");
        assert!(run.stderr.contains("run.hide"), "{hidden}: {run:?}");
    }
}

/// Tries to reach a listener outside, and a listener of its own.
const REACH: &str = "import socket,sys
def reach(port):
    try: socket.create_connection(('127.0.0.1', port), 2); return True
    except OSError: return False
def own():
    try:
        server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen()
        return reach(server.getsockname()[1])
    except OSError: return False
print('outside' if reach(int(sys.argv[1])) else '-', 'own' if own() else '-')
";

#[test]
fn the_network_is_as_the_policy_says() {
    can_run();
    let sandbox = world();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    sandbox.write("reach.py", REACH);
    for (said, expected) in
        [("{}", "outside own\n"), ("{network: loopback}", "- own\n"), ("{network: none}", "- -\n")]
    {
        sandbox.write("governance.yaml", &format!("version: 1\nrun: {said}\n"));
        let run = sandbox.lictor(&["run", "--", "python3", "reach.py", &port]);
        assert_eq!((run.code, run.stdout.as_str()), (0, expected), "{said}: {run:?}");
    }
    // The strictest file counts, and hooks still reach the guardian.
    sandbox.write_at(
        &sandbox.home().join(".config/lictor/governance.yaml"),
        "version: 1\nrun: {network: loopback}\n",
    );
    let run = sandbox.lictor(&["run", "--", "python3", "reach.py", &port]);
    assert_eq!(run.stdout, "- -\n");
    let run = sandbox.lictor(&["run", "--", env!("CARGO_BIN_EXE_lictor"), "approvals"]);
    assert_eq!(run.code, 0, "{run:?}");
}

const CONNECT: &str = "import socket,sys,os
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ.get('SSH_AUTH_SOCK') or sys.argv[1])
print('connected')
";

#[test]
fn a_socket_is_closed_until_the_person_opens_it() {
    can_run();
    let mut sandbox = world();
    // As ssh-agent makes it: in /tmp, which is another one inside.
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let socket = directory.path().join("agent.1");
    let _listener = UnixListener::bind(&socket).unwrap();
    for path in [directory.path(), &socket] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    }
    sandbox.set("SSH_AUTH_SOCK", socket.display());
    sandbox.write("connect.py", CONNECT);
    let connect = || sandbox.lictor(&["run", "--", "python3", "connect.py", &socket.display().to_string()]);
    assert_eq!(sandbox.program("python3", &["connect.py"], "").stdout, "connected\n", "it works outside");
    assert_ne!(connect().code, 0);
    // A repository cannot open anything.
    sandbox.write("governance.yaml", "version: 1\nrun: {sockets: [ssh-agent]}\n");
    assert_ne!(connect().code, 0);
    sandbox.write_at(
        &sandbox.home().join(".config/lictor/governance.yaml"),
        "version: 1\nrun: {sockets: [ssh-agent]}\n",
    );
    let run = connect();
    assert_eq!(run.stdout, "connected\n", "{run:?}");
    assert!(run.stderr.contains("ssh-agent is open: the agent can log in"), "{run:?}");
}
