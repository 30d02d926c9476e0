//! Mail through a relay that accepts it from this server.
//!
//! An agent's actions are confidential: over a network the relay must offer TLS (`STARTTLS`, or from the start on
//! port 465) with a valid certificate. Only to a relay on this machine mail may be unencrypted.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;

use lictor_core::Timestamp;
use lictor_core::text::visible_line;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::Message;
use super::send::PATIENCE;

/// Who mails.
const FROM: &str = "lictor@localhost";
/// On this port, TLS starts immediately.
const SECURE_PORT: u16 = 465;
/// So much of a relay's answer is read.
const LONGEST_LINE: u64 = 4_096;

/// Sends it; why not, when it does not go.
pub(super) fn send(
    server: &str,
    to: &str,
    text: &str,
    message: &Message,
    now: Timestamp,
) -> Result<(), String> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let letter = letter(to, text, message, now)?;
    let stream = connect(server)?;
    let local = stream.peer_addr().is_ok_and(|address| address.ip().is_loopback());
    converse(stream, server, local, roots, to, &letter)
}

fn connect(server: &str) -> Result<TcpStream, String> {
    let failed = |error: std::io::Error| format!("`{server}`: {error}");
    let address = server.to_socket_addrs().map_err(failed)?.next();
    let address = address.ok_or_else(|| format!("`{server}` has no address"))?;
    let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
    Ok(stream)
}

/// The letter with its head, as it goes after `DATA`.
fn letter(to: &str, text: &str, message: &Message, now: Timestamp) -> Result<String, String> {
    let link = &message.link;
    let body = format!("{text}\r\n\r\n{link}\r\n").replace("\r\n.", "\r\n..");
    let subject = lictor_core::text::clean(&visible_line(text), 120);
    let subject: String = subject.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect();
    let date = jiff::Timestamp::from_millisecond(now.0).map_err(|error| error.to_string())?;
    let date = date.strftime("%a, %d %b %Y %H:%M:%S +0000");
    let id = lictor_core::Digest::of_parts([message.id.as_bytes(), to.as_bytes()]);
    Ok(format!(
        "From: Lictor <{FROM}>\r\nTo: <{to}>\r\nDate: {date}\r\nMessage-ID: <{}.{}@lictor>\r\nSubject: Lictor asks: {subject}\r\nMIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{body}.\r\n",
        id.short(),
        now.0
    ))
}

/// Talks to the relay: in the clear only with one on this machine.
pub(super) fn converse(
    stream: TcpStream,
    server: &str,
    local: bool,
    roots: RootCertStore,
    to: &str,
    letter: &str,
) -> Result<(), String> {
    let (host, port) = server.rsplit_once(':').unwrap_or((server, ""));
    if port.parse() == Ok(SECURE_PORT) {
        let mut talk = Talk::new(secured(stream, host, roots)?);
        talk.expect('2')?;
        talk.say("EHLO localhost\r\n", '2')?;
        return talk.hand_over(to, letter);
    }
    let mut talk = Talk::new(stream);
    talk.expect('2')?;
    let offers = talk.say("EHLO localhost\r\n", '2')?;
    if local {
        return talk.hand_over(to, letter);
    }
    if !offers.iter().any(|offer| offer.eq_ignore_ascii_case("STARTTLS")) {
        return Err(format!("`{server}` does not offer TLS, and mail does not leave this machine without"));
    }
    talk.say("STARTTLS\r\n", '2')?;
    // Buffered data from before TLS is not protected and must not be used.
    let mut talk = Talk::new(secured(talk.end()?, host, roots)?);
    talk.say("EHLO localhost\r\n", '2')?;
    talk.hand_over(to, letter)
}

fn secured(
    stream: TcpStream,
    host: &str,
    roots: RootCertStore,
) -> Result<StreamOwned<ClientConnection, TcpStream>, String> {
    let failed = |error: rustls::Error| format!("`{host}`: {error}");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(host.clone()).map_err(|error| format!("`{host}`: {error}"))?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(failed)?;
    Ok(StreamOwned::new(connection, stream))
}

/// Lines to and from a relay.
struct Talk<S: Read + Write> {
    stream: BufReader<S>,
}

impl<S: Read + Write> Talk<S> {
    fn new(stream: S) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    /// The stream, if there is no unsolicited data.
    fn end(self) -> Result<S, String> {
        if self.stream.buffer().is_empty() {
            return Ok(self.stream.into_inner());
        }
        Err("the mail server went on after STARTTLS before it was protected".to_owned())
    }

    /// The lines of an answer, without their numbers.
    fn expect(&mut self, wanted: char) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let mut part = (&mut self.stream).take(LONGEST_LINE);
            part.read_line(&mut line).map_err(|error| format!("the mail server: {error}"))?;
            if !line.starts_with(wanted) || lines.len() > 100 {
                return Err(format!("the mail server says: {}", line.trim()));
            }
            lines.push(line.get(4..).unwrap_or_default().trim().to_owned());
            // A dash after the number: more lines follow.
            if line.chars().nth(3) != Some('-') {
                return Ok(lines);
            }
        }
    }

    fn say(&mut self, line: &str, wanted: char) -> Result<Vec<String>, String> {
        let failed = |error: std::io::Error| format!("the mail server: {error}");
        self.stream.get_mut().write_all(line.as_bytes()).map_err(failed)?;
        self.stream.get_mut().flush().map_err(failed)?;
        self.expect(wanted)
    }

    fn hand_over(mut self, to: &str, letter: &str) -> Result<(), String> {
        self.say(&format!("MAIL FROM:<{FROM}>\r\n"), '2')?;
        self.say(&format!("RCPT TO:<{to}>\r\n"), '2')?;
        self.say("DATA\r\n", '3')?;
        self.say(letter, '2')?;
        // The letter is taken; how the conversation ends does not matter.
        let _ = self.stream.get_mut().write_all(b"QUIT\r\n");
        let _ = self.stream.get_mut().flush();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
