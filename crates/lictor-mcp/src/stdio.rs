//! A server as a child process: lines on its standard streams, nothing of ours in its environment.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lictor::Runtime;
use lictor_core::Digest;

use crate::gateway::{Gateway, Out};
use crate::hub::{Hub, Inbox, Outlet, Upstream, Via};
use crate::message::{MAX_LINE, Message};

/// What a server may know of the process that starts it. More is named with `--env`.
const ENVIRONMENT: [&str; 9] =
    ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL"];
/// The most files a server may have open.
const MOST_FILES: u64 = 4096;

/// The server to start.
#[derive(Debug, Clone)]
pub struct ServerCommand {
    /// The name that rules use: `mcp__name__tool`.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Variables that it gets besides the usual ones.
    pub env: Vec<OsString>,
    /// Variables that it gets with values of their own.
    pub settings: Vec<(OsString, OsString)>,
    /// A program that becomes the server after [`confine`], with its first arguments; empty: the server is started itself.
    pub through: Vec<OsString>,
}

/// Whether rules can use it as a server's name: `mcp__NAME__TOOL` must be read in one way.
#[must_use]
pub fn is_server_name(name: &str) -> bool {
    let usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && !name.contains("__") && name.chars().all(usable)
}

/// Why a server cannot be governed.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no program.
    #[error("no server was named; write `lictor mcp run -- SERVER ARGUMENTS`")]
    Empty,
    /// It does not start.
    #[error("`{program}` cannot be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// Its streams broke.
    #[error("the connection to the server broke: {0}")]
    Stream(#[from] io::Error),
}

/// Runs a server behind a gateway until the client or the server ends. Gives how the server ended.
///
/// # Errors
/// When the server cannot be started.
pub fn run(
    runtime: Runtime,
    server: &ServerCommand,
    client: impl Read + Send + 'static,
    answers: impl Write + Send + 'static,
) -> Result<ExitStatus, StartError> {
    let (mut child, upstream, of_server) = connect(server)?;
    let session = format!("mcp-{}-{}", server.name, std::process::id());
    let gateway = Gateway::new(runtime, &server.name, &identity(server), &session)?;
    let hub = hub(gateway, |_| Box::new(upstream), answers);
    let clients = Arc::clone(&hub);
    // Ends with the process: a client that says nothing more must not keep a server's end from being told.
    thread::spawn(move || {
        pump_client(client, &clients);
        clients.outlet.to_server.close();
    });
    pump_server(of_server, &*hub);
    end(&mut child)
}

/// The same for a server that is reached in another way, until the client ends. `connect` gets the place for what the
/// server says.
pub fn run_upstream(
    gateway: Gateway,
    connect: impl FnOnce(Arc<dyn Inbox>) -> Box<dyn Upstream>,
    client: impl Read,
    answers: impl Write + Send + 'static,
) {
    let hub = hub(gateway, connect, answers);
    pump_client(client, &hub);
    hub.outlet.to_server.close();
}

/// The gateway between a client's standard output and a server; a thread looks for people's answers.
fn hub(
    gateway: Gateway,
    connect: impl FnOnce(Arc<dyn Inbox>) -> Box<dyn Upstream>,
    answers: impl Write + Send + 'static,
) -> Arc<Hub<Streams>> {
    let hub = Hub::connected(gateway, |inbox| Streams {
        to_server: connect(inbox),
        to_client: Mutex::new(Box::new(answers)),
    });
    let people = Arc::clone(&hub);
    thread::spawn(move || people.watch(|| true));
    hub
}

/// One client on standard streams, and one server.
struct Streams {
    to_server: Box<dyn Upstream>,
    to_client: Mutex<Box<dyn Write + Send>>,
}

impl Outlet for Streams {
    fn put(&self, out: &Out, _: &Via) -> io::Result<()> {
        match out {
            Out::Client(message) => {
                let mut client = self.to_client.lock().unwrap_or_else(PoisonError::into_inner);
                client.write_all(message.to_line().as_bytes())?;
                client.flush()
            }
            Out::Server(message) => self.to_server.send(message),
        }
    }

    fn server_ended(&self) {}
}

/// A server whose standard input is ours.
pub(crate) struct ChildServer(Mutex<Option<ChildStdin>>);

