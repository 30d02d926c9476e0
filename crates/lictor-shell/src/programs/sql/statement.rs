//! Whether a text is SQL. Plain English can begin with `delete` or `drop` too, so only text that parses counts.

use super::{LONGEST, Token, effect, tokens};

/// Whether every statement of a text parses, and at least one of them does something or asks for something.
#[must_use]
pub fn is_sql(text: &str) -> bool {
    if text.len() > LONGEST {
        return false;
    }
    let statements = tokens(text);
    !statements.is_empty() && statements.iter().all(|statement| parses(&statement.tokens))
}

fn word(tokens: &[Token], at: usize) -> &str {
    match tokens.get(at) {
        Some(Token::Word(word)) => word,
        _ => "",
    }
}

fn has(tokens: &[Token], wanted: &str) -> bool {
    tokens.iter().any(|token| matches!(token, Token::Word(word) if word == wanted))
}

fn parses(all: &[Token]) -> bool {
    let sign = |wanted: char| all.contains(&Token::Sign(wanted));
    let rest = |from: usize| all.get(from..).unwrap_or_default();
    match word(all, 0) {
        "DROP" => {
            let kind = if crate::words::SQL_BEFORE_NAMES.contains(&word(all, 1)) && word(all, 1) != "TABLE" {
                2
            } else {
                1
            };
            crate::words::SQL_DROPPED.contains(&word(all, kind)) && is_names(rest(kind + 1))
        }
        "TRUNCATE" => word(all, 1) == "TABLE" && is_names(rest(2)) || all.len() == 2 && is_names(rest(1)),
        "DELETE" => word(all, 1) == "FROM" && is_deletion(rest(2)),
        "UPDATE" => has(all, "SET") && sign('='),
        "ALTER" => {
            crate::words::SQL_ALTERATIONS.iter().any(|way| has(rest(2), way))
                && crate::words::SQL_DROPPED.contains(&word(all, 1))
        }
        "INSERT" | "REPLACE" | "MERGE" => word(all, 1) == "INTO",
        "CREATE" => {
            ["TABLE", "INDEX", "VIEW", "DATABASE", "SCHEMA", "FUNCTION", "ROLE", "USER", "TRIGGER"]
                .iter()
                .any(|kind| has(all, kind))
                && (sign('(') || all.len() <= 5)
        }
        "GRANT" | "REVOKE" => has(all, "TO") || has(all, "FROM"),
        "WITH" => has(all, "AS") && sign('('),
        "SELECT" => has(all, "FROM") || sign('(') || all.len() == 2,
        "EXPLAIN" | "BEGIN" => all.len() == 1 || rest(1).first().is_some_and(|_| effect(all).is_some()),
        "COPY" => has(all, "FROM") || has(all, "TO"),
        "LOAD" => word(all, 1) == "DATA",
        "DO" | "EXEC" | "EXECUTE" | "PREPARE" => all.iter().any(|token| matches!(token, Token::Text(_))),
        "CALL" => sign('('),
        "FLUSHALL" | "FLUSHDB" => is_end(rest(1)),
        "COMMIT" | "ROLLBACK" | "END" | "USE" | "SET" | "SHOW" | "PRAGMA" => all.len() <= 4,
        _ => false,
    }
}

/// `a, "b".c CASCADE` and nothing else.
fn is_names(tokens: &[Token]) -> bool {
    let start = tokens.iter().take_while(
        |token| matches!(token, Token::Word(word) if crate::words::SQL_BEFORE_NAMES.contains(&word.as_str())),
    );
    let mut rest = tokens.get(start.count()..).unwrap_or_default();
    loop {
        let [Token::Word(_) | Token::Name, behind @ ..] = rest else { return false };
        match behind {
            [Token::Sign('.' | ','), more @ ..] => rest = more,
            // A function's name is followed by its arguments.
            [Token::Sign('('), ..] => return true,
            end => return is_end(end),
        }
    }
}

fn is_end(tokens: &[Token]) -> bool {
    tokens.iter().all(
        |token| matches!(token, Token::Word(word) if crate::words::SQL_BEHIND_NAMES.contains(&word.as_str())),
    )
}

/// `table`, `table AS t`, `table WHERE …`.
fn is_deletion(tokens: &[Token]) -> bool {
    let clause = |token: &Token| matches!(token, Token::Word(word) if crate::words::SQL_CLAUSES.contains(&word.as_str()));
    let names = tokens.iter().position(clause).unwrap_or(tokens.len());
    let (table, clauses) = tokens.split_at_checked(names).unwrap_or_default();
    let named = match table {
        [rest @ .., Token::Word(as_word), Token::Word(_)] if as_word == "AS" => is_names(rest),
        [rest @ .., Token::Word(_)] if !clauses.is_empty() && !rest.is_empty() => {
            is_names(rest) || is_names(table)
        }
        table => is_names(table),
    };
    named && clauses.len() != 1
}

#[cfg(test)]
mod tests;
