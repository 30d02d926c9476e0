//! `lictor mcp serve`: MCP servers over HTTP on this machine, governed like those of `lictor mcp run`.

mod events;
mod front;
mod upstream;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use lictor::{Options, Project, Runtime};
use lictor_mcp::{
    Clients, Gateway, Identity, Inbox, Message, ServerCommand, StartError, Switch, Upstream as _, Via,
};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::listen::{self, Serving};
use crate::serve::signalled;
use front::Front;
pub use upstream::Address;
use upstream::Http;

/// How long the head of a request may take, and a connection may be idle.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long servers may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// One server.
#[derive(Debug, Clone)]
pub struct Served {
    /// The name in rules and in the address.
    pub name: String,
    /// How it is reached.
    pub reached: Reached,
    /// The directory of the project whose policy counts.
    pub cwd: PathBuf,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Reached {
    /// By starting it.
    Command(ServerCommand),
    /// By its address.
    Address(Address),
}

/// A file of servers, as agents have them.
#[derive(Debug, Deserialize)]
struct File {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// Reads the servers of a file. `${NAME}` in headers and in the variables of a server stands for a variable of this process.
///
/// # Errors
/// When the file cannot be read or names a server in a way that cannot be used.
pub fn servers_of(file: &Path, cwd: &Path, through: &[OsString]) -> Result<Vec<Served>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let read: File =
        serde_json::from_str(&text).with_context(|| format!("`{}` is not understood", file.display()))?;
    read.servers.into_iter().map(|(name, entry)| entry.served(name, cwd, through)).collect()
}

impl Entry {
    fn served(self, name: String, cwd: &Path, through: &[OsString]) -> Result<Served> {
        let reached = match (self.command, self.url) {
            (Some(command), None) => {
                let mut settings = Vec::new();
                for (variable, value) in &self.env {
                    settings.push((variable.into(), filled(value)?.into()));
                }
                Reached::Command(ServerCommand {
                    name: name.clone(),
                    argv: std::iter::once(command).chain(self.args).map(OsString::from).collect(),
                    env: Vec::new(),
                    settings,
                    through: through.to_vec(),
                })
            }
            (None, Some(url)) => {
                let headers = self.headers.into_iter().map(|(header, value)| Ok((header, filled(&value)?)));
                let headers: Vec<(String, String)> = headers.collect::<Result<_>>()?;
                Reached::Address(Address::parse(&url, &headers).map_err(anyhow::Error::msg)?)
            }
            _ => bail!("the server `{name}` needs either a `command` or a `url`"),
        };
        Served::new(name, reached, cwd)
    }
}

/// A text with the variables that it names.
fn filled(text: &str) -> Result<String> {
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) =
            after.split_once('}').with_context(|| format!("`{text}` has a `${{` without `}}`"))?;
        done.push_str(before);
        done.push_str(&std::env::var(name).with_context(|| format!("the variable `{name}` is not set"))?);
        rest = after;
    }
    done.push_str(rest);
    Ok(done)
}

impl Served {
    /// A server with a name that rules can use.
    ///
    /// # Errors
    /// When they could not.
    pub fn new(name: String, reached: Reached, cwd: &Path) -> Result<Self> {
        if !lictor_mcp::is_server_name(&name) {
            bail!("`{name}` cannot be a server's name: use letters, digits, `-`, `.` and single `_`");
        }
        Ok(Self { name, reached, cwd: cwd.to_owned() })
    }

    /// The server behind a gateway of its own.
    fn start(&self, clients: Clients, runtime: &Handle) -> Result<Switch, StartError> {
        match &self.reached {
            Reached::Command(command) => {
                Switch::of_command(command, clients, |identity| self.gateway(identity))
            }
            Reached::Address(address) => {
                let gateway = self.gateway(address.identity())?;
                Ok(Switch::new(gateway, clients, |inbox| {
                    Box::new(Http::new(address.clone(), inbox, runtime.clone()))
                }))
            }
        }
    }

    fn gateway(&self, identity: Identity) -> std::io::Result<Gateway> {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let project = Project::around(&self.cwd, &Options::from_process());
        let governed = Runtime::of_project(project).map_err(std::io::Error::other)?;
        let session = format!("mcp-{}-{}-{number}", self.name, std::process::id());
        Gateway::new(governed, &self.name, identity, &session)
    }
}

/// Serves until it is told to end. `ready` gets the address of each server.
///
/// # Errors
/// When nothing can be listened on, or the address is one that other machines reach.
pub async fn run(at: SocketAddr, servers: Vec<Served>, ready: impl FnOnce(&[String])) -> Result<()> {
    if !at.ip().is_loopback() {
        bail!("`{at}` can be reached from other machines; listen on 127.0.0.1");
    }
    if servers.is_empty() {
        bail!("no server is named");
    }
    let listener = TcpListener::bind(at).await.with_context(|| format!("cannot listen on {at}"))?;
    let address = listener.local_addr()?;
    let names: Vec<String> =
        servers.iter().map(|served| format!("http://{address}/{}", served.name)).collect();
    let front = Arc::new(Front::new(servers, address.port()));
    ready(&names);
    let (stop, stopped) = watch::channel(false);
    let serving = Serving { app: front::router(Arc::clone(&front)), stopped, patience: PATIENCE };
    // Streams have no end of their own.
    tokio::select! {
        () = listen::on_tcp(listener, None, serving) => {}
        () = async {
            signalled().await;
            let _ = stop.send(true);
            tokio::time::sleep(Duration::from_millis(300)).await;
        } => {}
    }
    tokio::task::spawn_blocking(move || front.close(GRACE)).await?;
    Ok(())
}

/// Stands between a client on standard input and output and a server that is reached by an address.
///
/// # Errors
/// When the policy cannot be used.
pub fn run_on_stdio(served: &Served, address: &Address, runtime: &Handle) -> Result<()> {
    let gateway = served.gateway(address.identity())?;
    let connect = |inbox| -> Box<dyn lictor_mcp::Upstream> {
        Box::new(Http::new(address.clone(), inbox, runtime.clone()))
    };
    lictor_mcp::run_upstream(gateway, connect, std::io::stdin(), std::io::stdout());
    Ok(())
}

/// Connects standard input and output with a server that is reached by an address, and judges nothing: `lictor mcp scan` asks
/// it what it has.
pub fn connect_stdio(address: &Address, runtime: &Handle) {
    let server = Http::new(address.clone(), Arc::new(Printed), runtime.clone());
    for line in std::io::stdin().lock().split(b'\n').map_while(Result::ok) {
        if let Ok(message) = Message::parse(&line)
            && server.send(&message).is_err()
        {
            return;
        }
    }
    server.end_within(GRACE);
}

/// Prints the messages of a server.
struct Printed;

impl Inbox for Printed {
    fn receive(&self, message: Message, _: &Via) -> bool {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(message.to_line().as_bytes()).and_then(|()| stdout.flush()).is_ok()
    }

    fn misread(&self, _: &[u8]) -> bool {
        true
    }

    fn ended(&self) {}
}
