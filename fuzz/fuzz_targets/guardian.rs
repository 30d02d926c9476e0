//! Any bytes at the guardian's socket get answers that are messages, reach the judge only as a whole call, and keep nobody
//! else from being answered.
#![no_main]

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use lictor_run::call::{Answer, Call};
use lictor_run::client;
use lictor_run::guardian::{Caller, Closed, Judge, listen};

struct Echo;

impl Judge for Echo {
    fn answer(&self, caller: &Caller, call: &Call) -> Answer {
        assert!(caller.pid > 0);
        Answer { exit: 3, stdout: call.stdin.clone(), ..Answer::default() }
    }
}

fn socket() -> &'static PathBuf {
    static SOCKET: OnceLock<PathBuf> = OnceLock::new();
    SOCKET.get_or_init(|| {
        let socket = std::env::temp_dir().join(format!("lictor-fuzz-{}.sock", std::process::id()));
        let _ = std::fs::remove_file(&socket);
        listen(&socket, Arc::new(Echo), Arc::new(Closed::default())).expect("it listens");
        socket
    })
}

fuzz_target!(|data: &[u8]| {
    let mut stream = UnixStream::connect(socket()).expect("it takes calls");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
    let _ = stream.write_all(data);
    let _ = stream.shutdown(Shutdown::Write);
    let mut said = Vec::new();
    stream.read_to_end(&mut said).expect("it ends the connection");
    for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let answer: serde_json::Value = serde_json::from_slice(line).expect("an answer is JSON");
        assert!(answer["result"].is_object() != answer["error"].is_object(), "{answer}");
    }
    // Whoever comes next is answered.
    let call = Call { args: vec!["hook".to_owned()], stdin: data.to_vec().into(), ..Call::default() };
    let answer = client::ask(socket(), &call, Duration::from_secs(5)).expect("an answer");
    assert_eq!(answer.stdout.0, data);
});
