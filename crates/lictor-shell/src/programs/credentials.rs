//! Where programs keep credentials: `programs/sets/credentials.yaml`.

use super::described::fits;
use super::table::CREDENTIALS;

/// Whether a path is in a program's credential store.
pub(super) fn is_kept(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let Some((folder, name)) = lower.rsplit_once('/') else { return false };
    let ends_in = |folder: &str, row: &str| {
        folder.strip_suffix(row).is_some_and(|front| front.is_empty() || front.ends_with('/'))
    };
    CREDENTIALS.iter().any(|(row, names)| match names {
        ["*"] => folder.match_indices(row).any(|(at, _)| {
            folder.get(..at + row.len()).is_some_and(|front| ends_in(front, row))
                && folder.get(at + row.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }),
        names => ends_in(folder, row) && names.iter().any(|pattern| fits(pattern, name)),
    })
}
