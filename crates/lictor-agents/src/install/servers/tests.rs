use super::*;

fn settings(agent: Agent, path: &str) -> ServerSettings {
    let place = Where::new("/home/ada", "/work/project", |_| None);
    let all = ServerSettings::all(&place);
    all.into_iter().find(|one| one.agent == agent && one.path.ends_with(path)).expect("a place")
}

/// File, its text, and what stands in the wrapped one.
const FORMS: &[(Agent, &str, &str, &str)] = &[
    (
        Agent::ClaudeCode,
        ".mcp.json",
        "{\n  // ours\n  \"mcpServers\": {\n    \"my files\": {\"command\": \"npx\", \"args\": [\"-y\", \"files\"], \"env\": {\"TOKEN\": \"x\"}, \"x\": 1},\n    \"far\": {\"url\": \"https://example.com\"}\n  }\n}\n",
        r#""command": "/usr/bin/lictor", "args": ["mcp", "run", "--name", "my_files", "--env", "TOKEN", "--", "npx", "-y", "files"], "env": {"TOKEN": "x"}, "x": 1}"#,
    ),
    (
        Agent::OpenCode,
        "opencode.json",
        "{\"mcp\": {\"notes\": {\"type\": \"local\", \"command\": [\"notes\", \"serve\"]}}}",
        r#""command": ["/usr/bin/lictor", "mcp", "run", "--name", "notes", "--", "notes", "serve"]"#,
    ),
    (
        Agent::OpenCode,
        "opencode.json",
        "{\"mcp\": {\"notes\": {\n  \"command\": [\n    \"notes\", // mine\n    \"serve\"\n  ]}}}",
        r#""command": ["/usr/bin/lictor", "mcp", "run", "--name", "notes", "--", "#,
    ),
    // Arguments before the program, over several lines, with comments and escapes of the person's own.
    (
        Agent::Cursor,
        "mcp.json",
        "{\"mcpServers\": {\"a\": {\"args\": [\n  \"-y\", // quiet\n  \"f\\u0069les\"\n], \"command\": \"n\\u0070x\"}}}",
        r#""--", "n\u0070x", "#,
    ),
    (
        Agent::Factory,
        "mcp.json",
        "{\"mcpServers\": {\"a\": {\"command\": \"files\", \"disabled\": false}}}",
        r#""command": "/usr/bin/lictor", "args": ["mcp", "run", "--name", "a", "--", "files"], "disabled""#,
    ),
    (
        Agent::Windsurf,
        "mcp_config.json",
        "{\"mcpServers\": {\"a\": {\"command\": \"files\", \"args\": []}, \"b\": {\"args\": [ ], \"command\": \"b\"}}}",
        r#""args": [ "mcp", "run", "--name", "a", "--", "files"]}"#,
    ),
    // The person's own servers of this project, and of no other.
    (
        Agent::ClaudeCode,
        ".claude.json",
        "{\"projects\": {\"/work/project\": {\"mcpServers\": {\"mine\": {\"type\": \"stdio\", \"command\": \"m\", \"args\": []}}}, \"/other\": {\"mcpServers\": {\"o\": {\"command\": \"o\"}}}}, \"mcpServers\": {\"u\": {\"command\": \"u\"}}}",
        r#""/other": {"mcpServers": {"o": {"command": "o"}}}}, "mcpServers": {"u": {"command": "/usr/bin/lictor""#,
    ),
    (
        Agent::Codex,
        ".codex/config.toml",
        "model = \"x\"\n\n[mcp_servers.files] # mine\ncommand = 'npx'   # as it is\nargs = [\n  \"-y\",\n  'files', # here\n]\nenv_vars = [\"TOKEN\"]\n\n[mcp_servers.files.env]\nA = \"b\"\n\n[mcp_servers.far]\nurl = \"https://example.com\"\n\n[tools]\nx = true\n",
        r#"args = ["mcp", "run", "--name", "files", "--env", "A", "--env", "TOKEN", "--", 'npx', "#,
    ),
    (
        Agent::Codex,
        ".codex/config.toml",
        "[mcp_servers]\na = {command = \"a\", startup_timeout_sec = 60}\nb.command = \"b\"\n[mcp_servers.\"c d\"]\ncommand = \"c\" # last\nargs = []\n",
        r#"a = {command = "/usr/bin/lictor", args = ["mcp", "run", "--name", "a", "--", "a"], startup_timeout_sec = 60}"#,
    ),
];

#[test]
fn wrapping_changes_only_commands_and_is_undone_exactly() {
    let lictor = Path::new("/usr/bin/lictor");
    for (agent, path, text, expected) in FORMS {
        let settings = settings(*agent, path);
        let wrapped = settings.wrap(text, lictor).expect("readable");
        assert!(wrapped.contains(expected), "{wrapped}");
        let (before, after) =
            (settings.servers(text).expect("read"), settings.servers(&wrapped).expect("read"));
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(after.wrapped, !before.command.is_empty(), "{wrapped}");
            assert_eq!((&before.command, &before.env), (&after.command, &after.env), "{wrapped}");
        }
        assert_eq!(before.len(), after.len());
        assert_eq!(settings.wrap(&wrapped, lictor).expect("readable"), wrapped, "twice is once");
        assert_eq!(settings.unwrap(&wrapped).expect("readable"), *text);
    }
}

/// Rules, and calls that hooks see too, go by this name.
#[test]
fn servers_have_the_name_that_agents_give_their_tools() {
    for (server, name) in [
        ("my files", "my_files"),
        ("acme.com/notes", "acme_com_notes"),
        ("git-hub", "git-hub"),
        ("a__b", "a_b"),
        ("github_", "github"),
        ("日本", "server"),
    ] {
        assert_eq!(rule_name(server), name);
    }
}

/// As the manual says for a server with a URL.
#[test]
fn a_url_that_lictor_was_given_is_wrapped_already() {
    let settings = settings(Agent::ClaudeCode, ".mcp.json");
    let text = r#"{"mcpServers": {"docs": {"command": "lictor", "args": ["mcp", "run", "--name", "docs", "--url", "https://example.com"]}, "far": {"url": "https://example.com"}}}"#;
    let lictor = Path::new("/usr/bin/lictor");
    assert_eq!(settings.wrap(text, lictor).expect("readable"), text);
    assert_eq!(settings.unwrap(text).expect("readable"), text);
    let servers = settings.servers(text).expect("readable");
    let seen: Vec<_> = servers.iter().map(|one| (one.wrapped, one.address.as_deref())).collect();
    assert_eq!(seen, [(true, Some("https://example.com")), (false, Some("https://example.com"))]);
}

#[test]
fn what_is_no_list_of_servers_is_left_alone() {
    let settings = settings(Agent::ClaudeCode, ".mcp.json");
    for text in ["{}", "{\"mcpServers\": []}", "{\"mcpServers\": {\"a\": 1, \"b\": {}}}"] {
        assert_eq!(settings.wrap(text, Path::new("lictor")).expect("JSON"), text);
    }
    assert!(settings.wrap("{", Path::new("lictor")).is_err());
    let codex = self::settings(Agent::Codex, ".codex/config.toml");
    for text in
        ["", "mcp_servers = 1\n", "[mcp_servers]\na = 1\n[mcp_servers.b]\n[mcp_servers.c]\ncommand = 1\n"]
    {
        assert_eq!(codex.wrap(text, Path::new("lictor")).expect("TOML"), text);
    }
    assert!(codex.wrap("[mcp_servers", Path::new("lictor")).is_err());
}
