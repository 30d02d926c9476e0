//! Turns an action into facts: one file for each kind of action.

mod arguments;
mod code;
mod described;
mod files;
mod git;
mod git_tools;
mod sent;
mod tools;

pub use described::as_task;
use lictor_core::facts::{
    Access, Cardinality, Command, Effect, Existence, Facts, GitEffect, GuardOff, Opaque, OpaqueWhat, Place,
    Reach, Zone,
};
use lictor_core::{Action, ActionKind};
use lictor_shell::describe::Trait;
use lictor_shell::programs::is;
use lictor_shell::{Arg, Coding, Cwd, Done, Incoming, Listed, Mention, Operand, Reading};

use crate::edits::{NoEdits, OwnEdits};
use crate::governing_file;
use crate::incoming::{created, linked_tree};
use crate::observer::{Observer, Seen};
use crate::place::{Looker, Names, remarkable, tidy};
use crate::project::Project;
use crate::zone::is_at_or_below;

/// The facts of an action. Total: what cannot be determined is reported as opaque.
#[must_use]
pub fn facts(action: &Action, project: &Project, observer: &dyn Observer) -> Facts {
    facts_after(action, project, observer, &NoEdits)
}

/// The same, in a session that has edited files.
#[must_use]
pub fn facts_after(
    action: &Action,
    project: &Project,
    observer: &dyn Observer,
    edits: &dyn OwnEdits,
) -> Facts {
    let cwd = if action.cwd.is_empty() { project.root.as_str() } else { action.cwd.as_str() };
    let looker = Looker { project, observer, cwd, edits };
    let mut facts = Facts::none();
    match &action.kind {
        ActionKind::Bash => match action.text("command") {
            Some(command) => {
                looker.add(&mut facts, lictor_shell::read(command, &looker));
                // Read as a POSIX shell reads it, for what both have in common; the rest is not known.
                if action.text("shell") == Some("powershell") {
                    facts.opaque.push(opaque(OpaqueWhat::Construct, command));
                }
            }
            None => facts.opaque.push(opaque(OpaqueWhat::Syntax, "no command")),
        },
        ActionKind::Read => files::read(action, &looker, &mut facts),
        ActionKind::Write => files::write(action, &looker, &mut facts),
        ActionKind::ExecuteCode => code::execute(action, &looker, &mut facts),
        ActionKind::Fetch => fetch(action, &looker, &mut facts),
        ActionKind::Delegate => facts.effects.push(Effect::Delegate { agent: agent(action) }),
        ActionKind::SubmitTask if described::submits(action, &project.described) => {
            tools::tool(action, &looker, &mut facts);
        }
        ActionKind::SubmitTask => {}
        ActionKind::Tool | ActionKind::Other(_) => tools::tool(action, &looker, &mut facts),
    }
    drop_own_scratch(&mut facts);
    if project.contents {
        look_inside(&mut facts, observer);
    }
    facts
}

/// The action may delete files that do not exist yet and that it creates itself. If the action also moves files
/// there, this exemption does not apply.
fn drop_own_scratch(facts: &mut Facts) {
    let moves = facts.files().any(|(access, _)| access == Access::MoveAway);
    let mut made: Vec<String> = Vec::new();
    facts.effects.retain(|effect| {
        let Effect::File { access, target, .. } = effect else { return true };
        if moves || target.glob || target.existence != Existence::Missing {
            return true;
        }
        match access {
            // A tree that is copied to where nothing is makes it.
            Access::Write | Access::Append | Access::Modify | Access::MakeDirectory | Access::Link => {
                made.push(target.path.clone());
                true
            }
            // A directory directly below the root belongs to the system, whatever writes into it.
            Access::Delete | Access::Destroy => {
                let own = |path: &String| {
                    let holds = target.path.matches('/').count() > 1 && is_at_or_below(path, &target.path);
                    holds || is_at_or_below(&target.path, path)
                };
                !made.iter().any(own)
            }
            _ => true,
        }
    });
}

