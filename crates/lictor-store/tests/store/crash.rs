//! A writer is killed with SIGKILL at random points. Whatever it acknowledged is there afterwards, exactly once.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use lictor_store::{Anchor, Durability, SqliteStore, StoreExt};

use crate::{child, log};

const ACK: &str = "committed ";

/// Writes until it is killed, and prints a line after each commit. Reopens the store sometimes, as hooks do.
pub(crate) fn write_until_killed(run: &str, file: &Path) {
    let mut out = std::io::stdout().lock();
    for round in 0.. {
        let store = SqliteStore::open(file).unwrap();
        for step in 0..4 {
            let durability = if step == 3 { Durability::Power } else { Durability::Process };
            // Long bodies fill the log soon, so that kills also hit its transfer into the main file.
            let body = format!("{run}.{round}.{step} {}", "x".repeat(3000));
            log::append_counted(&store, durability, body).unwrap();
            writeln!(out, "\n{ACK}{run}.{round}.{step}").unwrap();
        }
    }
}

/// Numbers that need not be good, only different.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let kills: usize = std::env::var("LICTOR_STORE_KILLS").map_or(60, |kills| kills.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let mut file = PathBuf::new();
    let mut dice = Dice(u64::from(std::process::id()));
    let (mut after, mut anchor, mut acknowledged_in_all) = (0, None, 0);
    for run in 0..kills {
        if run % 20 == 0 {
            // A new store, so that kills also hit its creation.
            file = directory.path().join(format!("{run}/store.db"));
            (after, anchor) = (0, None);
        }
        let mut writer = child::command("crash", run, &file).spawn().unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines().map(Result::unwrap);
        let wanted = if run % 20 == 0 { 0 } else { dice.below(30) };
        let mut acknowledged = BTreeSet::new();
        let mut note =
            |line: &String| line.strip_prefix(ACK).is_some_and(|id| acknowledged.insert(id.to_owned()));
        let seen = (&mut lines).filter(&mut note).take(wanted).count();
        assert_eq!(seen, wanted, "the writer stopped by itself");
        for _ in 0..dice.below(200_000) {
            std::hint::spin_loop();
        }
        writer.kill().unwrap();
        lines.filter(&mut note).for_each(drop);
        assert!(!writer.wait().unwrap().success(), "the writer was not killed");

        let store = SqliteStore::open(&file).unwrap();
        let bodies = log::sound_bodies(&store, after, anchor);
        let found: BTreeSet<String> =
            bodies.iter().map(|body| body.split(' ').next().unwrap().to_owned()).collect();
        assert_eq!(found.len(), bodies.len(), "a record is there twice");
        assert!(found.is_superset(&acknowledged), "lost: {:?}", acknowledged.difference(&found));
        assert!(found.len() <= acknowledged.len() + 1, "more than the one transaction that was under way");
        let head = store.view(|view| view.head()).unwrap();
        (after, anchor) = (head.seq, (head.seq > 0).then(|| Anchor::from(head)));
        acknowledged_in_all += acknowledged.len();
    }
    assert!(acknowledged_in_all > kills, "the writers got something done");
}
