//! Listener and client against each other, and against bytes that neither of them sends.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use lictor_socket::{Client, ClientError, Failure, Limits, Listener, ListenerError, Peer, Request, code};
    use serde_json::{Value, json};
    use tempfile::TempDir;

    const SOON: Duration = Duration::from_secs(20);

    fn place() -> (TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("lictor.sock");
        (directory, file)
    }

    fn answer(peer: &Peer, request: &Request) -> Result<Value, Failure> {
        match request.method.as_str() {
            "echo" => Ok(request.params.clone()),
            "peer" => Ok(json!({"pid": peer.pid, "uid": peer.uid})),
            "panic" => std::panic::resume_unwind(Box::new("on purpose")),
            other => Err(Failure::new(code::METHOD_NOT_FOUND, format!("there is no method `{other}`"))),
        }
    }

    /// Runs `f` while the listener answers.
    fn serving(file: &Path, limits: Limits, f: impl FnOnce()) {
        let listener = Listener::bind(file, limits).unwrap();
        let stop = listener.stop();
        std::thread::scope(|scope| {
            scope.spawn(|| listener.serve(answer).unwrap());
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
            stop.stop();
            if let Err(cause) = done {
                std::panic::resume_unwind(cause);
            }
        });
    }

    #[test]
    fn calls_are_answered_in_order_on_one_connection() {
        let (_directory, file) = place();
        serving(&file, Limits::default(), || {
            let mut client = Client::connect(&file).unwrap();
            for n in 0..100 {
                assert_eq!(
                    client.call("echo", json!({"n": n, "text": "line\nbreak"}), SOON).unwrap(),
                    json!({"n": n, "text": "line\nbreak"})
                );
            }
            let failed = client.call("nothing", json!({}), SOON).unwrap_err();
            assert_eq!(failed.to_string(), "there is no method `nothing`");
            let failed = client.call("panic", json!({}), SOON).unwrap_err();
            assert!(
                matches!(failed, ClientError::Failed(Failure { code: code::INTERNAL, .. })),
                "{failed:?}"
            );
            assert_eq!(client.call("echo", json!(1), SOON).unwrap(), json!(1), "the connection goes on");
        });
        assert!(!file.exists(), "the socket is gone with its listener");
    }

    #[test]
    fn the_kernel_says_who_asks() {
        let (_directory, file) = place();
        serving(&file, Limits::default(), || {
            let told = Client::connect(&file).unwrap().call("peer", Value::Null, SOON).unwrap();
            assert_eq!(told["uid"], json!(rustix::process::getuid().as_raw()));
            if cfg!(target_os = "linux") {
                assert_eq!(told["pid"], json!(std::process::id()));
            }
        });
    }

    #[test]
    fn many_clients_at_once() {
        let (_directory, file) = place();
        serving(&file, Limits::default(), || {
            std::thread::scope(|scope| {
                for n in 0..32 {
                    let file = &file;
                    scope.spawn(move || {
                        for _ in 0..50 {
                            let mut client = Client::connect(file).unwrap();
                            assert_eq!(client.call("echo", json!(n), SOON).unwrap(), json!(n));
                        }
                    });
                }
            });
        });
    }

    fn first_answer(stream: &UnixStream) -> Value {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    #[test]
    fn what_is_no_call_is_refused() {
        let (_directory, file) = place();
        let cases = [
            ("nonsense\n", code::PARSE),
            ("\n", code::PARSE),
            ("[]\n", code::INVALID_REQUEST),
            ("{\"id\": 7}\n", code::INVALID_REQUEST),
            ("{\"jsonrpc\": \"1.0\", \"id\": 7, \"method\": \"echo\"}\n", code::INVALID_REQUEST),
            ("\u{fffd}\u{0}\n", code::PARSE),
        ];
        serving(&file, Limits::default(), || {
            for (text, expected) in cases {
                let mut stream = UnixStream::connect(&file).unwrap();
                stream.write_all(text.as_bytes()).unwrap();
                assert_eq!(first_answer(&stream)["error"]["code"], json!(expected), "{text:?}");
            }
        });
    }

    #[test]
    fn bounds_hold() {
        let (_directory, file) = place();
        let limits =
            Limits { connections: 2, message: 1000, idle: SOON, transfer: Duration::from_millis(200) };
        serving(&file, limits, || {
            let mut long = UnixStream::connect(&file).unwrap();
            let _ = long.write_all(&[b'x'; 40_000]);
            assert_eq!(first_answer(&long)["error"]["message"], "a message has at most 1000 bytes");
            drop(long);
            // Half a message: cut off.
            let mut slow = UnixStream::connect(&file).unwrap();
            slow.write_all(b"{").unwrap();
            assert_eq!(slow.read(&mut [0; 10]).unwrap(), 0);
            drop(slow);
            let _two = [UnixStream::connect(&file).unwrap(), UnixStream::connect(&file).unwrap()];
            let third = UnixStream::connect(&file).unwrap();
            assert_eq!(first_answer(&third)["error"]["code"], json!(code::UNAVAILABLE));
        });
    }

    #[test]
    fn a_socket_is_taken_over_only_when_nobody_listens() {
        let (directory, file) = place();
        drop(UnixListener::bind(&file).unwrap());
        let first = Listener::bind(&file, Limits::default()).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(Listener::bind(&file, Limits::default()), Err(ListenerError::InUse { .. })));
        let other = directory.path().join("file");
        fs::write(&other, "").unwrap();
        assert!(matches!(Listener::bind(&other, Limits::default()), Err(ListenerError::NotASocket { .. })));
        symlink(&other, directory.path().join("link")).unwrap();
        let linked = Listener::bind(&directory.path().join("link"), Limits::default());
        assert!(matches!(linked, Err(ListenerError::NotASocket { .. })));
        // Somebody put another socket in its place: that one is not removed.
        fs::remove_file(&file).unwrap();
        let second = UnixListener::bind(&file).unwrap();
        drop(first);
        assert!(file.exists());
        drop(second);
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let open = Listener::bind(&directory.path().join("new"), Limits::default());
        assert!(matches!(open, Err(ListenerError::Unsafe { .. })), "{open:?}");
    }

    #[test]
    fn a_client_says_what_is_wrong() {
        let (_directory, file) = place();
        assert!(matches!(Client::connect(&file), Err(ClientError::Unreachable { .. })));
        let silent = UnixListener::bind(&file).unwrap();
        let mut client = Client::connect(&file).unwrap();
        let waited = client.call("echo", json!(1), Duration::from_millis(30)).unwrap_err();
        assert!(waited.to_string().contains("within 30 ms"), "{waited}");
        let (mut stream, _) = silent.accept().unwrap();
        let mut client = Client::connect(&file).unwrap();
        let (mut other, _) = silent.accept().unwrap();
        for garbage in ["nonsense\n", "{}\n", "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":1}\n"] {
            other.write_all(garbage.as_bytes()).unwrap();
            let failed = client.call("echo", json!(1), SOON).unwrap_err();
            assert!(matches!(failed, ClientError::Garbled { .. }), "{failed:?}");
        }
        drop(other);
        let ended = client.call("echo", json!(1), SOON).unwrap_err();
        assert!(matches!(ended, ClientError::Unreachable { .. }), "{ended:?}");
        let _ = stream.write_all(b"");
    }

    #[test]
    fn an_idle_connection_does_not_keep_a_stopped_listener() {
        let (_directory, file) = place();
        let mut idle = None;
        serving(&file, Limits::default(), || idle = Some(UnixStream::connect(&file).unwrap()));
        // Closed in good order, or reset where the listener had not taken it yet.
        let ended = idle.unwrap().read(&mut [0; 1]);
        assert!(
            matches!(&ended, Ok(0))
                || ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset)
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]
        /// Whatever comes, the listener answers the next client.
        #[test]
        fn any_bytes(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
            let (_directory, file) = place();
            serving(&file, Limits::default(), || {
                let mut stream = UnixStream::connect(&file).unwrap();
                let _ = stream.write_all(&bytes);
                drop(stream);
                let mut client = Client::connect(&file).unwrap();
                assert_eq!(client.call("echo", json!(1), SOON).unwrap(), json!(1));
            });
        }
    }
}
