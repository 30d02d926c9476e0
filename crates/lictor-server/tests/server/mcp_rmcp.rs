//! The official Rust SDK on both sides of Lictor: its client on standard streams, its server over HTTP, in both kinds of the
//! protocol.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::world::PROGRAM;

const POLICY: &str = "
version: 1
known_tools: {known: ['mcp__demo__*'], blocked: [mcp__demo__drop]}
boundaries: {red_line_files: [/etc/shadow]}
";

/// A server with two tools, which counts how often it is called.
#[derive(Clone, Default)]
struct Demo(Arc<AtomicUsize>);

impl ServerHandler for Demo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        let schema = Arc::new(schema.as_object().cloned().unwrap_or_default());
        let tool = |name: &'static str| Tool::new(name, format!("Does {name}."), Arc::clone(&schema));
        Ok(ListToolsResult::with_all_items(vec![tool("look"), tool("drop")]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let path = request.arguments.unwrap_or_default().remove("path").unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(format!("looked at {path}"))]).into())
    }
}

async fn served(demo: Demo) -> String {
    let made = move || Ok(demo.clone());
    let service: StreamableHttpService<Demo, LocalSessionManager> =
        StreamableHttpService::new(made, Arc::default(), StreamableHttpServerConfig::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = axum::Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

async fn client(home: &TempDir, url: &str, mode: ClientLifecycleMode) -> RunningService<RoleClient, ()> {
    let mut command = Command::new(PROGRAM);
    command.args(["mcp", "run", "--name", "demo", "--url", url, "--cwd"]).arg(home.path());
    command.env("HOME", home.path()).env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    command.env_remove("LICTOR_STATE_DIR");
    ().serve_with_lifecycle(TokioChildProcess::new(command).unwrap(), mode).await.unwrap()
}

async fn session(mode: ClientLifecycleMode, version: ProtocolVersion) {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".config/lictor")).unwrap();
    fs::write(home.path().join(".config/lictor/governance.yaml"), POLICY).unwrap();
    let demo = Demo::default();
    let client = client(&home, &served(demo.clone()).await, mode).await;
    assert_eq!(client.peer_info().map(|info| info.protocol_version.clone()), Some(version));
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["look"], "what the policy blocks is not offered");
    let call = |name: &'static str, path: &str| {
        let arguments = json!({"path": path}).as_object().cloned().unwrap_or_default();
        client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments))
    };
    let looked = serde_json::to_value(call("look", "notes.txt").await.unwrap()).unwrap();
    assert_eq!(looked["content"][0]["text"], "looked at \"notes.txt\"", "{looked}");
    let refused: Value = serde_json::to_value(call("look", "/etc/shadow").await.unwrap()).unwrap();
    assert_eq!(refused["isError"], json!(true), "{refused}");
    assert!(refused.to_string().contains("Blocked by Lictor"), "{refused}");
    let hidden = call("drop", "x").await.unwrap_err();
    assert!(hidden.to_string().contains("unknown tool: drop"), "{hidden}");
    assert_eq!(demo.0.load(Ordering::SeqCst), 1, "the server has heard of one call");
    client.cancel().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_and_a_server_of_the_sdk_agree_through_lictor() {
    let later = ProtocolVersion::V_2026_07_28;
    session(ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25).await;
    session(ClientLifecycleMode::Discover { preferred_versions: vec![later.clone()] }, later).await;
}
