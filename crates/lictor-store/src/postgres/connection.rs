//! One connection with its prepared statements.
//!
//! Statements whose result is not needed are pipelined with the next one: a round trip takes longer than most of
//! the work in the database.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Row, Statement};

use super::tls::Connector;

/// Sets the tenant whose rows a transaction sees. Prepared, like every frequent statement: parsing takes the
/// database longer than execution.
const AS_TENANT: &str = "SELECT set_config('lictor.tenant', $1, true)";

/// The minimum idle timeout of a transaction. The database ends an idle transaction after twice the lock wait,
/// but not before this: a machine that disappears during a change must not keep its chain locked.
const SHORTEST_IDLE: Duration = Duration::from_secs(1);

/// The timeout for closing a connection.
const LEAVE: Duration = Duration::from_secs(1);

pub(super) struct Connection {
    client: Client,
    statements: HashMap<String, Statement>,
    in_transaction: bool,
    /// Declared after the client, so that it is dropped later: it closes the connection when the client is gone.
    driver: Driver,
}

/// Drives the connection's I/O while a caller waits for a result.
struct Driver {
    runtime: Runtime,
    connection: JoinHandle<Result<(), Error>>,
}

impl Drop for Driver {
    fn drop(&mut self) {
        let connection = &mut self.connection;
        // An unresponsive database must not delay the shutdown.
        let _ = self.runtime.block_on(async { tokio::time::timeout(LEAVE, connection).await });
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum NotOpened {
    /// An error of the database or the network.
    Refused(Error),
    /// The system error.
    System(std::io::Error),
}

/// A transaction that failed, as far as is known.
pub(super) struct Undone {
    pub(super) error: Error,
    /// Whether it certainly failed: the database reported it before the commit was sent.
    pub(super) rolled_back: bool,
}

/// Waits for all futures. The first poll starts them in order.
async fn all_of<F: Future + Unpin>(mut futures: Vec<F>) -> Vec<F::Output> {
    let mut outputs: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut ready = true;
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            if output.is_none() {
                match Pin::new(future).poll(context) {
                    Poll::Ready(value) => *output = Some(value),
                    Poll::Pending => ready = false,
                }
            }
        }
        if ready { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

impl Connection {
    /// A connection with this lock timeout, whose commits wait for the disk.
    pub(super) fn open(config: &Config, tls: &Connector, wait: Duration) -> Result<Self, NotOpened> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(NotOpened::System)?;
        let opened = runtime.block_on(async {
            Ok(match tls {
                Connector::Plain => {
                    let (client, connection) = config.connect(NoTls).await?;
                    (client, tokio::spawn(connection))
                }
                Connector::Tls(tls) => {
                    let (client, connection) = config.connect(tls.clone()).await?;
                    (client, tokio::spawn(connection))
                }
            })
        });
        let (client, connection) = opened.map_err(NotOpened::Refused)?;
        let driver = Driver { runtime, connection };
        let mut connection = Self { client, statements: HashMap::new(), in_transaction: false, driver };
        let wait = wait.as_millis().clamp(1, 3_600_000);
        let idle = (2 * wait).max(SHORTEST_IDLE.as_millis());
        let settings = format!(
            "SET synchronous_commit = on; SET lock_timeout = {wait}; SET idle_in_transaction_session_timeout = {idle}"
        );
        connection.batch(&settings).map_err(NotOpened::Refused)?;
        Ok(connection)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.client.is_closed()
    }

    /// Whether the connection is still open, as far as this end knows. Nothing is sent: a statement on a
    /// connection that turns out to be closed may have been executed, so it cannot be retried.
    pub(super) fn is_alive(&self) -> bool {
        // The driver runs only while a caller waits, so an idle connection has not noticed yet that the server
        // closed it. The first poll learns that there is something to read, the second reads it.
        self.driver.runtime.block_on(async {
            for _ in 0..2 {
                tokio::task::yield_now().await;
            }
        });
        self.is_open()
    }

    /// The connection without an open transaction; `None` when the rollback fails.
    pub(super) fn cleaned(mut self) -> Option<Self> {
        if self.in_transaction {
            self.batch("ROLLBACK").ok()?;
            self.in_transaction = false;
        }
        Some(self)
    }

    /// Begins a read transaction as this tenant and runs the first query.
    pub(super) fn begin_read(
        &mut self,
        tenant: &str,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", tenant, sql, values)
    }

    /// Begins a write transaction as this tenant and runs the first query.
    pub(super) fn begin_write(
        &mut self,
        tenant: &str,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.begin_with("BEGIN", tenant, sql, values)
    }

    fn begin_with(
        &mut self,
        begin: &str,
        tenant: &str,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let (named, statement) = (self.statement(AS_TENANT)?, self.statement(sql)?);
        self.in_transaction = true;
        let (client, who): (_, [&(dyn ToSql + Sync); 1]) = (&self.client, [&tenant]);
        let all = async {
            tokio::join!(
                client.batch_execute(begin),
                client.query(&named, &who),
                client.query(&statement, values)
            )
        };
        let (begun, named, rows) = self.driver.runtime.block_on(all);
        begun?;
        named?;
        rows
    }

    pub(super) fn begin(&mut self, sql: &str) -> Result<(), Error> {
        self.in_transaction = true;
        self.batch(sql)
    }

    pub(super) fn commit(&mut self) -> Result<(), Error> {
        self.batch("COMMIT")?;
        self.in_transaction = false;
        Ok(())
    }

    /// Executes the last statement of a transaction and commits. Returns the rows of the statement.
    pub(super) fn query_and_commit(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let statement = self.statement(sql)?;
        let client = &self.client;
        let both = async { tokio::join!(client.query(&statement, values), client.batch_execute("COMMIT")) };
        let (rows, committed) = self.driver.runtime.block_on(both);
        // After a failed statement the database treats `COMMIT` as `ROLLBACK`, and reports no error.
        if committed.is_ok() {
            self.in_transaction = false;
        }
        let rows = rows?;
        committed?;
        Ok(rows)
    }

    /// Executes a statement for each of several tenants in one transaction and one round trip. Returns the rows
    /// of each.
    pub(super) fn write_all(
        &mut self,
        sql: &str,
        writes: &[(&str, &[&(dyn ToSql + Sync)])],
    ) -> Result<Vec<Vec<Row>>, Undone> {
        let prepared = |connection: &mut Self, sql| {
            connection.statement(sql).map_err(|error| Undone { error, rolled_back: true })
        };
        let (named, statement) = (prepared(self, AS_TENANT)?, prepared(self, sql)?);
        self.in_transaction = true;
        let client = &self.client;
        let (named, statement) = (&named, &statement);
        let mut all_writes = Vec::with_capacity(writes.len());
        for (tenant, values) in writes {
            all_writes.push(Box::pin(async move {
                let who: [&(dyn ToSql + Sync); 1] = [tenant];
                let (named, rows) =
                    tokio::join!(biased; client.query(named, &who), client.query(statement, values));
                named?;
                rows
            }));
        }
        let all = async {
            tokio::join!(biased; client.batch_execute("BEGIN"), all_of(all_writes), client.batch_execute("COMMIT"))
        };
        let (begun, written, committed) = self.driver.runtime.block_on(all);
        if committed.is_ok() {
            self.in_transaction = false;
        }
        // After a failed statement the database treats `COMMIT` as `ROLLBACK`, and reports no error.
        let failed = |error: Error| Undone { rolled_back: error.as_db_error().is_some(), error };
        begun.map_err(failed)?;
        let rows = written.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)?;
        committed.map_err(|error| Undone { error, rolled_back: false })?;
        Ok(rows)
    }

    /// Ends a read-only transaction. If this fails, the connection is dropped when it is returned.
    pub(super) fn rollback(&mut self) {
        if self.batch("ROLLBACK").is_ok() {
            self.in_transaction = false;
        }
    }

    pub(super) fn batch(&mut self, sql: &str) -> Result<(), Error> {
        self.driver.runtime.block_on(self.client.batch_execute(sql))
    }

    pub(super) fn query(&mut self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        let statement = self.statement(sql)?;
        self.driver.runtime.block_on(self.client.query(&statement, values))
    }

    /// Plans the query for these values. A prepared statement gets a generic plan after a while, which searches
    /// for a rare kind with a full scan.
    pub(super) fn query_planned(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.driver.runtime.block_on(self.client.query(sql, values))
    }

    pub(super) fn execute(&mut self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        let statement = self.statement(sql)?;
        self.driver.runtime.block_on(self.client.execute(&statement, values))
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, Error> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.driver.runtime.block_on(self.client.prepare(sql))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// A string as SQL reads it.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
