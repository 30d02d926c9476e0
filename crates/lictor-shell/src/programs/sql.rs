//! Effects of SQL statements: a tokenizer that distinguishes data from statements.

mod statement;

use lictor_core::facts::{Access, DatabaseEffect, FlowSink, FlowSource};

use super::report::short;
use crate::call::Report;
use crate::describe::Trait;
use crate::operand::{Arg, Cwd, Operand};

pub use statement::is_sql;

/// Longest text that is read.
const LONGEST: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A bare word, upper case.
    Word(String),
    /// A quoted identifier.
    Name,
    /// A string literal with its content.
    Text(String),
    /// Anything else that is one sign.
    Sign(char),
    /// A number.
    Number(String),
}

struct Statement {
    tokens: Vec<Token>,
    text: String,
}

fn tokens(text: &str) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut current: Vec<Token> = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    let mut finish = |current: &mut Vec<Token>, from: usize, to: usize| {
        if !current.is_empty() {
            let text = short(text.get(from..to).unwrap_or_default().trim());
            statements.push(Statement { tokens: std::mem::take(current), text });
        }
    };
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, letter)| *letter);
        match letter {
            ';' => {
                finish(&mut current, start, at);
                start = at + 1;
            }
            '-' if next == Some('-') => while letters.next_if(|(_, letter)| *letter != '\n').is_some() {},
            '#' if next != Some('>') && current.is_empty() => {
                while letters.next_if(|(_, letter)| *letter != '\n').is_some() {}
            }
            '/' if next == Some('*') => comment(&mut letters),
            '*' if next == Some('/') => {
                letters.next();
            }
            '\'' => current.push(Token::Text(quoted(&mut letters, '\''))),
            '"' | '`' => {
                quoted(&mut letters, letter);
                current.push(Token::Name);
            }
            '[' => {
                for (_, letter) in letters.by_ref() {
                    if letter == ']' {
                        break;
                    }
                }
                current.push(Token::Name);
            }
            '$' if next.is_some_and(|letter| letter == '$' || letter.is_alphabetic() || letter == '_') => {
                current.extend(dollar_quoted(&mut letters, text));
            }
            letter if letter.is_alphabetic() || letter == '_' => {
                let mut word = String::from(letter.to_ascii_uppercase());
                while let Some((_, letter)) =
                    letters.next_if(|(_, l)| l.is_alphanumeric() || *l == '_' || *l == '$')
                {
                    word.push(letter.to_ascii_uppercase());
                }
                current.push(Token::Word(word));
            }
            letter if letter.is_ascii_digit() => {
                let mut number = String::from(letter);
                while let Some((_, letter)) = letters.next_if(|(_, l)| l.is_ascii_alphanumeric() || *l == '.')
                {
                    number.push(letter);
                }
                current.push(Token::Number(number));
            }
            letter if letter.is_whitespace() => {}
            sign => current.push(Token::Sign(sign)),
        }
    }
    finish(&mut current, start, text.len());
    statements
}

type Letters<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

/// Goes past `/* … */`. `/*! … */` is executed by MySQL: only the markers are dropped.
fn comment(letters: &mut Letters<'_>) {
    letters.next();
    if letters.next_if(|(_, letter)| *letter == '!').is_some() {
        while letters.next_if(|(_, letter)| letter.is_ascii_digit()).is_some() {}
        return;
    }
    let mut star = false;
    for (_, letter) in letters.by_ref() {
        if star && letter == '/' {
            break;
        }
        star = letter == '*';
    }
}

/// `$$ … $$` and `$tag$ … $tag$`.
fn dollar_quoted(letters: &mut Letters<'_>, text: &str) -> Option<Token> {
    let mut tag = String::from("$");
    while let Some((_, letter)) = letters.next_if(|(_, letter)| letter.is_alphanumeric() || *letter == '_') {
        tag.push(letter);
    }
    letters.next_if(|(_, letter)| *letter == '$')?;
    tag.push('$');
    let from = letters.peek().map_or(text.len(), |(at, _)| *at);
    let body = text.get(from..).unwrap_or_default();
    let length = body.find(&tag).unwrap_or(body.len());
    let end = from + length + tag.len();
    while letters.next_if(|(at, _)| *at < end).is_some() {}
    Some(Token::Text(body.get(..length).unwrap_or_default().to_owned()))
}

fn quoted(letters: &mut Letters<'_>, quote: char) -> String {
    let mut out = String::new();
    while let Some((_, letter)) = letters.next() {
        if letter == quote {
            if letters.next_if(|(_, next)| *next == quote).is_none() {
                break;
            }
        } else if letter == '\\' && quote == '\'' && letters.peek().is_some_and(|(_, next)| *next == '\'') {
            // In MySQL the quote is escaped; elsewhere the string ends here. Either way what follows is read.
            letters.next();
            out.push('\'');
            continue;
        }
        out.push(letter);
    }
    out
}

/// Reports what the statements in `text` do.
pub(crate) fn judge(text: &str, report: &mut Report) {
    if text.len() > LONGEST {
        return report.opaque(lictor_core::facts::OpaqueWhat::Limit, text);
    }
    judge_nested(text, report, 0);
}

