//! Directories that code iterates over, and which of their files it selects, as far as the text shows.

use crate::operand::Listed;

/// The syntax of tree walks, up to the position of the root.
const WALKS: [(&str, Listed); 9] = [
    ("os.walk(", Listed::All),
    ("os.fwalk(", Listed::All),
    (".rglob(", Listed::All),
    ("Find.find(", Listed::All),
    ("readdirSync(", Listed::All),
    ("readdir(", Listed::All),
    ("RecursiveDirectoryIterator(", Listed::All),
    ("walkdir(", Listed::All),
    ("walk(", Listed::All),
];

/// Commands that print file names, and walks that name their root last.
const COMMANDS: [(&str, Listed); 4] = [
    ("ls-files", Listed::Tracked { all: true }),
    ("find(sub", Listed::All),
    ("finddepth(", Listed::All),
    ("find .", Listed::All),
];

/// Patterns for the files that code may pick out of what it goes through.
pub(super) fn of(body: &str) -> Vec<(String, Listed)> {
    let mut roots: Vec<(String, Listed)> = Vec::new();
    for (call, listed) in WALKS {
        for rest in body.split(call).skip(1).take(4) {
            let root = match rest.trim_start().chars().next() {
                Some(quote @ ('"' | '\'')) => {
                    rest.trim_start().get(1..).and_then(|rest| rest.split(quote).next())
                }
                Some(')') => Some("."),
                _ => None,
            };
            // The root of a recursive walk is the argument of its first call.
            let root = root.or_else(|| {
                (call.starts_with("readdir") && recurs(body)).then(|| given_root(body)).flatten()
            });
            roots.extend(
                root.filter(|root| !root.contains(['*', '\\'])).map(|root| (root.to_owned(), listed)),
            );
        }
    }
    for (command, listed) in COMMANDS {
        if body.contains(command) {
            roots.push((".".to_owned(), listed));
        }
    }
    roots.dedup();
    let names = picked(body);
    let hidden =
        ["startswith('.')", "startswith(\".\")", "startsWith('.')", "startsWith(\".\")", "start_with?('.')"];
    let visible = hidden.iter().any(|way| body.contains(way));
    let patterns = |(root, listed): (String, Listed)| {
        let listed = if visible { Listed::Visible } else { listed };
        let root = root.trim_end_matches('/').to_owned();
        names.iter().map(move |name| (format!("{root}/**/{name}"), listed)).collect::<Vec<_>>()
    };
    roots.into_iter().flat_map(patterns).take(16).collect()
}

/// Whether a listing of JavaScript goes into directories.
fn recurs(body: &str) -> bool {
    ["recursive", "isDirectory"].iter().any(|word| body.contains(word))
}

/// The first path that a call of the code's own function gets: `walk('.')`.
fn given_root(body: &str) -> Option<&str> {
    let open = ["('.')", "(\".\")", "('./')", "(\"./\")", "(process.cwd())"];
    open.iter().any(|root| body.contains(root)).then_some(".")
}

/// Patterns for the names that code selects, from its tests; all names if there is no test.
fn picked(body: &str) -> Vec<String> {
    const TESTS: [(&str, &str, &str); 14] = [
        (".endswith(", "*", ""),
        (".endsWith(", "*", ""),
        (".end_with?(", "*", ""),
        (".startswith(", "", "*"),
        (".startsWith(", "", "*"),
        (".start_with?(", "", "*"),
        ("suffix == ", "*", ""),
        ("suffix==", "*", ""),
        ("extname(f) === ", "*", ""),
        ("==", "", ""),
        ("===", "", ""),
        (".includes(", "*", "*"),
        ("fnmatch(f,", "", ""),
        ("fnmatch.fnmatch(f,", "", ""),
    ];
    let mut found: Vec<String> = Vec::new();
    let (mut start, mut end) = (None, None);
    for (test, front, behind) in TESTS {
        for (at, _) in body.match_indices(test).take(8) {
            let before = body.get(..at).unwrap_or_default();
            let word = before
                .rsplit(|letter: char| letter.is_whitespace() || letter == '(')
                .next()
                .unwrap_or_default();
            let said = before.strip_suffix(word).unwrap_or_default().trim_end();
            let denied = said.ends_with("not") || word.starts_with('!') || said.ends_with('!');
            let rest = body.get(at + test.len()..).unwrap_or_default().trim_start();
            let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''));
            let text = quote.and_then(|quote| rest.get(1..)?.split(quote).next());
            let Some(text) = text.filter(|text| !denied && !text.is_empty() && !text.starts_with("__"))
            else {
                continue;
            };
            match (front, behind) {
                ("*", "") => end = Some(text),
                ("", "*") => start = Some(text),
                _ => {}
            }
            found.push(format!("{front}{text}{behind}"));
        }
    }
    // Both ends of one name.
    if let (Some(start), Some(end), true) = (start, end, body.contains(" and ") || body.contains("&&")) {
        return vec![format!("{start}*{end}")];
    }
    found.extend(matched(body));
    if found.is_empty() {
        found.push("*".to_owned());
    }
    found
}

/// Words between the slashes of a pattern: `/settings/`, `/\.json$/`.
fn matched(body: &str) -> Vec<String> {
    let after = ["(/", "~ /", "~/", "if /", "(r'", "(r\""];
    let mut found = Vec::new();
    for open in after {
        for rest in body.split(open).skip(1).take(4) {
            let pattern = rest.split(['/', '\'', '"']).next().unwrap_or_default();
            let word = pattern.trim_start_matches('^').trim_end_matches('$').replace('\\', "");
            let plain = !word.is_empty()
                && word.chars().all(|letter| letter.is_alphanumeric() || "._-".contains(letter));
            if plain {
                let behind = if pattern.ends_with('$') { "" } else { "*" };
                let front = if pattern.starts_with('^') { "" } else { "*" };
                found.push(format!("{front}{word}{behind}"));
            }
        }
    }
    found
}
