//! Review plans: who must review what, computed before the review, under a hash that identifies exactly that.

use std::collections::BTreeMap;

use lictor_core::Digest;
use serde::Serialize;

use super::config::{Council, ScopeFiles, fits};
use crate::identity::PlanHash;
use crate::repository::{Changes, Repository, RepositoryError};

/// The moment a council meets.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    /// The tree to review.
    pub tree: &'a str,
    /// The changes from the previous tree to it.
    pub changes: &'a Changes,
    /// Files that are reviewed regardless of the scope: those that were just saved.
    pub saved: &'a [String],
}

/// Who must review what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Identifies everything below, the reviewers' commands and the repository.
    pub plan_hash: PlanHash,
    /// The council.
    pub council: String,
    /// How the files were chosen.
    pub scope_mode: String,
    /// The tree.
    pub tree: String,
    /// The files with their blobs.
    pub files: BTreeMap<String, String>,
    /// Submodules that would move, with their new commits. Reviewers see the names only.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub submodules: BTreeMap<String, String>,
    /// The reviewers.
    pub reviewers: Vec<String>,
    /// Whether the result stops a commit.
    pub guardrail: bool,
}

/// A plan that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The repository gave no answer.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// More files than the council may look at.
    #[error(
        "council `{council}` would look at {files} files, its budget allows {most}; commit in smaller steps or raise `budget.max_files`"
    )]
    TooManyFiles {
        /// The council.
        council: String,
        /// The number of files.
        files: usize,
        /// The limit.
        most: usize,
    },
    /// The digest is no name. Cannot happen.
    #[error("the plan has no name")]
    Unnamed,
}

/// Computes what a council reviews.
///
/// # Errors
/// When the repository cannot be read, or the files exceed the council's budget.
pub fn plan(
    repository: &dyn Repository,
    name: &str,
    council: &Council,
    situation: &Situation<'_>,
) -> Result<Plan, PlanError> {
    let tree = situation.tree;
    let mut files = match &council.scope.files {
        ScopeFiles::Staged | ScopeFiles::Diff => situation.changes.files.clone(),
        ScopeFiles::Full => repository.changes(None, tree)?.files,
        ScopeFiles::Explicit(globs) => {
            let mut all = repository.changes(None, tree)?.files;
            all.retain(|path, _| fits(globs, path));
            all
        }
    };
    let mut more = situation.saved.to_vec();
    if council.scope.dependents {
        let start: Vec<String> = files.keys().cloned().chain(more.clone()).collect();
        more.extend(repository.dependents(tree, &start)?);
    }
    more.retain(|path| !files.contains_key(path));
    let blobs = repository.blobs(tree, &more)?;
    files.extend(more.into_iter().zip(blobs).filter_map(|(path, blob)| Some((path, blob?))));
    if let Some(most) = council.budget.max_files
        && files.len() > most
    {
        return Err(PlanError::TooManyFiles { council: name.to_owned(), files: files.len(), most });
    }
    let submodules = situation.changes.submodules.clone();
    let digest = digest(repository.id().as_str(), name, council, tree, &files, &submodules);
    let plan_hash = digest.to_string().chars().take(16).collect::<String>().parse();
    Ok(Plan {
        plan_hash: plan_hash.map_err(|_| PlanError::Unnamed)?,
        council: name.to_owned(),
        scope_mode: council.scope.mode(),
        tree: tree.to_owned(),
        files,
        submodules,
        reviewers: council.reviewers.iter().map(|reviewer| reviewer.name.clone()).collect(),
        guardrail: council.guardrail,
    })
}

/// A digest of everything that a review depends on. Lists have a length prefix, so that items cannot move from
/// one list to the next.
fn digest(
    repository: &str,
    name: &str,
    council: &Council,
    tree: &str,
    files: &BTreeMap<String, String>,
    submodules: &BTreeMap<String, String>,
) -> Digest {
    let mut parts: Vec<String> = vec![
        "lictor plan 1".to_owned(),
        repository.to_owned(),
        name.to_owned(),
        council.scope.mode(),
        tree.to_owned(),
        council.reviewers.len().to_string(),
    ];
    for reviewer in &council.reviewers {
        parts.extend([
            reviewer.name.clone(),
            format!("{:?} {:?} {:?}", reviewer.preset, reviewer.format, reviewer.level)
                + if reviewer.agent { " agent" } else { "" },
            reviewer.command.len().to_string(),
        ]);
        parts.extend(reviewer.command.iter().cloned());
        parts.push(reviewer.globs.len().to_string());
        parts.extend(reviewer.globs.iter().cloned());
    }
    for map in [files, submodules] {
        parts.push(map.len().to_string());
        parts.extend(map.iter().flat_map(|(path, object)| [path.clone(), object.clone()]));
    }
    Digest::of_parts(parts.iter().map(String::as_bytes))
}
