//! A model server on loopback that answers what a session tells it to, and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::Result;
use serde_json::Value;

use super::api;
use super::spec::Api;

/// What the model does in one turn, ready to be sent.
pub type Turn = Vec<Act>;

/// One act of the model.
#[derive(Debug, Clone)]
pub enum Act {
    Say(String),
    Call { id: String, name: String, input: Value },
}

/// The script, and what happened so far.
pub struct Script {
    pub api: Api,
    pub turns: Vec<Turn>,
    /// How many tokens the model says that it has read, by turn; 0 for few.
    pub long: Vec<u64>,
    /// Run before the turn of that number: what a person does meanwhile.
    pub before: Vec<Box<dyn Fn() + Send>>,
    pub asked: Vec<Value>,
    pub paths: Vec<String>,
}

/// A running server.
pub struct Server {
    pub address: String,
    pub script: Arc<Mutex<Script>>,
}

impl Server {
    /// Starts to listen on a free port.
    pub fn start(script: Script) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = format!("http://{}", listener.local_addr()?);
        let script = Arc::new(Mutex::new(script));
        let shared = Arc::clone(&script);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                // A client that goes away has had its answer.
                thread::spawn(move || drop(answer(stream, &shared)));
            }
        });
        Ok(Self { address, script })
    }
}

fn answer(mut stream: TcpStream, script: &Mutex<Script>) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, path) =
        (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut length = 0;
    let mut chunked = false;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let header = header.to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let mut body = Vec::new();
    if chunked {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            let size = u64::from_str_radix(size.trim(), 16).unwrap_or(0);
            reader.by_ref().take(size).read_to_end(&mut body)?;
            reader.read_line(&mut String::new())?;
            if size == 0 {
                break;
            }
        }
    } else {
        reader.by_ref().take(length).read_to_end(&mut body)?;
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let (status, kind, text) = respond(&method, &path, &body, script);
    write!(
        stream,
        "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    )?;
    stream.write_all(text.as_bytes())?;
    Ok(())
}

fn respond(method: &str, path: &str, body: &Value, script: &Mutex<Script>) -> (u16, &'static str, String) {
    let mut script = match script.lock() {
        Ok(script) => script,
        Err(poisoned) => poisoned.into_inner(),
    };
    script.paths.push(format!("{method} {path}"));
    let api = script.api;
    if method != "POST" || !api::is_question(api, path) {
        return api::other(api, path);
    }
    if !api::has_tools(api, body) {
        return api::reply(api, path, body, &vec![Act::Say(api::side_answer(api, body).to_owned())], 0);
    }
    let number = script.asked.len();
    script.asked.push(body.clone());
    if let Some(person) = script.before.get(number) {
        person();
    }
    let turn = script.turns.get(number).cloned().unwrap_or_else(|| vec![Act::Say("done".to_owned())]);
    let long = script.long.get(number).copied().unwrap_or_default();
    api::reply(api, path, body, &turn, long)
}