fn judge_nested(text: &str, report: &mut Report, depth: usize) {
    let statements = tokens(text);
    let undone = is_rolled_back(&statements);
    let mut own: Vec<&str> = Vec::new();
    for statement in &statements {
        let words: Vec<&str> = statement.tokens.iter().map_while(word_of).take(5).collect();
        own.extend(temporary_table(&words));
        let passing = match words.as_slice() {
            ["DROP" | "TRUNCATE", "TABLE", "IF", "EXISTS", name] => own.contains(name),
            ["DROP" | "TRUNCATE", "TABLE", name, ..] => own.contains(name),
            // Rows come back; what a definition changes does not everywhere.
            ["DELETE" | "UPDATE" | "INSERT", ..] => undone,
            _ => false,
        };
        if let Some(effect) = effect(&statement.tokens).filter(|_| !passing) {
            report.database(effect, &statement.text);
        }
        let mentions = |wanted: &[&str]| {
            statement
                .tokens
                .iter()
                .any(|token| matches!(token, Token::Word(word) if wanted.contains(&word.as_str())))
        };
        let is_block = matches!(statement.tokens.first(), Some(Token::Word(word)) if word == "DO");
        let runs_text = is_block || mentions(&["EXECUTE", "EXEC", "PREPARE"]);
        files(&statement.tokens, report);
        for pair in statement.tokens.windows(2) {
            match pair {
                [Token::Word(word), Token::Text(command)] if word == "PROGRAM" => {
                    report.then_shell(&Arg::literal(command), &[], "sql");
                    // Rows of a table, passed to a program that sends them.
                    let program = command.split_whitespace().next().unwrap_or_default();
                    if mentions(&["TO"]) && super::is(program, Trait::SendsFiles) {
                        report.flow(FlowSource::Private, FlowSink::Host, command);
                    }
                }
                _ => {}
            }
        }
        let shells_out = mentions(&["XP_CMDSHELL", "SYS_EXEC", "SYS_EVAL"]);
        for token in &statement.tokens {
            let Token::Text(inner) = token else { continue };
            if shells_out {
                report.then_shell(&Arg::literal(inner), &[], "sql");
            }
            if runs_text && depth < 4 {
                judge_nested(inner, report, depth + 1);
            }
        }
    }
}

fn word_of(token: &Token) -> Option<&str> {
    match token {
        Token::Word(word) => Some(word),
        _ => None,
    }
}

/// The table that a statement makes for this session alone.
fn temporary_table<'a>(words: &[&'a str]) -> Option<&'a str> {
    match words {
        ["CREATE", "TEMP" | "TEMPORARY", "TABLE", name, ..] if *name != "IF" => Some(name),
        _ => None,
    }
}

/// Whether all of it is one transaction that is taken back at the end.
fn is_rolled_back(statements: &[Statement]) -> bool {
    let verb =
        |statement: &Statement| statement.tokens.first().and_then(word_of).unwrap_or_default().to_owned();
    let [first, between @ .., last] = statements else { return false };
    matches!(verb(first).as_str(), "BEGIN" | "START")
        && verb(last) == "ROLLBACK"
        && !between
            .iter()
            .any(|one| matches!(verb(one).as_str(), "COMMIT" | "END" | "ROLLBACK" | "BEGIN" | "START"))
}

/// Files that a statement reads or writes, where they are secrets or run later.
fn files(tokens: &[Token], report: &mut Report) {
    let copies = matches!(tokens.first(), Some(Token::Word(word)) if word == "COPY");
    let file = |report: &mut Report, access: Access, path: &str| {
        let target = Operand::new(Arg::literal(path), Cwd::Start);
        report.effects.push(crate::Effect::File { access, target, recursive: false, by: None });
    };
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let bracket = usize::from(tokens.get(at + 1) == Some(&Token::Sign('(')));
        // `lo_export(number, path)`.
        if let (true, 1, Some(Token::Sign(',')), Some(Token::Text(path))) =
            (word == "LO_EXPORT", bracket, tokens.get(at + 3), tokens.get(at + 4))
            && crate::walk::startup::runs_later(path)
        {
            file(report, Access::Write, path);
        }
        let Some(Token::Text(path)) = tokens.get(at + 1 + bracket) else { continue };
        let reads = match word.as_str() {
            "FROM" => copies,
            "INFILE" => true,
            "READFILE"
            | "LOAD_FILE"
            | "PG_READ_FILE"
            | "PG_READ_BINARY_FILE"
            | "LO_IMPORT"
            | "READ_TEXT"
            | "READ_BLOB" => bracket == 1,
            _ => false,
        };
        let writes = match word.as_str() {
            "TO" => copies,
            "OUTFILE" | "DUMPFILE" => true,
            "INTO" => matches!(tokens.first(), Some(Token::Word(word)) if word == "VACUUM"),
            "DATABASE" => matches!(tokens.first(), Some(Token::Word(word)) if word == "EXPORT"),
            "WRITEFILE" => bracket == 1,
            _ => false,
        };
        if reads && super::is_secret_path(path) {
            report.taint.secret = true;
            file(report, Access::Read, path);
        }
        // A path on the database server is irrelevant here, unless it is in a home directory or a project.
        let ours = !path.starts_with('/') || path.contains("/.") || path.ends_with("/governance.yaml");
        // Pages and modules that a server runs.
        let served = [".php", ".phtml", ".jsp", ".jspx", ".asp", ".aspx", ".cgi", ".so", ".dll"];
        // `ATTACH DATABASE 'x.php'` makes a new one.
        let attaches = matches!(tokens.first(), Some(Token::Word(word)) if word == "ATTACH");
        if (writes || attaches) && served.iter().any(|ending| path.ends_with(ending)) {
            report.deed("change", "startup");
        }
        if writes && (ours || crate::walk::startup::runs_later(path)) {
            file(report, Access::Write, path);
        }
    }
}

