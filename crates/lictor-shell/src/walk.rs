//! Walks the tree and collects its effects.
//!
//! Everything is walked: both sides of every operator, every branch, every substitution, functions whether called
//! or not. The walk maintains the [`State`] of the line and follows what programs run in turn. Work is bounded by
//! fuel and depth; anything beyond is reported as opaque.

mod assign;
mod carried;
mod compound;
pub(crate) mod conventional;
mod either;
mod endless;
mod generated;
mod here;
mod listed;
mod looked;
mod moved;
mod names;
mod next;
mod outer;
mod output;
mod pipeline;
mod plumbing;
mod printed;
mod private;
mod remembered;
mod scratch;
mod shape;
pub(crate) mod simple;
pub(crate) mod startup;
pub use startup::{governs_sessions, runs_at_start};
mod subscript;
mod text;
pub(crate) mod throwaway;
mod written;

#[cfg(test)]
mod tests;

pub(crate) use output::Output;
pub(crate) use plumbing::Plumbing;
pub(crate) use private::{is_private, is_private_of_system};

use std::rc::Rc;

use lictor_core::facts::{Access, Command, Effect, Opaque, OpaqueWhat};

use crate::ast::{Function, Item, Joint, Node, Script};
use crate::call::Stdin;
use crate::operand::{Arg, Operand, Taint};
use crate::reading::{Nowhere, Reading, ShellEnv};
use crate::state::{Defined, Positional, State, Value};
use shape::{always_fails, leaves};

/// Larger texts are read at both ends only.
const LARGEST_TEXT: usize = 256 * 1024;
/// How much of each end of a larger text is read.
const READ_OF_LARGE: usize = 8 * 1024;
/// Most commands of a list that are followed in a text that is only read at its ends, as many at either end: enough to
/// name what is clearly dangerous.
const MOST_OF_LARGE: usize = 256;
/// Deepest nesting of constructs and of programs that run programs, together.
const MAX_DEPTH: u32 = 96;
/// Fuel for the work that does not come from the size of the text: loops, functions, nested texts.
const BASE_FUEL: u64 = 1_000_000;
/// The maximum number of aliases that are analysed.
const MOST_ALIASES: usize = 64;
/// The maximum number of functions that are analysed because an uncalled function defines them.
const MOST_INNER_FUNCTIONS: usize = 32;
/// Fuel for each byte of the text.
const FUEL_PER_BYTE: u64 = 100;

/// The context of a command on the line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene {
    /// It runs whenever the line runs and succeeds.
    pub certain: bool,
    /// The line fails when it fails.
    pub attributable: bool,
    /// Its output is captured.
    pub capture: bool,
}

pub(crate) struct Walker<'s> {
    env: &'s dyn ShellEnv,
    pub(crate) state: State,
    pub(crate) reading: Reading,
    runs: u32,
    fuel: u64,
    depth: u32,
    stdin: Rc<Stdin>,
    /// The file whose content that is, unchanged or unpacked.
    pub(crate) piped: Option<Arg>,
    /// The files that it may be made from.
    feed: Option<pipeline::Feed>,
    /// Wrappers around what is being walked, outermost first.
    through: Vec<String>,
    /// What the line has packed into archives that go down a pipe.
    packed: Vec<String>,
    /// Trees that it packed or copied.
    load: carried::Load,
    /// The line has made patterns match names that begin with a dot.
    pub(crate) hidden_names: bool,
    /// The text is the project's own: only clearly dangerous effects count.
    only_danger: bool,
    /// How many of them run on another machine.
    elsewhere: u32,
    /// Process substitutions so far.
    pub(crate) pipes: u32,
    /// Every function that was defined, and whether it was called.
    functions: Vec<(Rc<Function>, bool)>,
    /// Names of the functions and aliases being walked.
    pub(crate) calls: Vec<String>,
    /// Most commands of a list that are walked.
    most: usize,
    /// A text had more commands than are read.
    cut: bool,
    /// Rounds of all the loops being walked.
    rounds: usize,
    pub(crate) scene: Scene,
    /// The line made a link somewhere.
    links: bool,
    /// File descriptors that lead to the network.
    sockets: Vec<u32>,
    /// Other file descriptors that lead to a file.
    descriptors: Vec<(u32, Operand)>,
    /// Files that descriptors were bound to, however they were opened: writing to the name of a descriptor opens its file again.
    bound: Vec<(u32, Operand)>,
    /// A trap may change the exit status of the line.
    pub(crate) status_changed: bool,
    /// Text that the line decoded.
    decoded: Vec<String>,
    /// Where the pipeline being walked reads files, as places in the list of effects.
    reads: Vec<usize>,
    /// Variables that the line set, and whether only to `true` and `false`.
    switches: std::collections::BTreeMap<String, bool>,
    /// The bodies of aliases: they run whenever the name is used.
    pub(crate) aliased: Vec<String>,
    /// Containers that the line started.
    containers: Vec<String>,
    /// The current command runs in one of them.
    in_own_container: bool,
    /// The current pipeline passes on a filtered list of containers.
    picked_by_filter: bool,
    /// What the line created or preserved.
    made: scratch::Made,
    /// Moved files, by their new path.
    moved: Vec<moved::Moved>,
    /// The pipeline being walked turns files of the project into its output: no text of the line is in it.
    from_files: bool,
    /// Traps that the line set.
    pub(crate) traps: Vec<crate::builtins::Trap>,
    /// Values of variables that `local` hides, for each function being called.
    pub(crate) locals: Vec<Vec<(String, Option<Value>)>>,
}

