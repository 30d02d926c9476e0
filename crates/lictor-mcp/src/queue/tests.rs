use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;

/// A reader that takes a line when it is told to.
struct Slow {
    go: Receiver<()>,
    taken: Sender<String>,
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.go.recv().map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        let _ = self.taken.send(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn slow() -> (Lines, Sender<()>, Receiver<String>) {
    let (go, allowed) = channel();
    let (taken, read) = channel();
    (Lines::to(Slow { go: allowed, taken }), go, read)
}

#[test]
fn lines_come_in_order_and_nobody_waits_for_a_slow_reader() {
    let (lines, go, read) = slow();
    let long = "x".repeat(MOST_WAITING);
    lines.put("first".to_owned()).expect("taken");
    assert!(lines.has_room());
    lines.put(long.clone()).expect("taken");
    assert!(!lines.has_room());
    lines.put("last".to_owned()).expect("whoever has judged is never refused");
    let waiting = lines.clone();
    let waits = thread::spawn(move || waiting.wait_for_room());
    for expected in ["first", &long, "last"] {
        go.send(()).expect("read");
        assert_eq!(read.recv().expect("a line"), expected);
    }
    waits.join().expect("there is room");
    lines.finish();
    assert!(lines.put("late".to_owned()).is_err());
    assert!(read.recv().is_err(), "the stream is closed");
}

#[test]
fn a_reader_that_is_gone_is_told_to_whoever_writes_and_whoever_waits() {
    let (lines, go, _read) = slow();
    lines.put("x".repeat(MOST_WAITING)).expect("taken");
    drop(go);
    lines.wait_for_room();
    lines.finish();
    assert!(lines.put("more".to_owned()).is_err());
}
