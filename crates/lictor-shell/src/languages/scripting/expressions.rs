//! Values of the arguments of a call.

use super::Reader;
use crate::languages::api::Api;
use crate::languages::given;
use crate::languages::python::environment;
use crate::languages::tokens::Token;
use crate::languages::value::{Value, join_path};
use crate::operand::{Arg, Taint};

impl Reader<'_, '_> {
    /// `system {"rm"} "any name", "-rf", "x"` of Perl: the block is the program, the first word is only its name.
    pub(super) fn program_in_block(&self, api: Api, after: &[Token]) -> Option<Vec<Value>> {
        if self.language != "perl" || api != Api::Process || after.first() != Some(&Token::Sign('{')) {
            return None;
        }
        let close = after.iter().position(|token| *token == Token::Sign('}'))?;
        let (program, _) = self.expression(after.get(1..close)?);
        let (words, _) = self.arguments(after.get(close + 1..).unwrap_or_default());
        let split = |value: &Value| match value.known() {
            Some(text) if words.len() == 1 => text.split_whitespace().map(Value::text).collect(),
            _ => vec![value.clone()],
        };
        let words: Vec<Value> = words.iter().flat_map(split).collect();
        Some(std::iter::once(program).chain(words.into_iter().skip(1)).collect())
    }

    /// Arguments in parentheses or up to the end of the statement.
    pub(super) fn arguments(&self, after: &[Token]) -> (Vec<Value>, usize) {
        let inside = matches!(after.first(), Some(Token::Sign('(')));
        let mut rest = if inside { after.get(1..).unwrap_or_default() } else { after };
        let mut values = Vec::new();
        let mut used = 0;
        while !rest.is_empty() && values.len() < 64 {
            match rest.first() {
                Some(Token::Sign(';' | '}' | '|' | '&')) => break,
                Some(Token::Sign('\n')) if !inside => break,
                Some(Token::Sign(')')) => break,
                Some(Token::Word(word))
                    if matches!(
                        word.as_str(),
                        "if" | "unless" | "or" | "and" | "do" | "for" | "while" | "foreach"
                    ) =>
                {
                    break;
                }
                Some(Token::Sign(',' | '\n' | '[' | ']' | '(' | '=' | '>' | '*')) => {
                    rest = rest.get(1..).unwrap_or_default();
                    used += 1;
                    continue;
                }
                Some(Token::Sign('-')) if matches!(rest.get(1), Some(Token::Number(_))) => {
                    if let Some(Token::Number(number)) = rest.get(1) {
                        values.push(Value::Name(format!("-{number}")));
                    }
                    rest = rest.get(2..).unwrap_or_default();
                    used += 2;
                    continue;
                }
                // No other sign starts a value: `print if /system/` calls nothing.
                Some(Token::Sign(_)) => break,
                _ => {}
            }
            let (value, taken) = self.expression(rest);
            values.push(value);
            rest = rest.get(taken.max(1)..).unwrap_or_default();
            used += taken.max(1);
        }
        (values, used)
    }

    /// One expression: literals and variables put together by `.`, `+` or `..`.
    pub(super) fn expression(&self, from: &[Token]) -> (Value, usize) {
        let mut at = 0;
        let mut whole: Option<Value> = None;
        loop {
            let part = match from.get(at) {
                Some(Token::Text(text, true)) => Value::Text(self.filled(text)),
                Some(Token::Text(text, false)) => Value::text(text),
                Some(Token::Number(number)) => Value::Name(number.clone()),
                Some(Token::Word(word)) => match self.word(word, from.get(at + 1..).unwrap_or_default()) {
                    Some((value, taken)) => {
                        at += taken;
                        value
                    }
                    None => Value::unknown(),
                },
                _ => return (whole.unwrap_or_else(Value::unknown), at),
            };
            at += 1;
            whole = Some(match whole {
                Some(left) => left.concat(part),
                None => part,
            });
            match from.get(at) {
                Some(Token::Sign('.' | '+')) => at += 1,
                // awk puts strings together by writing them side by side.
                Some(Token::Text(..) | Token::Word(_) | Token::Number(_)) if self.language == "awk" => {
                    continue;
                }
                _ => return (whole.unwrap_or_else(Value::unknown), at),
            }
            if let Some(Token::Sign('.')) = from.get(at) {
                at += 1;
            }
        }
    }

