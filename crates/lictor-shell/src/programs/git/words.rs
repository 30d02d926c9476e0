//! The parsed arguments of a git command, for code that inspects the repository.

use super::super::options::Options;
use super::grammar;
use crate::operand::Arg;

/// A git command by its grammar: where it works, what it does, with what.
#[derive(Debug, Clone)]
pub struct GitWords {
    /// The directories of `-C`, in order.
    pub directories: Vec<String>,
    /// The command (`checkout`).
    pub verb: String,
    options: Options,
}

impl GitWords {
    /// Parses the words after `git`; those that are not known are `None`. `None` when no command is known.
    #[must_use]
    pub fn read(args: &[Option<String>]) -> Option<Self> {
        let arg = |word: &Option<String>| match word {
            Some(text) => Arg::literal(text.clone()),
            None => Arg::unknown(String::new()),
        };
        let args: Vec<Arg> = args.iter().map(arg).collect();
        let global = grammar::global().parse(&args);
        let directories = global.values(&["C"]).filter_map(|dir| dir.known().map(str::to_owned)).collect();
        let operands = match global.operands.split_first() {
            Some((first, rest)) if first.known() == Some("--") => rest,
            _ => &global.operands,
        };
        let (verb, rest) = operands.split_first()?;
        let verb = verb.known()?.to_owned();
        let options = grammar::of(&verb).parse(rest);
        Some(Self { directories, verb, options })
    }

    /// Whether one of these options is given, by names without dashes.
    #[must_use]
    pub fn has(&self, names: &[&str]) -> bool {
        self.options.has(names)
    }

    /// The known value of one of these options.
    #[must_use]
    pub fn value(&self, names: &[&str]) -> Option<&str> {
        self.options.text(names)
    }

    /// The words in front of `--` that are no options; empty ones are not known.
    #[must_use]
    pub fn operands(&self) -> Vec<&str> {
        let end = self.options.ended_at.unwrap_or(self.options.operands.len());
        self.options.words().take(end).collect()
    }

    /// The words after `--`.
    #[must_use]
    pub fn behind(&self) -> Vec<&str> {
        let end = self.options.ended_at.unwrap_or(self.options.operands.len());
        self.options.words().skip(end).collect()
    }

    /// One operand; empty when it is not there or not known.
    #[must_use]
    pub fn word(&self, at: usize) -> &str {
        self.options.word(at)
    }
}
