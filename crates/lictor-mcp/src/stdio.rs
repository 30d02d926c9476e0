//! A server as a child process: lines on its standard streams, nothing of ours in its environment.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lictor::Runtime;
use lictor_core::Digest;

use crate::gateway::{Gateway, Out};
use crate::message::{MAX_LINE, Malformed, Message};

/// What a server may know of the process that starts it. More is named with `--env`.
const ENVIRONMENT: [&str; 9] =
    ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL"];
/// The most files a server may have open.
const MOST_FILES: u64 = 4096;
/// How often it is looked whether a person has answered.
const EVERY: Duration = Duration::from_millis(50);

/// The server to start.
#[derive(Debug, Clone)]
pub struct ServerCommand {
    /// The name that rules use: `mcp__name__tool`.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Variables that it gets besides the usual ones.
    pub env: Vec<OsString>,
    /// A program that becomes the server after [`confine`], with its first arguments; empty: the server is started itself.
    pub through: Vec<OsString>,
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
    let mut child = start(server)?;
    let (Some(to_server), Some(of_server)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(StartError::Stream(io::Error::other("the server has no streams")));
    };
    let session = format!("mcp-{}-{}", server.name, std::process::id());
    let gateway = Gateway::new(runtime, &server.name, &identity(server), &session)?;
    let shared = Arc::new(Shared {
        gateway: Mutex::new(gateway),
        asking: Condvar::new(),
        to_server: Mutex::new(Some(to_server)),
        to_client: Mutex::new(Box::new(answers)),
    });
    let clients = Arc::clone(&shared);
    let people = Arc::clone(&shared);
    thread::spawn(move || people.watch());
    // Ends with the process: a client that says nothing more must not keep a server's end from being told.
    thread::spawn(move || {
        clients.pump(client, Side::Client);
        clients.close_server();
    });
    shared.pump(of_server, Side::Server);
    end(&mut child)
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Client,
    Server,
}

struct Shared {
    gateway: Mutex<Gateway>,
    /// Told when a call begins to wait for a person.
    asking: Condvar,
    to_server: Mutex<Option<ChildStdin>>,
    to_client: Mutex<Box<dyn Write + Send>>,
}

impl Shared {
    /// Hands every line of one side to the gateway, until it ends or cannot be understood any more.
    fn pump(&self, lines: impl Read, from: Side) {
        let mut lines = BufReader::new(lines);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut lines).take(MAX_LINE as u64 + 2).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => {}
            }
            let cut = line.len() > MAX_LINE && !line.ends_with(b"\n");
            let told = match Message::parse(&line) {
                Ok(message) => self.judged(message, from),
                Err(malformed) => self.refused(&malformed, &line, from),
            };
            // Whoever waits for a server's answer that is too long would wait for ever; a client can be told.
            let goes_on = match from {
                Side::Client => !cut || skip_line(&mut lines).is_ok(),
                Side::Server => !cut,
            };
            if !told || !goes_on {
                return;
            }
        }
    }

    /// Looks for people's answers while somebody is asked.
    fn watch(&self) {
        let mut gateway = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if !gateway.is_asking() {
                gateway = self.asking.wait(gateway).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let out = gateway.tick(Instant::now());
            drop(gateway);
            if !out.into_iter().all(|out| self.send(&out).is_ok()) {
                return;
            }
            thread::sleep(EVERY);
            gateway = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn judged(&self, message: Message, from: Side) -> bool {
        let out = {
            let mut gateway = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
            let out = match from {
                Side::Client => gateway.from_client(message),
                Side::Server => gateway.from_server(message),
            };
            if gateway.is_asking() {
                self.asking.notify_all();
            }
            out
        };
        out.into_iter().all(|out| self.send(&out).is_ok())
    }

    /// A client hears why; a server that cannot be understood is not passed on in part.
    fn refused(&self, malformed: &Malformed, line: &[u8], from: Side) -> bool {
        match from {
            Side::Client => {
                let answer = Message::error(&serde_json::Value::Null, -32700, &malformed.to_string());
                self.send(&Out::Client(answer)).is_ok()
            }
            Side::Server => {
                let out = self.gateway.lock().unwrap_or_else(PoisonError::into_inner).misread(line);
                out.into_iter().all(|out| self.send(&out).is_ok())
            }
        }
    }

    fn send(&self, out: &Out) -> io::Result<()> {
        match out {
            Out::Client(message) => {
                let mut client = self.to_client.lock().unwrap_or_else(PoisonError::into_inner);
                client.write_all(message.to_line().as_bytes())?;
                client.flush()
            }
            Out::Server(message) => {
                let mut server = self.to_server.lock().unwrap_or_else(PoisonError::into_inner);
                match server.as_mut() {
                    Some(stream) => {
                        stream.write_all(message.to_line().as_bytes()).and_then(|()| stream.flush())
                    }
                    None => Err(io::ErrorKind::BrokenPipe.into()),
                }
            }
        }
    }

    fn close_server(&self) {
        self.to_server.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Reads on to the end of a line that nobody wants.
fn skip_line(lines: &mut impl BufRead) -> io::Result<()> {
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
fn identity(server: &ServerCommand) -> String {
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
