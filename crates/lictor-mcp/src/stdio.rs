//! A client on standard streams: one message per line, in both directions.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::ExitStatus;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lictor::Runtime;

use crate::child::{self, ServerCommand, StartError};
use crate::gateway::{Gateway, Out};
use crate::hub::{Hub, Inbox, Outlet, Upstream, Via};
use crate::identity::Identity;
use crate::message::{MAX_LINE, Message, id_in};
use crate::queue::Lines;

/// How long a server may take to end after its client has gone; some ignore the end of their input.
const GRACE: Duration = Duration::from_secs(10);
/// The timeout for telling a server that its client has gone.
const LEAVING: Duration = Duration::from_secs(2);

/// Methods that clients may call before the revision is agreed.
const BEFORE: [&str; 2] = ["ping", "server/discover"];

/// Runs a server behind a gateway until the client or the server ends. Returns how the server ended.
///
/// # Errors
/// When the server cannot be started.
pub fn run(
    runtime: Runtime,
    server: &ServerCommand,
    client: impl Read + Send + 'static,
    answers: impl Write + Send + 'static,
) -> Result<ExitStatus, StartError> {
    run_for(runtime, server, client, answers, GRACE)
}

/// The same, with that time for the server to end.
fn run_for(
    runtime: Runtime,
    server: &ServerCommand,
    client: impl Read + Send + 'static,
    answers: impl Write + Send + 'static,
    grace: Duration,
) -> Result<ExitStatus, StartError> {
    let mut started = child::connect(server)?;
    let session = format!("mcp-{}-{}", server.name, std::process::id());
    let identity = Identity::of_command(&server.argv).in_group(started.group());
    let gateway = Gateway::new(runtime, &server.name, identity, &session)?;
    let upstream = started.upstream.ended_within(grace);
    let hub = hub(gateway, |_| Box::new(upstream), answers);
    let clients = Arc::clone(&hub);
    // Ends with the process: a silent client must not delay reporting the server's end.
    thread::spawn(move || {
        pump_client(client, &clients);
        clients.outlet.to_server.close();
    });
    pump_server(started.output, &*hub);
    let ended = child::end(&mut started.child, &started.process);
    hub.outlet.to_client.finish();
    ended
}

/// The same for a server with another transport, until the client ends. `connect` gets the inbox for the server's
/// messages.
pub fn run_upstream(
    gateway: Gateway,
    connect: impl FnOnce(Arc<dyn Inbox>) -> Box<dyn Upstream>,
    client: impl Read,
    answers: impl Write + Send + 'static,
) {
    let hub = hub(gateway, connect, answers);
    pump_client(client, &hub);
    hub.outlet.to_server.end_within(LEAVING);
    hub.outlet.to_client.finish();
}

/// The gateway between a client's standard output and a server; a thread polls for people's answers.
fn hub(
    gateway: Gateway,
    connect: impl FnOnce(Arc<dyn Inbox>) -> Box<dyn Upstream>,
    answers: impl Write + Send + 'static,
) -> Arc<Hub<Streams>> {
    let hub =
        Hub::connected(gateway, |inbox| Streams { to_server: connect(inbox), to_client: Lines::to(answers) });
    let people = Arc::clone(&hub);
    thread::spawn(move || people.watch(|| true));
    hub
}

/// One client on standard streams, and one server.
struct Streams {
    to_server: Box<dyn Upstream>,
    to_client: Lines,
}

impl Outlet for Streams {
    fn put(&self, out: &Out, _: &Via) -> io::Result<()> {
        match out {
            Out::Client(message) => self.to_client.put(message.to_line()),
            Out::Server(message) => self.to_server.send(message),
        }
    }

    fn wait_for_client(&self) {
        self.to_client.wait_for_room();
    }

    fn server_ended(&self) {}
}

/// Hands every line of the client to the gateway, until it ends. A line that cannot be understood is answered.
fn pump_client(lines: impl Read, hub: &Hub<Streams>) {
    let mut opened = false;
    let answer = |message: Message| hub.outlet.put(&Out::Client(message), &Via::default()).is_ok();
    each_line(lines, |line, rest| {
        // A client that sends faster than the server reads has to wait, as without Lictor; its next message is
        // judged only then.
        hub.outlet.to_server.wait_for_room();
        hub.outlet.to_client.wait_for_room();
        let cut = is_cut(line);
        let told = match Message::parse(line) {
            Ok(message) => {
                opened |= message.method() == Some("initialize");
                let may_be_silent = opened || message.method().is_some_and(|method| BEFORE.contains(&method));
                match message.refused_without_metadata(may_be_silent) {
                    Some(refused) => answer(refused),
                    None => hub.take_from_client(message),
                }
            }
            Err(malformed) => answer(Message::error(
                &id_in(line).unwrap_or_default(),
                malformed.code(),
                &malformed.to_string(),
            )),
        };
        told && (!cut || skip_line(rest).is_ok())
    });
}

/// The same for the server. Invalid lines are not forwarded in part. The client that waits for a too long line
/// gets an error; if the line does not show whose it is, the connection ends, because a client would wait
/// forever.
pub(crate) fn pump_server(lines: impl Read, inbox: &dyn Inbox) {
    each_line(lines, |line, rest| {
        let told = match Message::parse(line) {
            Ok(message) => inbox.receive(message, &Via::default()),
            Err(_) => inbox.misread(line),
        };
        told && (!is_cut(line) || id_in(line).is_some() && skip_line(rest).is_ok())
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

/// Skips the rest of a line.
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

#[cfg(test)]
mod tests;
