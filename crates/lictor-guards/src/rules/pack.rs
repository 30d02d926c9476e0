//! Rules as data: packs, and when a rule matches an effect.

use lictor_core::Decision;
use lictor_core::facts::{
    Access, Command, DatabaseEffect, Effect, Existence, Facts, FlowSink, FlowSource, GitEffect, GuardOff,
    Opaque, OpaqueWhat, Place, Privilege, ProcessEffect, Zone,
};

/// A set of rules that ships in the binary. Compiled from `packs/NAME.yaml` when Lictor is built.
#[derive(Debug)]
pub struct Pack {
    /// Its name, as `extends:` gives it.
    pub name: &'static str,
    /// Its purpose.
    pub about: &'static str,
    /// Packs that it extends.
    pub extends: &'static [&'static str],
    /// The rules, by the kind of effect.
    pub(super) rules: &'static [(Kind, &'static [Rule])],
}

impl Pack {
    /// The pack of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PACKS.iter().copied().find(|pack| pack.name == name)
    }

    /// All packs.
    #[must_use]
    pub fn all() -> &'static [&'static Self] {
        PACKS
    }

    /// Its rules, without those of packs that it extends.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        self.rules.iter().flat_map(|(_, rules)| rules.iter())
    }

    pub(super) fn of_kind(&self, kind: Kind) -> &'static [Rule] {
        self.rules.iter().find(|(known, _)| *known == kind).map_or(&[], |(_, rules)| rules)
    }
}

/// One rule of a pack.
#[derive(Debug)]
pub struct Rule {
    /// Unique among all packs (`git.discard-work`).
    pub id: &'static str,
    /// Its condition.
    pub(super) when: When,
    /// Its decision.
    pub decision: Decision,
    /// The reason; `{what}` is replaced by the object of the effect.
    pub reason: &'static str,
    /// The fix for commands to which none of the `ways` applies.
    pub fix: &'static str,
    /// Rewrites of the command into one that is allowed and reaches the goal.
    pub(super) ways: &'static [Way],
}

/// One rewrite of a command.
#[derive(Debug)]
pub(crate) struct Way {
    /// Commands that begin like this.
    pub(crate) words: &'static str,
    /// Replacements of arguments; an empty replacement removes the argument. If there are any, the command must
    /// contain one of them.
    pub(crate) swap: &'static [(&'static str, &'static str)],
    /// The fix text; `{line}` is replaced by the rewritten command.
    pub(crate) say: &'static str,
}

/// The kind of effect of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Git,
    Process,
    Database,
    Infrastructure,
    Publish,
    Privilege,
    Flow,
    GuardOff,
    Opaque,
    Run,
    Reach,
    Deed,
    Code,
    Delegate,
}

impl Kind {
    pub(super) fn of(effect: &Effect<Place>) -> Option<Self> {
        Some(match effect {
            Effect::File { .. } => Self::File,
            Effect::Run(_) => Self::Run,
            Effect::Reach(_) => Self::Reach,
            Effect::Git { .. } => Self::Git,
            Effect::Process(_) => Self::Process,
            Effect::Database { .. } => Self::Database,
            Effect::Infrastructure { .. } => Self::Infrastructure,
            Effect::Publish { .. } => Self::Publish,
            Effect::Privilege(_) => Self::Privilege,
            Effect::Flow { .. } => Self::Flow,
            Effect::GuardOff { .. } => Self::GuardOff,
            Effect::Code { .. } => Self::Code,
            Effect::Delegate { .. } => Self::Delegate,
            Effect::Deed { .. } => Self::Deed,
            Effect::Tool { .. } => return None,
        })
    }
}

/// The condition of a rule. Lists mean "one of these"; an empty list or `None` means "any".
#[derive(Debug)]
pub(super) enum When {
    File(FileWhen),
    Git(&'static [GitEffect]),
    Process(&'static [ProcessEffect]),
    Database(&'static [DatabaseEffect]),
    Infrastructure {
        tool: &'static [&'static str],
        mass: Option<bool>,
    },
    Privilege(&'static [Privilege]),
    Flow {
        from: &'static [FlowSource],
        to: &'static [FlowSink],
    },
    GuardOff(&'static [GuardOff]),
    Opaque(&'static [OpaqueWhat]),
    /// A simple command that [begins](begins) like one of `words`, has one of the flags, and begins like none of
    /// `not_words`.
    Run {
        words: &'static [&'static str],
        flag: &'static [&'static str],
        not_words: &'static [&'static str],
    },
    Reach {
        sends: Option<bool>,
    },
    Deed {
        verb: &'static [&'static str],
        object: &'static [&'static str],
        not_verb: &'static [&'static str],
    },
    Always,
}