/// Larger files have no known content; callers must treat them as changed.
const MAX_CONTENT: usize = 32 * 1024 * 1024;

/// Fills in the content digests of files that the action reads or writes.
fn look_inside(facts: &mut Facts, observer: &dyn Observer) {
    for effect in &mut facts.effects {
        let Effect::File { access, target, recursive: false, .. } = effect else { continue };
        let matters =
            matches!(access, Access::Read | Access::Write | Access::Modify | Access::Append | Access::Empty);
        if matters && !target.glob && matches!(target.existence, Existence::File | Existence::EmptyFile) {
            let path = target.real.as_deref().unwrap_or(&target.path);
            target.content = observer.content(path, MAX_CONTENT);
        }
    }
}

/// How a place is used.
struct Touch<'a> {
    access: Access,
    recursive: bool,
    /// The command that does it.
    by: Option<u32>,
    /// What is known about the list of names that the place comes from.
    names: Option<Names<'a>>,
}

impl Looker<'_> {
    /// Adds the effects from the shell analysis, with every operand resolved.
    fn add(&self, facts: &mut Facts, reading: Reading) {
        facts.opaque.extend(reading.opaque);
        let from = facts.effects.len();
        for effect in reading.effects {
            match &effect {
                Effect::File { target: Operand { cwd: Cwd::Glob(pattern), .. }, .. } => {
                    for effect in self.in_each(pattern, &effect) {
                        self.add_effect(facts, effect);
                    }
                }
                _ => self.add_effect(facts, effect),
            }
        }
        for mention in reading.mentions {
            self.mentioned(facts, &mention);
        }
        self.sends_secrets(facts, from);
        self.add_recipes(facts, reading.recipes);
    }

    /// Adds what recipes that were there before do to governing files and to Lictor. The rest is the project's own.
    fn add_recipes(&self, facts: &mut Facts, recipes: Vec<Effect<Operand>>) {
        let mut done = Facts::none();
        for effect in recipes {
            self.add_effect(&mut done, effect);
        }
        let counts = |effect: &Effect<Place>| match effect {
            Effect::File { access, target, .. } => target.own && !access.is_read_only(),
            Effect::GuardOff { what, .. } => {
                matches!(what, GuardOff::LictorCommand | GuardOff::LictorEnvironment | GuardOff::LictorBinary)
            }
            _ => false,
        };
        // The commands of a recipe are not those of the line.
        facts.effects.extend(done.effects.into_iter().filter(counts).map(|effect| match effect {
            Effect::File { access, target, recursive, .. } => {
                Effect::File { access, target, recursive, by: None }
            }
            other => other,
        }));
    }

    /// A file is named and nothing tells what is done with it. That matters where it governs, or is watched.
    fn mentioned(&self, facts: &mut Facts, mention: &Mention) {
        let place = self.operand(&mention.file, Access::Modify, false);
        if place.path.is_empty() || place.malformed {
            return;
        }
        match mention.done {
            Done::Anything | Done::Changed => {}
            Done::Shown => return self.shown(facts, &place),
            Done::Given => {
                if governing_file::is_state(&place.path, self.project, self.observer) {
                    facts.opaque.push(opaque(OpaqueWhat::Target, &mention.by));
                }
                return;
            }
        }
        // Code that opens the record can write it.
        let record = mention.done == Done::Changed
            || governing_file::is_state(&place.path, self.project, self.observer);
        let is_told = |facts: &Facts| {
            let paths = |target: &Place| [Some(target.path.clone()), target.real.clone()];
            facts.files().filter(|(access, _)| !(record && access.is_read_only())).any(|(_, target)| {
                paths(target).into_iter().flatten().any(|path| is_at_or_below(&path, &place.path))
            })
        };
        let governs = || {
            let holds = mention.directory
                && !self.project.git_dirs.contains(&place.path)
                && !governing_file::could_govern(&place.path, self.project, self.observer).is_empty();
            place.own || holds
        };
        if mention.archive && self.unpacks_what_governs(&mention.file.cwd, &place.path) {
            return facts.opaque.push(opaque(OpaqueWhat::Target, &mention.by));
        }
        let watched = self.is_watched(&place.path);
        if (watched || governs()) && !is_told(facts) {
            facts.opaque.push(opaque(OpaqueWhat::Target, &mention.by));
            if watched {
                let target = self.operand(&mention.file, Access::Read, false);
                facts.effects.push(Effect::File { access: Access::Read, target, recursive: false, by: None });
            }
        }
    }

    fn add_effect(&self, facts: &mut Facts, effect: Effect<Operand>) {
        match effect {
            Effect::File { access: Access::Restore, target, recursive: true, .. } => {
                self.restored(facts, &target);
            }
            Effect::File { access, target, recursive, by } => {
                let mut place = self.operand(&target, access, recursive);
                let closed = matches!(target.incoming.as_deref(), Some(Incoming::Nothing))
                    && place.existence == Existence::Directory
                    && !place.glob;
                place.own |= closed
                    && (self.project.git_dirs.contains(&place.path)
                        || governing_file::is_own(&place.path, true, self.project, self.observer));
                let arrives = matches!(target.incoming.as_deref(), Some(Incoming::Sources { .. }));
                let file = matches!(place.existence, Existence::File | Existence::EmptyFile);
                if let Some(Incoming::Sources { kept: true, .. }) = target.incoming.as_deref()
                    && file
                    && !place.glob
                {
                    return;
                }
                let replaced = self.replaced(access, &place, arrives);
                let recursive = recursive && replaced == access;
                let access = replaced;
                // A directory itself is not written: it represents some file in it.
                let inside = place.existence == Existence::Directory
                    && !recursive
                    && matches!(access, Access::Write | Access::Modify | Access::Empty | Access::Append);
                let names = self.names_of(facts, &target);
                if inside && !place.glob && names.is_some() {
                    // `find . -type f | xargs sed -i`: every file in it is changed, hidden ones too.
                    let word = format!("{}/**/{{*,.*}}", place.path.trim_end_matches('/'));
                    let files = Operand::new(Arg { glob: true, ..Arg::literal(word.as_str()) }, Cwd::Start);
                    let files = self.operand(&files, access, false);
                    self.add_word(facts, files, &word, Touch { access, recursive: false, by, names });
                }
                if access == Access::Delete && !recursive && names.is_some() {
                    self.found_inside(facts, &place, by);
                }
                let incoming = target.incoming.as_deref().or(inside.then_some(&Incoming::Unknown));
                let created = incoming
                    .map(|incoming| created(self, &target, &place, access, (incoming, facts)))
                    .unwrap_or_default();
                if recursive
                    && let Some(Incoming::Sources { sources, linked: true, .. }) = target.incoming.as_deref()
                    && let Some(source) = linked_tree(self, &target, sources)
                {
                    let access = Access::Link;
                    facts.effects.push(Effect::File { access, target: source, recursive: false, by });
                }
                let taken = access == Access::Read && self.takes_tree(facts, &place, by);
                // If every file is known, the rest of the directory is not affected; a system directory is judged
                // as a whole.
                let work = matches!(place.zone, Zone::Project | Zone::ProjectRoot | Zone::Temp);
                let recursive = recursive && !(created.files && work);
                if !created.instead || recursive {
                    let word = target.arg.known().unwrap_or(&target.arg.text);
                    self.copied(facts, &place, access, by);
                    if taken {
                        self.red_lines_in(facts, &place, by);
                    }
                    self.add_word(facts, place, word, Touch { access, recursive, by, names });
                }
                if created.unread {
                    facts.opaque.push(opaque(OpaqueWhat::Target, &target.arg.text));
                }
                for (access, target) in created.places {
                    facts.effects.push(Effect::File { access, target, recursive: false, by });
                }
            }
            Effect::Git { effect: GitEffect::DiscardCommits, target: Some(names) }
                if self.is_kept_elsewhere(facts, &names) => {}
            Effect::Git { effect: effect @ (GitEffect::StashUntracked | GitEffect::StashAll), target } => {
                self.stashed(facts, effect == GitEffect::StashAll, target.as_deref());
                facts.effects.push(Effect::Git { effect, target });
            }
            Effect::Run(mut command) => {
                command.directory =
                    command.directory.map(|directory| tidy(self.cwd, &self.untilde(&directory)));
                facts.effects.push(Effect::Run(command));
            }
            Effect::Delegate { agent } => {
                let known = lictor_agents::launch::agent_of(&agent);
                // Most agents proceed when their hook dies.
                if facts.effects.iter().any(starves_hooks) {
                    let what = GuardOff::NestedAgent;
                    facts.effects.push(Effect::GuardOff { what, text: agent.clone() });
                }
                if known.is_some_and(|known| {
                    governing_file::leads_around_hooks(known, self.project, self.observer)
                }) {
                    facts
                        .effects
                        .push(Effect::GuardOff { what: GuardOff::UngovernedAgent, text: agent.clone() });
                }
                facts.effects.push(Effect::Delegate { agent });
            }
            other => {
                facts.effects.push(other.map_target(|target| self.operand(&target, Access::Read, false)))
            }
        }
    }

    /// `find DIR -type f | xargs rm`: the directory represents the files in it. Governing files are named. For
    /// the whole project it is judged as a whole.
    fn found_inside(&self, facts: &mut Facts, place: &Place, by: Option<u32>) {
        let part = !is_at_or_below(&self.project.root, &place.path);
        if place.existence != Existence::Directory || place.glob || !part {
            return;
        }
        let (access, recursive) = (Access::Delete, false);
        let word = format!("{}/**/{{*,.*}}", place.path.trim_end_matches('/'));
        let whole = Place { glob: true, ..place.clone() };
        let (within, _) = remarkable(self, &whole, &word, access, recursive, None);
        let own = within.into_iter().filter(|target| target.own);
        facts.effects.extend(own.map(|target| Effect::File { access, target, recursive, by }));
    }

    /// What is known about the list of names that an operand comes from. The same names in another directory are
    /// other files, and earlier changes of the line to git's index are not visible yet.
    fn names_of<'a>(&self, facts: &Facts, operand: &'a Operand) -> Option<Names<'a>> {
        let found = operand.arg.found.as_deref()?;
        let here =
            self.directory(&operand.cwd).filter(|here| self.directory(&found.cwd).as_ref() == Some(here));
        if here.is_none() {
            return Some(Names { listed: Listed::All, holding: None });
        }
        let listed = match found.listed {
            Listed::Tracked { .. } if git::changes_index(facts) => Listed::All,
            listed => listed,
        };
        Some(Names { listed, holding: found.holding.as_deref() })
    }

    /// A write in place of an existing file replaces it, however it is done: `rsync x FILE`, `ln -f x FILE`.
    fn replaced(&self, access: Access, place: &Place, arrives: bool) -> Access {
        let file = matches!(place.existence, Existence::File | Existence::EmptyFile) && !place.glob;
        match access {
            Access::Modify if file && arrives => Access::Write,
            Access::Link if file && self.observer.look(&place.path) != Seen::Link => Access::Write,
            access => access,
        }
    }

    /// Whether an archive contains a file that would govern where it is unpacked.
    fn unpacks_what_governs(&self, cwd: &Cwd, archive: &str) -> bool {
        let Some(into) = self.directory(cwd) else { return true };
        let members = crate::members::of(archive, Coding::Plain, self.observer).unwrap_or_default();
        let mut paths = members.iter().map(|member| tidy(&into, member.name.trim_start_matches('/')));
        paths.any(|path| governing_file::is_own(&path, false, self.project, self.observer))
    }

    /// Reading the program's file counts as copying it, unless only metadata is read.
    fn copied(&self, facts: &mut Facts, place: &Place, access: Access, by: Option<u32>) {
        let named = || {
            place.path.ends_with("/lictor")
                || place.real.as_deref().is_some_and(|real| real.ends_with("/lictor"))
        };
        if access != Access::Read || !named() {
            return;
        }
        let looks = by
            .and_then(|by| facts.commands().nth(usize::try_from(by).ok()?))
            .is_some_and(|command| is(&command.program, Trait::Measures));
        if !looks && self.is_program(&place.path) {
            facts.effects.push(Effect::GuardOff { what: GuardOff::LictorBinary, text: shorten(&place.text) });
        }
    }

    /// Whether a program processes a whole directory: packs, copies or sends it.
    fn takes_tree(&self, facts: &Facts, place: &Place, by: Option<u32>) -> bool {
        if place.existence != Existence::Directory || self.project.watched.is_empty() {
            return false;
        }
        let command = by.and_then(|by| facts.commands().nth(usize::try_from(by).ok()?));
        command.is_some_and(|command| {
            let program = command.program.as_str();
            is(program, Trait::TakesTrees)
                || program == "git" && git::takes_all(command)
                // These get a directory only where another program names every file in it.
                || (is(program, Trait::PrintsFiles) || is(program, Trait::PrintsPart)) && !place.glob
                // A search all over the project is everyday work.
                || is(program, Trait::Searches)
                    && (finds_everything(command) || !is_at_or_below(&self.project.root, &place.path))
        })
    }

    /// The watched files in a directory, each as read, except those that the program excludes.
    fn red_lines_in(&self, facts: &mut Facts, place: &Place, by: Option<u32>) {
        let command = by.and_then(|by| facts.commands().nth(usize::try_from(by).ok()?));
        let left_out: Vec<String> = command.map(left_out).unwrap_or_default();
        let mut paths = self.watched_below(&place.path);
        paths.retain(|path| {
            let inside = path.strip_prefix(place.path.as_str()).unwrap_or(path).trim_start_matches('/');
            !left_out.iter().any(|pattern| fast_glob::glob_match(pattern.as_str(), inside))
        });
        for path in paths {
            let target = self.path(&path, Access::Read, false);
            facts.effects.push(Effect::File { access: Access::Read, target, recursive: false, by });
        }
    }

    /// Adds a file effect of a place that a tool or a patch names.
    fn add_place(&self, facts: &mut Facts, place: Place, access: Access, recursive: bool, by: Option<u32>) {
        let word = place.text.clone();
        self.add_word(facts, place, &word, Touch { access, recursive, by, names: None });
    }

    /// Adds a file effect, and separate effects for notable files inside the place.
    fn add_word(&self, facts: &mut Facts, mut place: Place, word: &str, touch: Touch<'_>) {
        let Touch { access, recursive, by, names } = touch;
        if changes_text(access)
            && !place.own
            && crate::git::configures(&place.path)
            && place.zone != Zone::Temp
        {
            // Programs that git runs in another repository run when git is used there.
            facts.effects.push(Effect::Deed {
                verb: "change".to_owned(),
                object: "startup".to_owned(),
                cardinality: Cardinality::Single,
                what: Some(place.path.clone()),
            });
        }
        let (within, cut) = remarkable(self, &place, word, access, recursive, names);
        // Each file of a list is named by itself.
        place.own &= names.is_none() || !place.glob;
        if cut {
            facts.opaque.push(opaque(OpaqueWhat::Limit, &place.text));
        }
        facts.effects.push(Effect::File { access, target: place, recursive, by });
        facts.effects.extend(within.into_iter().map(|target| Effect::File { access, target, recursive, by }));
    }
}

