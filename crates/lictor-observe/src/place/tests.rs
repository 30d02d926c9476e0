use super::*;
use crate::observer::FakeObserver;

const ROOT: &str = "/home/user/project";

fn world() -> FakeObserver {
    FakeObserver::for_judging()
        .file("/home/user/project/src/a.rs", "x")
        .file("/home/user/project/empty", "")
        .directory("/home/user/other")
        .link_to("/home/user/project/out", "/home/user/other")
        .link_to("/home/user/project/loop", "loop")
}

fn place_in(world: &FakeObserver, path: &str, access: Access) -> Place {
    let project = Project::discover(ROOT, world);
    Looker { project: &project, observer: world, cwd: ROOT, edits: &crate::edits::NoEdits }
        .path(path, access, false)
}

fn place(path: &str) -> Place {
    place_in(&world(), path, Access::Read)
}

fn operand(value: Known, glob: bool, cwd: Cwd) -> Place {
    let world = world();
    let project = Project::discover(ROOT, &world);
    let text = match &value {
        Known::Text(text) => text.clone(),
        _ => "$X".into(),
    };
    let arg = Arg { value, text, glob, splits: false, taint: lictor_shell::Taint::default(), found: None };
    let looker = Looker { project: &project, observer: &world, cwd: ROOT, edits: &crate::edits::NoEdits };
    looker.operand(&Operand::new(arg, cwd), Access::Delete, true)
}

fn text(path: &str, glob: bool) -> Zone {
    operand(Known::Text(path.into()), glob, Cwd::Start).zone
}

#[test]
fn paths_are_tidied_without_looking() {
    for (path, tidied) in [
        ("a/./b//c", "/w/a/b/c"),
        ("../x", "/x"),
        ("../../../x", "/x"),
        ("/a/../..", "/"),
        (".", "/w"),
        ("/", "/"),
    ] {
        assert_eq!(tidy("/w", path), tidied, "{path}");
    }
}

#[test]
fn zones_are_told_by_whole_components() {
    for (path, zone) in [
        (".", Zone::ProjectRoot),
        ("src/a.rs", Zone::Project),
        (".git/HEAD", Zone::GitDir),
        ("sub/.git/config", Zone::GitDir),
        (".github/x", Zone::Project),
        ("..", Zone::HomeRoot),
        ("../project2", Zone::Home),
        ("~", Zone::HomeRoot),
        ("~/x", Zone::Home),
        ("~root/x", Zone::System),
        ("~alice", Zone::HomeRoot),
        ("/", Zone::Root),
        ("/home", Zone::HomeRoot),
        ("/etc/x", Zone::System),
        ("/tmp", Zone::TempRoot),
        ("/tmp/x", Zone::Temp),
        ("/tmpx", Zone::Outside),
        ("/dev/null", Zone::HarmlessDevice),
        ("/dev/fd/3", Zone::HarmlessDevice),
        ("/proc/self/fd/3", Zone::HarmlessDevice),
        ("/proc/self/fd/3/x", Zone::System),
        ("/dev/sda", Zone::Device),
        ("/srv2", Zone::Outside),
    ] {
        assert_eq!(place(path).zone, zone, "{path}");
    }
}

#[test]
fn a_project_in_a_temporary_directory_is_a_project() {
    let world = FakeObserver::empty().directory("/tmp/a/p/.git").variable_set("HOME", "/home/user");
    let project = Project::discover("/tmp/a/p", &world);
    for (path, zone) in [
        ("/tmp/a/p", Zone::ProjectRoot),
        ("/tmp/a", Zone::ProjectRoot),
        ("/tmp", Zone::ProjectRoot),
        ("/tmp/a/p/x", Zone::Project),
        ("/tmp/b", Zone::Temp),
    ] {
        assert_eq!(zone_of(path, &project), zone, "{path}");
    }
}

#[test]
fn a_home_under_version_control_is_not_a_project() {
    let world = FakeObserver::empty().directory("/home/user/.git").variable_set("HOME", "/home/user");
    let project = Project::discover("/home/user/notes", &world);
    assert_eq!(zone_of("/home/user/notes/a", &project), Zone::Home);
}

