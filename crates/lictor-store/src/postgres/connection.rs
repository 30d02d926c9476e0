//! One connection with its prepared statements.

use std::collections::HashMap;
use std::time::Duration;

use postgres::types::ToSql;
use postgres::{Client, Config, Error, Row, Statement};

use super::tls::Connector;

pub(super) struct Connection {
    client: Client,
    statements: HashMap<String, Statement>,
    in_transaction: bool,
}

impl Connection {
    pub(super) fn open(config: &Config, tls: &Connector) -> Result<Self, Error> {
        let client = match tls {
            Connector::Plain => config.connect(postgres::NoTls)?,
            Connector::Tls(tls) => config.connect(tls.clone())?,
        };
        Ok(Self { client, statements: HashMap::new(), in_transaction: false })
    }

    pub(super) fn is_open(&self) -> bool {
        !self.client.is_closed()
    }

    /// Without a transaction; `None` when that cannot be had.
    pub(super) fn cleaned(mut self) -> Option<Self> {
        if self.in_transaction {
            self.client.batch_execute("ROLLBACK").ok()?;
            self.in_transaction = false;
        }
        Some(self)
    }

    pub(super) fn begin_read(&mut self, tenant: &str) -> Result<(), Error> {
        let tenant = literal(tenant);
        self.begin(&format!(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT set_config('lictor.tenant', {tenant}, true)"
        ))
    }

    pub(super) fn begin_write(&mut self, tenant: &str, wait: Duration) -> Result<(), Error> {
        let (tenant, wait) = (literal(tenant), wait.as_millis().clamp(1, 3_600_000));
        self.begin(&format!(
            "BEGIN; SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = {wait}; SELECT set_config('lictor.tenant', {tenant}, true)"
        ))
    }

    pub(super) fn begin(&mut self, sql: &str) -> Result<(), Error> {
        self.in_transaction = true;
        self.client.batch_execute(sql)
    }

    pub(super) fn commit(&mut self) -> Result<(), Error> {
        self.client.batch_execute("COMMIT")?;
        self.in_transaction = false;
        Ok(())
    }

    /// Ends a transaction that only read. Should it fail, the connection is dropped when it is given back.
    pub(super) fn rollback(&mut self) {
        if self.client.batch_execute("ROLLBACK").is_ok() {
            self.in_transaction = false;
        }
    }

    pub(super) fn batch(&mut self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql)
    }

    pub(super) fn query(&mut self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        let statement = self.statement(sql)?;
        self.client.query(&statement, values)
    }

    /// Planned for these values. A statement that is kept is planned without them after a while, and then a kind that
    /// is rare is looked for as if it were common: by reading everything.
    pub(super) fn query_planned(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.client.query(sql, values)
    }

    pub(super) fn execute(&mut self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        let statement = self.statement(sql)?;
        self.client.execute(&statement, values)
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, Error> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// A string as SQL reads it.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
