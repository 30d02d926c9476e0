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
fn what_tools_take_their_instructions_from_is_pinned() {
    let project = "/home/user/project";
    let world = [
        "docker-compose.yml",
        "infra/main.tf",
        "infra/prod.tfvars",
        "infra/notes.md",
        "Chart.yaml",
        "app/Pulumi.prod.yaml",
    ]
    .iter()
    .fold(FakeObserver::for_judging(), |world, file| world.file(&format!("{project}/{file}"), "x"));
    for (line, files) in [
        ("docker compose up -d", &["docker-compose.yml"][..]),
        ("docker-compose down -v", &["docker-compose.yml"]),
        ("cd infra && terraform apply -auto-approve", &["infra/main.tf", "infra/prod.tfvars"]),
        ("terraform -chdir=infra destroy", &["infra/main.tf", "infra/prod.tfvars"]),
        ("helm upgrade x .", &["Chart.yaml"]),
        ("cd app && pulumi up", &["app/Pulumi.prod.yaml"]),
        ("cd infra && ls", &[]),
    ] {
        let files: Vec<String> = files.iter().map(|file| format!("{project}/{file}")).collect();
        assert_eq!(pinned(&world, line), files, "{line}");
    }
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

#[test]
fn what_a_name_stands_for_is_pinned() {
    let project = "/home/user/project";
    let world = [
        "sub/Makefile",
        "sub/x.mk",
        "tool.py",
        "pkg/__init__.py",
        "pkg/__main__.py",
        "pkg/part.py",
        "serve.js",
        "app/index.js",
        "cmd/ship/main.go",
        "Rakefile",
        "fabfile.py",
        "src/main.rs",
        "infra/main.tf",
    ]
    .iter()
    .fold(FakeObserver::for_judging(), |world, file| world.file(&format!("{project}/{file}"), "x"));
    for (line, file) in [
        ("make -C sub deploy", "sub/Makefile"),
        ("make -Csub deploy", "sub/Makefile"),
        ("make --directory=sub deploy", "sub/Makefile"),
        ("make --file=sub/x.mk deploy", "sub/x.mk"),
        ("python3 -m tool", "tool.py"),
        ("python -m pkg", "pkg/__main__.py"),
        ("python -m pkg.part", "pkg/part.py"),
        ("node serve", "serve.js"),
        ("node app", "app/index.js"),
        ("go run ./cmd/ship", "cmd/ship/main.go"),
        ("rake ship", "Rakefile"),
        ("fab ship", "fabfile.py"),
        ("cargo run --release", "src/main.rs"),
    ] {
        let found = pinned(&world, line);
        assert!(found.contains(&format!("{project}/{file}")), "{line}: {found:?}");
    }
}

#[test]
fn what_a_script_mentions_is_pinned_too() {
    let project = "/home/user/project";
    let world = FakeObserver::for_judging()
        .file("/home/user/project/ship.py", "import helper\nfrom lib.net import send\n")
        .file("/home/user/project/helper.py", "x = 1")
        .file("/home/user/project/lib/net.py", "x = 1")
        .file("/home/user/project/bin/ship.js", "const h = require('./h'); import '../lib/k.mjs'")
        .file("/home/user/project/bin/h.js", "1")
        .file("/home/user/project/lib/k.mjs", "1")
        .file("/home/user/project/package.json", r#"{"scripts": {"ship": "node tools/run.js --all"}}"#)
        .file("/home/user/project/tools/run.js", "1")
        .file("/home/user/project/README", "nobody mentions it");
    for (line, files) in [
        ("python ship.py", ["helper.py", "lib/net.py"]),
        ("node bin/ship.js", ["bin/h.js", "lib/k.mjs"]),
        ("npm run ship", ["package.json", "tools/run.js"]),
    ] {
        let found = pinned(&world, line);
        let all = files.iter().all(|file| found.contains(&format!("{project}/{file}")));
        assert!(all && !found.contains(&format!("{project}/README")), "{line}: {found:?}");
    }
}
