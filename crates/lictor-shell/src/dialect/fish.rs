//! Text of fish in the words of a POSIX shell: blocks end with `end` there, and functions have no braces.

/// A block that `end` closes, and the word that closes it in other shells.
type Closing = &'static str;

/// What a start-up file or a function of fish says, as far as the walker needs it: which commands run when it is read,
/// and which ones inside of functions.
pub(crate) fn translated(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut open: Vec<Closing> = Vec::new();
    for statement in statements(text) {
        out.push_str(&line(statement.trim(), &mut open));
        out.push('\n');
    }
    out
}

/// One statement, with the blocks that are open around it.
fn line(statement: &str, open: &mut Vec<Closing>) -> String {
    let (first, rest) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
    let rest = rest.trim();
    let block = |open: &mut Vec<Closing>, closing: Closing| open.push(closing);
    match first {
        "function" => {
            let name = rest.split_whitespace().find(|word| !word.starts_with('-')).unwrap_or("f");
            block(open, "}");
            format!("{name}() {{ :")
        }
        "begin" => {
            block(open, "}");
            format!("{{ {}", if rest.is_empty() { ":" } else { rest })
        }
        "if" => {
            block(open, "fi");
            format!("if {}; then :", plain(rest))
        }
        "while" => {
            block(open, "done");
            format!("while {}; do :", plain(rest))
        }
        "for" => {
            block(open, "done");
            format!("for {}; do :", substituted(rest))
        }
        // Which case it is does not matter: all of them are read.
        "switch" => {
            block(open, "}");
            "{ :".to_owned()
        }
        "case" => ":".to_owned(),
        "else" => match rest.strip_prefix("if ") {
            Some(condition) => format!("elif {}; then :", plain(condition)),
            None => "else :".to_owned(),
        },
        "end" => format!("{} {rest}", open.pop().unwrap_or(":")),
        _ => plain(statement),
    }
}

/// A command without the words that tie it to the one before it.
fn plain(command: &str) -> String {
    let mut command = command.trim();
    while let Some(rest) = ["and ", "or ", "not "].iter().find_map(|word| command.strip_prefix(word)) {
        command = rest.trim_start();
    }
    substituted(command)
}

/// `(command)` is what `$(command)` is elsewhere.
fn substituted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quote, mut before) = (None, ' ');
    for letter in text.chars() {
        match (letter, quote) {
            _ if before == '\\' => {}
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(mark)) if mark == letter => quote = None,
            ('(', None) if before != '$' => out.push('$'),
            _ => {}
        }
        out.push(letter);
        before = if before == '\\' { ' ' } else { letter };
    }
    out
}

/// The statements of a text, which newlines and semicolons end outside of quotes and brackets.
fn statements(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut quote, mut before, mut depth, mut from, mut comment) = (None, ' ', 0_usize, 0, false);
    for (at, letter) in text.char_indices() {
        match (letter, quote) {
            ('\n', _) if comment => comment = false,
            _ if comment || before == '\\' => {}
            ('#', None) if before.is_whitespace() || before == ';' => comment = true,
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(mark)) if mark == letter => quote = None,
            ('(', None) => depth += 1,
            (')', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends =
            matches!(letter, '\n' | ';') && quote.is_none() && depth == 0 && before != '\\' && !comment;
        if ends {
            found.push(text.get(from..at).unwrap_or_default());
            from = at + 1;
        }
        before = if before == '\\' { ' ' } else { letter };
    }
    found.push(text.get(from..).unwrap_or_default());
    found
}

#[cfg(test)]
mod tests;
