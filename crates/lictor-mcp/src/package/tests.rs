use std::fs;

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    run: Vec<String>,
    /// Nothing where the command line fetches no package of a registry.
    #[serde(default)]
    package: Option<String>,
    /// Where the command line leaves no choice.
    #[serde(default)]
    version: Option<String>,
    /// The words that pins are bound to, where they are others.
    #[serde(default)]
    bound: Option<Vec<String>>,
}

#[test]
fn packages_are_read_from_command_lines() {
    let cases: Vec<Case> = serde_saphyr::from_str(include_str!("cases.yaml")).expect("the cases");
    for case in cases {
        let argv: Vec<OsString> = case.run.iter().map(OsString::from).collect();
        let package = Package::fetched_by(&argv);
        let found = package.as_ref().map(|package| package.name.clone());
        assert_eq!(found, case.package, "{}", case.id);
        assert_eq!(package.as_ref().and_then(|package| package.exact.clone()), case.version, "{}", case.id);
        let bound: Vec<String> = match &package {
            Some(package) => {
                case.run.iter().enumerate().map(|(index, word)| package.unversioned(index, word)).collect()
            }
            None => case.run.clone(),
        };
        assert_eq!(bound, case.bound.unwrap_or(case.run), "{}", case.id);
    }
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
    fs::write(file, text).expect("a file");
}

#[test]
fn an_installed_program_has_the_version_of_its_package() {
    let home = tempfile::tempdir().expect("a directory");
    let modules = home.path().join("node_modules");
    let script = modules.join("@scope/server/dist/index.js");
    write(&script, "");
    write(&modules.join("@scope/server/package.json"), r#"{"name": "@scope/server", "version": "2.0.1"}"#);
    fs::create_dir_all(modules.join(".bin")).expect("a directory");
    let link = modules.join(".bin/server");
    std::os::unix::fs::symlink("../@scope/server/dist/index.js", &link).expect("a link");
    let npm = Some(("@scope/server".to_owned(), "2.0.1".to_owned()));
    assert_eq!(version_of_program(&link, &[]), npm);
    let arguments = ["--no-warnings".as_ref(), script.as_os_str()];
    assert_eq!(version_of_program(Path::new("/usr/bin/node"), &arguments), npm);

    let environment = home.path().join("venv");
    let site = environment.join("lib/python3.12/site-packages");
    write(&environment.join("bin/mcp-server-git"), "");
    write(&site.join("other-9.dist-info/entry_points.txt"), "[console_scripts]\nother = other:main\n");
    write(
        &site.join("mcp_server_git-1.4.dist-info/entry_points.txt"),
        "[console_scripts]\nmcp-server-git = m:main\n",
    );
    let pypi = Some(("mcp_server_git".to_owned(), "1.4".to_owned()));
    assert_eq!(version_of_program(&environment.join("bin/mcp-server-git"), &[]), pypi);
    let module = ["-m".as_ref(), "mcp_server_git".as_ref()];
    assert_eq!(version_of_program(&environment.join("bin/python3.12"), &module), pypi);

    let own = home.path().join("server.js");
    write(&own, "");
    write(&home.path().join("package.json"), r#"{"name": "own", "version": "0.0.0"}"#);
    assert_eq!(version_of_program(Path::new("/usr/bin/node"), &[own.as_os_str()]), None, "not a package");
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_runner_has_fetched_is_seen_in_what_runs() {
    use std::os::unix::process::CommandExt as _;
    let home = tempfile::tempdir().expect("a directory");
    let directory = home.path().join("_npx/0a1b/node_modules/server");
    write(&directory.join("index.sh"), "read line");
    write(&directory.join("package.json"), r#"{"name": "server", "version": "3.1.0"}"#);
    let package =
        |name: &str| Package::fetched_by(&["npx".into(), "-y".into(), name.into()]).expect("a package");
    let mut runner = std::process::Command::new("/bin/sh")
        .arg(directory.join("index.sh"))
        .stdin(std::process::Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("a shell");
    let version = |name: &str| package(name).version(Some(runner.id()));
    assert_eq!(version("server").as_deref(), Some("3.1.0"));
    assert_eq!(version("server@latest").as_deref(), Some("3.1.0"));
    assert_eq!(version("other"), None);
    assert_eq!(version("server@9.9.9").as_deref(), Some("9.9.9"), "npx runs no other");
    assert_eq!(package("server").version(None), None);
    drop(runner.stdin.take());
    runner.wait().expect("an end");
}
