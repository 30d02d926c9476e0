//! "Did you mean": the closest known name to a misspelt one.

/// Longer names are never suggested; bounds the quadratic distance.
const LONGEST: usize = 48;

/// The closest of `known` to `word`, when it is close enough to be a likely slip.
pub(crate) fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > LONGEST {
        return None;
    }
    let allowed = (length / 3).max(1);
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST && *candidate != word)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edit distance that ignores case and counts a swap of neighbours as one edit.
fn distance(left: &str, right: &str) -> usize {
    strsim::osa_distance(&left.to_ascii_lowercase(), &right.to_ascii_lowercase())
}

#[cfg(test)]
mod tests;
