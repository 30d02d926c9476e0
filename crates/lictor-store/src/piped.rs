//! A store that another process holds: a client that uses pipes, and the server loop.
//!
//! The program that agents start for every call stays small: the dependencies of a database (an async runtime,
//! TLS) are in another program, which is started only if a policy names a database.
//!
//! A message is its length (four little-endian bytes) and its postcard form. Each request has one response. A
//! transaction ends with `Done`, whose response follows the commit; if the pipe closes before that, nothing was
//! changed.

use std::cell::RefCell;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lictor_core::{Digest, SessionKey, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{
    Draft, Durability, Entry, Head, Keyring, Keys, Query, Record, Seal, Space, Store, StoreError,
    Transaction, View,
};

/// More than any answer has.
const MOST_BYTES: u32 = 512 * 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
enum Question {
    Read,
    Write {
        power: bool,
    },
    Get(Space, Vec<u8>),
    Scan(Space, Keys),
    Records(Query),
    Seals(Query),
    Head,
    Base,
    Append {
        at: i64,
        session: Option<SessionKey>,
        kind: String,
        body: String,
    },
    Put(Space, Vec<u8>, Vec<u8>),
    Delete(Space, Vec<u8>),
    Prune(u64),
    /// Commits the transaction.
    Done,
    /// Rolls the transaction back.
    GiveUp,
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Done,
    Value(Option<Vec<u8>>),
    Entries(Vec<Entry>),
    Records(Vec<Told>),
    Record(Told),
    Head(Place),
    Seals(Vec<(Place, Option<Vec<u8>>)>),
    Busy { waited_ms: u64 },
    Failed(String),
}

type Place = (u64, [u8; 32]);

/// A record for postcard: the serde form of `Record` omits fields, which postcard cannot express.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    seq: u64,
    at: i64,
    session: Option<SessionKey>,
    kind: String,
    body: String,
    prev: [u8; 32],
    hash: [u8; 32],
}

impl From<Record> for Told {
    fn from(record: Record) -> Self {
        let Record { seq, at, session, kind, body, prev, hash } = record;
        Self { seq, at: at.0, session, kind, body, prev: *prev.as_bytes(), hash: *hash.as_bytes() }
    }
}

impl From<Told> for Record {
    fn from(told: Told) -> Self {
        let Told { seq, at, session, kind, body, prev, hash } = told;
        let (prev, hash) = (Digest::from_bytes(prev), Digest::from_bytes(hash));
        Self { seq, at: Timestamp(at), session, kind, body, prev, hash }
    }
}

fn place(head: Head) -> Place {
    (head.seq, *head.hash.as_bytes())
}

fn head((seq, hash): Place) -> Head {
    Head { seq, hash: Digest::from_bytes(hash) }
}

fn send(out: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= MOST_BYTES);
    let length = length.ok_or_else(|| io::Error::other("a message is too large"))?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&bytes)?;
    out.flush()
}

/// The next message; `None` when the other side is gone.
fn receive<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_le_bytes(length);
    if length > MOST_BYTES {
        return Err(io::Error::other("a message is too large"));
    }
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    input.read_exact(&mut bytes)?;
    postcard::from_bytes(&bytes).map(Some).map_err(io::Error::other)
}

/// Serves requests on `input` for a store until the client closes the pipe.
///
/// # Errors
/// When the pipes fail. Errors of the store are sent to the client.
pub fn serve_store(store: &dyn Store, input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    while let Some(question) = receive(input)? {
        let mut pipes = Pipes { input, output, failed: None };
        let result = match question {
            Question::Read => store.read(&mut |view| pipes.view(view)),
            Question::Write { power } => {
                let durability = if power { Durability::Power } else { Durability::Process };
                store.write(durability, &mut |tx| pipes.transaction(tx))
            }
            _ => Err(StoreError::other("a question outside of a transaction")),
        };
        if let Some(error) = pipes.failed {
            return Err(error);
        }
        let answer = match result {
            Ok(()) | Err(StoreError::Abandoned) => Answer::Done,
            Err(error) => failed(&error),
        };
        send(output, &answer)?;
    }
    Ok(())
}

fn failed(error: &StoreError) -> Answer {
    match error {
        StoreError::Busy { waited_ms, .. } => Answer::Busy { waited_ms: *waited_ms },
        error => Answer::Failed(error.to_string()),
    }
}

