//! Binds evidence to content, to decide whether a tree still contains what the reviewer saw.

use std::collections::{BTreeMap, HashMap};

use lictor_core::Digest;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::evidence::{Bound, Evidence};
use crate::finding::Claim;
use crate::repository::{Changes, Repository, RepositoryError, WorkFile};

#[cfg(test)]
mod tests;

/// Beyond this many line pairs a moved line is searched by content instead of by a diff.
const MAX_PAIRS: usize = 4_000_000;

/// How many files are read at once: starting git costs time, their contents cost memory.
const FILES_AT_ONCE: usize = 64;

/// The state of a finding in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// What the reviewer saw is in the tree, or may be. With the evidence's current position.
    Active(Vec<Evidence>),
    /// What the reviewer saw is not in the tree: changed, deleted, or not part of it.
    Stale,
}

/// Binds the evidence of claims to what it points at: in `tree` if one is given, else in the work tree. Evidence
/// on missing files stays unbound, and so stays active whatever is committed.
///
/// # Errors
/// When the repository cannot be read.
pub fn bind(
    claims: &mut [Claim],
    repository: &dyn Repository,
    tree: Option<&str>,
) -> Result<(), RepositoryError> {
    let places = claims.iter_mut().flat_map(|claim| claim.evidence_mut().iter_mut());
    let mut by_path: BTreeMap<String, Vec<&mut Evidence>> = BTreeMap::new();
    for place in places {
        if let Some(path) = inside(place, repository) {
            by_path.entry(path).or_default().push(place);
        }
    }
    let paths: Vec<String> = by_path.keys().cloned().collect();
    for paths in paths.chunks(FILES_AT_ONCE) {
        for (path, found) in paths.iter().zip(look_up(paths, repository, tree)?) {
            let lines =
                found.as_ref().map(|file| file.content.split(|byte| *byte == b'\n').collect::<Vec<_>>());
            for place in by_path.remove(path).into_iter().flatten() {
                place.bound = found.as_ref().map(|file| Bound {
                    blob: file.blob.clone(),
                    snippet: place.line.and_then(|line| snippet_at(lines.as_deref()?, line)),
                });
            }
        }
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
    paths: &[String],
    repository: &dyn Repository,
    tree: Option<&str>,
) -> Result<Vec<Option<WorkFile>>, RepositoryError> {
    let Some(tree) = tree else { return repository.work_files(paths) };
    let blobs = repository.blobs(tree, paths)?;
    let there: Vec<&str> = blobs.iter().flatten().map(String::as_str).collect();
    let mut contents = repository.contents(&there)?.into_iter();
    let mut with_content = |blob: String| Some(WorkFile { content: contents.next().flatten()?, blob });
    Ok(blobs.into_iter().map(|blob| blob.and_then(&mut with_content)).collect())
}

/// The fingerprint of a line, ignoring white space; `None` for blank and missing lines.
fn snippet_at(lines: &[&[u8]], line: u32) -> Option<String> {
    lines.get(usize::try_from(line).ok()?.checked_sub(1)?).copied().and_then(snippet)
}

fn snippet(line: &[u8]) -> Option<String> {
    let dense: Vec<u8> = line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    (!dense.is_empty()).then(|| Digest::of(&dense).to_string().chars().take(16).collect())
}

/// Determines the state of findings in one tree. Caches the repository's answers.
pub struct Observer<'a> {
    repository: &'a dyn Repository,
    tree: &'a str,
    changes: &'a Changes,
    blobs: HashMap<String, Option<String>>,
    moves: HashMap<(String, String), Option<Moves>>,
}

impl std::fmt::Debug for Observer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer").field("tree", &self.tree).finish_non_exhaustive()
    }
}

impl<'a> Observer<'a> {
    /// An observer of `tree`. `changes` lead from the previous tree to it; renamed files are followed.
    #[must_use]
    pub fn new(repository: &'a dyn Repository, tree: &'a str, changes: &'a Changes) -> Self {
        Self { repository, tree, changes, blobs: HashMap::new(), moves: HashMap::new() }
    }

