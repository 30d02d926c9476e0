//! Pipelines: the output of one command is the input of the next.

use std::rc::Rc;

use lictor_core::facts::{Access, Command, Effect};

use super::shape::takes_secret;
use super::{Output, Scene, Walker, generated, looked, shape};
use crate::ast::Pipeline;
use crate::operand::{Arg, Coding};
use crate::programs;

/// The most files that the input of a command is said to be made from.
const MOST_FED: usize = 16;
/// Programs that print a file as it is or unpacked.
const PRINTS_FILES: [&str; 20] = [
    "cat", "gunzip", "zcat", "gzip", "pigz", "unpigz", "bzip2", "bunzip2", "bzcat", "xz", "unxz", "xzcat",
    "lzcat", "zstd", "unzstd", "zstdcat", "lz4", "lz4cat", "dd", "pv",
];

/// What goes down a pipe, as far as it is made from files.
#[derive(Debug, Clone, Default)]
pub(super) struct Feed {
    /// Files that it may be made from.
    pub(super) files: Vec<Arg>,
    /// How.
    pub(super) coding: Coding,
}

/// Whether git prints an archive of a repository that is not the one around the line.
fn is_of_another_repository(command: &Command) -> bool {
    let has = |start: &str| command.args.iter().flatten().any(|word| word.starts_with(start));
    has("archive") && (command.directory.is_some() || has("-C") || has("--git-dir") || has("--remote"))
}

/// What a program makes of the file that it prints.
fn coding(command: &Command) -> Coding {
    let has = |options: &[&str]| command.args.iter().flatten().any(|word| options.contains(&word.as_str()));
    match command.program.as_str() {
        program if PRINTS_FILES.contains(&program) => Coding::Plain,
        "base64" | "gbase64" if has(&["-d", "-D", "--decode"]) => Coding::Base64,
        "xxd" if has(&["-r", "-revert"]) => Coding::Hex,
        "dpkg-deb" | "dpkg" if has(&["--fsys-tarfile"]) => Coding::Package,
        _ => Coding::Other,
    }
}

