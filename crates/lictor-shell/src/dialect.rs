//! Text that is substituted before a shell sees it: recipes of makefiles, and documents with `<placeholders>`.
//!
//! Both are recognised by spellings that a shell could not run, so that no runnable command is misread.

pub(crate) mod fish;
#[cfg(test)]
mod tests;

use crate::walk::conventional;

/// Longer texts are none of these.
const LONGEST: usize = 4 * 1024;
/// The replacement of a placeholder: an unknown variable.
pub(crate) const PLACEHOLDER: &str = "${PLACEHOLDER}";
/// Variables of make that are the environment's.
const ENVIRONMENT: &[&str] = &["HOME", "USER", "PWD", "TMPDIR", "PATH", "SHELL", "OLDPWD", "XDG_CONFIG_HOME"];
/// Makefile variables that an installer may set, and that are usually empty.
const EMPTY_BY_DEFAULT: &[&str] =
    &["BUILDROOT", "DESTDIR", "EXEC_PREFIX", "INSTALL_ROOT", "PREFIX", "ROOT", "SYSROOT", "RPM_BUILD_ROOT"];
/// One thing that starts with a dollar in a recipe.
enum Dollar<'a> {
    /// `$(NAME)`.
    Variable(&'a str),
    /// `$(shell …)`.
    Shell(&'a str),
    /// Another function.
    Function,
    /// `$@`, `$<`, `$(@D)`.
    Automatic(char),
    /// `$$`: a dollar for the shell.
    Escaped,
    /// `$(eval NAME := …)`.
    Definition,
}

/// A recipe of a makefile as the shell gets to see it, with words of the project in place of what only make knows.
/// Nothing when the text is no recipe.
///
/// `marked` when a mark of make stood in front of it, which no shell could run.
pub(crate) fn recipe(text: &str, marked: bool) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    if is_directive(text) {
        return Some(String::new());
    }
    let mut is_recipe = false;
    let mut quoted = false;
    for (at, letter) in text.match_indices(['$', '\'']) {
        quoted ^= letter == "'";
        // Quoted text may be for another program.
        if quoted || letter == "'" {
            continue;
        }
        let rest = text.get(at + 1..).unwrap_or_default();
        let Some((dollar, _)) = dollar(rest) else { continue };
        match dollar {
            Dollar::Variable(name) if is_defined(text, name) => return None,
            Dollar::Variable(name) => is_recipe |= is_make_name(name),
            Dollar::Shell(_) | Dollar::Function => is_recipe = true,
            Dollar::Automatic(mark) => is_recipe |= mark == '<' || mark == '^' || rest.starts_with('('),
            Dollar::Definition => is_recipe = true,
            // `$$(date)` and `$$name`: a shell would take the first two for its own number.
            Dollar::Escaped => {
                is_recipe |= rest.get(1..).is_some_and(|behind| {
                    behind.starts_with(|c: char| c == '(' || c == '{' || c.is_ascii_alphabetic())
                });
            }
        }
    }
    is_recipe.then(|| filled(text, marked))
}

/// `ifeq (…)`, `else`, `endif`: lines for make itself. A shell refuses them.
fn is_directive(text: &str) -> bool {
    let text = text.trim();
    let condition = ["ifeq (", "ifneq ("].iter().any(|start| text.starts_with(start)) && text.ends_with(')');
    (condition || matches!(text, "else" | "endif")) && !text.contains(['\n', ';', '`'])
}

