use std::sync::mpsc::{Receiver, channel};

use lictor::{MemoryStore, Options, Runtime};

use super::*;

const POLICY: &str = "
version: 1
extends: []
known_tools: {known: ['mcp__demo__*'], unknown: ask}
";

/// A server that only writes down what it gets, and may be stuck.
struct Noted(Arc<Mutex<Vec<Message>>>, Arc<AtomicBool>);

impl Upstream for Noted {
    fn send(&self, message: &Message) -> io::Result<()> {
        self.0.lock().expect("nobody panicked").push(message.clone());
        Ok(())
    }

    fn has_room(&self) -> bool {
        !self.1.load(Ordering::Acquire)
    }

    fn close(&self) {}
}

struct World {
    switch: Switch,
    sent: Arc<Mutex<Vec<Message>>>,
    stuck: Arc<AtomicBool>,
    inbox: Arc<dyn Inbox>,
    _home: tempfile::TempDir,
}

fn gateway(home: &tempfile::TempDir) -> Gateway {
    let options =
        Options::new().cwd(home.path()).state_dir(home.path().join("state")).store(MemoryStore::new());
    let runtime = Runtime::from_yaml(POLICY, options).expect("a policy");
    Gateway::new(runtime, "demo", Identity::of_address("http://demo".to_owned()), "s1").expect("a gateway")
}

fn world(clients: Clients) -> World {
    let home = tempfile::tempdir().expect("a home");
    let gateway = gateway(&home);
    let sent = Arc::new(Mutex::new(Vec::new()));
    let stuck = Arc::new(AtomicBool::new(false));
    let mut inbox = None;
    let switch = Switch::new(gateway, clients, |given| {
        inbox = Some(given);
        Box::new(Noted(Arc::clone(&sent), Arc::clone(&stuck)))
    });
    World { switch, sent, stuck, inbox: inbox.expect("given"), _home: home }
}

fn message(value: Value) -> Message {
    Message::parse(value.to_string().as_bytes()).expect("a message")
}

fn asking(id: Value, meta: Value) -> Message {
    message(json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {"_meta": meta}}))
}

fn sink() -> (Sink, Receiver<Delivery>) {
    let (sender, receiver) = channel();
    (Box::new(move |delivery| sender.send(delivery).is_ok()), receiver)
}

impl World {
    fn ask(&self, message: Message) -> (Ticket, Receiver<Delivery>) {
        let (sink, receiver) = sink();
        (self.switch.ask(message, sink), receiver)
    }

    fn says(&self, value: Value) {
        assert!(self.inbox.receive(message(value), &Via::default()));
    }

    fn last_sent(&self) -> Message {
        self.sent.lock().expect("nobody panicked").last().cloned().expect("something was sent")
    }
}

#[test]
fn two_clients_with_the_same_id_and_token_get_their_own() {
    let world = world(Clients::Many);
    let (_, first) = world.ask(asking(json!(1), json!({"progressToken": "t"})));
    let one = world.last_sent();
    let (_, second) = world.ask(asking(json!(1), json!({"progressToken": "t"})));
    let two = world.last_sent();
    assert_ne!(one.id(), two.id());
    let token = two.meta("progressToken").expect("a token").clone();
    world.says(json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": token, "progress": 1}}));
    world.says(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "whose?"}}));
    world.says(json!({"jsonrpc": "2.0", "id": two.id(), "result": {"tools": [], "which": 2}}));
    world.says(json!({"jsonrpc": "2.0", "id": one.id(), "result": {"tools": [], "which": 1}}));
    let progress = second.try_recv().expect("progress");
    assert_eq!((progress.message.param("progressToken"), progress.last), (Some(&json!("t")), false));
    let answer = second.try_recv().expect("an answer");
    assert!(answer.last && answer.message.to_line().contains("\"which\":2"), "{answer:?}");
    assert_eq!(answer.message.id(), Some(&json!(1)));
    let answer = first.try_recv().expect("an answer");
    assert!(answer.message.to_line().contains("\"which\":1"), "{answer:?}");
    assert!(first.try_recv().is_err() && second.try_recv().is_err());
}

