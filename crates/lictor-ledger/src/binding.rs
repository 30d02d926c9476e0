//! Evidence and the content it points at: does the tree that is judged still hold what the reviewer saw?

use std::collections::HashMap;

use lictor_core::Digest;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::evidence::{Bound, Evidence};
use crate::finding::{Claim, Finding};
use crate::repository::{Changes, Repository, RepositoryError};

#[cfg(test)]
mod tests;

/// Beyond this many line pairs a moved line is searched for instead of worked out.
const MAX_PAIRS: usize = 4_000_000;

/// Where a finding stands in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// What the reviewer saw is in the tree, or cannot be told apart from it. Evidence as it is there now.
    Active(Vec<Evidence>),
    /// What the reviewer saw is not in the tree: changed, deleted, or not part of it.
    Stale,
}

/// Binds the evidence of claims to what it points at: in `tree` if one is given, else in the work tree. Evidence on
/// files that are not there stays unbound, and so stays active whatever is committed.
///
/// # Errors
/// When the repository gives no answer.
pub fn bind(
    claims: &mut [Claim],
    repository: &dyn Repository,
    tree: Option<&str>,
) -> Result<(), RepositoryError> {
    let mut seen: HashMap<String, Option<(String, Vec<u8>)>> = HashMap::new();
    for place in claims.iter_mut().flat_map(|claim| claim.evidence_mut().iter_mut()) {
        let Some(path) = inside(place, repository) else { continue };
        let known = match seen.get(&path) {
            Some(known) => known,
            None => {
                let found = look_up(&path, repository, tree)?;
                seen.entry(path).or_insert(found)
            }
        };
        place.bound = known.as_ref().map(|(blob, content)| Bound {
            blob: blob.clone(),
            snippet: place.line.and_then(|line| snippet_at(content, line)),
        });
    }
    Ok(())
}

/// The path of evidence inside the repository, `/`-separated.
fn inside(place: &Evidence, repository: &dyn Repository) -> Option<String> {
    let path = place.path();
    let relative = match std::path::Path::new(path).strip_prefix(repository.root()) {
        Ok(relative) => relative.to_str()?,
        Err(_) => path,
    };
    let plain = !relative.is_empty() && !relative.starts_with('/') && !relative.contains('\n');
    (plain && relative.split('/').all(|part| part != ".." && part != ".git")).then(|| relative.to_owned())
}

fn look_up(
    path: &str,
    repository: &dyn Repository,
    tree: Option<&str>,
) -> Result<Option<(String, Vec<u8>)>, RepositoryError> {
    let Some(tree) = tree else {
        return Ok(repository.work_file(path)?.map(|file| (file.blob, file.content)));
    };
    let Some(blob) = repository.blobs(tree, &[path.to_owned()])?.into_iter().next().flatten() else {
        return Ok(None);
    };
    let content = repository.content(&blob)?;
    Ok(content.map(|content| (blob, content)))
}

/// The fingerprint of a line, without regard to white space; `None` for blank and missing lines.
fn snippet_at(content: &[u8], line: u32) -> Option<String> {
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    content.split(|byte| *byte == b'\n').nth(index).and_then(snippet)
}

fn snippet(line: &[u8]) -> Option<String> {
    let dense: Vec<u8> = line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    (!dense.is_empty()).then(|| Digest::of(&dense).to_string().chars().take(16).collect())
}

/// Tells where findings stand in one tree. Remembers what it asked the repository.
pub struct Observer<'a> {
    repository: &'a dyn Repository,
    tree: &'a str,
    changes: &'a Changes,
    blobs: HashMap<String, Option<String>>,
    contents: HashMap<String, Option<Vec<u8>>>,
}

impl std::fmt::Debug for Observer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer").field("tree", &self.tree).finish_non_exhaustive()
    }
}

impl<'a> Observer<'a> {
    /// Looks at `tree`. `changes` lead from what was there before to it; a file that they rename is followed.
    #[must_use]
    pub fn new(repository: &'a dyn Repository, tree: &'a str, changes: &'a Changes) -> Self {
        Self { repository, tree, changes, blobs: HashMap::new(), contents: HashMap::new() }
    }