#[test]
fn links_are_followed_and_both_places_are_kept() {
    let place = place("out/new/file");
    assert_eq!(place.path, "/home/user/project/out/new/file");
    assert_eq!(place.real.as_deref(), Some("/home/user/other/new/file"));
    assert_eq!((place.zone, place.real_zone), (Zone::Project, Zone::Home));
    assert_eq!(place.in_project.as_deref(), Some("out/new/file"));
}

#[test]
fn deleting_a_link_touches_the_link_only() {
    assert_eq!(place_in(&world(), "out", Access::Delete).real, None);
    assert!(place_in(&world(), "out/", Access::Delete).real.is_some());
    assert!(place_in(&world(), "out/x", Access::Delete).real.is_some());
}

#[test]
fn a_loop_of_links_ends() {
    assert_eq!(place("loop/x").zone, Zone::Project);
}

#[test]
fn what_is_there_is_told_apart() {
    for (path, existence) in [
        ("src/a.rs", Existence::File),
        ("empty", Existence::EmptyFile),
        ("src", Existence::Directory),
        ("none", Existence::Missing),
        ("out", Existence::Directory),
    ] {
        assert_eq!(place(path).existence, existence, "{path}");
    }
}

#[test]
fn a_glob_for_everything_stands_for_its_directory() {
    for (path, zone) in [
        ("*", Zone::ProjectRoot),
        ("./*", Zone::ProjectRoot),
        (".*", Zone::ProjectRoot),
        ("**/*", Zone::ProjectRoot),
        ("*.log", Zone::Project),
        ("*/dist", Zone::Project),
        ("src/*", Zone::Project),
        ("/*", Zone::Root),
        ("~/*", Zone::HomeRoot),
        ("/etc/*", Zone::System),
        ("/tmp/*", Zone::TempRoot),
        ("../*", Zone::HomeRoot),
        ("*/../..", Zone::Unknown),
    ] {
        assert_eq!(text(path, true), zone, "{path}");
    }
}

#[test]
fn a_word_known_in_part_lies_below_what_is_known() {
    let partly = |prefix: &str, suffix: &str| {
        let value = Known::Partly { prefix: prefix.to_owned(), suffix: suffix.to_owned() };
        operand(value, false, Cwd::Start).zone
    };
    assert_eq!(partly("/tmp/", ""), Zone::Temp);
    assert_eq!(partly("/tmp/x-", ".log"), Zone::Temp);
    assert_eq!(partly("build/", ""), Zone::Project);
    assert_eq!(partly("build-", ""), Zone::Project);
    assert_eq!(partly("/", ""), Zone::Outside);
    assert_eq!(partly("~/", ""), Zone::Home);
    assert_eq!(partly("/tmp/", "/../x"), Zone::Unknown);
    assert_eq!(partly("", "/x"), Zone::Unknown);
}

#[test]
fn the_directory_of_the_command_counts() {
    let at = |cwd: Cwd| operand(Known::Text("x".into()), false, cwd);
    assert_eq!(at(Cwd::Known("/etc".to_owned())).path, "/etc/x");
    assert_eq!(at(Cwd::Known("src".to_owned())).path, "/home/user/project/src/x");
    assert_eq!(at(Cwd::Known("~".to_owned())).path, "/home/user/x");
    assert_eq!(at(Cwd::Unknown).zone, Zone::Unknown);
    assert_eq!(operand(Known::Text("/tmp/x".into()), false, Cwd::Unknown).zone, Zone::Temp);
}

#[test]
fn malformed_paths_are_marked() {
    for path in ["", "a\0b", "\\\\server\\x"] {
        assert!(place(path).malformed, "{path:?}");
    }
    assert!(!place("a b").malformed);
}

#[test]
fn a_volume_that_folds_case_keeps_secrets_and_own_files() {
    let world = FakeObserver::for_judging().folding_case();
    assert!(place_in(&world, ".ENV", Access::Read).secret);
    assert!(place_in(&world, "Governance.YAML", Access::Write).own);
    assert!(!place(".ENV2").own);
}
