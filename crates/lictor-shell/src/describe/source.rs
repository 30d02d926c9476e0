//! The written form of a description, and its checks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Act, Consequence, Deep, Given, List, Options, Place, Prints, Program, Recipe, Rule, Style, Text, Token,
    Trait, Traits, Use,
};

/// An error in a description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

fn wrong<T>(text: impl Into<String>) -> Result<T, Error> {
    Err(Error(text.into()))
}

/// Words parted by blanks, or a list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Words {
    /// Nothing.
    #[default]
    None,
    /// `a b c`.
    Text(String),
    /// `2`.
    Number(u64),
    /// `[a, b, 2]`.
    List(Vec<Word>),
}

/// A word or a number.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Word {
    /// Text.
    Text(String),
    /// A number.
    Number(u64),
}

impl Words {
    /// The words.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
            Self::Number(number) => vec![number.to_string()],
            Self::List(list) => list
                .iter()
                .map(|word| match word {
                    Word::Text(text) => text.clone(),
                    Word::Number(number) => number.to_string(),
                })
                .collect(),
        }
    }
}

/// True, or true with one of these options.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum When {
    /// Always or never.
    Always(bool),
    /// With one of these options.
    With(String),
}

/// The option syntax.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OptionsSource {
    /// `anywhere`, `first`, `single-dash` or `cmdlet`.
    pub style: Option<String>,
    /// Options with a value.
    pub values: Words,
    /// Options with a value only when attached.
    pub attached: Words,
    /// Long flags, so that their abbreviations are understood.
    pub flags: Words,
    /// Options may precede a subcommand.
    pub front: bool,
}

/// One rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleSource {
    /// The pattern.
    pub words: Words,
    /// Later rules count too.
    pub also: bool,
    /// Consequences, by name.
    pub effect: Words,
    /// What it is done to, with `{n}` for operands.
    pub what: Option<String>,
    /// Options that make it wholesale.
    pub all: Words,
    /// The verb of a deed.
    pub verb: Option<String>,
    /// Its object.
    pub object: Option<String>,
    /// When trees are meant.
    pub deep: Option<When>,
    /// Places of files that are read.
    pub reads: Words,
    /// Places of files that are listed.
    pub lists: Words,
    /// Places of files that are written.
    pub writes: Words,
    /// Places of files that are added to.
    pub appends: Words,
    /// Places of files that are changed.
    pub modifies: Words,
    /// Places of files that are emptied.
    pub empties: Words,
    /// Places of files that are deleted.
    pub deletes: Words,
    /// Places of files that are taken away.
    pub moves: Words,
    /// Places of directories that are made.
    pub makes: Words,
    /// Places of links that are made.
    pub links: Words,
    /// Places of files whose mode changes.
    pub modes: Words,
    /// Places of files whose owner changes.
    pub owns: Words,
    /// Places of files that are overwritten for good.
    pub wipes: Words,
    /// Places of files that are built.
    pub builds: Words,
    /// Places of the words of a command.
    pub runs: Words,
    /// Places of shell text.
    pub shell: Words,
    /// It runs on another machine.
    pub elsewhere: bool,
    /// Places of code, by language.
    pub code: BTreeMap<String, Words>,
    /// Places of statements.
    pub sql: Words,
    /// Places of hosts.
    pub reaches: Words,
    /// Places of hosts that data goes to.
    pub posts: Words,
    /// Places of files that leave.
    pub uploads: Words,
    /// Places of directories that are served.
    pub serves: Option<Words>,
    /// Places of disks.
    pub formats: Words,
    /// What the output holds.
    pub prints: Words,
    /// A function.
    pub by: Option<String>,
}

/// A description as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Source {
    /// Names; under `describe:` the key is the name.
    pub program: Words,
    /// Its option syntax.
    pub options: OptionsSource,
    /// Options with which nothing is done.
    pub quiet: Words,
    /// What every call does.
    pub always: Option<RuleSource>,
    /// What calls with certain words do.
    pub commands: Vec<RuleSource>,
    /// Files that it runs, by how they are read.
    pub recipes: BTreeMap<String, Words>,
    /// What is true of every call, by name.
    pub is: Words,
    /// Parts of the host names that its credentials are for.
    pub credentials_for: Words,
    /// A function that determines everything.
    pub by: Option<String>,
    /// Lines that do something.
    #[serde(rename = "match")]
    pub matching: Vec<String>,
    /// Lines that do nothing of note.
    pub not_match: Vec<String>,
}