fn effect(tokens: &[Token]) -> Option<DatabaseEffect> {
    let word = |at: usize| match tokens.get(at) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let has = |wanted: &str| tokens.iter().any(|token| matches!(token, Token::Word(word) if word == wanted));
    // A common table expression or EXPLAIN ANALYZE precedes the verb.
    let verb = match word(0) {
        "WITH" => ["DELETE", "UPDATE", "INSERT"].into_iter().find(|verb| has(verb)).unwrap_or("SELECT"),
        "EXPLAIN" if has("ANALYZE") => ["DELETE", "UPDATE", "INSERT"].into_iter().find(|verb| has(verb)).unwrap_or("SELECT"),
        "BEGIN" | "THEN" | "ELSE" | "LOOP" => {
            return tokens.get(1..).filter(|rest| !rest.is_empty()).and_then(effect);
        }
        "IF" => tokens.iter().position(|token| matches!(token, Token::Word(word) if matches!(word.as_str(), "DROP" | "TRUNCATE" | "DELETE" | "BEGIN" | "THEN")))
            .and_then(|at| tokens.get(at..)).and_then(effect).map(|_| "IF").unwrap_or(""),
        first => first,
    };
    Some(match verb {
        "IF" => DatabaseEffect::DropPart,
        "DROP" => {
            let kind = if matches!(word(1), "TEMPORARY" | "FOREIGN" | "MATERIALIZED" | "EXTERNAL") {
                word(2)
            } else {
                word(1)
            };
            match kind {
                "DATABASE" | "SCHEMA" | "KEYSPACE" | "CATALOG" | "TABLESPACE" | "OWNED" | "CLUSTER"
                | "WAREHOUSE" | "SHARE" => DatabaseEffect::DropAll,
                "TABLE" | "COLLECTION" | "MEASUREMENT" | "SERIES" | "STREAM" | "TOPIC" | "TABLES"
                | "BUCKET" | "COLUMN" | "PARTITION" | "DATASET" => {
                    if word(1) == "TEMPORARY" {
                        DatabaseEffect::Change
                    } else {
                        DatabaseEffect::DropPart
                    }
                }
                "USER" | "ROLE" | "SERVER" | "EXTENSION" | "TYPE" | "DOMAIN" | "SEQUENCE"
                    if has("CASCADE") =>
                {
                    DatabaseEffect::DropPart
                }
                "USER" | "ROLE" => DatabaseEffect::DropPart,
                _ => DatabaseEffect::Change,
            }
        }
        "TRUNCATE" => DatabaseEffect::DropPart,
        "DELETE" => {
            if limits(tokens) {
                DatabaseEffect::Change
            } else {
                DatabaseEffect::DropPart
            }
        }
        "UPDATE" => {
            if limits(tokens) {
                DatabaseEffect::Change
            } else {
                DatabaseEffect::DropPart
            }
        }
        "ALTER" => {
            let drops = tokens.windows(2).any(|pair| matches!(pair, [Token::Word(first), second]
                if first == "DROP" && !matches!(second, Token::Word(kind) if crate::words::SQL_DROPPABLE.contains(&kind.as_str()))));
            if drops { DatabaseEffect::DropPart } else { DatabaseEffect::Change }
        }
        "FLUSHALL" | "FLUSHDB" => DatabaseEffect::DropAll,
        "RENAME" | "INSERT" | "REPLACE" | "MERGE" | "UPSERT" | "CREATE" | "GRANT" | "REVOKE" | "COPY"
        | "LOAD" | "CALL" | "VACUUM" => DatabaseEffect::Change,
        _ => return None,
    })
}

/// Whether a `WHERE` (or `LIMIT`, `USING`, a join) really limits the rows.
fn limits(tokens: &[Token]) -> bool {
    let Some(at) = tokens.iter().position(|token| matches!(token, Token::Word(word) if word == "WHERE"))
    else {
        return tokens.iter().any(|token| matches!(token, Token::Word(word) if word == "LIMIT"));
    };
    match tokens.get(at + 1..).unwrap_or_default() {
        [] => false,
        [Token::Number(left), Token::Sign('='), Token::Number(right)] => left != right,
        [Token::Text(left), Token::Sign('='), Token::Text(right)] => left != right,
        [Token::Word(word)] => word != "TRUE",
        [Token::Number(number)] => number == "0",
        _ => true,
    }
}
