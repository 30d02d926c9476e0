//! One session with one server: directly, and behind Lictor.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::client::Client;
use super::spec::{self, Call, Era, ServerFile};
use super::web;
use crate::shell;

/// A scratch home and project.
pub struct Scratch {
    pub root: PathBuf,
    pub project: PathBuf,
    pub home: PathBuf,
    web: String,
}

impl Scratch {
    pub fn new(name: &str) -> Result<Self> {
        let root = shell::target().join("mcp/run").join(name);
        let (project, home) = (root.join("project"), root.join("home"));
        let scratch = Self { root, project, home, web: web::start()? };
        scratch.renew()?;
        Ok(scratch)
    }

    /// As it was at the beginning.
    fn renew(&self) -> Result<()> {
        if self.root.exists() {
            fs::remove_dir_all(&self.root)?;
        }
        fs::create_dir_all(&self.project)?;
        fs::create_dir_all(self.home.join(".config/lictor"))?;
        fs::write(self.home.join(".config/lictor/governance.yaml"), spec::policy()?)?;
        fs::write(self.project.join("secret.txt"), "the secret\n")?;
        let line = "git init -q -b main . && git config user.email dev@example.com && git config user.name Dev && \
                    git add -A && GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z \
                    git commit -q -m start";
        let output = self.command("sh").args(["-e", "-c", line]).output()?;
        if !output.status.success() {
            bail!("no project: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .current_dir(&self.project);
        command
    }

    fn filled(&self, text: &str, server: &ServerFile) -> String {
        text.replace("{cache}", &server.cache().to_string_lossy())
            .replace("{project}", &self.project.to_string_lossy())
            .replace("{web}", &self.web)
            .replace("{database}", &super::database::directory().to_string_lossy())
    }

    fn filled_in(&self, value: &Value, server: &ServerFile) -> Value {
        match value {
            Value::String(text) => Value::String(self.filled(text, server)),
            Value::Array(items) => items.iter().map(|item| self.filled_in(item, server)).collect(),
            Value::Object(fields) => Value::Object(
                fields.iter().map(|(name, item)| (name.clone(), self.filled_in(item, server))).collect(),
            ),
            other => other.clone(),
        }
    }

    /// The server, started directly or behind Lictor.
    pub fn server(&self, server: &ServerFile, lictor: Option<&Path>) -> Result<Command> {
        let words: Vec<String> = server.run.iter().map(|word| self.filled(word, server)).collect();
        let mut command = match (lictor, words.split_first()) {
            (Some(lictor), _) => {
                let mut command = self.command(lictor);
                command.args(["mcp", "run", "--name", &server.name]);
                for name in server.env.keys() {
                    command.args(["--env", name]);
                }
                command.arg("--").args(&words);
                command
            }
            (None, Some((program, args))) => {
                let mut command = self.command(program);
                command.args(args);
                command
            }
            (None, None) => bail!("`{}` has no program", server.name),
        };
        command.envs(server.env.iter().map(|(name, value)| (name, self.filled(value, server))));
        command.stderr(Stdio::from(fs::File::create(self.root.join("stderr.txt"))?));
        Ok(command)
    }
}

/// Runs the session, and gives what was not as it should be.
pub fn run(server: &ServerFile, era: Era, lictor: &Path) -> Result<Vec<String>> {
    let scratch = Scratch::new(&format!("{}-{era:?}", server.name))?;
    let mut direct = Client::start(scratch.server(server, None)?, era)?;
    let mut own = Vec::new();
    for call in server.calls.iter().filter(|call| call.says.is_some()) {
        own.push(made(&mut direct, &scratch, server, call)?);
    }
    let listed = direct.request("tools/list", json!({}))?;
    // Some servers do not end with their client; behind Lictor they do.
    drop(direct.end());
    scratch.renew()?;
    let mut client = Client::start(scratch.server(server, Some(lictor))?, era)?;
    let mut wrong = Vec::new();
    let mut own = own.into_iter();
    for call in &server.calls {
        let answer = made(&mut client, &scratch, server, call)?;
        let expected = if call.says.is_some() { own.next() } else { None };
        wrong.extend(judged(call, &answer, expected.as_ref()));
    }
    wrong.extend(lists(server, &listed, &client.request("tools/list", json!({}))?));
    for prompt in &server.prompts {
        let answer = client.request("prompts/get", json!({"name": prompt, "arguments": {"topic": "x"}}))?;
        if answer.get("result").is_none() {
            wrong.push(format!("the prompt `{prompt}` did not come: {answer}"));
        }
    }
    if let Err(error) = client.end() {
        wrong.push(error.to_string());
    }
    Ok(wrong)
}

fn made(client: &mut Client, scratch: &Scratch, server: &ServerFile, call: &Call) -> Result<Value> {
    let arguments = scratch.filled_in(&call.with, server);
    client.request("tools/call", json!({"name": call.tool, "arguments": arguments}))
}

fn judged(call: &Call, answer: &Value, direct: Option<&Value>) -> Option<String> {
    let told = |what: &str| Some(format!("`{}` {what}: {answer}", call.tool));
    let text = answer.to_string();
    if let Some(says) = &call.says {
        if answer["result"]["isError"] == json!(true) || !text.contains(says.as_str()) {
            return told(&format!("does not say `{says}`"));
        }
        if direct.is_some_and(|direct| direct["result"] != answer["result"]) {
            return told(&format!("has another result than without Lictor, {}", direct?));
        }
    }
    if let Some(reason) = &call.refused
        && !(answer["result"]["isError"] == json!(true)
            && text.contains("Blocked by Lictor")
            && text.contains(reason.as_str()))
    {
        return told(&format!("is not refused with `{reason}`"));
    }
    match &call.error {
        Some(error)
            if !answer["error"]["message"].as_str().is_some_and(|said| said.contains(error.as_str())) =>
        {
            told(&format!("has not the error `{error}`"))
        }
        _ => None,
    }
}

fn lists(server: &ServerFile, direct: &Value, governed: &Value) -> Vec<String> {
    let named = |list: &Value, name: &str| {
        let tools = list["result"]["tools"].as_array();
        tools.and_then(|tools| tools.iter().find(|tool| tool["name"] == json!(name)).cloned())
    };
    let mut wrong = Vec::new();
    for name in &server.offers {
        if named(governed, name).is_none() || named(governed, name) != named(direct, name) {
            wrong.push(format!("the tool `{name}` is not listed as the server has it"));
        }
    }
    for name in &server.hides {
        if named(governed, name).is_some() || named(direct, name).is_none() {
            wrong.push(format!("the tool `{name}` is not hidden"));
        }
    }
    wrong
}
