//! Endless input and output: commands that fill a disk or memory, or keep processors busy forever.

use super::Walker;
use crate::ast::{
    Assigned, Assignment, Compound, Item, Node, Part, Pipeline, Redirect, RedirectKind, Script, Simple,
    Target, Word,
};
use crate::describe::Trait;
use crate::programs::{is, is_wrapper};

/// More than a machine keeps free.
const TOO_LARGE: u64 = 64 << 30;
/// More than any disk has, for files with holes.
const TOO_LARGE_FOR_ANY: u64 = 8 << 40;
/// Processes at once, or rounds of a loop that starts one each, that no machine carries.
const TOO_MANY: u64 = 2000;
/// Devices that can be read for ever.
const DEVICES: [&str; 4] = ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"];

impl Walker<'_> {
    /// Notes a pipeline that writes to a file until the disk is full.
    pub(super) fn fills_disk(&mut self, pipeline: &Pipeline) {
        if !pipeline.stages.iter().any(may_go_on) {
            return;
        }
        if writes_without_end(pipeline) {
            self.exhausts("disk");
        } else if let Some(what) = reads_without_end(pipeline) {
            self.exhausts(what);
        } else if starts_too_many(pipeline) {
            self.effect(crate::Effect::Process(lictor_core::facts::ProcessEffect::ForkBomb));
        }
    }

    /// Notes a loop over more values than there can be processes that starts one for each.
    pub(super) fn starts_in_rounds(&mut self, words: &[Word], body: &Script) {
        if crate::forkbomb::only_starts(body) && words.iter().any(|word| counts_to(word) >= TOO_MANY) {
            self.effect(crate::Effect::Process(lictor_core::facts::ProcessEffect::ForkBomb));
        }
    }

    /// Notes a loop without an end that writes in every round and never waits.
    pub(super) fn fills_in_rounds(&mut self, body: &Script) {
        let mut seen = Seen::default();
        seen.script(body);
        if seen.waits {
            return;
        }
        if seen.writes || seen.makes && seen.enters {
            self.exhausts("disk");
        } else if seen.grows {
            self.exhausts("memory");
        } else if seen.idles && !seen.works {
            self.exhausts("processor");
        }
    }

    fn exhausts(&mut self, what: &str) {
        self.effect(crate::Effect::Deed {
            verb: "exhaust".to_owned(),
            object: what.to_owned(),
            cardinality: lictor_core::facts::Cardinality::Single,
            what: None,
        });
    }
}

/// Whether a command names an endless device or program, or only sets variables. Most do not, and are not
/// analysed further.
fn may_go_on(stage: &Node) -> bool {
    let Node::Simple(simple) = stage else { return false };
    let names = |word: &Word| match word.literal().unwrap_or_else(|| word.written()) {
        "dd" | "fallocate" | "mkfile" | "xfs_mkfile" | "openssl" | "truncate" | "yes" | "seq" => true,
        text => text.starts_with("/dev/"),
    };
    let source = |redirect: &Redirect| matches!(&redirect.target, Target::Word(word) if names(word));
    simple.words.is_empty() || simple.words.iter().any(names) || simple.redirects.iter().any(source)
}

/// The words of a command that are known, from its program on: wrappers do not change how much it prints.
fn words(simple: &Simple) -> Vec<&str> {
    let words = simple.words.iter().map(|word| word.literal().unwrap_or_else(|| word.written()));
    words.skip_while(|word| is_wrapper(word)).collect()
}

