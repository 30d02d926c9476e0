use super::outbox::wait_ms;
use super::send::{send, signature};
use super::*;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

fn message() -> Message {
    Message {
        id: "q1".to_owned(),
        tenant: "team".to_owned(),
        summary: "bash rm <build>\u{202e}".to_owned(),
        agent: "claude-code".to_owned(),
        expires: lictor_core::Timestamp(1),
        link: "https://lictor.example.com/approvals/q1".to_owned(),
    }
}

/// What a receiver got: the head and the body.
fn receive(answer: &'static str) -> (String, std::thread::JoinHandle<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let got = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head += &lower;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        (head, String::from_utf8(body).unwrap())
    });
    (url, got)
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[test]
fn a_webhook_is_signed_over_time_and_body() {
    let (url, got) = receive(OK);
    let way = Way::Webhook { url, secret: "s3cret-word".to_owned() };
    send(&way, &message(), lictor_core::Timestamp(5_000)).unwrap();
    let (head, body) = got.join().unwrap();
    let expected = signature("s3cret-word", "5", &body);
    assert!(head.contains(&format!("lictor-signature: sha256={expected}")), "{head}");
    assert!(head.contains("lictor-timestamp: 5"));
    assert_ne!(expected, signature("s3cret-word", "6", &body));
    assert_ne!(expected, signature("another-word", "5", &body));
    assert!(!body.contains("s3cret"));
}

#[test]
fn chat_programs_get_text_and_a_link() {
    let (url, got) = receive(OK);
    send(&Way::Slack { url }, &message(), lictor_core::Timestamp(0)).unwrap();
    let (_, body) = got.join().unwrap();
    assert!(body.contains("&lt;build&gt;") && body.contains("/approvals/q1"), "{body}");
    let (url, got) = receive(OK);
    send(&Way::Ntfy { url }, &message(), lictor_core::Timestamp(0)).unwrap();
    let (head, _) = got.join().unwrap();
    assert!(head.contains("click: https://lictor.example.com/approvals/q1"), "{head}");
}

#[test]
fn what_is_refused_is_a_failure_and_waits_grow() {
    let (url, got) = receive("HTTP/1.1 500 no\r\ncontent-length: 0\r\n\r\n");
    assert!(send(&Way::Slack { url }, &message(), lictor_core::Timestamp(0)).is_err());
    got.join().unwrap();
    assert_eq!([0, 1, 2, 30].map(wait_ms), [2_000, 4_000, 8_000, 600_000]);
}

#[test]
fn a_mail_goes_through_a_relay() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap().to_string();
    let got = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        stream.write_all(b"220 hello\r\n").unwrap();
        let (mut said, mut letter) = (Vec::new(), false);
        for line in reader.lines() {
            let line = line.unwrap();
            said.push(line.clone());
            let answer: &[u8] = match line.as_str() {
                "DATA" => {
                    letter = true;
                    b"354 go\r\n"
                }
                "." => {
                    letter = false;
                    b"250 taken\r\n"
                }
                "QUIT" => break,
                _ if letter => continue,
                line if line.starts_with("EHLO") => b"250-me\r\n250 8BITMIME\r\n",
                _ => b"250 ok\r\n",
            };
            stream.write_all(answer).unwrap();
        }
        said.join("\n")
    });
    let way = Way::Mail { server, to: "ada@example.com".to_owned() };
    send(&way, &message(), lictor_core::Timestamp(0)).unwrap();
    let said = got.join().unwrap();
    assert!(said.contains("RCPT TO:<ada@example.com>") && said.contains("/approvals/q1"), "{said}");
}

#[test]
fn targets_that_cannot_be_used_are_refused() {
    let mail = |to: &str| Way::Mail { server: "relay:25".to_owned(), to: to.to_owned() };
    assert!(mail("ada@example.com").wrong().is_none());
    assert!(mail("ada@example.com>\r\nRCPT TO:<eve@example.com").wrong().is_some());
    assert!(Way::Slack { url: "file:///etc/passwd".to_owned() }.wrong().is_some());
    let hook = |secret: &str| Way::Webhook { url: "https://a.example".to_owned(), secret: secret.to_owned() };
    assert!(hook("short").wrong().is_some() && hook("long enough").wrong().is_none());
    let slack = Way::Slack { url: "https://hooks.example.com/services/T0/SECRET".to_owned() };
    assert_eq!(slack.place(), "hooks.example.com", "what is secret is not shown");
}