    /// Loads everything that is needed for these places, in one batch.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn prepare<'e>(&mut self, places: impl Iterator<Item = &'e Evidence>) -> Result<(), RepositoryError> {
        let bound: Vec<(String, &Evidence)> = places
            .filter(|place| place.bound.is_some())
            .filter_map(|place| Some((inside(place, self.repository)?, place)))
            .collect();
        let mut wanted: Vec<String> = bound
            .iter()
            .map(|(path, _)| path)
            .filter(|path| !self.blobs.contains_key(*path))
            .cloned()
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let found = self.repository.blobs(self.tree, &wanted)?;
        self.blobs.extend(wanted.into_iter().zip(found));
        let mut changed: Vec<(String, String)> = bound
            .iter()
            .filter_map(|(path, place)| {
                let bound = place.bound.as_ref().filter(|bound| bound.snippet.is_some())?;
                let now = self.blobs.get(path)?.as_ref()?;
                (*now != bound.blob).then(|| (bound.blob.clone(), now.clone()))
            })
            .filter(|pair| !self.moves.contains_key(pair))
            .collect();
        changed.sort_unstable();
        changed.dedup();
        self.compare(changed)
    }

    /// Maps the lines of the first blob of each pair to the second.
    fn compare(&mut self, pairs: Vec<(String, String)>) -> Result<(), RepositoryError> {
        let blobs: Vec<&str> = pairs.iter().flat_map(|(old, new)| [old.as_str(), new.as_str()]).collect();
        let contents = self.repository.contents(&blobs)?;
        let mut contents = contents.into_iter();
        let mut moves = Vec::with_capacity(pairs.len());
        while let (Some(old), Some(new)) = (contents.next(), contents.next()) {
            moves.push(new.map(|new| Moves::between(old.as_deref(), &new)));
        }
        self.moves.extend(pairs.into_iter().zip(moves));
        Ok(())
    }

    /// The state of evidence. It is stale only when all its places are: doubt keeps it active.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn standing(&mut self, evidence: &[Evidence]) -> Result<Standing, RepositoryError> {
        let mut now = Vec::with_capacity(evidence.len());
        let mut stale = 0;
        for place in evidence {
            match self.place(place)? {
                Some(found) => now.push(found),
                None => stale += 1,
            }
        }
        Ok(if stale > 0 && now.is_empty() { Standing::Stale } else { Standing::Active(now) })
    }

    /// The current place in the tree; `None` when it is gone.
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
        let Some(moves) = self.moves(&bound.blob, &blob)? else { return Ok(Some(now)) };
        Ok(moves.follow(line, snippet).map(|line| {
            now.line = Some(line);
            now
        }))
    }

    /// The line mapping of a blob; `None` when the new one cannot be read.
    fn moves(&mut self, old: &str, new: &str) -> Result<Option<&Moves>, RepositoryError> {
        let key = (old.to_owned(), new.to_owned());
        if !self.moves.contains_key(&key) {
            self.compare(vec![key.clone()])?;
        }
        Ok(self.moves.get(&key).and_then(Option::as_ref))
    }

    fn blob(&mut self, path: &str) -> Result<Option<String>, RepositoryError> {
        if let Some(known) = self.blobs.get(path) {
            return Ok(known.clone());
        }
        let found = self.repository.blobs(self.tree, &[path.to_owned()])?.into_iter().next().flatten();
        self.blobs.insert(path.to_owned(), found.clone());
        Ok(found)
    }
}

/// The line mapping between two versions of a file.
struct Moves {
    /// The old file's lines, where there is a diff.
    old: Vec<Option<String>>,
    /// The new number of each kept line, if there is a diff.
    kept: Vec<Option<usize>>,
    /// Lines of the new file that may be moved old ones: the added lines, or all when there is no diff.
    candidates: HashMap<String, Vec<usize>>,
}

impl Moves {
    /// Compares by fingerprints, so that a line with changed white space is the same line.
    fn between(old: Option<&[u8]>, new: &[u8]) -> Self {
        let lines = |text: &[u8]| text.split(|byte| *byte == b'\n').map(snippet).collect::<Vec<_>>();
        let new = lines(new);
        let old = old.map(lines).filter(|old| comparable(old, &new)).unwrap_or_default();
        let mut kept = vec![None; old.len()];
        let mut fresh: Vec<usize> = Vec::new();
        if old.is_empty() {
            fresh.extend(0..new.len());
        } else {
            for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
                match op {
                    DiffOp::Equal { old_index, new_index, len } => {
                        let places = kept.iter_mut().skip(old_index).take(len);
                        places.zip(new_index..).for_each(|(place, index)| *place = Some(index));
                    }
                    DiffOp::Insert { new_index, new_len, .. }
                    | DiffOp::Replace { new_index, new_len, .. } => {
                        fresh.extend(new_index..new_index + new_len);
                    }
                    DiffOp::Delete { .. } => {}
                }
            }
        }
        let mut candidates: HashMap<String, Vec<usize>> = HashMap::new();
        for index in fresh {
            if let Some(Some(line)) = new.get(index) {
                candidates.entry(line.clone()).or_default().push(index);
            }
        }
        Self { old, kept, candidates }
    }

    /// The new number of a line; `None` when it is gone. A line that was moved is followed to its new place, not
    /// to an unchanged line with the same text.
    fn follow(&self, line: u32, wanted: &str) -> Option<u32> {
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        let known = self.old.get(at).is_some_and(|old| old.as_deref() == Some(wanted));
        let kept = self.kept.get(at).copied().flatten().filter(|_| known);
        let nearest = || self.candidates.get(wanted)?.iter().copied().min_by_key(|index| index.abs_diff(at));
        u32::try_from(kept.or_else(nearest)?).ok()?.checked_add(1)
    }
}

/// Whether two files are equal or small enough to be compared line by line.
fn comparable(old: &[Option<String>], new: &[Option<String>]) -> bool {
    let same_head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let same_tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let left = |length: usize| length.saturating_sub(same_head + same_tail);
    left(old.len()).saturating_mul(left(new.len())) <= MAX_PAIRS
}