/// The condition of a rule about files.
#[derive(Debug)]
pub(super) struct FileWhen {
    pub(super) access: &'static [Access],
    /// The zone of the path or of its link target.
    pub(super) zone: &'static [Zone],
    pub(super) existence: &'static [Existence],
    /// More than one file: recursive, or a glob.
    pub(super) tree: Option<bool>,
    pub(super) secret: Option<bool>,
    pub(super) malformed: Option<bool>,
    /// Restoring it loses nothing.
    pub(super) committed: Option<bool>,
    /// At or below one of these paths.
    pub(super) below: &'static [&'static str],
    /// The path ends like this.
    pub(super) ends: &'static [&'static str],
    pub(super) not_below: &'static [&'static str],
    pub(super) not_ends: &'static [&'static str],
    /// The program that does it.
    pub(super) by: &'static [&'static str],
    pub(super) not_by: &'static [&'static str],
}

/// Why a rule does not match an effect of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unmet {
    /// How many of its conditions hold before the first one that fails.
    pub held: usize,
    /// The condition that fails, by its name in the pack.
    pub condition: &'static str,
}

impl When {
    pub(super) fn fits(&self, effect: &Effect<Place>, facts: &Facts) -> bool {
        self.meets(effect, facts) == Ok(())
    }

    /// Whether an effect matches; otherwise the first condition that fails. `what` means that the effect is of
    /// another kind.
    pub(super) fn meets(&self, effect: &Effect<Place>, facts: &Facts) -> Result<(), Unmet> {
        match (self, effect) {
            (Self::File(when), Effect::File { access, target, recursive, by }) => when.meets(
                *access,
                target,
                *recursive,
                by.and_then(|index| facts.commands().nth(index as usize)),
            ),
            (Self::Git(effects), Effect::Git { effect, .. }) => all([("git", one_of(effects, effect))]),
            (Self::Process(effects), Effect::Process(effect)) => all([("process", one_of(effects, effect))]),
            (Self::Database(effects), Effect::Database { effect, .. }) => {
                all([("database", one_of(effects, effect))])
            }
            (
                Self::Infrastructure { tool: tools, mass: wanted },
                Effect::Infrastructure { tool, mass, .. },
            ) => all([
                ("tool", one_of(tools, &tool.as_str())),
                ("mass", wanted.is_none_or(|wanted| wanted == *mass)),
            ]),
            (Self::Privilege(kinds), Effect::Privilege(kind)) => all([("privilege", one_of(kinds, kind))]),
            (Self::Flow { from: sources, to: sinks }, Effect::Flow { from, to, .. }) => {
                all([("from", one_of(sources, from)), ("to", one_of(sinks, to))])
            }
            (Self::GuardOff(kinds), Effect::GuardOff { what, .. }) => {
                all([("guard_off", one_of(kinds, what))])
            }
            (Self::Run { words, flag, not_words }, Effect::Run(command)) => {
                let fits = |patterns: &[&str]| patterns.iter().any(|pattern| begins(command, pattern));
                all([
                    ("words", words.is_empty() || fits(words)),
                    ("flag", flag.is_empty() || has_flag(command, flag)),
                    ("not_words", !fits(not_words)),
                ])
            }
            (Self::Reach { sends: wanted }, Effect::Reach(reach)) => {
                all([("sends", wanted.is_none_or(|wanted| wanted == reach.sends))])
            }
            (Self::Deed { verb, object, not_verb }, Effect::Deed { verb: is, object: on, .. }) => all([
                ("verb", one_of(verb, &is.as_str())),
                ("object", one_of(object, &on.as_str())),
                ("not_verb", !not_verb.contains(&is.as_str())),
            ]),
            (Self::Always, _) => Ok(()),
            _ => Err(Unmet { held: 0, condition: "what" }),
        }
    }

    pub(super) fn fits_opaque(&self, opaque: &Opaque) -> bool {
        matches!(self, Self::Opaque(kinds) if one_of(kinds, &opaque.what))
    }
}

