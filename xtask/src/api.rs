//! The server against its own OpenAPI document: schemathesis sends what the document allows and what it forbids.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::shell;

const SCHEMATHESIS: &str = "schemathesis==4.32.5";
const POLICY: &str = "{version: 1, known_tools: {known: [read_file]}}";

/// Starts a server with a tenant and a person who may do everything, and lets schemathesis loose on it.
pub fn run(args: &[String]) -> Result<()> {
    let examples = match args {
        [] => "30",
        [option, number] if option == "--examples" => number,
        _ => bail!("usage: cargo xtask api [--examples N]"),
    };
    shell::run("cargo", &["build", "--locked", "--package", "lictor-server"])?;
    let tools = shell::target().join("api-tools");
    let python = tools.join("bin/python").to_string_lossy().into_owned();
    if !tools.join("bin/python").exists() {
        shell::run("python3", &["-m", "venv", &tools.to_string_lossy()])?;
    }
    shell::run(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", SCHEMATHESIS])?;
    let state = shell::target().join("api-state");
    if state.exists() {
        std::fs::remove_dir_all(&state)?;
    }
    let mut server = Server::start(&state.to_string_lossy())?;
    let (operator, person) = server.furnish(&python)?;
    let program = tools.join("bin/st").to_string_lossy().into_owned();
    // What only the operator may do is tried as the operator.
    let checked = server.check(&program, &person, examples, &[]).and_then(|()| {
        server.check(&program, &operator, examples, &["--include-path-regex", "^/v1/tenants"])
    });
    server.child.kill()?;
    server.child.wait()?;
    checked
}

struct Server {
    child: Child,
    address: String,
    code: String,
}

impl Server {
    fn start(state: &str) -> Result<Self> {
        let program = shell::target().join("debug/lictor-server");
        let serve = ["serve", "--listen", "127.0.0.1:0", "--rate", "1000000", "--state", state];
        let mut child = Command::new(program).args(serve).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().context("the server has no output")?;
        let mut lines = BufReader::new(out).lines();
        let mut next = || -> Result<String> { Ok(lines.next().context("the server ended")??) };
        let address = next()?.rsplit(' ').next().unwrap_or_default().to_owned();
        let code = next()?.rsplit_once("code=").context("no link was printed")?.1.to_owned();
        Ok(Self { child, address, code })
    }

    /// Lets schemathesis loose on it with a token.
    fn check(&self, program: &str, token: &str, examples: &str, more: &[&str]) -> Result<()> {
        let (document, header) =
            (format!("{}/openapi.json", self.address), format!("Authorization: Bearer {token}"));
        let mut args = vec!["run", &document, "-H", &header, "--max-examples", examples];
        // A policy is any text, and which texts are policies no schema can say; a stream never ends.
        args.extend(["--exclude-path", "/v1/records/stream", "--exclude-checks", "positive_data_acceptance"]);
        args.extend(["--phases", "examples,coverage,fuzzing", "--request-timeout", "30"]);
        args.extend(more);
        shell::run(program, &args)
    }

    /// Makes a tenant with a person, and returns the operator's token and the person's.
    fn furnish(&self, python: &str) -> Result<(String, String)> {
        let script = format!(
            r#"
import json, urllib.request
def call(method, path, body, token=""):
    request = urllib.request.Request("{address}" + path, json.dumps(body).encode(), method=method,
        headers={{"authorization": "Bearer " + token, "content-type": "application/json"}})
    return json.load(urllib.request.urlopen(request))
operator = call("POST", "/v1/setup", {{"code": "{code}", "owner": "op"}})["secret"]
call("PUT", "/v1/tenants/acme", {{}}, operator)
roles = ["viewer", "auditor", "approver", "author", "publisher", "admin"]
call("PUT", "/v1/tenants/acme/people", {{"people": [{{"uid": "ada", "roles": roles}}]}}, operator)
call("PUT", "/v1/tenants/acme/policy", {{"text": "{POLICY}"}}, operator)
print(operator)
print(call("POST", "/v1/tenants/acme/tokens", {{"kind": "person", "owner": "ada"}}, operator)["secret"])
"#,
            address = self.address,
            code = self.code,
        );
        let told = shell::output(python, &["-c", &script])?;
        let (operator, person) = told.trim().split_once('\n').context("no tokens were made")?;
        Ok((operator.to_owned(), person.to_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