impl Upstream for ChildServer {
    fn send(&self, message: &Message) -> io::Result<()> {
        let mut server = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match server.as_mut() {
            Some(stream) => stream.write_all(message.to_line().as_bytes()).and_then(|()| stream.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Starts a server, and gives both ends of it.
pub(crate) fn connect(server: &ServerCommand) -> Result<(Child, ChildServer, ChildStdout), StartError> {
    let mut child = start(server)?;
    let (Some(to_server), Some(of_server)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(StartError::Stream(io::Error::other("the server has no streams")));
    };
    Ok((child, ChildServer(Mutex::new(Some(to_server))), of_server))
}

/// Hands every line of the client to the gateway, until it ends. A line that cannot be understood is answered.
fn pump_client(lines: impl Read, hub: &Hub<Streams>) {
    each_line(lines, |line, rest| {
        let cut = is_cut(line);
        let told = match Message::parse(line) {
            Ok(message) => hub.take_from_client(message),
            Err(malformed) => {
                let answer = Message::error(&serde_json::Value::Null, -32700, &malformed.to_string());
                hub.outlet.put(&Out::Client(answer), &Via::default()).is_ok()
            }
        };
        told && (!cut || skip_line(rest).is_ok())
    });
}

/// The same for the server. What cannot be understood is not passed on in part, and after a line that is too long nothing
/// is: whoever waits for it would wait for ever.
pub(crate) fn pump_server(lines: impl Read, inbox: &dyn Inbox) {
    each_line(lines, |line, _| {
        let told = match Message::parse(line) {
            Ok(message) => inbox.receive(message, &Via::default()),
            Err(_) => inbox.misread(line),
        };
        told && !is_cut(line)
    });
}

fn is_cut(line: &[u8]) -> bool {
    line.len() > MAX_LINE && !line.ends_with(b"\n")
}

fn each_line(lines: impl Read, mut each: impl FnMut(&[u8], &mut dyn BufRead) -> bool) {
    let mut lines = BufReader::new(lines);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut lines).take(MAX_LINE as u64 + 2).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) if !each(&line, &mut lines) => return,
            Ok(_) => {}
        }
    }
}

/// Reads on to the end of a line that nobody wants.
fn skip_line(lines: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = lines.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (read, done) = (end.map_or(buffer.len(), |at| at + 1), end.is_some() || buffer.is_empty());
        lines.consume(read);
        if done {
            return Ok(());
        }
    }
}

/// Makes this process one that ends with its parent, dumps no memory and opens no more files than a server needs. Called
/// in the process that becomes the server.
///
/// # Errors
/// When the system refuses.
pub fn confine() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    let files = getrlimit(Resource::Nofile).maximum.map_or(MOST_FILES, |most| most.min(MOST_FILES));
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum: Some(files) })?;
    Ok(())
}

pub(crate) fn start(server: &ServerCommand) -> Result<Child, StartError> {
    server.argv.first().ok_or(StartError::Empty)?;
    let words: Vec<&OsString> = server.through.iter().chain(&server.argv).collect();
    let (program, args) = words.split_first().ok_or(StartError::Empty)?;
    let named = ENVIRONMENT.iter().map(OsString::from).chain(server.env.iter().cloned());
    let environment = named.filter_map(|name| Some((name.clone(), std::env::var_os(&name)?)));
    Command::new(program)
        .args(args)
        .env_clear()
        .envs(environment)
        .envs(server.settings.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Signals to the client's group do not reach the server; it ends with its streams.
        .process_group(0)
        .spawn()
        .map_err(|source| StartError::Start { program: program.to_string_lossy().into_owned(), source })
}

/// The server has closed its output. It and everything that it started end with it.
pub(crate) fn end(child: &mut Child) -> Result<ExitStatus, StartError> {
    for _ in 0..50 {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    Ok(child.wait()?)
}

/// What pins are bound to: the program that is run, as a path where one is found, and its arguments.
pub(crate) fn identity(server: &ServerCommand) -> String {
    let mut words = Vec::new();
    for (index, word) in server.argv.iter().enumerate() {
        let found = (index == 0).then(|| found_on_path(word)).flatten();
        words.push(found.map_or_else(|| word.clone(), PathBuf::into_os_string));
    }
    let text: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    format!("{} {}", text.join(" "), Digest::of(text.join("\0").as_bytes()).short())
}

fn found_on_path(program: &OsString) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return std::fs::canonicalize(program).ok();
    }
    let path = std::env::var_os("PATH")?;
    let found =
        std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())?;
    std::fs::canonicalize(found).ok()
}
