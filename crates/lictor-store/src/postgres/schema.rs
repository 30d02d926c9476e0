//! The tables and their migrations. Forward only, under a lock, all steps or none.

use super::connection::{Connection, literal};
use super::failure::Failure;
use crate::StoreError;

/// Text cannot hold the character 0 here; see `rows::escaped`. Hashes are over the original text.
///
/// A key may be longer than an index can hold, so entries are found by its hash, and in order by its start;
/// records by the start of their kind and session. Those starts are separate columns: under row-level security an
/// expression index is used only if its functions are leakproof, and these are not. A unique key on a partitioned
/// table must contain the partition key, so the locked row in `head`, not an index, ensures that numbers are
/// unique.
const STEPS: [&str; 3] = ["
CREATE TABLE lictor.tenant (name text PRIMARY KEY);
CREATE TABLE lictor.head (
  tenant text NOT NULL, project text NOT NULL, seq bigint NOT NULL, hash bytea NOT NULL, seal bytea,
  base_seq bigint NOT NULL, base_hash bytea NOT NULL, received timestamptz NOT NULL,
  PRIMARY KEY (tenant, project)
);
CREATE TABLE lictor.log (
  tenant text NOT NULL, project text NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, received timestamptz NOT NULL,
  agent text, session text, kind text NOT NULL, prev bytea NOT NULL, hash bytea NOT NULL, body text NOT NULL, seal bytea
) PARTITION BY RANGE (received);
CREATE INDEX log_by_number ON lictor.log (tenant, project, seq);
CREATE TABLE lictor.entry (
  tenant text NOT NULL, project text NOT NULL, space text NOT NULL, key bytea NOT NULL, value bytea NOT NULL, seal bytea
);
CREATE UNIQUE INDEX entry_by_key ON lictor.entry (tenant, project, space, sha256(key));
CREATE INDEX entry_in_order ON lictor.entry (tenant, project, space, substring(key FROM 1 FOR 500));
ALTER TABLE lictor.head ENABLE ROW LEVEL SECURITY; ALTER TABLE lictor.head FORCE ROW LEVEL SECURITY;
ALTER TABLE lictor.log ENABLE ROW LEVEL SECURITY; ALTER TABLE lictor.log FORCE ROW LEVEL SECURITY;
ALTER TABLE lictor.entry ENABLE ROW LEVEL SECURITY; ALTER TABLE lictor.entry FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON lictor.head USING (tenant = current_setting('lictor.tenant', true));
CREATE POLICY own ON lictor.log USING (tenant = current_setting('lictor.tenant', true));
CREATE POLICY own ON lictor.entry USING (tenant = current_setting('lictor.tenant', true));
CREATE FUNCTION lictor.make_month(day timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
DECLARE
  first timestamptz := date_trunc('month', day, 'UTC');
  next timestamptz := date_trunc('month', day, 'UTC') + interval '1 month';
  wanted text := 'log_' || to_char(first AT TIME ZONE 'UTC', 'YYYY_MM');
BEGIN
  PERFORM pg_advisory_xact_lock(5499061, 2);
  IF NOT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE n.nspname = 'lictor' AND c.relname = wanted) THEN
    EXECUTE format('CREATE TABLE lictor.%I PARTITION OF lictor.log FOR VALUES FROM (%L) TO (%L)', wanted, first, next);
    EXECUTE format('ALTER TABLE lictor.%I ENABLE ROW LEVEL SECURITY', wanted);
    EXECUTE format('ALTER TABLE lictor.%I FORCE ROW LEVEL SECURITY', wanted);
  END IF;
END $$;
", "
CREATE INDEX log_by_kind ON lictor.log (tenant, project, left(kind, 60), seq);
CREATE INDEX log_by_session ON lictor.log (tenant, project, left(session, 120), seq);
", "
ALTER TABLE lictor.log ADD COLUMN kind_start text GENERATED ALWAYS AS (left(kind, 60)) STORED,
  ADD COLUMN session_start text GENERATED ALWAYS AS (left(session, 120)) STORED;
ALTER TABLE lictor.entry ADD COLUMN key_start bytea GENERATED ALWAYS AS (substring(key FROM 1 FOR 500)) STORED;
DROP INDEX lictor.log_by_kind;
DROP INDEX lictor.log_by_session;
DROP INDEX lictor.entry_in_order;
CREATE INDEX log_by_kind ON lictor.log (tenant, project, kind_start, seq);
CREATE INDEX log_by_session ON lictor.log (tenant, project, session_start, seq);
CREATE INDEX entry_in_order ON lictor.entry (tenant, project, space, key_start);
"];

/// Brings the tables up to date.
pub(super) fn migrate(connection: &mut Connection, failure: Failure<'_>) -> Result<(), StoreError> {
    let known = u32::try_from(STEPS.len()).unwrap_or(u32::MAX);
    let check = |found: u32| match found {
        found if found > known => {
            Err(StoreError::NewerSchema { file: failure.place.to_owned(), found, known })
        }
        found => Ok(found == known),
    };
    let failed = |error: tokio_postgres::Error| failure.of(&error);
    // Usually there is nothing to migrate, and many roles may not.
    if let Some(found) = version(connection).map_err(failed)?
        && check(found)?
    {
        return Ok(());
    }
    connection.begin("BEGIN; SELECT pg_advisory_xact_lock(5499061, 1)").map_err(failed)?;
    let found = version(connection).map_err(failed)?;
    let from = found.unwrap_or(0);
    if check(from)? {
        connection.rollback();
        return Ok(());
    }
    if found.is_none() {
        connection
            .batch("CREATE SCHEMA IF NOT EXISTS lictor; CREATE TABLE lictor.schema_version (version int NOT NULL); INSERT INTO lictor.schema_version VALUES (0)")
            .map_err(failed)?;
    }
    for step in STEPS.iter().skip(usize::try_from(from).unwrap_or(usize::MAX)) {
        connection.batch(step).map_err(failed)?;
    }
    connection.batch(&format!("UPDATE lictor.schema_version SET version = {known}")).map_err(failed)?;
    connection.commit().map_err(failed)
}

fn version(connection: &mut Connection) -> Result<Option<u32>, tokio_postgres::Error> {
    // Read from the catalogue: a failed name lookup is cached as missing.
    let there =
        "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'lictor' AND tablename = 'schema_version'";
    if connection.query(there, &[])?.is_empty() {
        return Ok(None);
    }
    let rows = connection.query("SELECT version FROM lictor.schema_version", &[])?;
    let version: i32 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
    Ok(Some(u32::try_from(version).unwrap_or(0)))
}

/// Drops the partitions of past months in which no chain has a record after its base.
pub(super) fn reclaim(connection: &mut Connection) -> Result<Vec<String>, tokio_postgres::Error> {
    connection.begin("BEGIN; SELECT pg_advisory_xact_lock(5499061, 2)")?;
    let rows = connection.query(
        "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'lictor.log'::regclass AND c.relname < 'log_' || to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM')
         ORDER BY c.relname",
        &[],
    )?;
    let partitions: Vec<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let rows = connection.query("SELECT name FROM lictor.tenant", &[])?;
    let tenants: Vec<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let mut dropped = Vec::new();
    for partition in partitions {
        let mut needed = false;
        for tenant in &tenants {
            connection.batch(&format!("SELECT set_config('lictor.tenant', {}, true)", literal(tenant)))?;
            // Partitions have their own row security without a policy: they are read through the parent table.
            let rows = connection.query(
                "SELECT EXISTS (SELECT 1 FROM lictor.log l JOIN lictor.head h USING (tenant, project)
                 WHERE l.tableoid = to_regclass('lictor.' || quote_ident($1::text)) AND l.seq > h.base_seq)",
                &[&partition],
            )?;
            needed |= rows.first().is_none_or(|row| row.try_get(0).unwrap_or(true));
        }
        if !needed {
            connection.batch(&format!(
                "ALTER TABLE lictor.log DETACH PARTITION lictor.\"{partition}\"; DROP TABLE lictor.\"{partition}\""
            ))?;
            dropped.push(partition);
        }
    }
    connection.commit()?;
    Ok(dropped)
}
