//! Variables that conventionally hold the name of a program, a flag or a wrapper.

use super::Walker;
use crate::ast::{Item, Joint, Node, Part, Pipeline, Script, Word};
use crate::operand::Arg;

/// The program that a variable is set to by convention.
pub(crate) fn program_of(name: &str) -> Option<&'static str> {
    let known = |name: &str| {
        crate::words::PROGRAM_VARIABLES
            .iter()
            .find_map(|pair| pair.split_once('=').filter(|(known, _)| *known == name))
    };
    let known = |name: &str| known(name).map(|(_, program)| program);
    let stem = || ["_CMD", "_BIN", "_EXE", "_COMMAND"].iter().find_map(|end| name.strip_suffix(end));
    known(name).or_else(|| known(stem()?))
}

/// Variables with words that precede any command, or empty.
fn is_wrapper(name: &str) -> bool {
    ["_EXEC", "_PREFIX", "_WRAPPER", "_RUNNER"].iter().any(|end| name.ends_with(end))
}

/// Variables that are `true` or `false` by convention.
fn is_switch(name: &str) -> bool {
    matches!(name, "CI" | "DEBUG" | "VERBOSE" | "QUIET" | "DRY_RUN" | "FORCE" | "INTERACTIVE" | "COVERAGE")
        || ["IS_", "HAS_", "USE_", "ENABLE_", "SKIP_", "WITH_", "RUN_TESTS"]
            .iter()
            .any(|start| name.starts_with(start))
}

impl Walker<'_> {
    /// The program that an unknown word conventionally denotes. `None` when the line sets the variable.
    pub(super) fn conventional(&self, word: &Arg) -> Option<&'static str> {
        let name = variable(&word.text)?;
        if self.state.variable(name).is_some() {
            return None;
        }
        program_of(name).or_else(|| is_wrapper(name).then_some("env"))
    }

    /// Whether an unknown variable precedes a whole command (`$FAKETTY cargo test`): it is a wrapper, or empty.
    /// Words that are subcommands elsewhere (`$TOOL install`) do not show that.
    pub(super) fn stands_in_front(&self, word: &Arg, next: Option<&Arg>) -> bool {
        let unset = variable(&word.text).is_some_and(|name| self.state.variable(name).is_none());
        unset
            && word.taint == crate::operand::Taint::default()
            && next.and_then(Arg::known).is_some_and(crate::programs::is_tool)
    }

    /// The make variable of `$(NAME)`. `None` when the line itself defines what `NAME` runs.
    pub(crate) fn make_variable<'s>(&self, script: &'s Script) -> Option<&'s str> {
        make_variable(script)
            .filter(|name| self.state.function(name).is_none() && self.state.alias(name).is_none())
    }

    /// An unknown program without arguments: `$(compile)` runs its output, which is no more than it could do
    /// itself. A makefile macro looks like that.
    fn prints_its_own<'s>(&self, script: &'s Script) -> Option<&'s str> {
        let name = lone_word(script)?;
        let here = self.state.function(name).is_some()
            || self.state.alias(name).is_some()
            || self.state.files().next().is_some();
        let given = !matches!(self.input(), crate::call::Stdin::Inherited);
        (!here && !given && !name.contains('/') && !crate::programs::names_program(name)).then_some(name)
    }

    /// The program that the first word of a recipe names, when it is written as make writes it: `$(CC)`,
    /// `@$(RM)`, `@echo`. A shell has no such program, so it has no other meaning.
    pub(super) fn of_recipe(&self, word: &Word) -> Option<String> {
        let (mark, variable) = match word.parts.as_slice() {
            [Part::Command(script)] => (true, script),
            [Part::Literal(mark), Part::Command(script)] => {
                (mark.chars().all(|letter| "@-+".contains(letter)), script)
            }
            _ => {
                let program = word.literal()?.strip_prefix('@')?;
                let program = program.trim_start_matches(['@', '-', '+']);
                return program
                    .starts_with(|letter: char| letter.is_ascii_alphabetic())
                    .then(|| program.to_owned());
            }
        };
        if mark && let Some(function) = make_function(variable) {
            return Some(function.to_owned());
        }
        if mark && let Some(name) = self.prints_its_own(variable) {
            return Some(name.to_owned());
        }
        let name = self.make_variable(variable).filter(|_| mark)?;
        Some(program_of(name).map_or_else(|| name.to_ascii_lowercase(), str::to_owned))
    }

    /// Whether a word contains `${{ … }}` or a placeholder: a shell refuses these, and they are substituted
    /// before the text runs.
    pub(super) fn is_filled_in_before(word: &Arg) -> bool {
        let filled_in = word.text.contains("${{") || word.text.contains(crate::dialect::PLACEHOLDER);
        filled_in && word.taint == crate::operand::Taint::default()
    }

    /// Whether a word that is the whole command is a switch: `if $found; then`.
    pub(super) fn is_switch(&self, word: &Arg) -> bool {
        variable(&word.text).is_some_and(|name| match self.switches.get(name) {
            Some(only) => *only,
            None => self.state.variable(name).is_none() && is_switch(name),
        })
    }

    /// The programs that a word may denote: a variable with alternative values.
    pub(super) fn either_program(&self, word: &Arg) -> Option<Vec<String>> {
        let programs = self.state.either(variable(&word.text)?)?;
        // `SUDO=`: the next word is then the program, as after `env`.
        let program = |program: &String| match program.trim() {
            "" => "env".to_owned(),
            _ => program.clone(),
        };
        (programs.len() <= 8).then(|| programs.iter().map(program).collect())
    }

    /// A variable that is a whole condition, and that the line does not set, is a switch of the caller.
    pub(super) fn note_conditions(&mut self, condition: &Script) {
        for item in &condition.items {
            let rest = item.rest.iter().map(|(_, pipeline)| pipeline);
            for pipeline in std::iter::once(&item.first).chain(rest) {
                let [Node::Simple(simple)] = pipeline.stages.as_slice() else { continue };
                let [word] = simple.words.as_slice() else { continue };
                let written = word.written();
                let Some(name) = variable(written).filter(|_| simple.assignments.is_empty()) else {
                    continue;
                };
                if self.state.variable(name).is_none() {
                    self.switches.entry(name.to_owned()).or_insert(true);
                }
            }
        }
    }

    /// Notes what a variable is set to: `true` and `false` only, or something else.
    pub(super) fn note_switch(&mut self, name: &str, value: Option<&str>) {
        let switch = matches!(value, Some("true" | "false" | ":"));
        let known = self.switches.entry(name.to_owned()).or_insert(switch);
        *known &= switch;
    }
}