/// The pipes of a transaction.
struct Pipes<'a, I, O> {
    input: &'a mut I,
    output: &'a mut O,
    failed: Option<io::Error>,
}

impl<I: Read, O: Write> Pipes<'_, I, O> {
    fn view(&mut self, view: &dyn View) -> Result<(), StoreError> {
        self.converse(|question| looked(view, question))
    }

    fn transaction(&mut self, tx: &mut dyn Transaction) -> Result<(), StoreError> {
        self.converse(|question| match question {
            Question::Append { at, session, kind, body } => {
                let draft = Draft { at: Timestamp(at), session, kind, body };
                tx.append(draft).map(|record| Answer::Record(record.into()))
            }
            Question::Put(space, key, value) => tx.put(space, &key, &value).map(|()| Answer::Done),
            Question::Delete(space, key) => tx.delete(space, &key).map(|()| Answer::Done),
            Question::Prune(through) => tx.prune(through).map(|()| Answer::Done),
            question => looked(tx, question),
        })
    }

    /// Serves requests until the transaction ends. Any failure rolls it back.
    fn converse(
        &mut self,
        mut answer: impl FnMut(Question) -> Result<Answer, StoreError>,
    ) -> Result<(), StoreError> {
        let mut said = Answer::Done;
        loop {
            let next = send(self.output, &said).and_then(|()| receive(self.input));
            said = match next {
                Ok(Some(Question::Done)) => return Ok(()),
                Ok(Some(Question::GiveUp) | None) => return Err(StoreError::Abandoned),
                Ok(Some(question)) => answer(question).unwrap_or_else(|error| failed(&error)),
                Err(error) => {
                    self.failed = Some(error);
                    return Err(StoreError::Abandoned);
                }
            };
        }
    }
}

fn looked(view: &(impl View + ?Sized), question: Question) -> Result<Answer, StoreError> {
    Ok(match question {
        Question::Get(space, key) => Answer::Value(view.get(space, &key)?),
        Question::Scan(space, keys) => Answer::Entries(view.scan(space, &keys)?),
        Question::Records(query) => {
            Answer::Records(view.records(&query)?.into_iter().map(Told::from).collect())
        }
        Question::Seals(query) => {
            let seals = view.seals(&query)?;
            let told = |(head, seal): (Head, Option<Seal>)| (place(head), seal.map(|seal| seal.to_bytes()));
            Answer::Seals(seals.into_iter().map(told).collect())
        }
        Question::Head => Answer::Head(place(view.head()?)),
        Question::Base => Answer::Head(place(view.base()?)),
        _ => return Err(StoreError::other("a question that only a writer may ask")),
    })
}

/// A store that another process holds.
pub struct PipedStore {
    pipe: Mutex<Pipe>,
    place: PathBuf,
    keys: Option<Keyring>,
}

impl std::fmt::Debug for PipedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PipedStore").field("place", &self.place).finish_non_exhaustive()
    }
}

struct Pipe {
    child: Child,
    /// Closed before the child is waited for.
    input: Option<BufWriter<ChildStdin>>,
    output: BufReader<ChildStdout>,
}

impl Drop for Pipe {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

impl Pipe {
    fn ask(&mut self, question: &Question) -> io::Result<Answer> {
        let closed = || io::Error::new(io::ErrorKind::UnexpectedEof, "it ended");
        send(self.input.as_mut().ok_or_else(closed)?, question)?;
        receive(&mut self.output)?.ok_or_else(closed)
    }
}

impl PipedStore {
    /// Starts the program that holds the store: it must run [`serve_store`] on its standard input and output.
    /// `place` names the store in messages; `keys` are those that it seals with.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(
        mut command: Command,
        place: impl Into<PathBuf>,
        keys: Option<Keyring>,
    ) -> Result<Self, StoreError> {
        let place = place.into();
        let failed = |source| StoreError::Io { file: place.clone(), source };
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn();
        let mut child = started.map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::Error::other("it has no pipes")));
        };
        let pipe = Pipe { child, input: Some(BufWriter::new(input)), output: BufReader::new(output) };
        Ok(Self { pipe: Mutex::new(pipe), place, keys })
    }

    /// Runs a transaction that begins with `question`.
    fn converse<T>(
        &self,
        question: &Question,
        f: impl FnOnce(&mut Piped<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let mut piped = Piped { store: self, pipe: RefCell::new(pipe), open: false };
        piped.expect_done(question)?;
        piped.open = true;
        let value = f(&mut piped)?;
        piped.open = false;
        piped.expect_done(&Question::Done)?;
        Ok(value)
    }
}