impl Walker<'_> {
    pub(super) fn pipeline(&mut self, pipeline: &Pipeline, scene: Scene) -> Output {
        // Reads of a substitution or a body happen before or after the pipeline.
        let outer = std::mem::take(&mut self.reads);
        let piped = std::mem::take(&mut self.load.piped);
        let from_files =
            std::mem::replace(&mut self.from_files, pipeline.stages.iter().all(generated::from_files));
        let picked = std::mem::replace(
            &mut self.picked_by_filter,
            pipeline.stages.iter().any(shape::picks_containers),
        );
        let mut output = self.stages(pipeline, scene);
        self.fills_disk(pipeline);
        self.picked_by_filter = picked;
        self.from_files = from_files;
        if self.only_looked_at(pipeline, &output)
            && let Output::Unknown(taint) = &mut output
        {
            taint.secret = false;
        }
        self.picks_secret_variables(pipeline, scene);
        self.reads = outer;
        self.load.piped = piped;
        output
    }

    pub(super) fn stages(&mut self, pipeline: &Pipeline, scene: Scene) -> Output {
        let flags = self.state.flags();
        let scene = Scene {
            certain: scene.certain && !flags.ended && !flags.may_have_ended,
            attributable: scene.attributable && !pipeline.negated && !flags.ended,
            ..scene
        };
        if let [only] = pipeline.stages.as_slice() {
            return self.node(only, scene);
        }
        let outer = Rc::clone(&self.stdin);
        let outer_file = self.piped.take();
        let outer_feed = self.feed.take();
        let mut output = Output::unknown();
        let count = pipeline.stages.len();
        let from = self.reading.effects.len();
        for (index, stage) in pipeline.stages.iter().enumerate() {
            let last = index + 1 == count;
            let scene = Scene {
                attributable: scene.attributable && (last || flags.pipefail),
                capture: scene.capture || !last,
                ..scene
            };
            let mark = self.state.mark();
            let effects = self.reading.effects.len();
            output = self.node(stage, scene);
            self.state.leave(mark);
            if !last {
                if let Output::Unknown(taint) = &mut output
                    && self.holds_back(stage)
                {
                    taint.secret = false;
                }
                self.piped = self.printed_file(effects);
                self.feed = self.fed_by(effects);
                self.stdin = Rc::new(std::mem::replace(&mut output, Output::unknown()).into_stdin());
            }
        }
        self.stdin = outer;
        self.piped = outer_file;
        self.feed = outer_feed;
        if pipeline.stages.last().is_some_and(takes_secret) || looked::ends_in_silence(pipeline) {
            self.not_shown(from);
        }
        output
    }

    /// The file that a stage prints as it is (`cat FILE`), in part (`head FILE`) or unpacked (`gunzip -c FILE`): its only
    /// effect.
    fn printed_file(&self, from: usize) -> Option<Arg> {
        match self.reading.effects.get(from..)? {
            [Effect::Run(command), Effect::File { access: Access::Read, target, .. }]
                if PRINTS_FILES.contains(&command.program.as_str())
                    || matches!(command.program.as_str(), "head" | "tail" | "sort" | "grep") =>
            {
                Some(target.arg.clone())
            }
            _ => None,
        }
    }

    /// The files that the output of a stage is made from: what it reads, what its words name, and what it was fed itself. A
    /// download is made from none.
    fn fed_by(&self, from: usize) -> Option<Feed> {
        let effects = self.reading.effects.get(from..)?;
        if effects.iter().any(|effect| matches!(effect, Effect::Reach(_))) {
            return None;
        }
        let mut feed = self.feed.clone().unwrap_or_default();
        let mut commands = effects.iter().filter_map(|effect| match effect {
            Effect::Run(command) => Some(command),
            _ => None,
        });
        let first = commands.next()?;
        if programs::is_elsewhere(&first.program) {
            return None;
        }
        if first.program == "git" {
            // Commits of this repository are compared by name; those of another one are not read.
            return is_of_another_repository(first)
                .then(|| Feed { files: vec![Arg::unknown("git archive")], coding: Coding::Other });
        }
        let coding = if commands.next().is_none() { coding(first) } else { Coding::Other };
        feed.coding = match (feed.coding, coding) {
            (Coding::Plain, coding) | (coding, Coding::Plain) => coding,
            _ => Coding::Other,
        };
        let reads = effects.iter().filter_map(|effect| match effect {
            Effect::File { access: Access::Read, target, .. } if !target.arg.glob => {
                Some(crate::paths::key(&target.cwd, target.arg.known()?))
            }
            _ => None,
        });
        let here = &self.state.directories().now;
        let words = first.args.iter().flatten().filter(|word| !word.starts_with('-'));
        let named = words.map(|word| crate::paths::key(here, word.rsplit('=').next().unwrap_or(word)));
        let room = MOST_FED.saturating_sub(feed.files.len());
        let mut files: Vec<String> = reads.chain(named).take(room).collect();
        files.dedup();
        feed.files.extend(files.into_iter().map(Arg::literal));
        feed.files.dedup();
        (!feed.files.is_empty()).then_some(feed)
    }

    /// Whether a pipeline cannot fail.
    pub(super) fn succeeds(&self, pipeline: &Pipeline) -> bool {
        shape::always_succeeds(pipeline, &|directory| self.is_there(directory))
    }

    /// Whether a directory exists for certain.
    fn is_there(&self, directory: &str) -> bool {
        let ours = ["PWD", "HOME"].iter().filter_map(|name| self.outside().variable(name));
        matches!(directory, "." | ".." | "/" | "/tmp" | "~")
            || ours.chain(self.outside().project_root()).any(|path| path == directory.trim_end_matches('/'))
    }
}
