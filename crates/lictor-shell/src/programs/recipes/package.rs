//! The scripts of a `package.json`.

/// The scripts that a call of a package manager runs, with what runs before and after them.
pub(super) fn scripts(text: &str, program: &str, words: &[&str]) -> Vec<String> {
    let wanted: Vec<&str> = match words {
        [] if program == "yarn" => vec!["install"],
        ["install" | "i" | "ci" | "add" | "update" | "rebuild", ..] => vec!["install", "prepare"],
        ["publish" | "pack", ..] => vec!["publish", "prepare", "pack"],
        ["run" | "run-script" | "rum" | "urn", name, ..] => vec![name],
        ["t" | "tst", ..] => vec!["test"],
        [name, ..] => vec![name],
        [] => return Vec::new(),
    };
    all(text)
        .into_iter()
        .filter(|(name, _)| {
            let bare = name.strip_prefix("pre").or_else(|| name.strip_prefix("post"));
            wanted.iter().any(|wanted| name == wanted || bare == Some(*wanted))
        })
        .map(|(_, script)| script)
        .collect()
}

/// Names and texts of all scripts.
fn all(text: &str) -> Vec<(String, String)> {
    let Some((_, rest)) = text.split_once("\"scripts\"") else { return Vec::new() };
    let Some((_, mut rest)) = rest.split_once('{') else { return Vec::new() };
    let mut found = Vec::new();
    while let Some((name, after)) = string(rest) {
        let Some((script, tail)) = after.trim_start().strip_prefix(':').and_then(string) else { break };
        found.push((name, script));
        rest = match tail.trim_start().strip_prefix(',') {
            Some(tail) => tail,
            None => break,
        };
    }
    found
}

/// A JSON string at the start of a text, and what follows it.
fn string(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start().strip_prefix('"')?;
    let mut out = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((out, text.get(at + 1..)?)),
            '\\' => match letters.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                other => out.push(other),
            },
            letter => out.push(letter),
        }
    }
    None
}
