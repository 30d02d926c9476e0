//! Batches changes of several chains into one commit.
//!
//! Waiting for the disk takes longer than writing a change, and each round trip to the database wakes two
//! processes. A thread that finds no active writer therefore writes its own change together with all waiting
//! ones, and then makes one of the later arrivals the next writer. A change is acknowledged only after the
//! commit.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::Row;

use super::Pool;
use super::change::{Change, Columns, WRITE};
use super::connection::{Connection, Undone};
use super::failure::Failure;
use crate::StoreError;

/// How many batches are written at a time: while one waits for the disk, the next is processed.
const AT_A_TIME: usize = 2;
/// So many changes share a commit.
const MOST_CHANGES: usize = 64;
/// The maximum number of bytes.
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// How many lock timeouts a change waits for its turn: a locked chain in a batch makes it wait twice, once in the
/// batch and once alone.
const PATIENCE: u32 = 3;

/// The result of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Written,
    /// The end of the chain has moved. Nothing was written.
    Moved,
}

/// The changes that wait.
#[derive(Default)]
pub(super) struct Batches {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Arc<Ticket>>,
    writing: usize,
}

/// A change with the state that its owner waits for.
struct Ticket {
    change: Change,
    turn: Mutex<Turn>,
    told: Condvar,
}

enum Turn {
    Waits,
    /// The owner must write the next batch, beginning with its own change.
    Writes,
    Over(Result<Outcome, StoreError>),
}

impl Ticket {
    fn turn(&self) -> MutexGuard<'_, Turn> {
        // A poisoned lock is harmless: no invariant is broken while it is held.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, turn: Turn) {
        *self.turn() = turn;
        self.told.notify_one();
    }

    /// Waits at most `time` for its turn or its result; `false` on timeout.
    fn wait_for(&self, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        let mut turn = self.turn();
        while matches!(*turn, Turn::Waits) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            turn = self.told.wait_timeout(turn, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Waits for the result; `None` when the owner must write it.
    fn wait(&self) -> Option<Result<Outcome, StoreError>> {
        let mut turn = self.turn();
        loop {
            match std::mem::replace(&mut *turn, Turn::Waits) {
                Turn::Over(outcome) => return Some(outcome),
                Turn::Writes => return None,
                Turn::Waits => turn = self.told.wait(turn).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl Batches {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes a change, batched with those of others.
    pub(super) fn carry_out(&self, pool: &Pool, change: Change) -> Result<Outcome, StoreError> {
        let ticket = Arc::new(Ticket { change, turn: Mutex::new(Turn::Waits), told: Condvar::new() });
        let mut state = self.state();
        let waits = state.writing >= AT_A_TIME;
        if waits {
            state.waiting.push_back(Arc::clone(&ticket));
        } else {
            state.writing += 1;
        }
        drop(state);
        if waits {
            // The queue must not grow while the database does not respond. A change that is already being written
            // cannot be withdrawn.
            let wait = pool.wait.saturating_mul(PATIENCE);
            if !ticket.wait_for(wait) && self.withdrawn(&ticket) {
                return Err(Failure { wait, ..pool.failure() }.busy());
            }
            if let Some(outcome) = ticket.wait() {
                return outcome;
            }
        }
        // From here on this thread is the writer, and hands over to another one afterwards.
        let _writer = Writer { of: self };
        let mut lent = pool.lend()?;
        let Some(connection) = lent.connection.as_mut() else { return Err(StoreError::Abandoned) };
        self.batch(&ticket).write(connection, pool.failure());
        ticket.wait().unwrap_or(Err(StoreError::Abandoned))
    }

    /// Withdraws a change, if its write has not begun.
    fn withdrawn(&self, ticket: &Arc<Ticket>) -> bool {
        let mut state = self.state();
        let place = state.waiting.iter().position(|waiting| Arc::ptr_eq(waiting, ticket));
        place.and_then(|place| state.waiting.remove(place)).is_some()
    }

    /// That change and those that wait.
    fn batch(&self, first: &Arc<Ticket>) -> Batch {
        let mut tickets = vec![Arc::clone(first)];
        let mut bytes = first.change.pending.bytes;
        let mut state = self.state();
        while tickets.len() < MOST_CHANGES
            && bytes < MOST_BYTES
            && let Some(next) = state.waiting.pop_front()
        {
            bytes += next.change.pending.bytes;
            tickets.push(next);
        }
        drop(state);
        // All writers lock the rows of their chains in the same order, which prevents deadlocks.
        tickets.sort_by(|one, other| one.change.chain().cmp(&other.change.chain()));
        Batch { tickets }
    }
}

/// The active writer. On drop it hands over to the next one.
struct Writer<'a> {
    of: &'a Batches,
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let mut state = self.of.state();
        match state.waiting.pop_front() {
            Some(next) => next.tell(Turn::Writes),
            None => state.writing = state.writing.saturating_sub(1),
        }
    }
}

/// Changes that are written together.
struct Batch {
    /// The tickets without a result.
    tickets: Vec<Arc<Ticket>>,
}

impl Batch {
    fn write(mut self, connection: &mut Connection, failure: Failure<'_>) {
        let changes: Vec<&Change> = self.tickets.iter().map(|ticket| &ticket.change).collect();
        match written(connection, &changes) {
            Ok(outcomes) => {
                for (ticket, outcome) in self.tickets.drain(..).zip(outcomes) {
                    ticket.tell(Turn::Over(Ok(outcome)));
                }
            }
            // One change failed and the others can succeed without it. A batch that may have been committed is
            // not retried.
            Err(Undone { rolled_back: true, .. }) if self.tickets.len() > 1 => {
                for ticket in self.tickets.drain(..) {
                    let alone = written(connection, &[&ticket.change]);
                    let outcome = alone.map(|all| all.first().copied().unwrap_or(Outcome::Moved));
                    ticket.tell(Turn::Over(outcome.map_err(|undone| failure.of(&undone.error))));
                }
            }
            Err(undone) => {
                for ticket in self.tickets.drain(..) {
                    ticket.tell(Turn::Over(Err(failure.of(&undone.error))));
                }
            }
        }
    }
}

impl Drop for Batch {
    /// Threads must not wait forever for a writer that panicked.
    fn drop(&mut self) {
        for ticket in self.tickets.drain(..) {
            ticket.tell(Turn::Over(Err(StoreError::Abandoned)));
        }
    }
}

/// Carries out changes in one transaction.
fn written(connection: &mut Connection, changes: &[&Change]) -> Result<Vec<Outcome>, Undone> {
    let columns: Vec<Columns<'_>> = changes.iter().map(|change| Columns::of(change)).collect();
    let values: Vec<_> = columns.iter().map(|columns| (columns.tenant(), columns.values())).collect();
    let statements: Vec<_> = values.iter().map(|(tenant, values)| (*tenant, values.as_slice())).collect();
    let rows = connection.write_all(WRITE, &statements)?;
    let outcome = |rows: Vec<Row>| if rows.is_empty() { Outcome::Moved } else { Outcome::Written };
    Ok(rows.into_iter().map(outcome).collect())
}

#[cfg(test)]
mod tests;
