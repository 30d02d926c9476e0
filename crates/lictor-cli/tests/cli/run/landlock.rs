//! Without bubblewrap: Landlock applies, and a line reports what it cannot enforce.

use std::fs;
use std::os::unix::fs::symlink;

use super::world;
use crate::sandbox::Sandbox;

/// A machine without bubblewrap.
fn without_bubblewrap() -> Sandbox {
    let mut sandbox = world();
    let bin = sandbox.home().join("bin");
    fs::create_dir(&bin).unwrap();
    for program in ["sh", "cat", "env", "mkdir", "git", "kill", "unshare", "bash"] {
        let found = ["/usr/bin", "/bin"].map(|place| std::path::Path::new(place).join(program));
        symlink(found.iter().find(|path| path.exists()).unwrap(), bin.join(program)).unwrap();
    }
    sandbox.only_path(&bin);
    sandbox
}

#[test]
fn what_is_written_stays_inside_and_the_rest_is_said() {
    let sandbox = without_bubblewrap();
    sandbox.write_at(&sandbox.home().join("outside"), "theirs\n");
    let script = format!(
        "echo x > inside.txt && echo project
         echo x > ~/.cache/y && echo cache
         echo x > ${{TMPDIR:-/tmp}}/lictor-landlock-test && echo tmp
         cat ~/outside >/dev/null && echo read
         echo x >> ~/outside && echo OUTSIDE
         echo x > ~/new && echo NEW
         mkdir ~/directory && echo DIRECTORY
         echo x > ~/.bashrc && echo STARTUP
         echo x >> {lictor} && echo PROGRAM
         kill -0 {outside} 2>/dev/null && echo SIGNAL
         exit 4",
        lictor = env!("CARGO_BIN_EXE_lictor"),
        outside = std::process::id()
    );
    let run = sandbox.lictor(&["run", "--", "sh", "-c", &script]);
    let _ = fs::remove_file("/tmp/lictor-landlock-test");
    assert_eq!((run.code, run.stdout.as_str()), (4, "project\ncache\ntmp\nread\n"), "{run:?}");
    let told: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("lictor run:")).collect();
    assert_eq!(told.len(), 1, "{run:?}");
    assert!(told[0].contains("bubblewrap cannot be used") && told[0].contains("Hook settings"), "{run:?}");
    assert_eq!(fs::read_to_string(sandbox.home().join("outside")).unwrap(), "theirs\n");
}

#[test]
fn what_only_bubblewrap_can_do_is_not_promised_without_it() {
    let sandbox = without_bubblewrap();
    for said in ["{hide: [~/.cache]}", "{network: none}"] {
        sandbox.write("governance.yaml", &format!("version: 1\nrun: {said}\n"));
        let run = sandbox.lictor(&["run", "--", "sh", "-c", "echo ran"]);
        assert!(run.code != 0 && run.stdout.is_empty(), "{said}: {run:?}");
        assert!(run.stderr.contains("needs bubblewrap"), "{said}: {run:?}");
    }
}
