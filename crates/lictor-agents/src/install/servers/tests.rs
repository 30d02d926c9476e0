use super::*;

fn settings(agent: Agent, path: &str) -> ServerSettings {
    let place = Where::new("/home/ada", "/work/project", |_| None);
    let all = ServerSettings::all(&place);
    all.into_iter().find(|one| one.agent == agent && one.path.ends_with(path)).expect("a place")
}

#[test]
fn wrapping_changes_only_commands_and_is_undone_exactly() {
    let lictor = Path::new("/usr/bin/lictor");
    let cases = [
        (
            settings(Agent::ClaudeCode, ".mcp.json"),
            "{\n  // ours\n  \"mcpServers\": {\n    \"my files\": {\"command\": \"npx\", \"args\": [\"-y\", \"files\"], \"env\": {\"TOKEN\": \"x\"}, \"x\": 1},\n    \"far\": {\"url\": \"https://example.com\"}\n  }\n}\n",
            r#""command": "/usr/bin/lictor", "args": ["mcp", "run", "--name", "my-files", "--env", "TOKEN", "--", "npx", "-y", "files"], "env": {"TOKEN": "x"}, "x": 1}"#,
        ),
        (
            settings(Agent::OpenCode, "opencode.json"),
            "{\"mcp\": {\"notes\": {\"type\": \"local\", \"command\": [\"notes\", \"serve\"]}}}",
            r#""command": ["/usr/bin/lictor", "mcp", "run", "--name", "notes", "--", "notes", "serve"]"#,
        ),
    ];
    for (settings, text, expected) in cases {
        let wrapped = settings.wrap(text, lictor).expect("JSON");
        assert!(wrapped.contains(expected), "{wrapped}");
        assert_eq!(settings.wrap(&wrapped, lictor).expect("JSON"), wrapped, "twice is once");
        assert_eq!(settings.unwrap(&wrapped).expect("JSON"), text);
        assert!(settings.servers(&wrapped).expect("JSON").iter().any(|server| server.wrapped));
    }
}

#[test]
fn what_is_no_list_of_servers_is_left_alone() {
    let settings = settings(Agent::ClaudeCode, ".mcp.json");
    for text in ["{}", "{\"mcpServers\": []}", "{\"mcpServers\": {\"a\": 1, \"b\": {}}}"] {
        assert_eq!(settings.wrap(text, Path::new("lictor")).expect("JSON"), text);
    }
    assert!(settings.wrap("{", Path::new("lictor")).is_err());
}