/// Reads a text.
pub(crate) fn read(text: &str, env: &dyn ShellEnv) -> Reading {
    let mut walker = Walker::new(env, text.len().min(LARGEST_TEXT));
    let scene = Scene { certain: true, attributable: true, capture: false };
    if text.len() > LARGEST_TEXT {
        walker.over_limit("a text of more than 256 KiB");
        walker.most = MOST_OF_LARGE;
        let head = text.char_indices().map(|(at, _)| at).find(|at| *at >= READ_OF_LARGE).unwrap_or(0);
        walker.text(text.get(..head).unwrap_or_default(), scene);
        walker.tail(text, scene);
    } else {
        walker.text(text, scene);
        if walker.cut {
            walker.tail(text, scene);
        }
    }
    walker.finish()
}

impl<'s> Walker<'s> {
    fn new(env: &'s dyn ShellEnv, size: usize) -> Self {
        Self {
            env,
            state: State::new(),
            reading: Reading::default(),
            runs: 0,
            fuel: BASE_FUEL + FUEL_PER_BYTE * size as u64,
            depth: 0,
            piped: None,
            feed: None,
            stdin: Rc::new(Stdin::Inherited),
            through: Vec::new(),
            packed: Vec::new(),
            load: carried::Load::default(),
            hidden_names: false,
            only_danger: false,
            elsewhere: 0,
            pipes: 0,
            functions: Vec::new(),
            calls: Vec::new(),
            most: usize::MAX,
            cut: false,
            rounds: 1,
            scene: Scene { certain: true, attributable: true, capture: false },
            links: false,
            sockets: Vec::new(),
            descriptors: Vec::new(),
            bound: Vec::new(),
            status_changed: false,
            decoded: Vec::new(),
            reads: Vec::new(),
            switches: std::collections::BTreeMap::new(),
            aliased: Vec::new(),
            containers: Vec::new(),
            in_own_container: false,
            picked_by_filter: false,
            made: scratch::Made::default(),
            moved: Vec::new(),
            from_files: false,
            traps: Vec::new(),
            locals: Vec::new(),
        }
    }

