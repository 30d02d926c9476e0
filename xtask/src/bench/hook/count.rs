//! What one hook takes, in numbers that a busy machine does not change: instructions, page faults, system calls.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result};

use super::{Place, Subject};
use crate::bench::session::spaced;

/// What is counted, with the program that counts it.
const COUNTERS: [(&str, Counter); 4] = [
    ("instructions", Counter::Instructions),
    ("page faults", Counter::Faults),
    ("system calls", Counter::Calls),
    ("KB", Counter::Memory),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Counter {
    Instructions,
    Faults,
    Calls,
    Memory,
}

impl Counter {
    fn program(self) -> &'static str {
        match self {
            Self::Instructions => "valgrind",
            Self::Calls => "strace",
            Self::Faults | Self::Memory => "/usr/bin/time",
        }
    }

    fn args(self, file: &str) -> Vec<String> {
        let args: &[&str] = match self {
            Self::Instructions => &["-q", "--tool=callgrind", &format!("--callgrind-out-file={file}")],
            Self::Calls => &["--follow-forks", "--output", file],
            Self::Faults => &["--format=%R", "--output", file],
            Self::Memory => &["--format=%M", "--output", file],
        };
        args.iter().map(|arg| (*arg).to_owned()).collect()
    }

    fn read(self, told: &str) -> Option<u64> {
        match self {
            Self::Instructions => {
                told.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok())
            }
            // A call that another thread interrupts has two lines.
            Self::Calls => {
                let is_call = |line: &&str| line.contains('(') && !line.contains(" resumed>");
                Some(told.lines().filter(is_call).count() as u64)
            }
            Self::Faults | Self::Memory => told.lines().last()?.trim().parse().ok(),
        }
    }

    fn is_there(self) -> bool {
        crate::shell::output(self.program(), &["--version"]).is_ok()
    }
}

/// The table: the mean of so many hooks, so that one of them moves the store's log.
pub(super) fn table(place: &Place, subjects: &[Subject], hooks: u64) -> Result<String> {
    let there: Vec<_> = COUNTERS.into_iter().filter(|(_, counter)| counter.is_there()).collect();
    let missing: BTreeMap<_, _> = COUNTERS
        .into_iter()
        .filter(|(_, counter)| !counter.is_there())
        .map(|(what, counter)| (counter.program(), what))
        .collect();
    let mut text = "| a process |".to_owned();
    there.iter().try_for_each(|(what, _)| write!(text, " {what} |"))?;
    writeln!(text, "\n|---|{}", "---|".repeat(there.len()))?;
    for subject in subjects {
        write!(text, "| {} |", subject.name)?;
        for (_, counter) in &there {
            let mut sum = 0;
            for _ in 0..hooks {
                sum += place.count(subject, *counter)?;
            }
            write!(text, " {} |", spaced(sum / hooks.max(1)))?;
        }
        writeln!(text)?;
    }
    for (program, what) in missing {
        writeln!(text, "\nNot counted: {what}; `{program}` is not installed.")?;
    }
    Ok(text)
}

impl Place {
    fn count(&self, subject: &Subject, counter: Counter) -> Result<u64> {
        let file = self.home.join("counted");
        let argv = std::iter::once(counter.program().to_owned())
            .chain(counter.args(&file.display().to_string()))
            .chain(subject.argv.iter().cloned());
        let counted = Subject { project: subject.project, ..Subject::new(&subject.name, argv) };
        self.time(&counted)?;
        let told = fs::read_to_string(&file)
            .with_context(|| format!("`{}` wrote nothing down", counter.program()))?;
        counter.read(&told).with_context(|| format!("`{}` wrote no number down", counter.program()))
    }
}

#[cfg(test)]
mod tests {
    use super::Counter;

    #[test]
    fn counts_are_found_in_what_the_programs_write() {
        assert_eq!(Counter::Instructions.read("fn=(1) a\n1 2\ntotals: 1234\n"), Some(1234));
        assert_eq!(Counter::Instructions.read("fn=(1) a\n"), None);
        let calls = "7 execve(\"a\") = 0\n7 read(0 <unfinished ...>\n8 futex(1) = 0\n7 <... read resumed>) = 1\n7 +++ exited with 0 +++\n";
        assert_eq!(Counter::Calls.read(calls), Some(3));
        assert_eq!(Counter::Faults.read("Command exited with non-zero status 2\n77\n"), Some(77));
    }
}
