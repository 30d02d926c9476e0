//! How one message goes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use lictor_core::Timestamp;
use lictor_core::text::visible_line;
use serde_json::json;
use sha2::Sha256;

use super::{Message, Way};

/// How long a receiver may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Who mails.
const FROM: &str = "lictor@localhost";

/// Sends it; why not, when it does not go.
pub(super) fn send(way: &Way, message: &Message, now: Timestamp) -> Result<(), String> {
    let text = format!("{} ({}): {}", message.agent, message.tenant, message.summary);
    match way {
        Way::Webhook { url, secret } => {
            let body = json!({"event": "approval.requested", "question": message}).to_string();
            let at = (now.0 / 1000).to_string();
            let signature = format!("sha256={}", signature(secret, &at, &body));
            post(
                url,
                &body,
                &[
                    ("content-type", "application/json"),
                    ("lictor-timestamp", &at),
                    ("lictor-signature", &signature),
                ],
            )
        }
        Way::Slack { url } => {
            let body = json!({"text": format!("Lictor asks: {}\n{}", plain(&text), message.link)});
            post(url, &body.to_string(), &[("content-type", "application/json")])
        }
        Way::Ntfy { url } => {
            let headers = [
                ("title", "Lictor asks"),
                ("priority", "high"),
                ("tags", "raised_hand"),
                ("click", &message.link),
            ];
            post(url, &text, &headers)
        }
        Way::Mail { server, to } => mail(server, to, &text, message, now),
    }
}

/// Over the time and the body, so that an old message cannot be sent again as a new one.
pub(super) fn signature(secret: &str, at: &str, body: &str) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.update(at.as_bytes());
    mac.update(b".");
    mac.update(body.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What chat programs would take for markup is text.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn post(url: &str, body: &str, headers: &[(&str, &str)]) -> Result<(), String> {
    let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).max_redirects(0).build();
    let agent: ureq::Agent = config.into();
    let mut request = agent.post(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send(body).map(drop).map_err(|error| error.to_string())
}

/// Through a relay that takes mail from this server.
fn mail(server: &str, to: &str, text: &str, message: &Message, now: Timestamp) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("`{server}`: {error}");
    let address = server.to_socket_addrs().map_err(failed)?.next();
    let address = address.ok_or_else(|| format!("`{server}` has no address"))?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
    let mut answers = BufReader::new(stream.try_clone().map_err(failed)?);
    let mut expect = |wanted: char| -> Result<(), String> {
        loop {
            let mut line = String::new();
            answers.read_line(&mut line).map_err(failed)?;
            // A dash after the number: more lines follow.
            if line.chars().nth(3) == Some('-') {
                continue;
            }
            return if line.starts_with(wanted) {
                Ok(())
            } else {
                Err(format!("the mail server says: {}", line.trim()))
            };
        }
    };
    expect('2')?;
    let link = &message.link;
    let body = format!("{text}\r\n\r\n{link}\r\n").replace("\r\n.", "\r\n..");
    let subject = lictor_core::text::clean(&visible_line(text), 120);
    let subject: String = subject.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect();
    let date = jiff::Timestamp::from_millisecond(now.0).map_err(|error| error.to_string())?;
    let date = date.strftime("%a, %d %b %Y %H:%M:%S +0000");
    let id = lictor_core::Digest::of_parts([message.id.as_bytes(), to.as_bytes()]);
    let letter = format!(
        "From: Lictor <{FROM}>\r\nTo: <{to}>\r\nDate: {date}\r\nMessage-ID: <{}.{}@lictor>\r\nSubject: Lictor asks: {subject}\r\nMIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{body}.\r\n",
        id.short(),
        now.0
    );
    let steps = [
        ("EHLO localhost\r\n".to_owned(), '2'),
        (format!("MAIL FROM:<{FROM}>\r\n"), '2'),
        (format!("RCPT TO:<{to}>\r\n"), '2'),
        ("DATA\r\n".to_owned(), '3'),
        (letter, '2'),
    ];
    for (line, wanted) in steps {
        stream.write_all(line.as_bytes()).map_err(failed)?;
        expect(wanted)?;
    }
    // The letter is taken; how the conversation ends does not matter.
    let _ = stream.write_all(b"QUIT\r\n");
    Ok(())
}