fn writes_without_end(pipeline: &Pipeline) -> bool {
    let stages: Option<Vec<&Simple>> = pipeline
        .stages
        .iter()
        .map(|stage| match stage {
            Node::Simple(simple) => Some(simple),
            _ => None,
        })
        .collect();
    let Some((first, rest)) = stages.as_deref().and_then(|stages| stages.split_first()) else { return false };
    let program = words(first);
    if let ["dd", ..] = program.as_slice() {
        let of = program.iter().any(|word| word.strip_prefix("of=").is_some_and(is_file));
        return of && copies_without_end(&program);
    }
    if let ["fallocate" | "mkfile" | "xfs_mkfile", ..] | ["openssl", "rand", ..] = program.as_slice() {
        return program.iter().any(|word| size(word.trim_start_matches("--length=")) >= TOO_LARGE);
    }
    if let ["truncate", ..] = program.as_slice() {
        let length = |word: &&str| size(word.trim_start_matches("--size=").trim_start_matches("-s"));
        return program.iter().any(|word| length(word) >= TOO_LARGE_FOR_ANY);
    }
    let endless = prints_without_end(first, &program);
    endless
        && rest.iter().all(|stage| {
            words(stage).first().is_some_and(|program| is(program, Trait::PassesOn) || *program == "dd")
        })
        && pipeline
            .stages
            .iter()
            .any(|stage| matches!(stage, Node::Simple(simple) if takes_into_file(simple)))
}

/// The resource that is exhausted when a program reads endless input to its end: `tail /dev/zero`.
fn reads_without_end(pipeline: &Pipeline) -> Option<&'static str> {
    let mut stages = pipeline.stages.iter().map(|stage| match stage {
        Node::Simple(simple) => Some((simple, words(simple))),
        _ => None,
    });
    let (first, program) = stages.next()??;
    if first.words.is_empty() && first.assignments.iter().any(keeps_in_variable) {
        return Some("memory");
    }
    let name = program.first().copied()?;
    let device = program.iter().skip(1).any(|word| DEVICES.contains(word)) || input_of(first).is_some();
    if device && !stages.clone().flatten().any(|(_, program)| is_end(&program)) {
        let limited = program.iter().any(|word| word.starts_with("-m") || word.starts_with("--max-count"));
        // `read -n 4 x < /dev/urandom` takes four.
        let until_never = name == "read"
            && !program
                .iter()
                .any(|word| word.starts_with("-n") || word.starts_with("-N") || word.starts_with("-t"));
        let into_file = program.last().is_some_and(|last| is_file(last) || name == "split");
        let takes = !limited && (into_file || !is(name, Trait::CopiesFiles));
        let what = runs_out(name).or_else(|| runs_out_by_files(name).filter(|_| takes));
        if let Some(what) = what.or(until_never.then_some("memory")) {
            return Some(what);
        }
    }
    if !prints_without_end(first, &program) {
        return None;
    }
    let (_, taker) = stages.flatten().find(|(_, program)| {
        !program.first().is_some_and(|name| is(name, Trait::PassesOn)) || program.contains(&"-d")
    })?;
    taker.first().and_then(|name| runs_out(name))
}

/// The resource that a program exhausts with endless input.
fn runs_out(program: &str) -> Option<&'static str> {
    let memory = is(program, Trait::FillsMemory).then_some("memory");
    memory.or_else(|| is(program, Trait::ReadsToTheEnd).then_some("processor"))
}

/// The same for programs that only take files, not what others print.
fn runs_out_by_files(program: &str) -> Option<&'static str> {
    let memory = is(program, Trait::KeepsLines).then_some("memory");
    memory.or_else(|| is(program, Trait::CopiesFiles).then_some("disk"))
}

/// Whether a stage stops when it has enough.
fn is_end(program: &[&str]) -> bool {
    matches!(program.first(), Some(&("head" | "dd" | "read")))
}