/// A function of make in the place of a command; no program has such a name.
fn make_function(script: &Script) -> Option<&str> {
    let item = script.items.first()?;
    let Node::Simple(simple) = item.first.stages.first()? else { return None };
    let name = simple.words.first().filter(|_| simple.words.len() > 1)?.bare()?;
    matches!(name, "call" | "foreach" | "info" | "warning" | "error" | "wildcard" | "patsubst")
        .then_some(name)
}

/// The only word of a script.
fn lone_word(script: &Script) -> Option<&str> {
    let [item] = script.items.as_slice() else { return None };
    let [Node::Simple(simple)] = item.first.stages.as_slice() else { return None };
    let [word] = simple.words.as_slice() else { return None };
    let plain = item.rest.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty();
    word.bare().filter(|_| plain)
}

/// The name of a variable of make: `$(NAME)` reads like a command that is one word in capitals.
fn make_variable(script: &Script) -> Option<&str> {
    // `$(OBJECTS:.o=.d)` is the same list with other endings.
    let name = lone_word(script)?.split(':').next()?;
    let capitals = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    (name.len() > 1
        && name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name.chars().all(capitals))
    .then_some(name)
}

/// The variable that a word is: `$CC`, `"${CC}"`, `${CC:-gcc}`, `${{ env.CC }}`.
fn variable(text: &str) -> Option<&str> {
    let text = text.trim_matches('"');
    if let Some(inside) = text.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")) {
        return inside.trim().strip_prefix("env.");
    }
    let name = text.strip_prefix('$')?;
    let name = match name.strip_prefix('{') {
        Some(inner) => inner.strip_suffix('}')?.split([':', '-']).next()?,
        None => name,
    };
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// `command -v a || command -v b`: the first one found is the requested program.
pub(super) fn looks_up(item: &Item) -> bool {
    let looks = |pipeline: &Pipeline| match pipeline.stages.as_slice() {
        [Node::Simple(simple)] => {
            let words: Vec<&str> = simple.words.iter().filter_map(|word| word.literal()).collect();
            matches!(words.as_slice(), ["command", "-v", _] | ["which", _] | ["type", "-P", _] | ["echo", _])
                && simple.words.len() == words.len()
        }
        _ => false,
    };
    looks(&item.first) && item.rest.iter().all(|(joint, pipeline)| *joint == Joint::Or && looks(pipeline))
}
