//! Code in the subscript of a name: the shell evaluates it wherever it expects a name or a number.

use super::{Scene, Walker};
use crate::ast::Word;
use crate::state::{Datum, Value};

impl Walker<'_> {
    /// Walks the subscript of a name that was only text so far (`'a[$(…)]'`).
    pub(crate) fn subscript(&mut self, name: &str) {
        let Some((front, rest)) = name.split_once('[') else { return };
        if front.is_empty()
            || front.contains(|letter: char| !(letter.is_ascii_alphanumeric() || "_=+-".contains(letter)))
            || !(rest.contains("$(") || rest.contains('`'))
        {
            return;
        }
        let inner = rest.rsplit_once(']').map_or(rest, |(inner, _)| inner);
        let scene = Scene { certain: false, attributable: false, capture: false };
        let text = format!(": {inner}");
        self.through("subscript", |this| this.text(&text, scene));
    }

    /// Names in arithmetic are replaced by their values, which are evaluated as arithmetic in turn.
    pub(crate) fn arithmetic_names(&mut self, text: &str) {
        if !text.contains(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
            return;
        }
        let names = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        let values: Vec<String> = names
            .filter_map(|name| match self.state.variable(name) {
                Some(Value::Scalar(datum)) => {
                    datum.text().filter(|text| text.contains('[')).map(str::to_owned)
                }
                _ => None,
            })
            .take(16)
            .collect();
        for value in values {
            self.subscript(&value);
        }
    }

    /// The words of `[[ … ]]` and `test`: names after `-v`, numbers around `-eq`.
    pub(super) fn test_words(&mut self, words: &[Word]) {
        let values: Vec<Datum> = words.iter().map(|word| self.value(word)).collect();
        self.tested(values.iter().filter_map(Datum::text));
        // `[[ $text =~ pattern ]]`: the match is stored in a shell variable.
        if let Some([text, _]) =
            values.windows(2).find(|pair| pair.last().and_then(Datum::text) == Some("=~"))
        {
            self.state.set("BASH_REMATCH", Value::unknown(text.taint));
        }
    }

    /// Looks for code in names and numbers that a test evaluates.
    pub(crate) fn tested<'a>(&mut self, words: impl Iterator<Item = &'a str> + Clone) {
        let evaluates =
            |word: &str| matches!(word, "-v" | "-R" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
        if words.clone().any(evaluates) {
            for word in words.filter(|word| word.contains('[') && word.len() > 1) {
                self.subscript(word);
            }
        }
    }
}