fn filled(text: &str, marked: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let Some((dollar, behind)) = dollar(after) else {
            out.push('$');
            rest = after;
            continue;
        };
        let starts_word =
            out.is_empty() || out.ends_with(|c: char| c.is_whitespace() || "\"'=(;|&".contains(c));
        match dollar {
            Dollar::Escaped => out.push('$'),
            Dollar::Shell(command) => {
                out.push_str("$(");
                out.push_str(&filled(command, marked));
                out.push(')');
            }
            Dollar::Function => out.push_str("made"),
            Dollar::Definition => {}
            Dollar::Automatic(mark) => out.push_str(match mark {
                '<' => "source",
                '^' | '+' | '?' => "sources",
                '*' => "stem",
                _ => "target",
            }),
            Dollar::Variable("CURDIR") => out.push('.'),
            Dollar::Variable(name) if ENVIRONMENT.contains(&name) => {
                out.push_str("${");
                out.push_str(name);
                out.push('}');
            }
            Dollar::Variable(name) => match variable(name, behind, starts_word, marked) {
                Some(value) => out.push_str(&value),
                // Left as it is: a shell would find nothing there.
                None => {
                    out.push('$');
                    rest = after;
                    continue;
                }
            },
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The assumed value of a make variable: its program, a name of the project, or nothing.
fn variable(name: &str, behind: &str, starts_word: bool, marked: bool) -> Option<String> {
    // No shell runs a line with a mark, and a makefile sets what it uses.
    let is_set = marked && !EMPTY_BY_DEFAULT.contains(&name.to_ascii_uppercase().as_str());
    if let Some(below) = behind.strip_prefix('/') {
        let first = below.split(|c: char| c == '/' || c.is_whitespace() || "\"';|&)".contains(c)).next();
        let below_root = first.is_some_and(|first| {
            crate::words::BELOW_ROOT.contains(&first) && !(is_set && matches!(first, "" | "*"))
        });
        if starts_word && below_root {
            return None;
        }
    }
    // `$(Q)rm`: the make idiom for `@` or nothing.
    if starts_word && behind.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Some(String::new());
    }
    let name = name.split(':').next().unwrap_or_default();
    Some(match conventional::program_of(name) {
        Some("rm") => "rm -f".to_owned(),
        Some(program) => program.to_owned(),
        None => {
            let word: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            let word = word.to_ascii_lowercase();
            if crate::parser::is_reserved(&word) { "made".to_owned() } else { word }
        }
    })
}

/// The expansion after a dollar, and the rest of the text.
fn dollar(text: &str) -> Option<(Dollar<'_>, &str)> {
    let first = text.chars().next()?;
    let behind = text.get(first.len_utf8()..)?;
    match first {
        '$' => Some((Dollar::Escaped, behind)),
        '@' | '*' | '?' | '+' => Some((Dollar::Automatic(first), behind)),
        '<' | '^' => {
            let ends = behind.is_empty()
                || behind.starts_with(|c: char| c.is_whitespace() || "\"');|&/.".contains(c));
            ends.then_some((Dollar::Automatic(first), behind))
        }
        '(' => {
            let close = closing(behind)?;
            let (inside, rest) = (behind.get(..close)?, behind.get(close + 1..)?);
            Some((inside_brackets(inside)?, rest))
        }
        _ => None,
    }
}

fn inside_brackets(inside: &str) -> Option<Dollar<'_>> {
    if let ([mark @ (b'@' | b'<' | b'^' | b'*' | b'?' | b'+'), b'D' | b'F'], _) = (inside.as_bytes(), ()) {
        return Some(Dollar::Automatic(char::from(*mark)));
    }
    if let Some((function, rest)) = inside.split_once([' ', '\t']) {
        return match function {
            "shell" => Some(Dollar::Shell(rest)),
            "eval" if rest.contains(":=") || rest.contains(" = ") => Some(Dollar::Definition),
            _ if crate::words::MAKE_FUNCTIONS.contains(&function) => Some(Dollar::Function),
            // Words that a shell has too: make puts commas between what they are given.
            "if" | "or" | "and" | "strip" | "dir" | "sort" | "join" | "word" | "basename"
                if rest.contains('$') && (rest.contains(',') || !rest.contains([' ', ';', '|'])) =>
            {
                Some(Dollar::Function)
            }
            _ => None,
        };
    }
    // A variable with a computed name.
    let name = inside.replace("$(", "").replace(')', "").replace("$@", "at");
    let mut letters = name.chars();
    let plain = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || "_.:=%-".contains(c));
    plain.then_some(Dollar::Variable(inside))
}

/// The position of the closing bracket.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            b'\n' if !text.get(..at).is_some_and(|line| line.ends_with('\\')) => return None,
            _ => {}
        }
    }
    None
}

/// Names that are variables of make and no programs.
fn is_make_name(name: &str) -> bool {
    let name = name.split(':').next().unwrap_or_default();
    let capitals = name.bytes().filter(u8::is_ascii_uppercase).count();
    let small = name.bytes().filter(u8::is_ascii_lowercase).count();
    crate::words::MAKE_DIRECTORIES.contains(&name)
        || name.starts_with("am__")
        || name.len() > 1 && capitals > 0 && (small == 0 || name.contains('_'))
        || name == "Q"
}

/// Whether the text itself defines a name.
fn is_defined(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let behind = text.get(at + name.len()..).unwrap_or_default().trim_start();
        let front = text.get(..at).unwrap_or_default().trim_end();
        behind.starts_with("()") || front.ends_with("function") || front.ends_with("alias")
    })
}

/// A line of a makefile may start with `@`, `-` or `+`, which are make's.
pub(crate) fn without_recipe_mark(text: &str) -> &str {
    let rest = text.trim_start();
    // `-rm x`: make continues when it fails. No program has such a name.
    if let Some(command) = rest.strip_prefix('-')
        && command.starts_with(|next: char| next.is_ascii_lowercase())
        && command
            .split([' ', '\n'])
            .next()
            .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric()) && word.len() > 1)
    {
        return command;
    }
    match rest.strip_prefix('@').or_else(|| rest.strip_prefix("-@")).or_else(|| rest.strip_prefix("+@")) {
        Some(command)
            if command.starts_with(|next: char| next.is_ascii_alphabetic() || "[({$!:-#".contains(next)) =>
        {
            command.strip_prefix('-').unwrap_or(command)
        }
        _ => text,
    }
}