    /// Asks for the blobs of all these findings' files at once.
    ///
    /// # Errors
    /// When the repository gives no answer.
    pub fn prepare<'f>(
        &mut self,
        findings: impl Iterator<Item = &'f Finding>,
    ) -> Result<(), RepositoryError> {
        let mut wanted: Vec<String> = findings
            .flat_map(|finding| &finding.evidence)
            .filter(|place| place.bound.is_some())
            .filter_map(|place| inside(place, self.repository))
            .filter(|path| !self.blobs.contains_key(path))
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let found = self.repository.blobs(self.tree, &wanted)?;
        self.blobs.extend(wanted.into_iter().zip(found));
        Ok(())
    }

    /// Where a finding stands. It is stale only when every one of its places is: doubt keeps it active.
    ///
    /// # Errors
    /// When the repository gives no answer.
    pub fn standing(&mut self, finding: &Finding) -> Result<Standing, RepositoryError> {
        let mut now = Vec::with_capacity(finding.evidence.len());
        let mut stale = 0;
        for place in &finding.evidence {
            match self.place(place)? {
                Some(found) => now.push(found),
                None => stale += 1,
            }
        }
        Ok(if stale > 0 && now.is_empty() { Standing::Stale } else { Standing::Active(now) })
    }

    /// The place as it is in the tree; `None` when it is gone.
    fn place(&mut self, place: &Evidence) -> Result<Option<Evidence>, RepositoryError> {
        let (Some(bound), Some(path)) = (&place.bound, inside(place, self.repository)) else {
            return Ok(Some(place.clone()));
        };
        let mut now = place.clone();
        let mut blob = self.blob(&path)?;
        if blob.is_none()
            && let Some(new) = self.changes.renamed.get(&path)
        {
            now.file.clone_from(new);
            blob = self.blob(new)?;
        }
        let Some(blob) = blob else { return Ok(None) };
        if blob == bound.blob {
            return Ok(Some(now));
        }
        let (Some(snippet), Some(line)) = (&bound.snippet, place.line) else {
            return Ok(Some(now));
        };
        self.load(&bound.blob)?;
        self.load(&blob)?;
        let old = self.contents.get(&bound.blob).and_then(Option::as_deref);
        let Some(new) = self.contents.get(&blob).and_then(Option::as_deref) else {
            return Ok(Some(now));
        };
        Ok(follow(old, line, snippet, new).map(|line| {
            now.line = Some(line);
            now
        }))
    }

    fn blob(&mut self, path: &str) -> Result<Option<String>, RepositoryError> {
        if let Some(known) = self.blobs.get(path) {
            return Ok(known.clone());
        }
        let found = self.repository.blobs(self.tree, &[path.to_owned()])?.into_iter().next().flatten();
        self.blobs.insert(path.to_owned(), found.clone());
        Ok(found)
    }

    fn load(&mut self, blob: &str) -> Result<(), RepositoryError> {
        if !self.contents.contains_key(blob) {
            let content = self.repository.content(blob)?;
            self.contents.insert(blob.to_owned(), content);
        }
        Ok(())
    }
}

/// Where a line went; `None` when it is gone. A line that only changed its white space is the same line. A line that
/// was cut and pasted is followed to the pasted one, not to one that looked the same all along.
fn follow(old: Option<&[u8]>, line: u32, wanted: &str, new: &[u8]) -> Option<u32> {
    let new: Vec<Option<String>> = new.split(|byte| *byte == b'\n').map(snippet).collect();
    let at = usize::try_from(line).ok()?.checked_sub(1)?;
    let old: Option<Vec<Option<String>>> =
        old.map(|old| old.split(|byte| *byte == b'\n').map(snippet).collect());
    let ops =
        old.filter(|old| old.get(at).is_some_and(|found| found.as_deref() == Some(wanted))).and_then(|old| {
            let same_head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let same_tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
            let left = |length: usize| length.saturating_sub(same_head + same_tail);
            let small = left(old.len()).saturating_mul(left(new.len())) <= MAX_PAIRS;
            small.then(|| capture_diff_slices(Algorithm::Myers, &old, &new))
        });
    let nearest = |candidates: &mut dyn Iterator<Item = usize>| {
        candidates
            .filter(|index| new.get(*index).is_some_and(|found| found.as_deref() == Some(wanted)))
            .min_by_key(|index| index.abs_diff(at))
    };
    let index = match ops {
        None => nearest(&mut (0..new.len())),
        Some(ops) => ops
            .iter()
            .find_map(|op| match op {
                DiffOp::Equal { old_index, new_index, len }
                    if (*old_index..old_index + len).contains(&at) =>
                {
                    Some(new_index + (at - old_index))
                }
                _ => None,
            })
            .or_else(|| {
                nearest(&mut ops.iter().flat_map(|op| match op {
                    DiffOp::Insert { new_index, new_len, .. }
                    | DiffOp::Replace { new_index, new_len, .. } => *new_index..new_index + new_len,
                    _ => 0..0,
                }))
            }),
    }?;
    u32::try_from(index).ok()?.checked_add(1)
}
