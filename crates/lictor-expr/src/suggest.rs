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
    let right: Vec<char> = right.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    let mut last = None;
    for (i, a) in left.chars().map(|c| c.to_ascii_lowercase()).enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(i + 1);
        let mut previous: Option<char> = None;
        for (j, &b) in right.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&row, j) + usize::from(a != b);
            let mut best = replaced.min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            if let Some(column) = j.checked_sub(1)
                && last == Some(b)
                && previous == Some(a)
            {
                best = best.min(at(&before, column).saturating_add(1));
            }
            next.push(best);
            previous = Some(b);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(a);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
