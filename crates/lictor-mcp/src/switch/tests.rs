use std::sync::mpsc::{Receiver, channel};

use lictor::{MemoryStore, Options, Runtime};

use super::*;

const POLICY: &str = "
version: 1
extends: []
known_tools: {known: ['mcp__demo__*'], unknown: ask}
";

/// A server that only writes down what it gets.
struct Noted(Arc<Mutex<Vec<Message>>>);

impl Upstream for Noted {
    fn send(&self, message: &Message) -> io::Result<()> {
        self.0.lock().expect("nobody panicked").push(message.clone());
        Ok(())
    }

    fn close(&self) {}
}

struct World {
    switch: Switch,
    sent: Arc<Mutex<Vec<Message>>>,
    inbox: Arc<dyn Inbox>,
    _home: tempfile::TempDir,
}

fn world(clients: Clients) -> World {
    let home = tempfile::tempdir().expect("a home");
    let options =
        Options::new().cwd(home.path()).state_dir(home.path().join("state")).store(MemoryStore::new());
    let runtime = Runtime::from_yaml(POLICY, options).expect("a policy");
    let gateway = Gateway::new(runtime, "demo", "http://demo", "s1").expect("a gateway");
    let sent = Arc::new(Mutex::new(Vec::new()));
    let mut inbox = None;
    let switch = Switch::new(gateway, clients, |given| {
        inbox = Some(given);
        Box::new(Noted(Arc::clone(&sent)))
    });
    World { switch, sent, inbox: inbox.expect("given"), _home: home }
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
    assert!(world.switch.listen(sink_one));
    assert!(!world.switch.listen(sink().0), "one stream a session");
    assert_eq!(standing.try_recv().expect("kept").message, message(changed));
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