/// Whether the access may change a file's text.
fn changes_text(access: Access) -> bool {
    matches!(access, Access::Write | Access::Append | Access::Modify | Access::Link)
}

/// Patterns for what a packer leaves out, below the directory that it takes. Without a slash, `--exclude` fits names at any
/// depth; those of `zip -x` and `7z -x!` fit from the start.
fn left_out(command: &Command) -> Vec<String> {
    let words: Vec<&str> = command.args.iter().map(|word| word.as_deref().unwrap_or_default()).collect();
    let mut patterns = Vec::new();
    let mut add = |pattern: &str, deep: bool| {
        let pattern = pattern.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
        let up = if deep && !pattern.contains('/') { "**/" } else { "" };
        patterns.extend([format!("{up}{pattern}"), format!("{up}{pattern}/**")]);
    };
    for (at, word) in words.iter().enumerate() {
        match word.strip_prefix("--exclude") {
            Some("") => add(words.get(at + 1).copied().unwrap_or_default(), true),
            Some(value) if value.starts_with('=') => add(value.trim_start_matches('='), true),
            _ if command.program == "zip" && *word == "-x" => {
                let behind = words.iter().skip(at + 1).take_while(|word| !word.starts_with('-'));
                behind.for_each(|word| add(word, false));
            }
            _ if command.program.starts_with("7z") => {
                if let Some(pattern) = word.strip_prefix("-x!").or_else(|| word.strip_prefix("-xr!")) {
                    add(pattern, word.starts_with("-xr"));
                }
            }
            _ => {}
        }
    }
    patterns
}

