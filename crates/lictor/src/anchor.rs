//! Anchors the log's end outside of the store: in git notes on the repository's commits.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use lictor_ledger::repository::quiet;
use lictor_store::{Anchor, Store, StoreExt as _};

use crate::error::Error;

/// The ref of the notes.
pub const NOTES: &str = "refs/notes/lictor";

/// Adds a note with the end of the log to the newest commit.
///
/// # Errors
/// When git fails, for instance because no author is configured.
pub fn note(root: &Path, store: &dyn Store) -> Result<(), Error> {
    let anchor = Anchor::from(store.view(|view| view.head())?);
    if anchor.seq > 0 {
        git(
            root,
            &["notes", "--ref", NOTES, "add", "--force", "--message", &anchor.to_string(), "HEAD"],
            "",
        )?;
    }
    Ok(())
}

/// The newest anchor among the notes. `None` without a repository or notes.
///
/// # Errors
/// A note that is not an anchor: one that was tampered with must not count as absent.
pub fn noted(root: &Path) -> Result<Option<Anchor>, Error> {
    if git(root, &["rev-parse", "--verify", "--quiet", NOTES], "").is_err() {
        return Ok(None);
    }
    let list = git(root, &["notes", "--ref", NOTES, "list"], "")?;
    let notes: String =
        list.lines().filter_map(|line| line.split(' ').next()).map(|id| format!("{id}\n")).collect();
    let contents = git(root, &["cat-file", "--batch"], &notes)?;
    let is_header = |line: &str| line.split(' ').nth(1) == Some("blob");
    let anchors: String =
        contents.lines().filter(|line| !is_header(line)).map(|line| format!("{line}\n")).collect();
    Anchor::newest(&anchors).map_err(|source| Error::Anchor { notes: NOTES, source })
}

/// The commit with the newest note. `None` without a repository or notes.
#[must_use]
pub fn tip(root: &Path) -> Option<String> {
    let told = git(root, &["rev-parse", "--verify", "--quiet", NOTES], "").ok()?;
    Some(told.trim().to_owned()).filter(|tip| !tip.is_empty())
}

/// The state of the notes after a time in which the repository was writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notes {
    /// The earlier notes are intact; more may have been added.
    Kept,
    /// They were rewritten or removed, and have been restored.
    PutBack,
    /// They were rewritten or removed and cannot be restored.
    Lost(String),
}

/// Restores the notes unless they are descendants of `tip`.
#[must_use]
pub fn put_back(root: &Path, tip: &str) -> Notes {
    let follows =
        |now: String| now == tip || git(root, &["merge-base", "--is-ancestor", tip, &now], "").is_ok();
    if self::tip(root).is_some_and(follows) {
        return Notes::Kept;
    }
    // A symbolic ref would redirect the change to a branch.
    match git(root, &["update-ref", "--no-deref", NOTES, tip], "") {
        Ok(_) => Notes::PutBack,
        Err(error) => Notes::Lost(error.chain()),
    }
}

fn git(root: &Path, args: &[&str], input: &str) -> Result<String, Error> {
    let failed = |why: &str| Error::Git { args: args.join(" "), why: why.to_owned() };
    let mut child = quiet::<&str>(root, &[])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    // Written in a thread: git writes output while it still reads.
    let pipe = child.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(input.as_bytes())));
        child.wait_with_output()
    });
    let output = output.map_err(|error| failed(&error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
