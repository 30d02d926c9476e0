//! The PostgreSQL store for teams. Many chains, one per tenant and project, in one database.
//!
//! A writer locks the row with the end of its chain, so a chain cannot fork, and writers of different chains do
//! not wait for each other. Nothing is acknowledged before its commit has reached the server's disk. Records are
//! stored in monthly partitions. Pruned ones become invisible at once; [`PostgresPool::reclaim`] detaches and
//! drops the partitions that contain only pruned records. The start of each chain stays in its row.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::Config;
use tokio_postgres::error::SqlState;

use crate::sealed::{Sealed, Sealer};
use crate::{Durability, Freshness, Keyring, Store, StoreError, Transaction, View};

mod batch;
mod change;
mod connection;
mod failure;
mod known;
mod rows;
mod schema;
mod tls;

use batch::Batches;
use connection::{Connection, NotOpened};
use failure::Failure;
use known::{Known, OnlyWriter};
use rows::{Chain, Rows};

/// Chains of which something is known.
const MOST_KNOWN: usize = 1_024;

/// How to reach a [`PostgresPool`].
#[derive(Clone)]
pub struct PostgresOptions {
    url: String,
    wait: Duration,
    connections: usize,
}

impl fmt::Debug for PostgresOptions {
    /// The address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions").field("connections", &self.connections).finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// The database at `postgres://user@host/database`. `sslmode=disable|prefer|require` and `sslrootcert=FILE`
    /// may be added; for a host that is neither a socket nor this machine, TLS is required unless `sslmode` is
    /// set.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), wait: Duration::from_secs(2), connections: 8 }
    }

    /// How long to wait for other writers of a chain before [`StoreError::Busy`].
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// The maximum number of connections.
    #[must_use]
    pub fn connections(self, connections: usize) -> Self {
        Self { connections: connections.max(1), ..self }
    }

    /// Connects, and migrates the tables to this version if the role is allowed to.
    ///
    /// # Errors
    /// When the address is wrong, the server cannot be reached, or its tables were made by a newer version.
    pub fn connect(&self) -> Result<PostgresPool, StoreError> {
        let (config, tls) = tls::parse(&self.url)?;
        let place = place(&config);
        let pool = Pool {
            config,
            tls,
            place,
            wait: self.wait,
            most: self.connections,
            idle: Mutex::new(Idle { free: Vec::new(), open: 0 }),
            returned: Condvar::new(),
            known: Mutex::default(),
            batches: Batches::default(),
        };
        let pool = PostgresPool { pool: Arc::new(pool) };
        pool.pool.with(schema::migrate)?;
        Ok(pool)
    }
}

/// Connections to one database, shared by the stores in it.
#[derive(Debug, Clone)]
pub struct PostgresPool {
    pool: Arc<Pool>,
}

struct Pool {
    config: Config,
    tls: tls::Connector,
    place: PathBuf,
    wait: Duration,
    most: usize,
    idle: Mutex<Idle>,
    returned: Condvar,
    known: Mutex<HashMap<(String, String), Arc<Known>>>,
    batches: Batches,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("place", &self.place).finish_non_exhaustive()
    }
}

struct Idle {
    free: Vec<Connection>,
    open: usize,
}

