use std::path::Path;
use std::time::Duration;

use super::{Ended, run};

fn sh(script: &str, stdin: &[u8], patience: Duration) -> super::Output {
    let argv = ["/bin/sh", "-c", script].map(str::to_owned);
    run(&argv, Path::new("/"), stdin, patience)
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn output_error_and_code_come_back() {
    let output = sh("cat; echo oops >&2; exit 3", b"hello", LONG);
    assert_eq!(output.ended, Ended::Code(3));
    assert_eq!((output.stdout.as_slice(), output.stderr.as_str()), (b"hello".as_slice(), "oops\n"));
}

#[test]
fn a_program_that_does_not_read_its_input_is_no_trouble() {
    let output = sh("exit 0", &vec![b'x'; 4 << 20], LONG);
    assert_eq!(output.ended, Ended::Code(0));
}

#[test]
fn what_is_left_of_a_group_ends_with_its_leader() {
    // The grandchild holds standard output open; it is ended, so the answer comes at once.
    let output = sh("sleep 1000 & echo done", b"", LONG);
    assert_eq!((output.ended, output.stdout.as_slice()), (Ended::Code(0), b"done\n".as_slice()));
}

#[test]
fn time_runs_out_and_programs_are_missing() {
    assert_eq!(sh("sleep 1000", b"", Duration::from_millis(50)).ended, Ended::TimedOut);
    let missing = run(&["/no/such/program".to_owned()], Path::new("/"), b"", LONG);
    assert!(matches!(missing.ended, Ended::NotStarted(why) if why.contains("/no/such/program")));
    assert!(matches!(run(&[], Path::new("/"), b"", LONG).ended, Ended::NotStarted(_)));
}
