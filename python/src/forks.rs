//! A fork waits until no other thread is inside an engine. A lock that such a thread holds would stay locked in the child for
//! ever; SQLite too keeps in memory which files its process has locked, also for connections that the child opens anew.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Not a lock: it could be held itself when the process forks.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
static FORKING: AtomicBool = AtomicBool::new(false);

/// How long a fork waits at most. Only a program that a completion check runs takes longer.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_micros(50);

thread_local! {
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

/// Counts the thread, or does not, and goes back to what was before.
struct Counted {
    before: bool,
}

impl Counted {
    fn set(counted: bool) -> Self {
        let before = COUNTED.replace(counted);
        Self::change(before, counted);
        Self { before }
    }

    fn change(from: bool, to: bool) {
        match (from, to) {
            (false, true) => enter(),
            (true, false) => drop(INSIDE.fetch_sub(1, Ordering::SeqCst)),
            _ => {}
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        Self::change(COUNTED.replace(self.before), self.before);
    }
}

fn enter() {
    loop {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        if !FORKING.load(Ordering::SeqCst) {
            return;
        }
        INSIDE.fetch_sub(1, Ordering::SeqCst);
        thread::sleep(PAUSE);
    }
}

/// Gives the interpreter away and runs a part of an engine, which may take locks.
pub(crate) fn detached<T: Send>(py: Python<'_>, run: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let _counted = Counted::set(true);
        run()
    })
}

/// Runs a call back into Python, which may fork. No lock is held then.
pub(crate) fn outside<T>(run: impl FnOnce() -> T) -> T {
    let _counted = Counted::set(false);
    run()
}

/// Waits until no other thread is inside, and lets none enter.
#[pyfunction]
pub(crate) fn before_fork() {
    FORKING.store(true, Ordering::SeqCst);
    let begun = Instant::now();
    while INSIDE.load(Ordering::SeqCst) > 0 && begun.elapsed() < PATIENCE {
        thread::sleep(PAUSE);
    }
}

/// Lets threads enter again. The child has only the thread that forked, which is not inside.
#[pyfunction]
pub(crate) fn after_fork(is_child: bool) {
    if is_child {
        INSIDE.store(0, Ordering::SeqCst);
    }
    FORKING.store(false, Ordering::SeqCst);
}
