//! A gateway between threads: messages of either side are judged one at a time, and the results are sent.

use std::io;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::gateway::{Gateway, Out};
use crate::message::Message;

/// The polling interval for a person's answer.
const EVERY: Duration = Duration::from_millis(50);

/// A server, wherever it runs.
pub trait Upstream: Send + Sync {
    /// Queues a message for it, without waiting. Responses come to its [`Inbox`].
    ///
    /// # Errors
    /// When it cannot be reached any more.
    fn send(&self, message: &Message) -> io::Result<()>;

    /// Whether it takes what it is sent about as fast as that comes.
    fn has_room(&self) -> bool {
        true
    }

    /// Waits until it does, or is gone.
    fn wait_for_room(&self) {}

    /// Nothing more will be sent; the server may end.
    fn close(&self);

    /// The same, and waits for that as long as this, and then ends it.
    fn end_within(&self, _: Duration) {
        self.close();
    }
}

/// Receives a server's messages.
pub trait Inbox: Send + Sync {
    /// A message of the server. False to stop.
    fn receive(&self, message: Message, via: &Via) -> bool;

    /// Something of the server that is no message, or could be read in more than one way.
    fn misread(&self, line: &[u8]) -> bool;

    /// The server is gone.
    fn ended(&self);
}

/// The origin of a server's message.
#[derive(Debug, Clone, Default)]
pub struct Via {
    /// The request on whose own stream it came.
    pub request: Option<Value>,
    /// The status of the HTTP answer that it came in.
    pub status: Option<u16>,
}

/// Where judged messages go.
pub(crate) trait Outlet: Send + Sync {
    /// Sends a message after those before. Called while the gateway is locked, so it must not wait.
    fn put(&self, out: &Out, via: &Via) -> io::Result<()>;

    /// Waits until the client takes what it is sent, where it can be waited for.
    fn wait_for_client(&self) {}

    fn server_ended(&self);
}

pub(crate) struct Hub<O> {
    gateway: Mutex<Gateway>,
    /// Notified when a call begins to wait for a person.
    asking: Condvar,
    pub(crate) outlet: O,
}

impl<O: Outlet> Hub<O> {
    /// With an outlet that gets the inbox for the server's messages.
    pub(crate) fn connected(gateway: Gateway, outlet: impl FnOnce(Arc<dyn Inbox>) -> O) -> Arc<Self>
    where
        O: 'static,
    {
        let late = Arc::new(Late::default());
        let outlet = outlet(Arc::clone(&late) as Arc<dyn Inbox>);
        let hub = Arc::new(Self { gateway: Mutex::new(gateway), asking: Condvar::new(), outlet });
        let inbox: Arc<dyn Inbox> = hub.clone();
        let _ = late.0.set(Arc::downgrade(&inbox));
        hub
    }

    pub(crate) fn take_from_client(&self, message: Message) -> bool {
        self.judged(&Via::default(), |gateway| gateway.from_client(message))
    }

    fn judged(&self, via: &Via, judge: impl FnOnce(&mut Gateway) -> Vec<Out>) -> bool {
        let mut gateway = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        let out = judge(&mut gateway);
        if gateway.is_asking() {
            self.asking.notify_all();
        }
        self.put_all(out, via)
    }

    /// Sends what was judged while the gateway is still locked: what cancels a call must not overtake the call.
    fn put_all(&self, out: Vec<Out>, via: &Via) -> bool {
        out.into_iter().all(|out| self.outlet.put(&out, via).is_ok())
    }

    /// Polls for people's answers while a question is pending, as long as `wanted` returns true.
    pub(crate) fn watch(&self, wanted: impl Fn() -> bool) {
        let mut gateway = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        while wanted() {
            if !gateway.is_asking() {
                gateway = self.asking.wait(gateway).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let out = gateway.tick(Instant::now());
            if !self.put_all(out, &Via::default()) {
                return;
            }
            drop(gateway);
            thread::sleep(EVERY);
            gateway = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wakes the thread that watches, so that it can end.
    pub(crate) fn wake(&self) {
        let _gateway = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        self.asking.notify_all();
    }
}

impl<O: Outlet> Inbox for Hub<O> {
    fn receive(&self, message: Message, via: &Via) -> bool {
        self.outlet.wait_for_client();
        self.judged(via, |gateway| gateway.from_server(message))
    }

    fn misread(&self, line: &[u8]) -> bool {
        self.outlet.wait_for_client();
        self.judged(&Via::default(), |gateway| gateway.misread(line))
    }

    fn ended(&self) {
        self.outlet.server_ended();
    }
}

/// A place for messages that is made before what they go to, and does not keep it.
#[derive(Default)]
struct Late(OnceLock<Weak<dyn Inbox>>);

impl Late {
    fn there(&self) -> Option<Arc<dyn Inbox>> {
        self.0.get().and_then(Weak::upgrade)
    }
}

impl Inbox for Late {
    fn receive(&self, message: Message, via: &Via) -> bool {
        self.there().is_some_and(|inbox| inbox.receive(message, via))
    }

    fn misread(&self, line: &[u8]) -> bool {
        self.there().is_some_and(|inbox| inbox.misread(line))
    }

    fn ended(&self) {
        if let Some(inbox) = self.there() {
            inbox.ended();
        }
    }
}
