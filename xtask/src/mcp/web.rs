//! A web server on loopback with two pages.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

use anyhow::Result;

/// Starts it, and gives its address.
pub fn start() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut first = String::new();
            let _ = BufReader::new(&stream).read_line(&mut first);
            let body = match first.split(' ').nth(1) {
                Some("/page.txt") => "a page on loopback",
                Some("/hidden.txt") => "fine \u{e0049}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}",
                _ => "nothing here",
            };
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n";
            let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    Ok(address)
}
