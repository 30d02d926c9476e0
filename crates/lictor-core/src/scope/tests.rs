use super::*;
use crate::facts::{Access, Effect, Opaque, OpaqueWhat, Reach};

fn place(path: &str, real: Option<&str>) -> Place {
    Place { path: path.to_owned(), real: real.map(str::to_owned), ..Place::project_file("", path) }
}

fn touching(access: Access, path: &str) -> Facts {
    linked(access, path, None)
}

fn linked(access: Access, path: &str, real: Option<&str>) -> Facts {
    let effect = Effect::File { access, target: place(path, real), recursive: false, by: None };
    Facts { effects: vec![effect], opaque: Vec::new() }
}

fn limit(json: &str) -> Limit {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_child_never_reaches_further_than_its_parent() {
    let parent = Scope::unlimited().narrow(limit(r#"{"dirs": ["/p/src"], "kinds": ["read", "bash"]}"#));
    // A wider limit below changes nothing.
    let child = parent.narrow(limit(r#"{"dirs": ["/"], "kinds": ["read", "write", "bash"]}"#));
    let actions = [Action::bash("x"), Action::read("x"), Action::write("x"), Action::task("x")];
    let facts = ["/p/src/a", "/p/srcs/a", "/p", "/etc/passwd"].map(|path| touching(Access::Read, path));
    for action in &actions {
        for facts in &facts {
            assert!(parent.permits(action, facts).is_ok() || child.permits(action, facts).is_err());
        }
    }
    assert!(child.permits(&Action::bash("x"), &facts[0]).is_ok());
    assert_eq!(child.permits(&Action::bash("x"), &facts[1]), Err("the place `/p/srcs/a`".to_owned()));
    assert_eq!(child.permits(&Action::write("x"), &facts[0]), Err("actions of kind `write`".to_owned()));
}

#[test]
fn both_ends_of_a_link_must_be_inside() {
    let scope = Scope::unlimited().narrow(limit(r#"{"dirs": ["/p/"]}"#));
    let read = Action::read("x");
    assert!(scope.permits(&read, &linked(Access::Read, "/p/a", Some("/p/b"))).is_ok());
    assert!(scope.permits(&read, &linked(Access::Read, "/p/a", Some("/etc/b"))).is_err());
    assert!(scope.permits(&read, &touching(Access::Read, "/p")).is_ok());
}

#[test]
fn what_is_not_known_is_outside() {
    let scope = Scope::unlimited().narrow(limit(r#"{"hosts": ["*.example.com"]}"#));
    let opaque = vec![Opaque { what: OpaqueWhat::Code, text: "eval".to_owned() }];
    let bash = Action::bash("x");
    assert!(scope.permits(&bash, &Facts { effects: Vec::new(), opaque }).is_err());
    let reach = |host: Option<&str>| Facts {
        effects: vec![Effect::Reach(Reach {
            host: host.map(str::to_owned),
            text: "u".to_owned(),
            sends: false,
        })],
        opaque: Vec::new(),
    };
    assert!(scope.permits(&bash, &reach(Some("a.example.com"))).is_ok());
    assert!(scope.permits(&bash, &reach(None)).is_err());
    assert!(scope.permits(&bash, &reach(Some("example.org"))).is_err());
}

#[test]
fn tools_and_reading_only() {
    let scope = Scope::unlimited().narrow(limit(r#"{"tools": ["mcp__docs__*", "read"], "read_only": true}"#));
    let mut action = Action::read("x");
    assert!(scope.permits(&action, &touching(Access::Read, "/p/a")).is_ok());
    assert!(scope.permits(&action, &touching(Access::Write, "/p/a")).is_err());
    action.tool = "mcp__shell__run".to_owned();
    assert!(scope.permits(&action, &Facts::none()).is_err());
}