/// The address without its secrets.
fn place(config: &Config) -> PathBuf {
    let host = match config.get_hosts().first() {
        Some(tokio_postgres::config::Host::Tcp(host)) => host.clone(),
        Some(tokio_postgres::config::Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    format!("postgres://{host}{port}/{}", config.get_dbname().unwrap_or_default()).into()
}

impl PostgresPool {
    /// The chain of a project of a tenant. Created with its first record.
    ///
    /// # Errors
    /// When a name is empty, longer than 200 bytes or has characters that cannot be shown.
    pub fn store(&self, tenant: &str, project: &str) -> Result<PostgresStore, StoreError> {
        for name in [tenant, project] {
            if name.is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
                return Err(StoreError::other(format!(
                    "`{}` cannot name a tenant or a project: one to 200 bytes without control characters",
                    name.escape_debug()
                )));
            }
        }
        Ok(PostgresStore {
            pool: Arc::clone(&self.pool),
            tenant: tenant.to_owned(),
            project: project.to_owned(),
            sealer: Sealer::default(),
            known: self.pool.known(tenant, project),
        })
    }

    /// The projects of a tenant that have a chain.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn projects(&self, tenant: &str) -> Result<Vec<String>, StoreError> {
        self.pool.with(|connection, failure| {
            let sql = "SELECT project FROM lictor.head WHERE tenant = $1 ORDER BY project";
            let rows = connection.begin_read(tenant, sql, &[&tenant]).map_err(|error| failure.of(&error))?;
            connection.rollback();
            rows.iter().map(|row| row.try_get(0).map_err(|error| failure.of(&error))).collect()
        })
    }

    /// Drops the monthly partitions in which every record was pruned, and returns their names. For the role that owns
    /// the tables.
    ///
    /// # Errors
    /// When the database cannot be changed.
    pub fn reclaim(&self) -> Result<Vec<String>, StoreError> {
        self.pool.with(|connection, failure| schema::reclaim(connection).map_err(|error| failure.of(&error)))
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// When it does not.
    pub fn ping(&self) -> Result<(), StoreError> {
        self.pool.with(|connection, failure| {
            connection.query("SELECT 1", &[]).map(drop).map_err(|error| failure.of(&error))
        })
    }
}

impl Pool {
    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cache of a chain. When there are very many, unused ones are dropped.
    fn known(&self, tenant: &str, project: &str) -> Arc<Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KNOWN {
            known.retain(|_, known| Arc::strong_count(known) > 1);
        }
        Arc::clone(known.entry((tenant.to_owned(), project.to_owned())).or_default())
    }

    fn failure(&self) -> Failure<'_> {
        Failure { place: &self.place, wait: self.wait }
    }

    /// Runs `f` with a connection from the pool, and returns the connection afterwards.
    fn with<T>(
        &self,
        f: impl FnOnce(&mut Connection, Failure<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut lent = self.lend()?;
        let Some(connection) = lent.connection.as_mut() else { return Err(StoreError::Abandoned) };
        f(connection, self.failure())
    }

    fn lend(&self) -> Result<Lent<'_>, StoreError> {
        let deadline = Instant::now() + self.wait;
        let mut idle = self.idle();
        let mut full = false;
        loop {
            while let Some(connection) = idle.free.pop() {
                if connection.is_alive() {
                    return Ok(Lent { pool: self, connection: Some(connection) });
                }
                idle.open = idle.open.saturating_sub(1);
            }
            if !full && idle.open < self.most {
                idle.open += 1;
                drop(idle);
                // Counted already: dropping it without a connection releases the count.
                let mut lent = Lent { pool: self, connection: None };
                match Connection::open(&self.config, &self.tls, self.wait) {
                    Ok(connection) => {
                        lent.connection = Some(connection);
                        return Ok(lent);
                    }
                    // The server refuses more connections: wait for an open one to be returned.
                    Err(NotOpened::Refused(error))
                        if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS) =>
                    {
                        drop(lent);
                        idle = self.idle();
                        if idle.open == 0 {
                            return Err(self.failure().of(&error));
                        }
                        full = true;
                        continue;
                    }
                    Err(NotOpened::Refused(error)) => return Err(self.failure().of(&error)),
                    Err(NotOpened::System(error)) => return Err(StoreError::other(error)),
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.failure().busy());
            }
            idle = self.returned.wait_timeout(idle, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A borrowed connection. Rolls back uncommitted changes, including when the closure panics.
struct Lent<'a> {
    pool: &'a Pool,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let usable = self.connection.take().filter(Connection::is_open).and_then(Connection::cleaned);
        let mut idle = self.pool.idle();
        match usable {
            Some(connection) => idle.free.push(connection),
            None => idle.open = idle.open.saturating_sub(1),
        }
        drop(idle);
        self.pool.returned.notify_one();
    }
}

