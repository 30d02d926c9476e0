use std::os::unix::process::ExitStatusExt as _;

use lictor::{MemoryStore, Options};

use super::*;

/// How a server ends whose client is gone at once.
fn left_alone(line: &str, grace: Duration) -> ExitStatus {
    ran(line, io::empty(), io::sink(), grace)
}

/// How a server of one shell line ends.
fn ran(
    line: &str,
    client: impl Read + Send + 'static,
    answers: impl Write + Send + 'static,
    grace: Duration,
) -> ExitStatus {
    let home = tempfile::tempdir().expect("a home");
    let options =
        Options::new().cwd(home.path()).state_dir(home.path().join("state")).store(MemoryStore::new());
    let runtime = Runtime::from_yaml("version: 1\nextends: []\n", options).expect("a policy");
    let server = ServerCommand {
        name: "demo".to_owned(),
        argv: ["/bin/sh", "-c", line].map(Into::into).to_vec(),
        env: Vec::new(),
        settings: Vec::new(),
        through: Vec::new(),
    };
    run_for(runtime, &server, client, answers, grace).expect("it starts")
}

#[test]
fn a_server_that_ignores_the_end_of_its_input_is_ended() {
    assert_eq!(left_alone("exec sleep 1000", Duration::from_millis(1)).signal(), Some(9));
}

#[test]
fn what_such_a_server_has_started_ends_with_it() {
    assert_eq!(left_alone("sleep 1000 & exec sleep 1000", Duration::from_millis(1)).signal(), Some(9));
}

#[test]
fn a_server_that_ends_with_its_input_has_its_time() {
    assert_eq!(left_alone("while read -r line; do :; done; exit 7", GRACE).code(), Some(7));
}

/// Gives what it has in pieces of any size, as pipes do.
struct Pieces {
    rest: Vec<u8>,
    random: Random,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min(self.rest.len()).min(1 + self.random.below(40));
        for (to, from) in into.iter_mut().zip(self.rest.drain(..most)) {
            *to = from;
        }
        Ok(most)
    }
}

/// The same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % most
    }
}

#[test]
fn lines_are_the_same_however_they_arrive() {
    let alphabet = b"{}[]\",:\\ \t\r\n\n\n0aN\xff\xc3\xa9\0";
    let mut random = Random(7);
    let mut seen = 0;
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..random.below(120))
            .filter_map(|_| alphabet.get(random.below(alphabet.len())).copied())
            .collect();
        let expected: Vec<Vec<u8>> = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .map(<[u8]>::to_vec)
            .collect();
        let mut read = Vec::new();
        each_line(Pieces { rest: bytes, random: Random(random.0) }, |line, _| {
            // Whatever it is, it is one message or none, and no panic.
            let _ = Message::parse(line);
            read.push(line.to_vec());
            true
        });
        assert_eq!(read, expected);
        seen += read.len();
    }
    assert!(seen > 50_000, "{seen}");
}

/// What came, each line by its beginning.
#[derive(Default)]
struct Heard(std::sync::Mutex<Vec<String>>);

impl Heard {
    fn note(&self, what: String) -> bool {
        self.0.lock().unwrap().push(what);
        true
    }
}

impl Inbox for Heard {
    fn receive(&self, message: Message, _: &Via) -> bool {
        self.note(message.method().unwrap_or_default().to_owned())
    }

    fn misread(&self, line: &[u8]) -> bool {
        self.note(format!("misread {}", id_in(line).unwrap_or_default()))
    }

    fn ended(&self) {}
}

#[test]
fn a_line_of_the_server_that_is_too_long_ends_nothing_where_it_says_whom_it_answers() {
    let long = "x".repeat(MAX_LINE + 100);
    let next = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/next\"}\n";
    for (line, then) in [
        (
            format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"{long}\"}}\n{next}"),
            vec!["misread 7", "notifications/next"],
        ),
        (format!("{{\"jsonrpc\":\"2.0\",\"result\":\"{long}\",\"id\":7}}\n{next}"), vec!["misread null"]),
    ] {
        let heard = Heard::default();
        pump_server(line.as_bytes(), &heard);
        assert_eq!(*heard.0.lock().unwrap(), then);
    }
}

/// What the client is told, kept.
#[derive(Clone, Default)]
struct Told(Arc<std::sync::Mutex<Vec<u8>>>);

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a request of this client is refused for what it does not say about its revision.
fn is_refused(lines: &[&str]) -> bool {
    let told = Told::default();
    let sent = lines.iter().map(|line| format!("{{\"jsonrpc\":\"2.0\",{line}}}\n")).collect::<String>();
    ran("cat > /dev/null", io::Cursor::new(sent), told.clone(), GRACE);
    let told = String::from_utf8(told.0.lock().unwrap().clone()).unwrap();
    told.contains("-32602") && told.contains("in `_meta`")
}

#[test]
fn each_request_says_its_revision_unless_a_handshake_has() {
    let full = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    let half = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let list = |meta: &str| format!(r#""id":7,"method":"tools/list","params":{{"_meta":{{{meta}}}}}"#);
    let hello = r#""id":1,"method":"initialize","params":{}"#;
    for (lines, refused) in [
        (vec![list("")], true),
        (vec![r#""id":7,"method":"tools/list""#.to_owned()], true),
        (vec![list(full)], false),
        (vec![list(half)], true),
        (vec![list(&full.replace("{}", "[]"))], true),
        (vec![hello.to_owned(), list("")], false),
        (vec![hello.to_owned(), list(half)], true),
        (vec![r#""id":7,"method":"server/discover""#.to_owned()], false),
        (vec![r#""id":7,"method":"ping""#.to_owned()], false),
        (vec![r#""method":"notifications/cancelled","params":{"requestId":3}"#.to_owned()], false),
    ] {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(is_refused(&lines), refused, "{lines:?}");
    }
}
