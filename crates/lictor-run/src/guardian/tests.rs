use std::io::Write as _;
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
