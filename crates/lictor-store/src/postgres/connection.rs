//! One connection with its prepared statements.
//!
//! What does not wait for an answer is sent together with what comes next: each way to the database and back takes longer
//! than most of the work that is done there.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Row, Statement};

use super::tls::Connector;

/// Whose rows a transaction sees. Prepared, as everything else that is said often: reading a statement takes the database
/// longer than carrying it out.
const AS_TENANT: &str = "SELECT set_config('lictor.tenant', $1, true)";

/// The database ends a transaction whose client says nothing for twice as long as others wait for it, and never sooner than
/// this: a machine that is gone in the middle of a change must not hold its chain.
const SHORTEST_IDLE: Duration = Duration::from_secs(1);

/// How long it may take to take leave of a database.
const LEAVE: Duration = Duration::from_secs(1);

pub(super) struct Connection {
    client: Client,
    statements: HashMap<String, Statement>,
    in_transaction: bool,
    /// After the client: it takes leave of the database when that is gone.
    driver: Driver,
}

/// Moves what is sent and received, while somebody waits for an answer.
struct Driver {
    runtime: Runtime,
    connection: JoinHandle<Result<(), Error>>,
}

impl Drop for Driver {
    fn drop(&mut self) {
        let connection = &mut self.connection;
        // Who does not answer any more is not waited for.
        let _ = self.runtime.block_on(async { tokio::time::timeout(LEAVE, connection).await });
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum NotOpened {
    /// What the database said, or the network.
    Refused(Error),
    /// What the system said.
    System(std::io::Error),
}

/// A transaction that was not carried out, as far as is known.
pub(super) struct Undone {
    pub(super) error: Error,
    /// For certain: the database said so before it was asked to commit.
    pub(super) rolled_back: bool,
}

/// Waits for all of them. Each is begun in its order before any is waited for.
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
    /// A connection whose writers wait so long for each other, and for the disk before they are told of a commit.
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

    /// Whether the database still listens, as far as this end of the connection can know. Nothing is sent: what is sent
    /// over a connection that turns out to be closed may have been carried out, so it cannot be tried again.
    pub(super) fn is_alive(&self) -> bool {
        // The driver moves only while somebody waits, so an idle connection has not seen yet that the other end is gone.
        // The first turn learns that there is something to read, the second reads it.
        self.driver.runtime.block_on(async {
            for _ in 0..2 {
                tokio::task::yield_now().await;
            }
        });
        self.is_open()
    }

    /// Without a transaction; `None` when that cannot be had.
    pub(super) fn cleaned(mut self) -> Option<Self> {
        if self.in_transaction {
            self.batch("ROLLBACK").ok()?;
            self.in_transaction = false;
        }
        Some(self)
    }

    /// Begins to read as that tenant, and reads something.
    pub(super) fn begin_read(
        &mut self,
        tenant: &str,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", tenant, sql, values)
    }

    /// Begins to write as that tenant, and reads something.
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

    /// Carries out the last statement of a transaction, and commits. Returns the rows of the statement.
    pub(super) fn query_and_commit(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let statement = self.statement(sql)?;
        let client = &self.client;
        let both = async { tokio::join!(client.query(&statement, values), client.batch_execute("COMMIT")) };
        let (rows, committed) = self.driver.runtime.block_on(both);
        // After a statement that failed, the database takes `COMMIT` for `ROLLBACK`, and says so without an error.
        if committed.is_ok() {
            self.in_transaction = false;
        }
        let rows = rows?;
        committed?;
        Ok(rows)
    }

    /// Carries out a statement for each of several tenants in one transaction, all on one way to the database and back.
    /// Returns the rows of each.
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
        // After a statement that failed, the database takes `COMMIT` for `ROLLBACK`, and says so without an error.
        let failed = |error: Error| Undone { rolled_back: error.as_db_error().is_some(), error };
        begun.map_err(failed)?;
        let rows = written.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)?;
        committed.map_err(|error| Undone { error, rolled_back: false })?;
        Ok(rows)
    }

    /// Ends a transaction that only read. Should it fail, the connection is dropped when it is given back.
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

    /// Planned for these values. A statement that is kept is planned without them after a while, and then a kind that
    /// is rare is looked for as if it were common: by reading everything.
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