/// Whether a search prints every line, or leaves out neither hidden nor ignored files.
fn finds_everything(command: &Command) -> bool {
    let words = || command.args.iter().flatten().map(String::as_str);
    let has = |names: &[&str]| words().any(|word| names.contains(&word));
    let pattern = words().find(|word| !word.starts_with('-'));
    let all = pattern.is_some_and(|pattern| pattern.chars().all(|letter| ".*^$".contains(letter)));
    all && command.program != "git"
        || has(&["-uu", "-uuu", "--unrestricted"])
        || has(&["--hidden", "-."]) && has(&["--no-ignore", "-u", "--no-ignore-vcs"])
}

fn fetch(action: &Action, looker: &Looker<'_>, facts: &mut Facts) {
    let Some(url) = action.text("url").or_else(|| action.text("query")) else {
        facts.opaque.push(opaque(OpaqueWhat::Target, "no url"));
        return;
    };
    if tools::is_file_address(url) {
        let path = tools::local_path(url);
        let place = looker.path(&path, Access::Read, false);
        return looker.add_place(facts, place, Access::Read, false, None);
    }
    // A search has no host: the agent's service performs it.
    let host = if action.text("url").is_some() { lictor_shell::programs::host_of(url) } else { None };
    if action.text("url").is_some() {
        facts.effects.push(Effect::Reach(Reach { host, text: shorten(url), sends: false }));
        let more = action.payload.get("urls").and_then(serde_json::Value::as_array).into_iter().flatten();
        for url in more.filter_map(serde_json::Value::as_str).filter(|other| *other != url) {
            let host = lictor_shell::programs::host_of(url);
            facts.effects.push(Effect::Reach(Reach { host, text: shorten(url), sends: false }));
        }
    } else {
        facts.effects.push(Effect::Tool {
            server: None,
            name: "web_search".to_owned(),
            described: Some("agents".to_owned()),
            definition: None,
        });
    }
}

fn agent(action: &Action) -> String {
    ["agent", "subagent_type", "agent_type", "name"]
        .iter()
        .find_map(|field| action.text(field))
        .unwrap_or(action.tool.as_str())
        .to_owned()
}

pub(crate) fn opaque(what: OpaqueWhat, text: &str) -> Opaque {
    Opaque { what, text: shorten(text) }
}

pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Whether a command limits memory, time or disk space of later processes so much that a hook may die.
fn starves_hooks(effect: &Effect<Place>) -> bool {
    let Effect::Run(command) = effect else { return false };
    let mut words = command.args.iter().flatten();
    let limits = |word: &String| {
        let letter = word.strip_prefix('-').and_then(|option| option.chars().last());
        letter.is_some_and(|letter| "vdmtfu".contains(letter))
    };
    command.program == "ulimit"
        && words.any(limits)
        && words.next().is_some_and(|value| value.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
