//! Harmless lines and fields of secret files: they are selected by a name that is not secret.

/// Whether a pattern matches only comments, names of sections, or lines that start with such names: `^PORT=`,
/// `^(DB_HOST|DB_PORT)=`, `^APP_ENV`, `^#`.
pub(super) fn is_pattern(pattern: &str) -> bool {
    let Some(pattern) = pattern.strip_prefix('^') else { return false };
    if matches!(pattern, "#" | "\\[" | "[[]") {
        return true;
    }
    let (names, whole) = match pattern.strip_suffix('=') {
        Some(names) => (names, true),
        None => (pattern, false),
    };
    let group = names.strip_prefix('(').and_then(|names| names.strip_suffix(')'));
    // Without brackets, only the first alternative is anchored to the start of the line.
    match group {
        Some(names) => names.split('|').all(|name| is_name(name, whole)),
        None => is_name(names, whole),
    }
}

/// Whether a program of awk has one rule, for such lines alone: `/^PORT=/{print $2}`.
pub(super) fn is_rule(program: &str) -> bool {
    let program = program.trim();
    let Some((condition, action)) = program.split_once('{') else { return false };
    let pattern = condition.trim().strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let calls = ["getline", "system", "|"].iter().any(|call| action.contains(call));
    pattern.is_some_and(is_pattern) && action.find('}') == Some(action.len() - 1) && !calls
}

/// Whether a jq filter selects one field with such a name: `.contexts[].name`.
pub(super) fn is_field(filter: &str) -> bool {
    let Some(path) = filter.strip_prefix('.') else { return false };
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.[]".contains(letter);
    let last = path.rsplit('.').next().unwrap_or_default();
    path.chars().all(plain) && crate::words::PLAIN_FIELDS.contains(&last)
}

/// Whether a variable is not a secret by its name. For a prefix its last part decides.
fn is_name(name: &str, whole: bool) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_part = |part: &str| crate::words::PLAIN_VARIABLES.contains(&part);
    let addresses = ["URL", "URI", "DSN", "CONN"].iter().any(|part| upper.contains(part));
    !name.is_empty()
        && upper.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !crate::programs::is_secret_of_file(name)
        && !addresses
        && (whole || upper.rsplit('_').next().is_some_and(is_part))
}
