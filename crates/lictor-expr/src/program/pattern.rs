//! The literal patterns of `matches` and `glob`: checked at load, compiled at first use.

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};
use serde::{Deserialize, Serialize};

use crate::limits::MAX_REGEX_SIZE;

/// A regular expression. Stored as text; it is compiled at first use, so that loading a policy with many of them
/// is cheap.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RegexPattern {
    source: String,
    #[serde(skip)]
    #[expect(clippy::disallowed_types, reason = "a memo inside one value, not a static")]
    compiled: std::sync::OnceLock<Option<Compiled>>,
}

/// A regular expression ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    regex: Regex,
    /// The maximum number of pattern positions that are active per byte of text: the factor between the length of
    /// a text and the work when the text defeats the automaton's cache.
    weight: usize,
}

impl Compiled {
    /// The worst-case cost of one search in a text of this length, in bytes read.
    pub(crate) fn work(&self, text: usize) -> usize {
        /// Measured: one position costs about as much as comparing this many bytes.
        const PLACE: usize = 4;
        text.saturating_mul(self.weight).saturating_mul(PLACE)
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl RegexPattern {
    /// Compiles the pattern, or returns why it is invalid.
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        match compile(source) {
            Ok(compiled) => Ok(Self { source: source.to_owned(), compiled: Some(compiled).into() }),
            Err(regex::Error::CompiledTooBig(_)) => {
                Err(format!("the regular expression needs more than {MAX_REGEX_SIZE} bytes"))
            }
            Err(error) => {
                let text = error.to_string();
                let reason = text.rsplit("error: ").next().unwrap_or_default().trim();
                Err(format!("this is not a regular expression: {reason}"))
            }
        }
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The compiled form; `None` when the text did not come from [`RegexPattern::new`].
    pub(crate) fn get(&self) -> Option<&Compiled> {
        self.compiled.get_or_init(|| compile(&self.source).ok()).as_ref()
    }
}

fn compile(source: &str) -> Result<Compiled, regex::Error> {
    let regex = RegexBuilder::new(source).size_limit(MAX_REGEX_SIZE).build()?;
    // The builder has parsed the same text, so this cannot fail; if it does, the weight is that of the largest
    // pattern.
    let weight = regex_syntax::parse(source).map_or(MAX_REGEX_SIZE, |hir| weight(&hir));
    Ok(Compiled { regex, weight: weight.max(1) })
}

/// Recurses along a tree whose depth the parser bounds.
fn weight(hir: &Hir) -> usize {
    /// A non-ASCII class is a small automaton over the bytes of a character.
    const WIDE: usize = 4;
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Class(Class::Unicode(class)) => {
            if class.is_ascii() {
                1
            } else {
                WIDE
            }
        }
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            weight(&repetition.sub).saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
        }
        HirKind::Capture(capture) => weight(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(0, |sum, part| sum.saturating_add(weight(part)))
        }
    }
}

/// The maximum number of brace expansions of one glob; matching tries them one by one.
const MAX_ALTERNATIVES: usize = 64;

/// A glob over `/`-separated paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GlobPattern {
    source: String,
}

impl GlobPattern {
    /// Checks the pattern, or returns why it is invalid.
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        if source.starts_with('!') {
            return Err("a glob must not start with `!`; negate the call instead: `!glob(…)`".to_owned());
        }
        fast_glob::validate(source).map_err(|error| format!("this is not a glob: {error}"))?;
        let pattern = Self { source: source.to_owned() };
        if pattern.alternatives() > MAX_ALTERNATIVES {
            return Err(format!("the braces of this glob have more than {MAX_ALTERNATIVES} readings"));
        }
        Ok(pattern)
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// An upper bound on the readings of the braces.
    fn alternatives(&self) -> usize {
        let commas = self.source.bytes().filter(|byte| *byte == b',').count();
        let groups = self.source.bytes().filter(|byte| *byte == b'{').count();
        if groups == 0 {
            return 1;
        }
        // The product over the groups is largest when the commas are spread evenly.
        (commas.div_ceil(groups) + 1).saturating_pow(u32::try_from(groups).unwrap_or(u32::MAX))
    }

    /// The worst-case cost of one match against a text of this length, in bytes read.
    pub(crate) fn work(&self, text: usize) -> usize {
        text.saturating_add(1).saturating_mul(self.source.len() + 1).saturating_mul(self.alternatives())
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        fast_glob::glob_match(&self.source, text)
    }
}