/// A transaction in the other process. Rolled back when it is dropped before its end, including by a panic.
struct Piped<'a> {
    store: &'a PipedStore,
    pipe: RefCell<MutexGuard<'a, Pipe>>,
    open: bool,
}

impl Drop for Piped<'_> {
    fn drop(&mut self) {
        if self.open {
            let _ = self.pipe.borrow_mut().ask(&Question::GiveUp);
        }
    }
}

impl Piped<'_> {
    fn ask(&self, question: &Question) -> Result<Answer, StoreError> {
        let file = || self.store.place.clone();
        match self.pipe.borrow_mut().ask(question) {
            Ok(Answer::Busy { waited_ms }) => Err(StoreError::Busy { file: file(), waited_ms }),
            Ok(Answer::Failed(detail)) => Err(StoreError::other(detail)),
            Ok(answer) => Ok(answer),
            Err(error) => {
                let detail = format!("the program that holds it does not answer ({error})");
                Err(StoreError::Unreachable { file: file(), detail })
            }
        }
    }

    fn expect_done(&self, question: &Question) -> Result<(), StoreError> {
        match self.ask(question)? {
            Answer::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn unexpected(&self, answer: &Answer) -> StoreError {
        let file = self.store.place.clone();
        StoreError::Failed { file, detail: format!("an answer that does not fit: {answer:?}") }
    }
}

impl View for Piped<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        match self.ask(&Question::Get(space, key.to_vec()))? {
            Answer::Value(value) => Ok(value),
            other => Err(self.unexpected(&other)),
        }
    }

    fn scan(&self, space: Space, keys: &Keys) -> Result<Vec<Entry>, StoreError> {
        match self.ask(&Question::Scan(space, keys.clone()))? {
            Answer::Entries(entries) => Ok(entries),
            other => Err(self.unexpected(&other)),
        }
    }

    fn records(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        match self.ask(&Question::Records(query.clone()))? {
            Answer::Records(records) => Ok(records.into_iter().map(Record::from).collect()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn head(&self) -> Result<Head, StoreError> {
        match self.ask(&Question::Head)? {
            Answer::Head(place) => Ok(head(place)),
            other => Err(self.unexpected(&other)),
        }
    }

    fn base(&self) -> Result<Head, StoreError> {
        match self.ask(&Question::Base)? {
            Answer::Head(place) => Ok(head(place)),
            other => Err(self.unexpected(&other)),
        }
    }

    fn keys(&self) -> Option<&Keyring> {
        self.store.keys.as_ref()
    }

    fn seals(&self, query: &Query) -> Result<Vec<(Head, Option<Seal>)>, StoreError> {
        match self.ask(&Question::Seals(query.clone()))? {
            Answer::Seals(seals) => seals
                .into_iter()
                .map(|(place, seal)| {
                    let bad = || StoreError::other("a seal that cannot be read");
                    let seal = seal.map(|bytes| Seal::from_bytes(&bytes).ok_or_else(bad)).transpose()?;
                    Ok((head(place), seal))
                })
                .collect(),
            other => Err(self.unexpected(&other)),
        }
    }
}

impl Transaction for Piped<'_> {
    fn append(&mut self, draft: Draft) -> Result<Record, StoreError> {
        let Draft { at, session, kind, body } = draft;
        match self.ask(&Question::Append { at: at.0, session, kind, body })? {
            Answer::Record(record) => Ok(record.into()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn put(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        self.expect_done(&Question::Put(space, key.to_vec(), value.to_vec()))
    }

    fn delete(&mut self, space: Space, key: &[u8]) -> Result<(), StoreError> {
        self.expect_done(&Question::Delete(space, key.to_vec()))
    }

    fn prune(&mut self, through: u64) -> Result<(), StoreError> {
        self.expect_done(&Question::Prune(through))
    }
}

impl Store for PipedStore {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.converse(&Question::Read, |piped| f(piped))
    }

    fn write(
        &self,
        durability: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let power = durability == Durability::Power;
        self.converse(&Question::Write { power }, |piped| f(piped))
    }
}
