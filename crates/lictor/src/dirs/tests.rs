use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::tempdir;

use super::*;

fn home_of(options: &Options, project: &Path) -> PathBuf {
    Dirs::of(options, Some(project)).home
}

#[test]
fn home_counts_only_where_an_agent_could_not_have_put_it() {
    let place = tempdir().unwrap();
    let (home, project) = (place.path().join("home"), place.path().join("home/project"));
    fs::create_dir_all(project.join("inner")).unwrap();
    symlink(&project, place.path().join("link")).unwrap();
    let registered = home_of(&Options::new(), &project);
    assert!(registered.is_absolute());
    let with = |home: &Path| home_of(&Options::new().home(home), &project);
    assert_eq!(with(&home), home);
    for refused in [
        project.clone(),
        project.join("inner"),
        project.join("inner/../inner"),
        place.path().join("link/inner"),
        PathBuf::from("relative"),
        PathBuf::from("/proc/self/root").join(home.strip_prefix("/").unwrap()),
    ] {
        assert_eq!(with(&refused), registered, "{}", refused.display());
    }
    // Without a project it cannot be inside one.
    assert_eq!(Dirs::of(&Options::new().home(&project), None).home, project);
}

#[test]
fn state_and_configuration_follow_home_unless_something_that_counts_is_named() {
    let place = tempdir().unwrap();
    let project = place.path().join("project");
    fs::create_dir_all(&project).unwrap();
    let options = Options::new().home(place.path());
    let plain = Dirs::of(&options, Some(&project));
    assert_eq!(plain.state, place.path().join(".local/state/lictor"));
    assert_eq!(plain.user_policy, place.path().join(".config/lictor/governance.yaml"));
    // Does not exist yet, in a directory of the user.
    let named = options.clone().env("XDG_STATE_HOME", place.path().join("state"));
    assert_eq!(Dirs::of(&named, Some(&project)).state, place.path().join("state/lictor"));
    let inside = options.clone().env("XDG_STATE_HOME", project.join("state"));
    assert_eq!(Dirs::of(&inside, Some(&project)).state, plain.state);
    let given = Dirs::of(&options.state_dir(project.join("given")), Some(&project));
    assert!(given.state_is_given && given.state == project.join("given"));
}
