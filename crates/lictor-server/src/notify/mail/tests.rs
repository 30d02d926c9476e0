use std::net::TcpListener;
use std::thread::JoinHandle;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use super::*;

#[path = "../../../../lictor-store/tests/postgres/certificate.rs"]
mod certificate;

/// Answers as a relay does, and returns what was said; stops at `STARTTLS`.
fn answer<S: Read + Write>(stream: S, offers: &str) -> (Vec<String>, S) {
    let mut stream = BufReader::new(stream);
    let (mut said, mut letter) = (Vec::new(), false);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).unwrap_or(0) == 0 {
            return (said, stream.into_inner());
        }
        let line = line.trim_end().to_owned();
        said.push(line.clone());
        let told = match line.as_str() {
            "DATA" => {
                letter = true;
                "354 go\r\n".to_owned()
            }
            "." => {
                letter = false;
                "250 taken\r\n".to_owned()
            }
            "STARTTLS" => "220 go\r\n".to_owned(),
            _ if letter => continue,
            line if line.starts_with("EHLO") => format!("250-me\r\n{offers}250 8BITMIME\r\n"),
            _ => "250 ok\r\n".to_owned(),
        };
        let _ = stream.get_mut().write_all(told.as_bytes());
        let _ = stream.get_mut().flush();
        if line == "STARTTLS" || line == "QUIT" {
            return (said, stream.into_inner());
        }
    }
}

struct Relay {
    port: u16,
    roots: RootCertStore,
    /// What was said in the clear, and what was said after.
    said: JoinHandle<(Vec<String>, Vec<String>)>,
    _directory: tempfile::TempDir,
}

/// A relay that has a certificate for this name.
fn relay(name: &str, offers: &'static str) -> Relay {
    let directory = tempfile::tempdir().unwrap();
    let (certificate, key) = certificate::certificate(directory.path(), "relay", &format!("DNS:{name}"));
    let certificate = CertificateDer::from_pem_file(certificate).unwrap();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let said = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        stream.write_all(b"220 hello\r\n").unwrap();
        let (clear, stream) = answer(stream, offers);
        if clear.last().is_none_or(|line| line != "STARTTLS") {
            return (clear, Vec::new());
        }
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        (clear, answer(StreamOwned::new(connection, stream), "").0)
    });
    Relay { port, roots, said, _directory: directory }
}

impl Relay {
    /// Sends through it as if it were somewhere else; what came of it, what was said in the clear, and what was said after.
    fn send(self, roots: Option<RootCertStore>) -> (Result<(), String>, Vec<String>, Vec<String>) {
        let stream = connect(&format!("127.0.0.1:{}", self.port)).unwrap();
        let server = format!("relay.example:{}", self.port);
        let sent = converse(
            stream,
            &server,
            false,
            roots.unwrap_or(self.roots),
            "ada@example.com",
            "secret\r\n.\r\n",
        );
        let (clear, covered) = self.said.join().unwrap();
        (sent, clear, covered)
    }
}

const OFFER: &str = "250-STARTTLS\r\n";

#[test]
fn over_a_network_a_mail_goes_with_tls() {
    let (sent, clear, covered) = relay("relay.example", OFFER).send(None);
    sent.unwrap();
    assert_eq!(clear, ["EHLO localhost", "STARTTLS"]);
    assert!(covered.contains(&"RCPT TO:<ada@example.com>".to_owned()), "{covered:?}");
    assert!(covered.contains(&"secret".to_owned()), "{covered:?}");
}

#[test]
fn without_tls_or_with_another_name_nothing_is_said() {
    let (sent, clear, _) = relay("relay.example", "").send(None);
    assert!(sent.unwrap_err().contains("does not offer TLS"));
    assert_eq!(clear, ["EHLO localhost"]);
    let (sent, clear, covered) = relay("other.example", OFFER).send(None);
    assert!(sent.is_err() && covered.is_empty(), "{sent:?} {covered:?}");
    assert_eq!(clear, ["EHLO localhost", "STARTTLS"]);
    let nobody = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let (sent, _, covered) = relay("relay.example", OFFER).send(Some(nobody));
    assert!(sent.is_err() && covered.is_empty(), "{sent:?} {covered:?}");
}