    /// A variable, or a call that returns a path. Returns how many more tokens it consumed.
    pub(super) fn word(&self, word: &str, after: &[Token]) -> Option<(Value, usize)> {
        if let Some(value) = self.variables.get(word) {
            return Some((value.clone(), 0));
        }
        if let Some(value) = self.given(word, after) {
            return Some((value, 3));
        }
        match word {
            "ENV" | "$ENV" | "getenv" | "$_ENV" | "os.getenv" | "ENVIRON" => {
                let name = after.iter().take(3).find_map(|token| match token {
                    Token::Text(text, _) => Some(text.as_str()),
                    Token::Word(word) => Some(word.as_str()),
                    _ => None,
                })?;
                let value = match name {
                    "HOME" => Value::text("~"),
                    name => environment(self.call, Some(name)),
                };
                Some((value, 3.min(after.len())))
            }
            "Dir.home" => Some((Value::text("~"), 0)),
            "Dir.pwd" | "getcwd" | "__DIR__" => Some((Value::text("."), 0)),
            "Dir.tmpdir" | "sys_get_temp_dir" => Some((Value::text("/tmp"), 0)),
            "glob" | "Dir.glob" | "Dir" | "Pathname.glob" => {
                let (values, used) = self.arguments(after);
                match values.first() {
                    Some(Value::Text(arg)) => {
                        Some((Value::Text(Arg { glob: true, ..arg.clone() }), used + 1))
                    }
                    _ => None,
                }
            }
            // Names come without the folder they are in.
            "Dir.children" | "Dir.entries" | "readdir" | "scandir" => {
                let (_, used) = self.arguments(after);
                Some((Value::Text(crate::programs::report::glob("*")), used + 1))
            }
            "sprintf" | "format" => {
                let (values, used) = self.arguments(after);
                let words: Option<Vec<&str>> = values.iter().map(Value::known).collect();
                let (format, words) = words.as_deref()?.split_first()?;
                let inside = usize::from(after.first() == Some(&Token::Sign('('))) * 2;
                Some((Value::text(crate::programs::text::render_printf(format, words)), used + inside))
            }
            "File.join" | "File.expand_path" => {
                let (values, used) = self.arguments(after);
                Some((join_path(values), used + 2))
            }
            "file_get_contents" | "URI.open" | "open" | "Net::HTTP.get" | "LWP::Simple::get" | "get" => {
                let (values, used) = self.arguments(after);
                let remote = values.first().and_then(Value::known).is_some_and(|url| url.contains("://"));
                remote.then_some((Value::Unknown(Taint { network: true, ..Taint::default() }), used + 2))
            }
            "base64_decode"
            | "decode_base64"
            | "Base64.decode64"
            | "MIME::Base64::decode"
            | "gzinflate"
            | "str_rot13"
            | "pack"
            | "hex2bin" => {
                let (values, used) = self.arguments(after);
                let decoded = values
                    .first()
                    .and_then(Value::known)
                    .filter(|_| word.to_ascii_lowercase().contains("base64"))
                    .and_then(crate::programs::text::from_base64)
                    .and_then(|bytes| String::from_utf8(bytes).ok());
                let value =
                    decoded.map_or(Value::Unknown(Taint { decoded: true, ..Taint::default() }), Value::text);
                Some((value, used + 2))
            }
            _ => None,
        }
    }

    /// An argument of the code: `ARGV[0]`, `$argv[1]`, `arg[1]`.
    fn given(&self, word: &str, after: &[Token]) -> Option<Value> {
        let first = match (self.language, word) {
            ("ruby", "ARGV") | ("perl", "$ARGV" | "ARGV") => 0,
            ("awk", "ARGV") | ("php", "$argv") | ("lua", "arg") => 1,
            _ => return None,
        };
        let [Token::Sign('['), Token::Number(at), Token::Sign(']'), ..] = after else { return None };
        let at = at.parse::<usize>().ok()?.checked_sub(first)?;
        given::words(self.call).get(at).cloned().map(Value::Text)
    }

    /// A string with variables in it.
    pub(super) fn filled(&self, text: &str) -> Arg {
        let marks: &[&str] = match self.language {
            "ruby" => &["#{"],
            "perl" | "php" => &["$", "@"],
            _ => return Arg::literal(text),
        };
        let home = crate::words::CODE_TEXT_HOMES
            .iter()
            .find(|home| text.contains(**home))
            .map(|home| text.replace(home, "~"));
        let text = home.as_deref().unwrap_or(text);
        let Some(at) = marks.iter().filter_map(|mark| text.find(mark)).min() else {
            return Arg::literal(text);
        };
        let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        // `#{'x'}` and `@{['x']}`: a constant in place of a variable.
        for (open, close) in [("#{'", "'}"), ("#{\"", "\"}"), ("@{['", "']}"), ("@{[\"", "\"]}")] {
            if let Some((constant, tail)) = rest.strip_prefix(open).and_then(|inner| inner.split_once(close))
            {
                let tail = self.filled(tail);
                return match Value::text(format!("{before}{constant}")).concat(Value::Text(tail)) {
                    Value::Text(arg) => arg,
                    _ => Arg::unknown(text),
                };
            }
        }
        let name_start = rest.trim_start_matches(['#', '{', '$', '@']);
        let length =
            name_start.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name_start.len());
        let name = name_start.get(..length).unwrap_or_default();
        if name.is_empty() {
            return Arg::literal(text);
        }
        let tail = name_start.get(length..).unwrap_or_default().trim_start_matches('}');
        let sigil = if self.language == "ruby" { name.to_owned() } else { format!("${name}") };
        let value = self.variables.get(&sigil).cloned().unwrap_or_else(Value::unknown);
        let rest = if tail.is_empty() { Value::text("") } else { Value::Text(self.filled(tail)) };
        match Value::text(before).concat(value).concat(rest) {
            Value::Text(arg) => arg,
            other => Arg { splits: false, taint: other.taint(), ..Arg::unknown(text) },
        }
    }
}
