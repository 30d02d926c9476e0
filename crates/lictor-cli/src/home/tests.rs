use std::path::Path;

use super::fleeting;

#[test]
fn a_program_in_a_cache_or_in_the_project_does_not_last() {
    let project = Path::new("/home/ada/shop");
    for (binary, told) in [
        ("/home/ada/.npm/_npx/3f2a/node_modules/@lictor/cli-linux-x64/bin/lictor", "npx"),
        ("/home/ada/.cache/uv/archive-v0/Xy/bin/lictor", "uv"),
        ("/home/ada/.cache/uv/environments-v2/tool-1/bin/lictor", "uv"),
        ("/home/ada/.cache/pipx/9ab/bin/lictor", "pipx"),
        ("/home/ada/.local/pipx/.cache/9ab/bin/lictor", "pipx"),
        ("/home/ada/.cache/pnpm/dlx/1a2b/node_modules/@lictor/cli-linux-x64/bin/lictor", "cache"),
        ("/Users/ada/Library/Caches/pnpm/dlx/1a2b/node_modules/@lictor/cli-darwin-arm64/bin/lictor", "cache"),
        ("/tmp/bunx-1000-lictor@latest/node_modules/@lictor/cli-linux-x64/bin/lictor", "cache"),
        ("/home/ada/shop/.venv/bin/lictor", "project"),
        ("/home/ada/shop/node_modules/@lictor/cli-linux-x64/bin/lictor", "project"),
        ("/home/ada/other/node_modules/@lictor/cli-linux-x64/bin/lictor", "node_modules"),
    ] {
        let why = fleeting(Path::new(binary), project);
        assert!(why.is_some_and(|why| why.contains(told)), "{binary}: {why:?}");
    }
    for binary in [
        "/usr/bin/lictor",
        "/home/ada/.local/bin/lictor",
        "/home/ada/.cargo/bin/lictor",
        "/home/ada/.local/share/uv/tools/lictor/bin/lictor",
        "/home/ada/.local/share/pipx/venvs/lictor/bin/lictor",
        "/home/ada/.nvm/versions/node/v22/lib/node_modules/@lictor/cli-linux-x64/bin/lictor",
        "/usr/lib/node_modules/lictor/node_modules/@lictor/cli-linux-x64/bin/lictor",
        "/home/ada/shop-tools/bin/lictor",
    ] {
        assert_eq!(fleeting(Path::new(binary), project), None, "{binary}");
    }
}

#[test]
fn a_virtual_environment_of_another_project_does_not_last_and_that_of_a_tool_does() {
    let home = tempfile::tempdir().unwrap();
    for (environment, lasts) in [
        ("other/.venv", false),
        ("envs/work", false),
        (".local/share/uv/tools/lictor", true),
        (".local/share/pipx/venvs/lictor", true),
    ] {
        let environment = home.path().join(environment);
        std::fs::create_dir_all(environment.join("bin")).unwrap();
        std::fs::write(environment.join("pyvenv.cfg"), "").unwrap();
        let why = fleeting(&environment.join("bin/lictor"), &home.path().join("shop"));
        assert_eq!(why.is_none(), lasts, "{}: {why:?}", environment.display());
    }
}