impl FileWhen {
    fn meets(
        &self,
        access: Access,
        place: &Place,
        recursive: bool,
        by: Option<&Command>,
    ) -> Result<(), Unmet> {
        let any = |wanted: &[&str], test: fn(&str, &str) -> bool| {
            wanted.iter().any(|wanted| place.paths().any(|path| test(path, wanted)))
        };
        // Most rules have another access: the remaining conditions are skipped for them.
        if !one_of(self.access, &access) {
            return Err(Unmet { held: 0, condition: "access" });
        }
        let program = by.map(|command| command.program.as_str()).unwrap_or_default();
        all([
            ("access", true),
            ("zone", self.zone.is_empty() || place.zones().iter().any(|zone| self.zone.contains(zone))),
            ("existence", one_of(self.existence, &place.existence)),
            ("tree", self.tree.is_none_or(|tree| tree == (recursive || place.glob))),
            ("secret", self.secret.is_none_or(|secret| secret == place.secret)),
            ("malformed", self.malformed.is_none_or(|malformed| malformed == place.malformed)),
            ("committed", self.committed.is_none_or(|committed| committed == place.committed)),
            ("below", self.below.is_empty() || any(self.below, is_at_or_below)),
            ("ends", self.ends.is_empty() || any(self.ends, |path, end| path.ends_with(end))),
            ("not_below", !any(self.not_below, is_at_or_below)),
            ("not_ends", !any(self.not_ends, |path, end| path.ends_with(end))),
            ("by", self.by.is_empty() || self.by.contains(&program)),
            ("not_by", !self.not_by.contains(&program)),
        ])
    }
}

/// The first condition that does not hold.
fn all<const N: usize>(conditions: [(&'static str, bool); N]) -> Result<(), Unmet> {
    match conditions.iter().position(|(_, holds)| !holds) {
        None => Ok(()),
        Some(held) => {
            Err(Unmet { held, condition: conditions.get(held).map_or("", |(condition, _)| condition) })
        }
    }
}

fn one_of<T: PartialEq>(wanted: &[T], is: &T) -> bool {
    wanted.is_empty() || wanted.contains(is)
}

/// Whether `path` is `top` or is below it; only below it when `top` ends with a slash. A `top` that starts with
/// `~` matches in any home directory.
fn is_at_or_below(path: &str, top: &str) -> bool {
    let (top, inside_only) = top.strip_suffix('/').map_or((top, false), |top| (top, true));
    let rest = match top.strip_prefix('~') {
        Some(inside) => path.split_once(inside).map(|(_, rest)| rest),
        None => path.strip_prefix(top),
    };
    rest.is_some_and(|rest| rest.is_empty() && !inside_only || rest.len() > 1 && rest.starts_with('/'))
}

/// Whether a command begins with these words. `a|b` matches either, `get-*` and `*:get` every word with this
/// prefix or suffix, `*` any word, `~a|b` any other word, `$` the end of the command and `-` only options up to
/// the end. Anywhere in the command, `+-c|--check` requires one of these options and `!-i|--fix` none of them.
pub(super) fn begins(command: &Command, pattern: &str) -> bool {
    let mut words = command.words.iter();
    pattern.split(' ').all(|wanted| match wanted.split_at_checked(1) {
        Some(("$", "")) => words.next().is_none(),
        Some(("-", "")) => words.all(|word| word.starts_with('-')),
        Some(("+", options)) => options.split('|').any(|option| holds(command, option)),
        Some(("!", options)) => options.split('|').all(|option| lacks(command, option)),
        Some(("~", others)) => words.next().is_some_and(|word| !is_one_of(word, others)),
        _ => words.next().map_or_else(|| wanted.ends_with("|$"), |word| is_one_of(word, wanted)),
    })
}

fn is_one_of(word: &str, choices: &str) -> bool {
    choices.split('|').any(|choice| match choice.split_once('*') {
        Some((start, end)) => word.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => word == choice,
    })
}

/// Whether a command certainly has an option, alone or as the first of several letters (`-n` in `-nd`).
fn holds(command: &Command, option: &str) -> bool {
    command.args.iter().flatten().any(|arg| is_option(arg, option) || letters(arg, option) == Some(0))
}

/// Whether a command certainly does not have an option. A word that is known only at run time may be anything.
fn lacks(command: &Command, option: &str) -> bool {
    !command
        .args
        .iter()
        .any(|arg| arg.as_deref().is_none_or(|arg| is_option(arg, option) || letters(arg, option).is_some()))
}

/// `--check` is `--check` and `--check=x`; `--dry-run=server` only itself.
fn is_option(arg: &str, option: &str) -> bool {
    arg == option || arg.split_once('=').is_some_and(|(name, _)| name == option)
}

/// The position of a one-letter option in a bundle.
fn letters(arg: &str, option: &str) -> Option<usize> {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    let all = arg.strip_prefix('-').filter(|all| all.chars().all(|c| c.is_ascii_alphabetic()))?;
    all.find(letter)
}

fn has_flag(command: &Command, flags: &[&str]) -> bool {
    command.args.iter().flatten().any(|arg| flags.contains(&arg.split('=').next().unwrap_or(arg)))
}

include!(concat!(env!("OUT_DIR"), "/packs.rs"));
