//! Holds a project's record in a database for a `lictor` without database drivers: requests on standard input,
//! responses on standard output, until the other side ends.

use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use lictor_store::{Keyring, PostgresOptions, Store, StoreError, Transaction, View, serve_store};

/// The tenant of records that machines keep in a database without a server. No tenant of a server can have this name.
const MACHINES: &str = "(machines)";

/// What is to be held.
#[derive(Clone)]
pub struct Held {
    /// The address of the database.
    pub address: String,
    /// The name of the chain.
    pub chain: String,
    /// How long to wait for other writers.
    pub wait: Duration,
    /// The file with the key that seals records.
    pub key: Option<PathBuf>,
    /// The key is new.
    pub adopt: bool,
}

impl std::fmt::Debug for Held {
    /// The address may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("chain", &self.chain).finish_non_exhaustive()
    }
}

/// Answers until the other side ends. A database that cannot be reached is an answer too.
///
/// # Errors
/// When the pipes or the key fail.
pub fn run(held: &Held, input: &mut impl Read, output: &mut impl Write) -> Result<()> {
    let store: Box<dyn Store> = match open(held) {
        Ok(store) => store,
        Err(Failed::Store(error)) => Box::new(Unreachable(error.to_string())),
        Err(Failed::Key(error)) => Box::new(Unreachable(error.to_string())),
    };
    serve_store(&*store, &mut BufReader::new(input), &mut BufWriter::new(output))?;
    Ok(())
}

enum Failed {
    Store(StoreError),
    Key(lictor_store::KeyError),
}

fn open(held: &Held) -> Result<Box<dyn Store>, Failed> {
    let keys = held.key.as_deref().map(Keyring::load).transpose().map_err(Failed::Key)?;
    let pool = PostgresOptions::new(&held.address).wait(held.wait).connections(1).connect();
    let store = pool.and_then(|pool| pool.store(MACHINES, &held.chain)).map_err(Failed::Store)?;
    Ok(Box::new(match keys {
        Some(keys) => store.keys(keys).adopt(held.adopt),
        None => store,
    }))
}

/// Says the same about everything.
struct Unreachable(String);

impl Store for Unreachable {
    fn read(&self, _: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        Err(StoreError::other(self.0.clone()))
    }

    fn write(
        &self,
        _: lictor_store::Durability,
        _: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        Err(StoreError::other(self.0.clone()))
    }
}
