use lictor_core::Action;
use lictor_core::facts::{Effect, GuardOff};

use crate::{FakeObserver, Project, facts};

fn world() -> FakeObserver {
    FakeObserver::for_judging()
        .file("/home/user/project/.claude/settings.json", "{}")
        .file("/home/user/project/conf/.env", "A=1")
        .file("/home/user/project/plain.json", "{}")
        .file("/home/user/.local/bin/lictor", "the program")
        .file("/home/user/x/copy", "the program")
        .file("/home/user/x/other", "a program..")
        .hard_link("/home/user/project/z", "/home/user/project/.claude/settings.json")
        .hard_link("/home/user/project/e", "/home/user/project/conf/.env")
        .hard_link("/home/user/project/q", "/home/user/project/plain.json")
        .hard_link("/home/user/x/hard", "/home/user/.local/bin/lictor")
        .link_to("/home/user/x/soft", "/home/user/.local/bin/lictor")
}

fn effects(command: &str) -> Vec<Effect<lictor_core::facts::Place>> {
    let world = world();
    let mut project = Project::discover("/home/user/project", &world);
    project.watched = vec!["**/.env".to_owned()];
    facts(&Action::bash(command).in_dir("/home/user/project"), &project, &world).effects
}

fn touches_own(command: &str) -> bool {
    effects(command).iter().any(|effect| matches!(effect, Effect::File { target, .. } if target.own))
}

#[test]
fn a_hard_link_to_a_governing_file_is_that_file() {
    assert!(touches_own("echo {} > z"));
    assert!(touches_own("sed -i s/a/b/ z"));
    assert!(!touches_own("echo {} > q"));
    assert!(!touches_own("rm z"));
    assert!(!touches_own("cat z"));
}

#[test]
fn a_hard_link_to_a_red_line_leads_to_it() {
    let real = |command: &str| {
        effects(command).into_iter().find_map(|effect| match effect {
            Effect::File { target, .. } => target.real,
            _ => None,
        })
    };
    assert_eq!(real("cat e").as_deref(), Some("/home/user/project/conf/.env"));
    assert_eq!(real("cat q"), None);
}

#[test]
fn the_program_is_known_under_any_name() {
    let stopped = |command: &str| {
        effects(command)
            .iter()
            .any(|effect| matches!(effect, Effect::GuardOff { what: GuardOff::LictorCommand, .. }))
    };
    for name in ["copy", "hard", "soft"] {
        assert!(stopped(&format!("~/x/{name} approve a1")), "{name}");
        assert!(stopped(&format!("~/x/{name} $(cat w)")), "{name}");
        assert!(!stopped(&format!("~/x/{name} explain")), "{name}");
    }
    assert!(!stopped("~/x/other approve a1"));
}
