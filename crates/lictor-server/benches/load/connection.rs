//! A persistent connection for sequential requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// A connection to a server on this machine.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) cookie: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(host: &str) -> Self {
        let stream = TcpStream::connect(host).expect("the server listens");
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), host: host.to_owned() }
    }

    /// Sends a request and reads the whole answer. `headers` end with a line break each.
    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\n{headers}content-length: {}\r\n\r\n",
            self.host,
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        self.stream.get_mut().write_all(&request).expect("the server takes the request");
        self.reply()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("the server answers");
        line.trim_end().to_owned()
    }

    fn reply(&mut self) -> Reply {
        let status = self.line().split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let (mut length, mut chunked, mut cookie) = (0, false, None);
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().expect("a length"),
                "transfer-encoding" => chunked = true,
                "set-cookie" => cookie = value.trim().split(';').next().map(str::to_owned),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                let size = usize::from_str_radix(&self.line(), 16).expect("the size of a chunk");
                self.take(size, &mut body);
                self.line();
                if size == 0 {
                    break;
                }
            }
        } else {
            self.take(length, &mut body);
        }
        Reply { status, cookie, body }
    }

    fn take(&mut self, length: usize, body: &mut Vec<u8>) {
        let before = body.len();
        body.resize(before + length, 0);
        self.stream.read_exact(&mut body[before..]).expect("the whole answer");
    }
}
