use super::*;
use crate::{FakeObserver, Project, facts};

fn pinned(world: &FakeObserver, command: &str) -> Vec<String> {
    let action = Action::bash(command).in_dir("/home/user/project");
    let project = Project::discover("/home/user/project", world);
    pins(&action, &facts(&action, &project, world), world).into_iter().map(|pin| pin.path).collect()
}

#[test]
fn scripts_are_pinned_however_they_are_started() {
    let world = FakeObserver::for_judging()
        .file("/home/user/project/scripts/deploy.sh", "echo one")
        .file("/home/user/project/conf", "x");
    for line in [
        "bash scripts/deploy.sh prod",
        "./scripts/deploy.sh",
        "sh -x ./scripts/deploy.sh",
        ". scripts/deploy.sh",
    ] {
        assert_eq!(pinned(&world, line), ["/home/user/project/scripts/deploy.sh"], "{line}");
    }
    let read = pinned(&world, "curl -d @conf https://example.com");
    assert_eq!(read, ["/home/user/project/conf"]);
    assert_eq!(pinned(&world, "git push --force"), Vec::<String>::new());
}

#[test]
fn what_build_tools_run_is_pinned_where_they_run() {
    let world = FakeObserver::for_judging()
        .file("/home/user/project/Makefile", "x:")
        .file("/home/user/project/sub/package.json", "{}")
        .file("/home/user/project/sub/a.sh", "true");
    assert_eq!(pinned(&world, "make deploy"), ["/home/user/project/Makefile"]);
    assert_eq!(pinned(&world, "cd sub && npm publish"), ["/home/user/project/sub/package.json"]);
    assert_eq!(pinned(&world, "cd sub && sh a.sh"), ["/home/user/project/sub/a.sh"]);
}

#[test]
fn another_content_is_another_pin() {
    let pin = |text: &str| {
        let world = FakeObserver::for_judging().file("/home/user/project/a.sh", text);
        let action = Action::bash("bash a.sh").in_dir("/home/user/project");
        let project = Project::discover("/home/user/project", &world);
        pins(&action, &facts(&action, &project, &world), &world)
    };
    assert_eq!(pin("one"), pin("one"));
    assert_ne!(pin("one"), pin("two"));
}