/// `x=$(cat /dev/zero)`: everything is kept in a variable.
fn keeps_in_variable(assignment: &Assignment) -> bool {
    let Assigned::Scalar(word) = &assignment.value else { return false };
    let script = word.parts.iter().find_map(|part| match part {
        Part::Command(script) => Some(script),
        Part::Double(parts) => parts.iter().find_map(|part| match part {
            Part::Command(script) => Some(script),
            _ => None,
        }),
        _ => None,
    });
    let Some([item]) = script.map(|script| script.items.as_slice()) else { return false };
    let mut stages = item.first.stages.iter().map(|stage| match stage {
        Node::Simple(simple) => Some((simple, words(simple))),
        _ => None,
    });
    let Some(Some((first, program))) = stages.next() else { return false };
    item.rest.is_empty()
        && prints_without_end(first, &program)
        && stages.all(|stage| {
            stage.is_some_and(|(_, program)| program.first().is_some_and(|name| is(name, Trait::PassesOn)))
        })
}

/// `yes | xargs -P 0 sh -c …`, `seq 100000 | xargs -P 1000 …`: as many processes as there are lines.
fn starts_too_many(pipeline: &Pipeline) -> bool {
    let stages: Vec<Vec<&str>> = pipeline
        .stages
        .iter()
        .filter_map(|stage| match stage {
            Node::Simple(simple) => Some(words(simple)),
            _ => None,
        })
        .collect();
    let [first, .., last] = stages.as_slice() else { return false };
    let many = match first.as_slice() {
        ["yes", ..] => stages.len() == 2,
        ["seq", rest @ ..] => rest.iter().any(|word| *word == "inf" || size(word) >= TOO_MANY),
        _ => false,
    };
    let at_once = |word: &str| word.parse::<u64>().is_ok_and(|count| count == 0 || count >= TOO_MANY / 4);
    let mut options = last.iter().skip(1).peekable();
    let parallel = matches!(last.first(), Some(&("xargs" | "parallel")))
        && std::iter::from_fn(|| options.next()).zip(last.iter().skip(2).chain([&""])).any(|(word, next)| {
            let attached = word.strip_prefix("-P").or_else(|| word.strip_prefix("-j"));
            let attached = attached
                .or_else(|| word.strip_prefix("--max-procs="))
                .or_else(|| word.strip_prefix("--jobs="));
            attached.is_some_and(|count| at_once(if count.is_empty() { next } else { count }))
        });
    many && parallel
}

/// How many values a word of a loop has: `{1..100000}`, `$(seq 1 100000)`.
fn counts_to(word: &Word) -> u64 {
    let written = word.written();
    let inner = written.strip_prefix("$(seq ").map(|rest| rest.trim_end_matches(')'));
    let inner = inner.or_else(|| written.strip_prefix('{').and_then(|rest| rest.split("..").nth(1)));
    let numbers = inner.unwrap_or_default().split(|letter: char| !letter.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).max().unwrap_or_default()
}

/// The device that a command gets as its input.
fn input_of(simple: &Simple) -> Option<&str> {
    let sources = simple.redirects.iter().filter_map(target_of);
    sources
        .filter(|(kind, path)| *kind == RedirectKind::Read && DEVICES.contains(path))
        .map(|(_, path)| path)
        .next()
}

fn prints_without_end(simple: &Simple, program: &[&str]) -> bool {
    let reads = input_of(simple).is_some() || program.iter().skip(1).any(|word| DEVICES.contains(word));
    match program.first() {
        Some(&"yes") => true,
        Some(&"head") => {
            reads
                && program.iter().any(|word| {
                    size(word.trim_start_matches("-c").trim_start_matches("--bytes=")) >= TOO_LARGE
                })
        }
        Some(name) => reads && is(name, Trait::PassesOn),
        None => false,
    }
}

/// Whether `dd` has no limit, or too large a limit.
fn copies_without_end(program: &[&str]) -> bool {
    let value = |name: &str| program.iter().find_map(|word| word.strip_prefix(name));
    let endless = matches!(value("if="), Some("/dev/zero" | "/dev/urandom" | "/dev/random"));
    let block = value("bs=").map_or(512, size);
    match value("count=") {
        None => endless,
        Some(count) => endless && size(count).saturating_mul(block) >= TOO_LARGE,
    }
}