/// One chain in a PostgreSQL database.
#[derive(Debug, Clone)]
pub struct PostgresStore {
    pool: Arc<Pool>,
    tenant: String,
    project: String,
    sealer: Sealer,
    known: Arc<Known>,
}

impl PostgresStore {
    /// The keys that seal writes and check reads. They must be stored outside the database.
    #[must_use]
    pub fn keys(mut self, keys: Keyring) -> Self {
        self.sealer.keys = Some(keys);
        self
    }

    /// As [`SqliteOptions::adopt`](crate::SqliteOptions::adopt).
    #[must_use]
    pub fn adopt(mut self, adopt: bool) -> Self {
        self.sealer.adopt = adopt;
        self
    }

    fn chain(&self) -> Chain<'_> {
        let known = self.sealer.keys.is_some().then_some(&*self.known);
        Chain { tenant: &self.tenant, project: &self.project, known }
    }

    /// The database address without its secrets.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.pool.place
    }
}

impl PostgresStore {
    /// Waits for the other writers of this process. A chain without keys has no cache, so its writers need not
    /// wait here.
    fn alone(&self) -> Result<Option<OnlyWriter<'_>>, StoreError> {
        match self.chain().known {
            None => Ok(None),
            Some(known) => known.alone(self.pool.wait).map(Some).ok_or_else(|| self.pool.failure().busy()),
        }
    }

    /// The cached chain, for readers that do not query the database.
    fn remembered(&self) -> Option<Rows<'_>> {
        let chain = self.chain();
        let last = chain.known?.last()?;
        Some(Rows::remembered(self.pool.failure(), chain, last))
    }

    /// Applies `f` to the cached chain if the cache is still current; `false` when `f` has to run on the
    /// database.
    fn write_remembered(
        &self,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        let Some(rows) = self.remembered().filter(Rows::has_month) else { return Ok(false) };
        let mut tx = Sealed::new(rows, &self.sealer);
        match f(&mut tx) {
            Ok(()) => {}
            Err(StoreError::Abandoned) if !tx.tables().lacks() => return Err(StoreError::Abandoned),
            // An error on the cached state may not occur on the current one.
            Err(_) => return Ok(false),
        }
        let Some(rows) = tx.finish().ok().filter(|rows| !rows.lacks()) else { return Ok(false) };
        rows.commit_by(|change| self.pool.batches.carry_out(&self.pool, change))
    }

    fn write_locked(
        &self,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.pool.with(|connection, failure| {
            let mut tx = Sealed::new(Rows::locking(connection, failure, self.chain())?, &self.sealer);
            f(&mut tx)?;
            tx.finish()?.commit()
        })
    }
}

impl Store for PostgresStore {
    fn read(&self, f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.pool.with(|connection, failure| {
            let reading = Sealed::new(Rows::reading(connection, failure, self.chain())?, &self.sealer);
            f(&reading)?;
            reading.into_tables().leave();
            Ok(())
        })
    }

    fn write(
        &self,
        _: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let _alone = self.alone()?;
        self.write_locked(f)
    }

    fn read_cached(
        &self,
        f: &mut dyn FnMut(&dyn View) -> Result<(), StoreError>,
    ) -> Result<Freshness, StoreError> {
        if let Some(rows) = self.remembered() {
            let reading = Sealed::new(rows, &self.sealer);
            if f(&reading).is_ok() && !reading.into_tables().lacks() {
                return Ok(Freshness::Cached);
            }
        }
        self.read(f).map(|()| Freshness::Current)
    }

    fn write_retrying(
        &self,
        _: Durability,
        f: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let _alone = self.alone()?;
        if self.write_remembered(f)? { Ok(()) } else { self.write_locked(f) }
    }
}
