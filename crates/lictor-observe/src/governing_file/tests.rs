use std::path::PathBuf;

use lictor_agents::Agent;
use lictor_agents::install::{Settings, Where};
use lictor_core::facts::Access;

use super::*;
use crate::observer::FakeObserver;
use crate::place::Looker;

fn owns(world: &FakeObserver, path: &str, tree: bool) -> bool {
    let mut project = Project::discover("/home/user/project", world);
    project.own = vec!["/home/user/project/scripts/review.sh".to_owned()];
    is_own(path, tree, &project, world)
}

#[test]
fn own_files_are_found_in_every_layer() {
    let world = FakeObserver::for_judging();
    for path in [
        "/etc/lictor/governance.yaml",
        "/home/user/.config/lictor/governance.yaml",
        "/home/user/project/governance.yaml",
        "/home/user/project/a/.claude/settings.json",
        "/home/user/project/scripts/review.sh",
        "/home/user/project/.git/hooks/pre-commit",
        "/home/user/project/.git/config",
    ] {
        assert!(owns(&world, path, false), "{path}");
    }
    for path in ["/home/user/project/governance.yaml.md", "/home/user/project/.git/index", "/etc/lictorx"] {
        assert!(!owns(&world, path, false), "{path}");
    }
}

#[test]
fn a_directory_is_own_as_a_tree_when_it_holds_something() {
    let world = FakeObserver::for_judging()
        .file("/home/user/project/.claude/settings.json", "{}")
        .file("/home/user/project/scripts/review.sh", "");
    assert!(owns(&world, "/home/user/project/.claude", true));
    assert!(!owns(&world, "/home/user/project/.claude", false));
    assert!(owns(&world, "/home/user/project/scripts", true));
    assert!(!owns(&world, "/home/user/project/.codex", true));
}

#[test]
fn hooks_elsewhere_are_own() {
    let world = FakeObserver::for_judging()
        .file("/home/user/project/.git/config", "[core]\n hooksPath = tools/hooks\n");
    assert!(owns(&world, "/home/user/project/tools/hooks/pre-commit", false));
    assert!(!owns(&world, "/home/user/project/tools/x", false));
}

const HOME: &str = "/home/user";
const PROJECT: &str = "/home/user/project";
const SCOPES: [Scope; 3] = [Scope::User, Scope::Project, Scope::Managed];

/// The world with that variable set, or none.
fn world_with(variable: Option<&str>) -> FakeObserver {
    let world = FakeObserver::for_judging().link_to("/home/user/linked-home", HOME);
    match variable {
        Some(name) => world.variable_set(name, "/srv/Moved"),
        None => world,
    }
}

/// The variables that move anything, and none of them.
fn variables() -> Vec<Option<&'static str>> {
    let mut names: Vec<_> = all().flat_map(GoverningFile::variables).map(Some).collect();
    names.sort_unstable();
    names.dedup();
    names.push(None);
    names
}

/// Every way to write one path that means the same file.
fn spellings(path: &str) -> Vec<String> {
    let (directory, name) = path.rsplit_once('/').unwrap();
    let mut all = vec![
        path.to_owned(),
        path.replace('/', "//"),
        format!("{directory}/./{name}"),
        format!("{directory}/x/../{name}"),
        format!("../../..{path}"),
        format!("{path}/"),
    ];
    if let Some(rest) = path.strip_prefix(HOME) {
        all.push(format!("~{rest}"));
        all.push(format!("~/linked-home{rest}"));
    }
    all
}

fn assert_own(world: &FakeObserver, path: &str, why: &str) {
    let project = Project::discover(PROJECT, world);
    let looker = Looker { project: &project, observer: world, cwd: PROJECT, edits: &crate::edits::NoEdits };
    for spelling in spellings(path) {
        for access in [Access::Write, Access::Delete, Access::MoveAway, Access::Link] {
            assert!(looker.path(&spelling, access, false).own, "{why}: {access:?} {spelling}");
        }
        assert!(!looker.path(&spelling, Access::Read, false).own, "{why}: reading {spelling}");
    }
    let folding = world.clone().folding_case();
    for case in [path.to_uppercase(), path.to_lowercase()] {
        assert!(is_own(&case, false, &project, &folding), "{why}: {case} where case does not count");
    }
}

