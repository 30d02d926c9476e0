//! Output without an end that goes into a file: a disk that fills up.

use super::Walker;
use crate::ast::{
    Assigned, Assignment, Item, Node, Pipeline, Redirect, RedirectKind, Script, Simple, Target,
};

/// More than a machine keeps free.
const TOO_LARGE: u64 = 64 << 30;
/// Programs in front of another that change nothing about how much it prints.
const STARTERS: [&str; 6] = ["sudo", "nohup", "nice", "ionice", "exec", "command"];
/// Programs that print as much as they read.
const PASS_ON: [&str; 16] = [
    "tr", "base64", "base32", "tee", "gzip", "bzip2", "xz", "zstd", "cat", "xxd", "od", "hexdump", "openssl",
    "pv", "fold", "rev",
];
/// Commands that make a loop wait or end.
const WAITS: [&str; 14] = [
    "sleep",
    "wait",
    "read",
    "break",
    "exit",
    "return",
    "inotifywait",
    "kill",
    "timeout",
    "select",
    "usleep",
    "pause",
    "mapfile",
    "false",
];

impl Walker<'_> {
    /// Notes a pipeline that writes to a file for as long as there is room.
    pub(super) fn fills_disk(&mut self, pipeline: &Pipeline) {
        if writes_without_end(pipeline) {
            self.exhausts("disk");
        } else if keeps_without_end(pipeline) {
            self.exhausts("memory");
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
        }
    }

    fn exhausts(&mut self, what: &str) {
        self.effect(crate::Effect::Deed {
            verb: "exhaust".to_owned(),
            object: what.to_owned(),
            cardinality: lictor_core::facts::Cardinality::Single,
        });
    }
}

/// The words of a command that are known, from its program on.
fn words(simple: &Simple) -> Vec<&str> {
    let words = simple.words.iter().map(|word| word.literal().unwrap_or_else(|| word.written()));
    words.skip_while(|word| STARTERS.contains(word)).collect()
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
    if let ["fallocate" | "mkfile", ..] = program.as_slice() {
        return program.iter().any(|word| size(word.trim_start_matches("--length=")) >= TOO_LARGE);
    }
    let endless = prints_without_end(first, &program);
    endless
        && rest.iter().all(|stage| {
            words(stage).first().is_some_and(|program| PASS_ON.contains(program) || *program == "dd")
        })
        && pipeline
            .stages
            .iter()
            .any(|stage| matches!(stage, Node::Simple(simple) if takes_into_file(simple)))
}

/// Whether something that keeps all that it reads gets input without an end: `tail /dev/zero`.
fn keeps_without_end(pipeline: &Pipeline) -> bool {
    const KEEPS: [&str; 4] = ["tail", "sort", "tac", "shuf"];
    let mut stages = pipeline.stages.iter().map(|stage| match stage {
        Node::Simple(simple) => Some((simple, words(simple))),
        _ => None,
    });
    let Some(Some((first, program))) = stages.next() else { return false };
    let keeps = |program: &[&str]| program.first().is_some_and(|name| KEEPS.contains(name));
    if keeps(&program) {
        return program
            .iter()
            .skip(1)
            .any(|word| matches!(*word, "/dev/zero" | "/dev/urandom" | "/dev/random"));
    }
    prints_without_end(first, &program)
        && stages
            .flatten()
            .find(|(_, program)| !program.first().is_some_and(|name| PASS_ON.contains(name)))
            .is_some_and(|(_, program)| keeps(&program))
}

fn prints_without_end(simple: &Simple, program: &[&str]) -> bool {
    let from_device =
        |word: &&str| matches!(*word, "/dev/zero" | "/dev/urandom" | "/dev/random" | "/dev/full");
    let source = simple
        .redirects
        .iter()
        .filter_map(target_of)
        .any(|(kind, path)| kind == RedirectKind::Read && from_device(&path));
    let reads = source || program.iter().skip(1).any(from_device);
    match program.first() {
        Some(&"yes") => true,
        Some(&"head") => {
            reads
                && program.iter().any(|word| {
                    size(word.trim_start_matches("-c").trim_start_matches("--bytes=")) >= TOO_LARGE
                })
        }
        Some(name) => reads && PASS_ON.contains(name),
        None => false,
    }
}

/// Whether `dd` is told no end, or one that is too far away.
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
    !path.is_empty() && !path.starts_with("/dev/") && !path.starts_with('&')
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
    /// A variable is made of itself and more.
    grows: bool,
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
            // Whatever is decided inside may end it.
            self.waits = true;
            return;
        };
        let program = words(simple);
        let name = program.first().copied().unwrap_or_default();
        self.waits |= WAITS.contains(&name)
            || !matches!(
                name,
                "echo"
                    | "printf"
                    | "dd"
                    | "cat"
                    | "date"
                    | "cp"
                    | "head"
                    | "yes"
                    | "fallocate"
                    | "mkdir"
                    | "cd"
                    | ""
            );
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
            || matches!(name, "dd" | "cp" | "fallocate") && program.iter().skip(1).any(fresh);
    }
}
