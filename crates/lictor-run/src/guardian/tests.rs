use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};

use super::*;
use crate::client;

struct Echo;

impl Judge for Echo {
    fn answer(&self, caller: &Caller, call: &Call) -> Answer {
        assert_eq!(caller.pid, std::process::id());
        assert_ne!(call.cwd, "/panic");
        Answer { exit: 3, stdout: call.stdin.clone(), stderr: call.cwd.clone().into_bytes().into() }
    }
}

fn call(stdin: &[u8]) -> Call {
    Call { args: vec!["hook".into()], cwd: "/p".into(), stdin: stdin.to_vec().into(), ..Call::default() }
}

#[test]
fn many_callers_are_answered_and_bad_ones_harm_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("s");
    let closed = Arc::new(Closed::default());
    let stop = listen(&socket, Arc::new(Echo), Arc::clone(&closed)).unwrap();
    // One says nothing, one nonsense, one bytes that are no text.
    let _silent = UnixStream::connect(&socket).unwrap();
    UnixStream::connect(&socket).unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    UnixStream::connect(&socket).unwrap().write_all(&[0xff; 64]).unwrap();
    let ask = |call: &Call| client::ask(&socket, call, Duration::from_secs(10));
    thread::scope(|scope| {
        let asked: Vec<_> =
            (0..16_u8).map(|n| scope.spawn(move || ask(&call(&[n, 0xff])).unwrap())).collect();
        for (n, answer) in asked.into_iter().enumerate() {
            let answer = answer.join().unwrap();
            assert_eq!((answer.exit, answer.stdout.0), (3, vec![u8::try_from(n).unwrap(), 0xff]));
        }
    });
    // A judge that fails is no answer, and the next call is answered.
    assert!(ask(&Call { cwd: "/panic".into(), ..call(b"") }).is_err());
    assert_eq!(ask(&call(b"x")).unwrap().exit, 3);
    closed.close();
    let answer = ask(&call(b"x")).unwrap();
    assert_eq!(answer.exit, 2);
    assert!(String::from_utf8_lossy(&answer.stderr.0).contains("was replaced"));
    stop.stop();
}

#[test]
fn other_methods_and_other_users_get_nothing() {
    let request = |method: &str, params| Request::new(method, params);
    let peer = Peer { pid: Some(std::process::id()), uid: rustix::process::geteuid().as_raw(), gid: 0 };
    let closed = Closed::default();
    let params = serde_json::to_value(call(b"")).unwrap();
    let failed = |peer: &Peer, request: &Request| respond(peer, request, &Echo, &closed).unwrap_err().code;
    assert!(respond(&peer, &request(METHOD, params.clone()), &Echo, &closed).is_ok());
    let other = Peer { uid: peer.uid + 1, ..peer };
    assert_eq!(failed(&other, &request(METHOD, params.clone())), code::UNAVAILABLE);
    assert_eq!(failed(&Peer { pid: None, ..peer }, &request(METHOD, params.clone())), code::UNAVAILABLE);
    assert_eq!(failed(&peer, &request("approve", params)), code::METHOD_NOT_FOUND);
    assert_eq!(failed(&peer, &request(METHOD, Value::Null)), code::INVALID_PARAMS);
}

#[test]
fn without_a_guardian_there_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let patience = Duration::from_millis(50);
    assert!(client::ask(&directory.path().join("none"), &call(b""), patience).is_err());
    // One that takes calls and says nothing.
    let socket = directory.path().join("mute");
    let _mute = UnixListener::bind(&socket).unwrap();
    let error = client::ask(&socket, &call(b""), patience).unwrap_err();
    assert!(error.to_string().contains("no answer"), "{error}");
    assert_eq!(client::guardian(), None);
}

/// Numbers by a fixed recipe, so that what fails once fails again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound.max(1) as u64).unwrap()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| u8::try_from(self.below(256)).unwrap()).collect()
    }

    /// A call in which some bytes are others, gone, or there twice.
    fn garbled(&mut self, whole: &[u8]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, u8::try_from(self.below(256)).unwrap()),
                2 => bytes.extend_from_within(at..),
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
            }
        }
        bytes
    }
}

/// What the guardian says to these bytes: messages, each a result or an error, and then nothing more.
fn said_to(socket: &Path, bytes: &[u8]) -> Vec<Value> {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // A message that is too long is refused before its end.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut said = Vec::new();
    if let Err(error) = stream.read_to_end(&mut said) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "it neither answers nor ends");
    }
    let lines = said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

#[test]
fn any_bytes_get_a_message_or_nothing_and_hold_nobody_up() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("s");
    let stop = listen(&socket, Arc::new(Echo), Arc::new(Closed::default())).unwrap();
    let request = Request::new(METHOD, serde_json::to_value(call(b"x")).unwrap());
    let whole = [serde_json::to_vec(&request).unwrap(), b"\n".to_vec()].concat();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut inputs: Vec<Vec<u8>> = (0..150).map(|n| dice.bytes(n * 3)).collect();
    inputs.extend((0..400).map(|_| dice.garbled(&whole)));
    inputs.push(whole.repeat(50));
    inputs.push(format!("{}\n", "[".repeat(100_000)).into_bytes());
    inputs.push(format!("{}\n", "{\"params\":".repeat(10_000)).into_bytes());
    inputs.push(b"\n".repeat(1_000));
    inputs.push(vec![0; 100_000]);
    // Half a message, and the connection stays open.
    let mut open: Vec<UnixStream> = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        for message in said_to(&socket, input) {
            assert!(message["result"].is_object() != message["error"].is_object(), "{message}");
        }
        if at % 20 == 0 {
            let mut stream = UnixStream::connect(&socket).unwrap();
            stream.write_all(whole.get(..at % whole.len()).unwrap()).unwrap();
            open.push(stream);
            let answer = client::ask(&socket, &call(b"next"), Duration::from_secs(20)).unwrap();
            assert_eq!((answer.exit, answer.stdout.0.as_slice()), (3, &b"next"[..]));
        }
    }
    let long = said_to(&socket, &vec![b'x'; LIMITS.message + 100_000]);
    assert!(long.iter().all(|message| message["error"].is_object()), "{long:?}");
    // With more callers than it takes it refuses, and a client that is refused has to block.
    open.extend((open.len()..LIMITS.connections + 8).map(|_| UnixStream::connect(&socket).unwrap()));
    let refused = client::ask(&socket, &call(b"x"), Duration::from_secs(20));
    assert!(refused.is_err(), "{refused:?}");
    open.clear();
    stop.stop();
}