impl Source {
    /// Checks the description. `function` gives functions their numbers; it refuses those that do not exist.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn read(&self, function: &mut dyn FnMut(&str) -> Option<u16>) -> Result<Program, Error> {
        let mut rules = Vec::new();
        if let Some(name) = &self.by {
            let by = RuleSource { by: Some(name.clone()), also: true, ..RuleSource::default() };
            rules.push(rule(&by, function)?);
        }
        if let Some(always) = &self.always {
            rules.push(Rule { also: true, ..rule(always, function)? });
        }
        for command in &self.commands {
            rules.push(rule(command, function)?);
        }
        let (options, variables): (Vec<String>, Vec<String>) =
            self.quiet.words().into_iter().partition(|word| word.starts_with('-'));
        let quiet: Result<Vec<Given>, Error> = options.iter().map(|word| given(word)).collect();
        let variables: Result<Vec<Given>, Error> = variables.iter().map(|word| variable(word)).collect();
        Ok(Program {
            names: self.program.words().into_iter().map(Text::Owned).collect(),
            options: self.options.read()?,
            quiet: Cow::Owned(quiet?),
            variables: Cow::Owned(variables?),
            rules: Cow::Owned(rules),
            recipes: self
                .recipes
                .iter()
                .map(|(kind, names)| recipe(kind, names))
                .collect::<Result<_, _>>()?,
            traits: traits(&self.is)?,
            hosts: self.credentials_for.words().into_iter().map(Text::Owned).collect(),
        })
    }
}

fn traits(names: &Words) -> Result<Traits, Error> {
    names.words().iter().try_fold(Traits::default(), |traits, name| {
        match Trait::NAMED.iter().find(|(known, _)| known == name) {
            Some((_, found)) => Ok(traits.with(*found)),
            None => wrong(format!("`{name}` is nothing that a program is")),
        }
    })
}

fn recipe(kind: &str, names: &Words) -> Result<Recipe, Error> {
    const KINDS: [&str; 18] = [
        "make",
        "just",
        "tasks",
        "package",
        "playbook",
        "cmake",
        "shell",
        "settings",
        "generate",
        "python",
        "ruby",
        "javascript",
        "compiled",
        "lua",
        "perl",
        "php",
        "other",
        "declared",
    ];
    if !KINDS.contains(&kind) {
        return wrong(format!("`{kind}` is no kind of file that is run; it is one of {}", KINDS.join(", ")));
    }
    let names = names.words().into_iter().map(Text::Owned).collect();
    Ok(Recipe { kind: Cow::Owned(kind.to_owned()), names })
}

impl OptionsSource {
    fn read(&self) -> Result<Options, Error> {
        let style = match self.style.as_deref() {
            None | Some("anywhere") => Style::Anywhere,
            Some("first") => Style::First,
            Some("single-dash") => Style::SingleDash,
            Some("cmdlet") => Style::Cmdlet,
            Some(other) => {
                return wrong(format!(
                    "`{other}` is no style of options; it is `anywhere`, `first`, `single-dash` or `cmdlet`"
                ));
            }
        };
        let (mut valued, mut attached, mut long) = (String::new(), String::new(), Vec::new());
        let is_letter =
            |name: &str| name.chars().count() == 1 && !matches!(style, Style::SingleDash | Style::Cmdlet);
        for name in self.values.words() {
            let name = name.trim_start_matches('-');
            if is_letter(name) { valued.push_str(name) } else { long.push(format!("{name}=")) }
        }
        for name in self.attached.words() {
            let name = name.trim_start_matches('-');
            if is_letter(name) { attached.push_str(name) } else { long.push(format!("{name}?")) }
        }
        long.extend(self.flags.words().iter().map(|name| name.trim_start_matches('-').to_owned()));
        Ok(Options {
            style,
            valued: Cow::Owned(valued),
            attached: Cow::Owned(attached),
            long: Cow::Owned(long.join(" ")),
            front: self.front,
        })
    }
}

