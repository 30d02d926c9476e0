//! A scanner for languages that are analysed by their tokens: Perl, Ruby, PHP, Lua, awk.

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, with sigil (`$x`) and dots or colons inside (`FileUtils.rm_rf`, `File::Path::rmtree`).
    Word(String),
    /// A string. The flag is whether variables in it are interpolated.
    Text(String, bool),
    /// Text that is run by a shell: backticks, `qx()`, `%x()`.
    Command(String),
    /// A number.
    Number(String),
    /// Another sign.
    Sign(char),
}

/// What differs between the languages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Syntax {
    /// `#` starts a comment.
    pub(super) hash_comment: bool,
    /// `//` and `/* */` are comments.
    pub(super) slash_comment: bool,
    /// `--` starts a comment.
    pub(super) dash_comment: bool,
    /// Backticks run a command.
    pub(super) backticks: bool,
    /// `q() qq() qw() qx() m() s()()` quote.
    pub(super) perl_quotes: bool,
    /// `%x() %q() %w()` quote.
    pub(super) ruby_quotes: bool,
    /// `/…/` where a value may start is a pattern, quotes and comment signs in it included.
    pub(super) patterns: bool,
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Letters of names; PHP and others take any that is not ASCII.
fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || !letter.is_ascii() && !letter.is_whitespace()
}

/// A name, or what it quotes: `q()`, `qx{}`.
fn word(first: char, letters: &mut Letters<'_>, syntax: Syntax) -> Token {
    let mut word = String::from(first);
    loop {
        while let Some(c) = letters.next_if(|c| is_name(*c) || *c == '?' && syntax.ruby_quotes) {
            word.push(c);
        }
        let mut ahead = letters.clone();
        let joins = match (ahead.next(), ahead.next(), ahead.next()) {
            (Some('.'), Some(c), _) if c.is_alphabetic() && !syntax.perl_quotes => 1,
            (Some(':'), Some(':'), Some(c)) if c.is_alphabetic() => 2,
            (Some('\\'), Some(c), _) if c.is_alphabetic() && syntax.slash_comment => 1,
            _ => 0,
        };
        if joins == 0 || word.starts_with(['$', '@']) {
            break;
        }
        for _ in 0..joins {
            word.extend(letters.next());
        }
    }
    let quotes = syntax.perl_quotes && matches!(word.as_str(), "q" | "qq" | "qw" | "qx");
    if !quotes {
        return Token::Word(word);
    }
    // A delimiter may be separated: `qx {…}`.
    let mut ahead = letters.clone();
    while ahead.next_if(|letter| *letter == ' ').is_some() {}
    if ahead.peek().is_some_and(|open| "{([</|!".contains(*open)) {
        *letters = ahead;
    }
    match letters.peek().copied() {
        Some(open) if !open.is_alphanumeric() && !open.is_whitespace() && !",;=".contains(open) => {
            letters.next();
            let inner = quoted(letters, closing(open), true);
            if word == "qx" { Token::Command(inner) } else { Token::Text(inner, word == "qq") }
        }
        _ => Token::Word(word),
    }
}

/// The tokens of a text, at most `most`. `None` when there are more.
pub(super) fn tokens(text: &str, syntax: Syntax, most: usize) -> Option<Vec<Token>> {
    let mut found: Vec<Token> = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if found.len() >= most {
            return None;
        }
        let next = letters.peek().copied();
        match letter {
            '#' if syntax.hash_comment => while letters.next_if(|c| *c != '\n').is_some() {},
            '/' if syntax.slash_comment && next == Some('/') => {
                while letters.next_if(|c| *c != '\n').is_some() {}
            }
            '/' if syntax.slash_comment && next == Some('*') => {
                letters.next();
                let mut star = false;
                for c in letters.by_ref() {
                    if star && c == '/' {
                        break;
                    }
                    star = c == '*';
                }
            }
            '-' if syntax.dash_comment && next == Some('-') => {
                while letters.next_if(|c| *c != '\n').is_some() {}
            }
            '/' if syntax.patterns && starts_value(found.last()) => {
                found.push(Token::Text(quoted(&mut letters, '/', false), false));
            }
            '"' => found.push(Token::Text(quoted(&mut letters, '"', true), true)),
            '\'' => found.push(Token::Text(quoted(&mut letters, '\'', false), false)),
            '`' if syntax.backticks => found.push(Token::Command(quoted(&mut letters, '`', true))),
            '%' if syntax.ruby_quotes && next.is_some_and(|c| "xqQwWi(".contains(c)) => {
                let kind = if next == Some('(') { 'Q' } else { letters.next().unwrap_or('Q') };
                match letters.peek().copied() {
                    Some(open) if !open.is_alphanumeric() && !open.is_whitespace() => {
                        letters.next();
                        let inner = quoted(&mut letters, closing(open), true);
                        found.push(match kind {
                            'x' => Token::Command(inner),
                            'w' | 'W' | 'i' => Token::Text(inner, false),
                            _ => Token::Text(inner, kind != 'q'),
                        });
                    }
                    _ => found.push(Token::Sign('%')),
                }
            }
            letter if is_name(letter) && !letter.is_ascii_digit() || letter == '$' || letter == '@' => {
                found.push(word(letter, &mut letters, syntax));
            }
            letter if letter.is_ascii_digit() => {
                let mut number = String::from(letter);
                while let Some(c) = letters.next_if(|c| c.is_ascii_alphanumeric() || *c == '.') {
                    number.push(c);
                }
                found.push(Token::Number(number));
            }
            letter if letter.is_whitespace() => {
                if letter == '\n' {
                    found.push(Token::Sign('\n'));
                }
            }
            sign => found.push(Token::Sign(sign)),
        }
    }
    Some(found)
}

/// Whether what follows this token starts a value, so that a slash is not a division.
fn starts_value(before: Option<&Token>) -> bool {
    match before {
        None => true,
        Some(Token::Sign(sign)) => !matches!(sign, ')' | ']'),
        Some(Token::Word(word)) => matches!(word.as_str(), "in" | "print" | "return" | "if"),
        _ => false,
    }
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

fn quoted(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, close: char, escapes: bool) -> String {
    let mut raw = String::new();
    while let Some(letter) = letters.next() {
        if letter == close {
            break;
        }
        raw.push(letter);
        if letter == '\\' {
            raw.extend(letters.next());
        }
    }
    if escapes { super::tree::unescape(&raw) } else { raw.replace("\\'", "'").replace("\\\\", "\\") }
}