/// A number of bytes: `10G`, `1MB`, `512`.
fn size(text: &str) -> u64 {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text.get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or_default();
    let shift = match text.get(digits..).unwrap_or_default().bytes().next() {
        Some(b'k' | b'K') => 10,
        Some(b'M' | b'm') => 20,
        Some(b'G' | b'g') => 30,
        Some(b'T' | b't') => 40,
        Some(b'P' | b'p') => 50,
        _ => 0,
    };
    number.saturating_mul(1 << shift)
}

fn is_file(path: &str) -> bool {
    let device = path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
    !path.is_empty() && !device && !path.starts_with('&')
}

fn target_of(redirect: &Redirect) -> Option<(RedirectKind, &str)> {
    match &redirect.target {
        Target::Word(word) => Some((redirect.kind, word.literal().unwrap_or_else(|| word.written()))),
        Target::Here(_) => None,
    }
}

fn takes_into_file(simple: &Simple) -> bool {
    let redirected = simple.redirects.iter().filter_map(target_of).any(|(kind, path)| {
        matches!(kind, RedirectKind::Write | RedirectKind::Append | RedirectKind::WriteBoth) && is_file(path)
    });
    let program = words(simple);
    let copied = match program.split_first() {
        Some((&"tee", files)) => files.iter().any(|file| !file.starts_with('-') && is_file(file)),
        Some((&"dd", words)) => {
            words.iter().any(|word| word.strip_prefix("of=").is_some_and(is_file))
                && !words.iter().any(|word| word.starts_with("count="))
        }
        _ => false,
    };
    redirected || copied
}

/// `x=$x$x`, `x="$x more"`, `x+=more`: longer in every round.
fn adds_to_itself(assignment: &Assignment) -> bool {
    let Assigned::Scalar(word) = &assignment.value else { return false };
    let written = word.written();
    let name = assignment.name.as_str();
    let text = written.replace(['"', '{', '}'], "");
    assignment.append && text.parse::<i64>().is_err()
        || text
            .strip_prefix('$')
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| !rest.is_empty())
}

/// What is in the body of a loop.
#[derive(Default)]
struct Seen {
    writes: bool,
    waits: bool,
    /// A directory is made.
    makes: bool,
    /// And gone into.
    enters: bool,
    /// A variable grows by appending to itself.
    grows: bool,
    /// Nothing is done, over and over.
    idles: bool,
    /// Something is.
    works: bool,
}

impl Seen {
    fn script(&mut self, script: &Script) {
        for Item { first, rest, .. } in &script.items {
            for pipeline in std::iter::once(first).chain(rest.iter().map(|(_, pipeline)| pipeline)) {
                for stage in &pipeline.stages {
                    self.node(stage);
                }
            }
        }
    }

    fn node(&mut self, node: &Node) {
        let Node::Simple(simple) = node else {
            // Any condition inside may end it.
            self.waits |=
                !matches!(node, Node::Compound { body, .. } if matches!(**body, Compound::Arithmetic(_)));
            return;
        };
        let program = words(simple);
        let name = program.first().copied().unwrap_or_default();
        self.waits |= !name.is_empty() && !is(name, Trait::IsDoneAtOnce);
        self.idles |= matches!(name, ":" | "true");
        self.works |= !matches!(name, ":" | "true");
        self.makes |= name == "mkdir";
        self.enters |= name == "cd";
        self.grows |= simple.words.is_empty() && simple.assignments.iter().any(adds_to_itself);
        let adds = |redirect: &Redirect| {
            target_of(redirect).is_some_and(|(kind, path)| {
                is_file(path)
                    && (kind == RedirectKind::Append || kind == RedirectKind::Write && path.contains('$'))
            })
        };
        let fresh = |word: &&str| word.is_empty() || word.contains('$');
        self.writes |= simple.redirects.iter().any(adds)
            || matches!(name, "dd" | "cp" | "fallocate" | "touch" | "mkdir")
                && program.iter().skip(1).any(fresh)
            || name == "mktemp";
    }
}