    /// The shell environment. Nothing is known about another machine.
    pub(crate) fn outside(&self) -> &'s dyn ShellEnv {
        if self.elsewhere > 0 { &Nowhere } else { self.env }
    }

    /// Consumes fuel; `false` when there is none left.
    pub(crate) fn spend(&mut self, amount: u64) -> bool {
        self.fuel = self.fuel.saturating_sub(amount);
        self.fuel > 0
    }

    /// Notes that something is larger, deeper or longer than Lictor reads.
    pub(crate) fn over_limit(&mut self, text: &str) {
        self.opaque(OpaqueWhat::Limit, text);
    }

    /// Notes an undetermined part, once.
    pub(crate) fn opaque(&mut self, what: OpaqueWhat, text: &str) {
        let opaque = Opaque { what, text: text.chars().take(120).collect() };
        let recent = self.reading.opaque.len().saturating_sub(16);
        if !self.reading.opaque.get(recent..).unwrap_or_default().contains(&opaque) {
            self.reading.opaque.push(opaque);
        }
    }

    pub(crate) fn effect(&mut self, effect: Effect<Operand>) {
        if let Some(twin) = self.before_move(&effect) {
            self.reading.effects.push(twin);
        }
        if let Some(twin) = self.behind_link(&effect) {
            self.reading.effects.push(twin);
        }
        if let Effect::File { access, target, .. } = &effect
            && matches!(access, Access::Write | Access::Append | Access::Modify | Access::Empty)
            && target.arg.known().is_some_and(crate::paths::is_open_stream)
        {
            self.reading.effects.extend(self.behind_descriptor(&effect));
            return;
        }
        // A directory change that may not have happened: what is lost may be lost in either place.
        if let Effect::File { access, target, recursive, by } = &effect
            && !access.is_read_only()
            && let Some(instead) = &self.state.directories().instead
            && target.cwd == self.state.directories().now
            && !target.arg.prefix().starts_with(['/', '~'])
        {
            let target = Operand { cwd: instead.clone(), ..target.clone() };
            let twin = Effect::File { access: *access, target, recursive: *recursive, by: *by };
            self.reading.effects.push(twin);
        }
        // Tables and walker may both see where data goes.
        if let Effect::Flow { from, to, .. } = &effect {
            let since =
                self.reading.effects.iter().rev().take_while(|effect| !matches!(effect, Effect::Run(_)));
            let same = |other: &Effect<Operand>| matches!(other, Effect::Flow { from: source, to: sink, .. } if source == from && sink == to);
            if since.take(16).any(same) {
                return;
            }
        }
        self.reading.effects.push(effect);
    }

    /// Reports a command; returns its number.
    pub(crate) fn run(&mut self, command: Command) -> u32 {
        let number = self.runs;
        self.runs += 1;
        self.effect(Effect::Run(command));
        number
    }

    /// The wrappers around what is being walked.
    pub(crate) fn wrappers(&self) -> Vec<String> {
        self.through.clone()
    }

    /// Walks something that the shell itself runs through `name`.
    pub(crate) fn through(&mut self, name: &str, walk: impl FnOnce(&mut Self) -> Output) -> Output {
        self.through.push(name.to_owned());
        let output = self.deeper(walk);
        self.through.pop();
        output
    }

    /// Standard input of what is being walked.
    pub(crate) fn input(&self) -> &Stdin {
        &self.stdin
    }

    /// The directory as a path, when it is known.
    pub(crate) fn working_directory(&self) -> Option<String> {
        self.state.directories().now.absolute(self.outside())
    }

    /// Walks one level deeper, or notes that it is too deep.
    fn deeper(&mut self, walk: impl FnOnce(&mut Self) -> Output) -> Output {
        if self.depth >= MAX_DEPTH {
            self.over_limit("commands nested too deep");
            return Output::unknown();
        }
        self.depth += 1;
        let output = walk(self);
        self.depth -= 1;
        output
    }

    pub(crate) fn list(&mut self, script: &Script, scene: Scene) -> Output {
        let mut output = Output::silent();
        let count = script.items.len();
        let skipped = count.saturating_sub(self.most);
        if skipped > 0 {
            self.over_limit("more commands than can be followed");
        }
        let gap = self.most / 2..self.most / 2 + skipped;
        let followed = |index: &usize| skipped == 0 || !gap.contains(index);
        for (index, item) in script.items.iter().enumerate().filter(|(index, _)| followed(index)) {
            let out = self.item(item, scene, index + 1 == count);
            if scene.capture {
                output = output.then(out);
            }
        }
        if scene.capture { output } else { Output::unknown() }
    }

    /// A chain of `&&` and `||`. `last` when its status is that of the list.
    fn item(&mut self, item: &Item, scene: Scene, last: bool) -> Output {
        let flags = self.state.flags();
        let carries = scene.attributable && last && !item.background;
        let exits = scene.attributable && flags.errexit && !item.background;
        let start = self.state.mark();
        let branches = item.rest.iter().any(|(joint, _)| *joint == Joint::Or);
        let before = branches.then(|| self.state.directories().clone());
        let alternatives = |from: usize| {
            item.rest
                .iter()
                .skip(from)
                .any(|(joint, pipeline)| *joint == Joint::Or && !always_fails(pipeline))
        };
        let attributable =
            |index: usize| !alternatives(index) && (carries || (exits && index == item.rest.len()));
        let mut output = self.pipeline(&item.first, Scene { attributable: attributable(0), ..scene });
        let mut chained = self.state.mark();
        // Whether the chain comes this far whatever happens.
        let mut sure = self.succeeds(&item.first);
        let looks_up = scene.capture && !item.rest.is_empty() && conventional::looks_up(item);
        for (index, (joint, pipeline)) in item.rest.iter().enumerate() {
            let status = attributable(index + 1);
            let inner = Scene {
                certain: scene.certain
                    && *joint == Joint::And
                    && (carries || exits)
                    && !alternatives(index + 1),
                attributable: status,
                ..scene
            };
            let out = if *joint == Joint::Or {
                // The command before failed, so its directory change did not happen.
                let mark = self.state.mark();
                if let Some(before) = &before {
                    self.state.set_directories(before.clone());
                }
                let out = self.pipeline(pipeline, inner);
                if leaves(pipeline) {
                    // Later commands did not take this branch.
                    self.state.leave(mark);
                } else {
                    self.state.doubt(mark);
                }
                out
            } else {
                self.pipeline(pipeline, inner)
            };
            if sure && *joint == Joint::And {
                chained = self.state.mark();
            }
            sure &= *joint == Joint::And && self.succeeds(pipeline);
            if scene.capture {
                output = if *joint == Joint::Or && looks_up {
                    output
                } else if *joint == Joint::Or {
                    Output::Unknown(output.taint().and(out.taint()))
                } else {
                    output.then(out)
                };
            }
        }
        if item.background {
            self.state.leave(start);
        } else if !item.rest.is_empty() {
            self.state.doubt(chained);
            self.note_assigned_choice(item);
        }
        output
    }

    fn node(&mut self, node: &Node, scene: Scene) -> Output {
        if !self.spend(40) {
            self.over_limit("more commands than can be followed");
            return Output::unknown();
        }
        let outer = std::mem::replace(&mut self.scene, scene);
        let output = match node {
            Node::Simple(simple) => self.simple(simple, scene),
            Node::Compound { body, redirects } => self.deeper(|this| this.compound(body, redirects, scene)),
            Node::Function(function) => {
                self.define(function);
                Output::silent()
            }
        };
        self.scene = outer;
        output
    }

    fn define(&mut self, function: &Rc<Function>) {
        if crate::forkbomb::multiplies(function) {
            self.effect(Effect::Process(lictor_core::facts::ProcessEffect::ForkBomb));
        }
        let index = self.functions.len();
        self.functions.push((Rc::clone(function), false));
        let defined = Defined { function: Rc::clone(function), certain: true, index };
        self.state.define(&function.name, defined);
    }

    /// The output of a script in a subshell.
    pub(crate) fn captured(&mut self, script: &Script) -> Output {
        let scene = Scene { capture: true, ..self.scene };
        let mark = self.state.mark();
        let output = self.deeper(|this| {
            let outer = std::mem::replace(&mut this.scene, scene);
            let output = this.list(script, scene);
            this.scene = outer;
            output
        });
        self.state.leave(mark);
        output
    }

    /// Runs `walk` with something unknown on standard input.
    pub(crate) fn with_unknown_stdin<T>(&mut self, taint: Taint, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.with_stdin(Some(Rc::new(Stdin::Unknown(taint))), walk)
    }

    pub(crate) fn with_stdin<T>(&mut self, stdin: Option<Rc<Stdin>>, walk: impl FnOnce(&mut Self) -> T) -> T {
        let Some(stdin) = stdin else { return walk(self) };
        let outer = std::mem::replace(&mut self.stdin, stdin);
        let result = walk(self);
        self.stdin = outer;
        result
    }

    pub(crate) fn stdin_taint(&self) -> Taint {
        match self.stdin.as_ref() {
            Stdin::Unknown(taint) => *taint,
            _ => Taint::default(),
        }
    }

    /// The files that standard input names, if it is a list of such.
    pub(crate) fn names_on_input(&self) -> Option<&[Arg]> {
        match self.stdin.as_ref() {
            Stdin::Names(names) => Some(names),
            _ => None,
        }
    }

    /// Walks what was defined and never called, and settles what only the end of the line tells.
    fn finish(mut self) -> Reading {
        self.late_traps();
        if crate::forkbomb::multiply_together(&self.functions) {
            self.effect(Effect::Process(lictor_core::facts::ProcessEffect::ForkBomb));
        }
        let scene = Scene { certain: false, attributable: false, capture: false };
        let mut index = 0;
        // A body may define the function again that it is the body of, in a file that the line wrote.
        let most = self.functions.len() + MOST_INNER_FUNCTIONS;
        while let Some((function, called)) = self.functions.get(index).filter(|_| index < most).cloned() {
            index += 1;
            if called {
                continue;
            }
            // A body that is never run cannot do what is not known.
            let known = self.reading.opaque.len();
            self.calls.push(function.name.clone());
            self.state.set_positional(Positional::Unknown(Taint::default()));
            self.node(&function.body, scene);
            self.calls.pop();
            self.reading.opaque.truncate(known);
        }
        for text in std::mem::take(&mut self.aliased).into_iter().take(MOST_ALIASES) {
            let (effects, known) = (self.reading.effects.len(), self.reading.opaque.len());
            self.state.set_positional(Positional::Unknown(Taint::default()));
            self.through("alias", |this| this.text(&text, scene));
            self.reading.opaque.truncate(known);
            // It is not run by this line.
            let done = self.reading.effects.split_off(effects);
            self.reading.effects.extend(done.into_iter().filter(|effect| !matches!(effect, Effect::Run(_))));
        }
        if self.status_changed {
            for effect in &mut self.reading.effects {
                if let Effect::Run(command) = effect {
                    command.attributable = false;
                }
            }
        }
        self.reading
    }
}
