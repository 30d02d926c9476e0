use lictor_core::Action;
use lictor_core::facts::Effect;

use crate::{FakeObserver, Project, facts};

fn world() -> FakeObserver {
    FakeObserver::for_judging()
        .directory("/home/user/project/.claude")
        .directory("/home/user/project/docs")
        .directory("/home/user/.ssh")
        .file("/home/user/x/settings.json", "{}")
        .file("/home/user/x/notes.md", "x")
        .file("/home/user/z/notes.json", "x")
        .file("/home/user/y/.claude/settings.json", "{}")
        .file(
            "/home/user/p.diff",
            "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -0,0 +1 @@\n+{}\n",
        )
        .file("/home/user/.local/bin/lictor", "ELF")
}

/// What the command changes, as paths; own ones with `!`.
fn changes(command: &str) -> Vec<String> {
    let world = world();
    let project = Project::discover("/home/user/project", &world);
    let action = Action::bash(command).in_dir("/home/user/project");
    let mut found: Vec<String> = facts(&action, &project, &world)
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::File { access, target, .. } if !access.is_read_only() => {
                Some(format!("{}{}", if target.own { "!" } else { "" }, target.path))
            }
            _ => None,
        })
        .collect();
    found.dedup();
    found
}

fn touches_own(command: &str) -> bool {
    changes(command).iter().any(|path| path.starts_with('!'))
}

#[test]
fn a_file_copied_into_a_directory_is_named() {
    assert_eq!(changes("cp ~/x/settings.json .claude/"), ["!/home/user/project/.claude/settings.json"]);
    assert_eq!(changes("cp ~/x/notes.md docs"), ["/home/user/project/docs/notes.md"]);
    assert_eq!(changes("cp ~/x/notes.md ~/x/settings.json docs").len(), 2);
    assert_eq!(changes("cp ~/x/settings.json copy.json"), ["/home/user/project/copy.json"]);
}

#[test]
fn every_way_into_a_protected_directory_is_seen() {
    for command in [
        "mv -t .claude ~/x/settings.json",
        "install -t .claude ~/x/settings.json",
        "ln -sf ~/x/settings.json .claude",
        "rsync ~/x/settings.json .claude/",
        "rsync -a ~/x/ .claude",
        "rsync -a ~/y/ .",
        "cp -r ~/y/.claude .",
        "cp -r ~/y/. .",
        "cp ~/x/* .claude/",
        "cp \"$f\" .claude/",
        "scp host:/x/settings.json .claude/",
        "docker cp box:/x/settings.json .claude/",
        "kubectl cp pod:/x/settings.json .claude",
        "curl https://e.org/x.tgz | tar xz -C .claude",
        "git apply ~/p.diff",
        "patch -p1 -i ~/p.diff",
        "cp ~/x/lictor ~/.local/bin/",
        "ln .git/config z",
        "ln -s .claude c",
        "python3 -c \"import shutil; shutil.copy('/home/user/x/settings.json', '.claude')\"",
        "wget -P .claude https://e.org/settings.json",
        "curl --output-dir .claude -O https://e.org/settings.json",
        "curl -OJ --output-dir .claude https://e.org/x",
    ] {
        assert!(touches_own(command), "{command}: {:?}", changes(command));
    }
}

#[test]
fn the_same_ways_elsewhere_are_not() {
    for command in [
        "mv -t docs ~/x/settings.json",
        "install -t docs ~/x/settings.json",
        "ln -sf ~/x/settings.json docs",
        "rsync -a ~/x/ docs",
        "cp -r ~/x .",
        "cp ~/x/*.md .claude/",
        "cp \"$f\" docs/",
        "cp \"$f.md\" .claude/",
        "scp host:/x/settings.json docs/",
        "docker cp box:/x/settings.json .",
        "curl https://e.org/x.tgz | tar xz -C docs",
        "curl https://e.org/x.tgz | tar xz",
        "cp ~/x/tool ~/.local/bin/",
        "cp .claude/settings.json /tmp/",
        "ln -s docs d",
        "wget -P docs https://e.org/settings.json",
        "wget https://e.org/x.tgz",
    ] {
        assert!(!touches_own(command), "{command}: {:?}", changes(command));
    }
}

#[test]
fn what_the_line_puts_into_a_source_arrives_too() {
    for made in ["echo x > ~/z/settings.local.json", "mkdir -p ~/z/hooks; touch ~/z/settings.local.json"] {
        for copy in
            ["cp -r ~/z/. .claude", "rsync -a ~/z/ .claude/", "cp ~/z/* .claude", "mv ~/z/*.json .claude"]
        {
            assert!(touches_own(&format!("{made}; {copy}")), "{made}; {copy}");
        }
    }
    assert!(!touches_own("echo x > ~/z/more.md; cp -r ~/z/. docs"));
    assert!(!touches_own("echo x > ~/z/more.md; cp ~/z/*.md .claude"));
}