#[test]
fn what_init_can_write_is_own_in_every_scope_and_under_every_variable() {
    let mut seen = 0;
    for variable in variables() {
        let world = world_with(variable);
        let value = |name: &str| world.variable(name).filter(|_| variable == Some(name)).map(PathBuf::from);
        for project in [PROJECT.to_owned(), format!("{PROJECT}/packages/app")] {
            let place = Where::new(HOME, &project, value);
            for (agent, scope) in Agent::ALL.into_iter().flat_map(|agent| SCOPES.map(|scope| (agent, scope)))
            {
                for exists in [true, false] {
                    let Some(settings) = Settings::of(agent, scope, &place, |_| exists) else { continue };
                    let path = settings.path().to_str().unwrap();
                    assert_own(&world, path, &format!("{agent} {scope:?} {variable:?}"));
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 500, "{seen}");
}

/// A list of servers, one of which Lictor stands before.
const WRAPPED: &str = r#"{"mcpServers": {"files": {"command": "/usr/local/bin/lictor", "args": ["mcp", "run", "--", "files"]}}}"#;

#[test]
fn what_agents_read_hooks_from_is_own_in_every_place_it_may_have() {
    for variable in variables() {
        let world = world_with(variable);
        let value = |name: &str| (variable == Some(name)).then_some("/srv/Moved");
        let moved = |file: &&GoverningFile| file.variables().any(|name| variable == Some(name));
        for file in all().filter(|file| variable.is_none() || moved(file)) {
            let places = match file.at {
                At::Project => {
                    vec![format!("{PROJECT}/{}", file.path), format!("{PROJECT}/a/b/{}", file.path)]
                }
                _ => file.places(HOME, &value).collect(),
            };
            for path in places {
                let path = path.replace('*', "work");
                let world = match file.counts_by_text() {
                    true if file.is_list_of_servers() => world.clone().file(&path, WRAPPED),
                    true => world.clone().file(&path, "{\"chat.hookFilesLocations\": {}}"),
                    false => world.clone(),
                };
                assert_own(&world, &path, &format!("{file:?} {variable:?}"));
                if !file.counts_by_text() {
                    assert_own(&world, &format!("{path}/inside.json"), "in a directory");
                }
            }
        }
    }
}

#[test]
fn neighbours_of_governing_files_are_not_own() {
    let world = world_with(Some("CODEX_HOME"))
        .file("/home/user/project/.vscode/settings.json", "{\"a\": 1}")
        .file("/home/user/project/.mcp.json", r#"{"mcpServers": {"files": {"command": "files"}}}"#);
    for path in [
        "/home/user/project/.mcp.json",
        "/home/user/project/.cursor/mcp.json",
        "/home/user/project/.vscode/settings.json",
        "/home/user/project/.claude/commands/review.md",
        "/home/user/project/.claude/settings.json.md",
        "/home/user/project/.github/workflows/ci.yml",
        "/home/user/project/.agents/notes.md",
        "/home/user/project/hooks.json",
        "/home/user/project/src/settings.json",
        "/home/user/.config/Code/User/keybindings.json",
        "/srv/Moved/sessions/today.jsonl",
        "/srv/hooks.json",
        "/home/user/.codex/config.toml.md",
        "/home/user/tools/lictor",
    ] {
        assert!(!owns(&world, path, false), "{path}");
    }
}

#[test]
fn the_program_is_own_wherever_it_can_be_started_from() {
    let world = FakeObserver::for_judging().variable_set("PATH", "/usr/bin:/home/user/bin/:relative");
    assert!(owns(&world, "/home/user/bin/lictor", false));
    assert!(!owns(&world, "/home/user/bin", true), "there is none yet");
    assert!(owns(&world.clone().file("/home/user/bin/lictor", "x"), "/home/user/bin", true));
    assert!(!owns(&world, "/home/user/bin/lictor2", false));
    let here = std::env::current_exe().unwrap();
    let project = Project::discover(PROJECT, &crate::observer::RealObserver);
    assert!(is_own(here.to_str().unwrap(), false, &project, &crate::observer::RealObserver));
}

#[test]
fn a_tree_with_moved_settings_is_own() {
    let world = world_with(Some("CODEX_HOME")).file("/srv/Moved/hooks.json", "{}");
    assert!(owns(&world, "/srv/Moved", true));
    assert!(owns(&world, "/srv", true));
    assert!(!owns(&world, "/srv/other", true));
    assert!(!owns(&world_with(Some("CODEX_HOME")), "/srv/Moved", true), "nothing is there");
}

#[test]
fn an_agent_without_hooks_leads_around_those_of_others() {
    let bare = FakeObserver::empty().directory("/home/user/project/.git").variable_set("HOME", "/home/user");
    let hooks = "{\"hooks\": \"lictor hook\"}";
    let hooked = bare.clone().file("/home/user/project/.claude/settings.json", hooks);
    for (world, agent, around) in [
        (&bare, Agent::ClaudeCode, false),
        (&bare, Agent::Codex, false),
        (&hooked, Agent::ClaudeCode, false),
        (&hooked, Agent::Codex, true),
    ] {
        let project = Project::discover("/home/user/project", world);
        assert_eq!(leads_around_hooks(agent, &project, world), around, "{agent:?}");
    }
}
