use std::path::PathBuf;

use tokio_postgres::Config;

use super::super::Idle;
use super::super::change::Pending;
use super::super::tls::Connector;
use super::*;
use crate::Head;

fn change() -> Change {
    let end = || (Head::START, None);
    Change {
        tenant: "team".to_owned(),
        project: "project".to_owned(),
        from: end(),
        to: end(),
        base: Head::START,
        pending: Pending::default(),
    }
}

#[test]
fn nobody_waits_for_ever_behind_writers_that_get_no_answer() {
    let pool = Pool {
        config: Config::new(),
        tls: Connector::Plain,
        place: PathBuf::from("postgres://localhost/team"),
        wait: Duration::from_millis(1),
        most: 1,
        idle: Mutex::new(Idle { free: Vec::new(), open: 1 }),
        returned: Condvar::new(),
        known: Mutex::default(),
        batches: Batches::default(),
    };
    pool.batches.state().writing = AT_A_TIME;
    let refused = pool.batches.carry_out(&pool, change());
    assert!(matches!(refused, Err(StoreError::Busy { waited_ms: 3, .. })), "{refused:?}");
    assert!(pool.batches.state().waiting.is_empty(), "nobody writes it later");
    assert_eq!(pool.batches.state().writing, AT_A_TIME);
}
