//! Settings files whose tools run commands from them: `tox.ini`, `build.ninja`, `.pre-commit-config.yaml`, and
//! others with a command under a key.

/// The maximum number of lines that are scanned.
const MOST: usize = 2000;

/// Possible commands in settings: values of keys, list items or whole lines that start with a known program.
pub(super) fn commands(text: &str) -> Vec<String> {
    text.lines().take(MOST).flat_map(candidates).map(unquoted).filter(|text| starts_a_command(text)).collect()
}

/// The parts of a line that may be a command.
fn candidates(line: &str) -> Vec<&str> {
    let line = line.trim().trim_start_matches("- ").trim_end_matches(',');
    let behind = [" = ", "=", ": ", ":", " "]
        .iter()
        .filter_map(|mark| line.split_once(mark))
        .map(|(_, value)| value.trim());
    let mut found: Vec<&str> = std::iter::once(line).chain(behind).collect();
    // `["a", "b"]`: commands of a list on one line.
    for list in line.split('[').skip(1) {
        found.extend(list.split(']').next().unwrap_or_default().split(','));
    }
    found.dedup();
    found
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '\'', '[', ']']).trim().to_owned()
}

fn starts_a_command(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    !name.contains(['"', '\'', '=', ':', '(']) && words.next().is_some() && super::super::is_known(name)
}