#[test]
fn a_closed_stream_cancels_and_a_subscription_gets_only_its_own() {
    let world = world(Clients::Many);
    let listen = |id: &str| {
        message(json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": {}}))
    };
    let (ticket, first) = world.ask(listen("a"));
    let one = world.last_sent();
    let (_, second) = world.ask(listen("b"));
    let meta = json!({SUBSCRIPTION: one.id()});
    world.says(json!({"jsonrpc": "2.0", "method": "notifications/resources/updated",
        "params": {"_meta": meta, "uri": "memo://1"}}));
    let told = first.try_recv().expect("told");
    assert_eq!(told.message.meta(SUBSCRIPTION), Some(&json!("a")));
    assert!(second.try_recv().is_err());
    world.switch.drop_request(ticket);
    let cancelled = world.last_sent();
    assert_eq!(cancelled.method(), Some("notifications/cancelled"));
    assert_eq!(cancelled.param("requestId"), one.id());
    world.switch.drop_request(ticket);
    assert_eq!(world.sent.lock().expect("nobody panicked").len(), 3, "once");
}

#[test]
fn a_session_hears_what_was_said_before_it_listened_and_everybody_hears_of_the_end() {
    let world = world(Clients::One);
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    world.says(changed.clone());
    let (sink_one, standing) = sink();
    let first = world.switch.listen(sink_one).expect("a stream");
    assert_eq!(standing.try_recv().expect("kept").message, message(changed.clone()));
    let (sink_two, newer) = sink();
    let second = world.switch.listen(sink_two).expect("a second stream");
    world.says(changed.clone());
    assert!(newer.try_recv().is_ok() && standing.try_recv().is_err(), "each message goes to one stream");
    world.switch.stop_listening(second);
    world.says(changed);
    assert!(standing.try_recv().is_ok() && newer.try_recv().is_err());
    world.switch.stop_listening(first);
    assert!(!world.switch.is_busy());
    let (_, waiting) = world.ask(asking(json!("x"), json!({})));
    world.switch.tell(message(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "unknown"}}),
    ));
    assert_eq!(world.last_sent().method(), Some("tools/list"), "nothing of that id is under way");
    world.inbox.ended();
    let end = waiting.try_recv().expect("an end");
    assert_eq!((end.last, end.status, end.message.error_code()), (true, Some(502), Some(-32603)));
    assert!(world.switch.is_over());
}

#[test]
fn a_server_that_does_not_read_gets_nothing_more_and_nobody_waits_for_it() {
    let world = world(Clients::Many);
    let (_, first) = world.ask(asking(json!(1), json!({})));
    world.stuck.store(true, Ordering::Release);
    let (ticket, second) = world.ask(asking(json!(2), json!({})));
    let refused = second.try_recv().expect("an answer");
    assert_eq!((refused.last, refused.status, refused.message.error_code()), (true, Some(503), Some(-32603)));
    assert!(!world.switch.tell(message(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))));
    world.switch.drop_request(ticket);
    assert_eq!(world.sent.lock().expect("nobody panicked").len(), 1, "only what came before");
    world.stuck.store(false, Ordering::Release);
    world.says(json!({"jsonrpc": "2.0", "id": world.last_sent().id(), "result": {"tools": []}}));
    assert!(first.try_recv().expect("an answer").last);
}

/// A server that is slow to take a message, and during that time hears of the next.
struct Slow {
    sent: Arc<Mutex<Vec<Message>>>,
    hold: Mutex<Option<(std::sync::mpsc::Sender<()>, Receiver<()>)>>,
}

impl Upstream for Slow {
    fn send(&self, message: &Message) -> io::Result<()> {
        if message.method() == Some("tools/list")
            && let Some((begun, go)) = self.hold.lock().expect("nobody panicked").take()
        {
            begun.send(()).expect("heard");
            go.recv().expect("let go");
        }
        self.sent.lock().expect("nobody panicked").push(message.clone());
        Ok(())
    }

    fn close(&self) {}
}

#[test]
fn what_cancels_a_request_does_not_overtake_it() {
    let ((begun, begins), (let_go, go)) = (channel(), channel());
    let sent = Arc::new(Mutex::new(Vec::new()));
    let slow = Slow { sent: Arc::clone(&sent), hold: Mutex::new(Some((begun, go))) };
    let home = tempfile::tempdir().expect("a home");
    let switch = Arc::new(Switch::new(gateway(&home), Clients::One, |_| Box::new(slow)));
    let asks = Arc::clone(&switch);
    let asked = thread::spawn(move || asks.ask(asking(json!("x"), json!({})), sink().0));
    begins.recv().expect("the request is on its way");
    let (tells, (told, tell)) = (Arc::clone(&switch), channel());
    let cancelling = thread::spawn(move || {
        told.send(()).expect("heard");
        tells.tell(message(
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}}),
        ))
    });
    tell.recv().expect("the cancelling has begun");
    let_go.send(()).expect("held");
    asked.join().expect("asked");
    assert!(cancelling.join().expect("told"));
    let methods: Vec<Option<String>> = sent
        .lock()
        .expect("nobody panicked")
        .iter()
        .map(|message| message.method().map(str::to_owned))
        .collect();
    assert_eq!(methods, [Some("tools/list".to_owned()), Some("notifications/cancelled".to_owned())]);
}