/// `-f|--force`, `--mode=Complete`.
fn given(word: &str) -> Result<Given, Error> {
    let (names, value) = match word.split_once('=') {
        Some((names, value)) => (names, Some(Cow::Owned(value.to_owned()))),
        None => (word, None),
    };
    let names: Option<Vec<Text>> = names
        .split('|')
        .map(|name| {
            let bare = name.trim_start_matches('-');
            (name.starts_with('-') && !bare.is_empty()).then(|| Cow::Owned(bare.to_owned()))
        })
        .collect();
    match names {
        Some(names) => Ok(Given { names: Cow::Owned(names), value }),
        None => wrong(format!("`{word}` is no option; options start with a dash")),
    }
}

/// `ACME_ENV=test`.
fn variable(word: &str) -> Result<Given, Error> {
    match word.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok(Given {
            names: Cow::Owned(vec![Cow::Owned(name.to_owned())]),
            value: Some(Cow::Owned(value.to_owned())),
        }),
        _ => wrong(format!("`{word}` is neither an option nor a variable; write `--option` or `NAME=value`")),
    }
}

fn token(word: &str) -> Result<Token, Error> {
    Ok(match word {
        "--" => Token::Dashes,
        "..." => Token::Gap,
        "$" => Token::End,
        "?" => Token::Unknown,
        _ => match word.strip_prefix('!') {
            Some(option) if option.starts_with('-') => Token::Without(given(option)?),
            Some(pattern) => Token::NoWord(Cow::Owned(pattern.to_owned())),
            None if word.starts_with('-') => Token::With(given(word)?),
            None => Token::Word(Cow::Owned(word.to_owned())),
        },
    })
}

fn place(word: &str) -> Result<Place, Error> {
    let number = |text: &str| match text.parse::<usize>() {
        Ok(number) if number > 0 => Ok(number),
        _ => wrong(format!("`{word}` is no place; operands are counted from one")),
    };
    Ok(match word {
        "last" => Place::Last,
        "..last" => Place::ButLast,
        "rest" => Place::Rest(0),
        "@" => Place::At,
        "any" => Place::Any,
        "stdin" => Place::Stdin,
        "disks" => Place::Disks,
        _ if word.starts_with(['/', '~', '.']) => Place::Path(Cow::Owned(word.to_owned())),
        _ if word.starts_with('=') => Place::Path(Cow::Owned(word.trim_start_matches('=').to_owned())),
        // `--eval:code`, `of=file`
        _ if word.ends_with(':') || word.ends_with('=') && !word.starts_with('-') => {
            Place::Setting(Cow::Owned(word.to_owned()))
        }
        _ if word.starts_with('-') => Place::Option(given(word)?.names),
        _ if word.ends_with('=') => Place::Setting(Cow::Owned(word.to_owned())),
        _ if word.starts_with("behind:") => {
            let names = word.trim_start_matches("behind:").split('|');
            Place::Behind(names.map(|name| Cow::Owned(name.to_owned())).collect())
        }
        _ => match (word.strip_prefix("rest+"), word.strip_suffix("..")) {
            (Some(skip), _) => Place::Rest(number(skip)?),
            (None, Some(from)) => Place::From(number(from)?),
            (None, None) => Place::Operand(number(word)?),
        },
    })
}

fn places(words: &Words) -> Result<Option<List<Place>>, Error> {
    let places: Result<Vec<Place>, Error> = words.words().iter().map(|word| place(word)).collect();
    places.map(|places| (!places.is_empty()).then_some(Cow::Owned(places)))
}

fn consequence(name: &str) -> Result<Consequence, Error> {
    Ok(match name {
        "destroys" => Consequence::Destroys,
        "destroys-all" => Consequence::DestroysAll,
        "drops" => Consequence::Drops,
        "drops-part" => Consequence::DropsPart,
        "changes" => Consequence::Changes,
        "reveals" => Consequence::Reveals,
        "publishes" => Consequence::Publishes,
        "stops" => Consequence::Stops,
        "kills" => Consequence::Kills,
        "kills-all" => Consequence::KillsAll,
        "formats" => Consequence::Formats,
        "becomes-root" => Consequence::BecomesRoot,
        "container" => Consequence::Container,
        "grants-bits" => Consequence::GrantsBits,
        "persists" => Consequence::Persists,
        "disables" => Consequence::Disables,
        "skips-hooks" => Consequence::SkipsHooks,
        "stops-lictor" => Consequence::StopsLictor,
        "opaque" => Consequence::Opaque,
        "discards-work" => Consequence::DiscardsWork,
        "discards-commits" => Consequence::DiscardsCommits,
        "rewrites-history" => Consequence::RewritesHistory,
        "expires-history" => Consequence::ExpiresHistory,
        "force-pushes" => Consequence::ForcePushes,
        "deletes-remote" => Consequence::DeletesRemote,
        "pushes" => Consequence::Pushes,
        "commits" => Consequence::Commits,
        "commits-unseen" => Consequence::CommitsUnseen,
        other => return wrong(format!("`{other}` is no effect")),
    })
}