/// Lines of a document after an environment's prompt (`(venv) $ pytest`), without the prompt. A shell would
/// refuse them.
pub(crate) fn without_prompts(text: &str) -> Option<String> {
    fn command(line: &str) -> Option<&str> {
        let (name, behind) = line.trim_start().strip_prefix('(')?.split_once(')')?;
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._- ".contains(c));
        behind.trim_start_matches(' ').strip_prefix("$ ").filter(|_| plain && !name.is_empty())
    }
    if text.len() > LONGEST || command(text.lines().next()?).is_none() {
        return None;
    }
    let lines: Vec<&str> = text.lines().map(|line| command(line).unwrap_or(line)).collect();
    Some(lines.join("\n"))
}

/// A line of a page with `<placeholders>`, with a variable in place of each. Nothing when it has none, or when a shell
/// could run it: a `>` without a target is what makes it refuse the line.
pub(crate) fn placeholders(text: &str) -> Option<String> {
    if text.len() > LONGEST || text.contains("<<") {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut found = false;
    for line in text.split_inclusive('\n') {
        let refused = has_targetless(line);
        let mut rest = line;
        while let Some((open, close)) = placeholder(rest).filter(|_| refused) {
            out.push_str(rest.get(..open).unwrap_or_default());
            out.push_str(PLACEHOLDER);
            rest = rest.get(close + 1..).unwrap_or_default();
            found = true;
        }
        out.push_str(rest);
    }
    found.then_some(out)
}

/// Whether a `>` outside of quotes has no target.
fn has_targetless(line: &str) -> bool {
    let mut quote = None;
    for (at, letter) in line.char_indices() {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            ('>', None) => {
                let behind = line.get(at + 1..).unwrap_or_default().trim_start();
                let apart = line.get(at + 1..).is_some_and(|rest| rest.starts_with(' '));
                if behind.is_empty()
                    || behind.starts_with(['<', '#', ';', '|', ')', ']'])
                    || apart && behind.starts_with('>')
                {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// The first `<…>` of a line, as the places of its ends.
fn placeholder(line: &str) -> Option<(usize, usize)> {
    line.match_indices('<').find_map(|(open, _)| {
        let inside = line.get(open + 1..)?;
        let close = inside.find('>')?;
        let name = inside.get(..close)?;
        let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || "./_-@:".contains(c))
            && !name.contains(['<', '$', '`', '"', '\n']);
        plain.then_some((open, open + 1 + close))
    })
}

/// Whether a known program is at the start of a command, from the line of the syntax error on. Documents contain
/// output, tables and sentences between commands, which a shell refuses. zsh accepts some of them, and would then
/// run an unknown program, which is no worse than in valid text. The arguments and redirections of such a program
/// are analysed after the error as everywhere else.
pub(crate) fn names_program(text: &str, fault: usize) -> bool {
    const KEYWORDS: [&str; 12] =
        ["if", "then", "else", "elif", "do", "while", "until", "for", "case", "in", "!", "time"];
    let before = text.get(..fault).unwrap_or_default();
    let from = before.rfind('\n').map_or(0, |line| line + 1);
    let rest = text.get(from..).unwrap_or(text);
    if rest.len() > LONGEST {
        return true;
    }
    rest.split(['\n', ';', '|', '&', '(', ')', '{', '}', '`', '<', '>']).any(|piece| {
        let words = piece.split_whitespace().map(|word| word.replace(['"', '\'', '\\'], ""));
        let assigns = |word: &str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
        let first = words.into_iter().find(|word| !KEYWORDS.contains(&word.as_str()) && !assigns(word));
        first.is_some_and(|word| {
            let name = word.rsplit('/').next().unwrap_or_default();
            let filled_in = word == "$" || word.contains("PLACEHOLDER");
            // These are harmless with any arguments.
            let harmless = crate::programs::is(name, crate::describe::Trait::IsHarmless);
            word.contains('$') && !filled_in || !harmless && crate::programs::names_program(name)
        })
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Code that zsh runs for each name that a pattern matches: `*(e:'rm x':)`, `**/*(.e[rm\\ x])`. Quoted text is
/// not a pattern.
pub(crate) fn qualifier_code(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut quote, mut before) = (None, ' ');
    for (at, letter) in text.char_indices() {
        match (letter, quote) {
            _ if before == '\\' && quote != Some('\'') => {}
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            ('(', None) if !before.is_whitespace() && !"$<>=(|&;".contains(before) => {
                found.extend(code_in(text.get(at + 1..).unwrap_or_default()));
            }
            _ => {}
        }
        before = if before == '\\' && letter == '\\' { ' ' } else { letter };
    }
    found
}

/// The code of the qualifier `e`, after others.
fn code_in(qualifiers: &str) -> Option<String> {
    let others = |letter: char| letter != 'e' && !letter.is_whitespace() && letter != ')';
    let behind = qualifiers.trim_start_matches(others).strip_prefix('e')?;
    let mark = behind.chars().next().filter(|mark| mark.is_ascii_punctuation() && *mark != ')')?;
    let end = match mark {
        '[' => ']',
        '{' => '}',
        '<' => '>',
        mark => mark,
    };
    let (code, _) = behind.get(1..)?.lines().next()?.split_once(end)?;
    Some(code.replace(['\'', '"', '\\'], ""))
}