fn prints(name: &str) -> Result<Prints, Error> {
    Ok(match name {
        "credential" => Prints::Credential,
        "secret" => Prints::Secret,
        "private" => Prints::Private,
        "network" => Prints::Network,
        "decoded" => Prints::Decoded,
        "input" => Prints::Input,
        "derived" => Prints::Derived,
        other => return wrong(format!("`{other}` is nothing that a program prints")),
    })
}

fn rule(source: &RuleSource, function: &mut dyn FnMut(&str) -> Option<u16>) -> Result<Rule, Error> {
    let words: Result<Vec<Token>, Error> = source.words.words().iter().map(|word| token(word)).collect();
    let mut acts = Vec::new();
    let all: Result<Vec<Given>, Error> = source.all.words().iter().map(|word| given(word)).collect();
    let all = all?;
    for name in source.effect.words() {
        let what = source.what.clone().map(Cow::Owned);
        acts.push(Act::Has(consequence(&name)?, what, Cow::Owned(all.clone())));
    }
    let deep = match &source.deep {
        None | Some(When::Always(false)) => Deep::No,
        Some(When::Always(true)) => Deep::Yes,
        Some(When::With(options)) => Deep::With(given(options)?),
    };
    let files = [
        (Use::Reads, &source.reads),
        (Use::Lists, &source.lists),
        (Use::Writes, &source.writes),
        (Use::Appends, &source.appends),
        (Use::Modifies, &source.modifies),
        (Use::Empties, &source.empties),
        (Use::Deletes, &source.deletes),
        (Use::Moves, &source.moves),
        (Use::Makes, &source.makes),
        (Use::Links, &source.links),
        (Use::Modes, &source.modes),
        (Use::Owns, &source.owns),
        (Use::Wipes, &source.wipes),
        (Use::Builds, &source.builds),
    ];
    for (how, words) in files {
        acts.extend(places(words)?.map(|places| Act::Files(how, places, deep.clone())));
    }
    acts.extend(places(&source.runs)?.map(|places| Act::Runs(places, source.elsewhere)));
    acts.extend(places(&source.shell)?.map(|places| Act::Shell(places, source.elsewhere)));
    for (language, words) in &source.code {
        acts.extend(places(words)?.map(|places| Act::Code(Cow::Owned(language.clone()), places)));
    }
    acts.extend(places(&source.sql)?.map(Act::Sql));
    acts.extend(places(&source.reaches)?.map(|places| Act::Reaches(places, false)));
    acts.extend(places(&source.posts)?.map(|places| Act::Reaches(places, true)));
    acts.extend(places(&source.uploads)?.map(|places| Act::Uploads(places, deep.clone())));
    if let Some(words) = &source.serves {
        acts.push(Act::Serves(places(words)?.unwrap_or_default()));
    }
    acts.extend(places(&source.formats)?.map(Act::Formats));
    for name in source.prints.words() {
        acts.push(Act::Prints(prints(&name)?));
    }
    match (&source.verb, &source.object) {
        (Some(verb), Some(object)) => {
            let what = source.what.clone().map(Cow::Owned);
            acts.push(Act::Deed(Cow::Owned(verb.clone()), Cow::Owned(object.clone()), what));
        }
        (None, None) => {}
        _ => return wrong("a deed has both a `verb` and an `object`"),
    }
    if let Some(name) = &source.by {
        match function(name) {
            Some(number) => acts.push(Act::Function(number)),
            None => return wrong(format!("there is no function `{name}`")),
        }
    }
    Ok(Rule { words: Cow::Owned(words?), acts: Cow::Owned(acts), also: source.also })
}
