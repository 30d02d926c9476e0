//! The gate for an agent's own git commands: flagged code is not committed, and governing files are not replaced
//! by those of another commit. Both are checked before git starts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lictor_config::PolicyBundle;
use lictor_core::facts::{Command, Facts};
use lictor_core::{Action, Clock, Context, Guard, Layer, Timestamp, Verdict};
use lictor_ledger::Ledger;
use lictor_ledger::council::{Progress, Reviewer};
use lictor_ledger::gate::{Blocked, Gate, GateEvent, GateOutcome, guards};
use lictor_ledger::plain::Plain;
use lictor_ledger::repository::{CommitArgs, Git, Repository as _};
use lictor_store::{Keys, Space, Store, StoreExt as _};

use crate::councils::ActiveCouncils;
use crate::git_switch::{self, Git as GitCommand, Target};

/// The fix.
const FIX: &str =
    "repair what the findings point at and commit again; a person can clear or waive them (`lictor verdict`)";

/// Judges commits that an agent is about to make. Reads the record; councils run in git's own hook.
pub(crate) struct CommitGate {
    store: Arc<dyn Store>,
    root: PathBuf,
    policy: PolicyBundle,
}

impl CommitGate {
    /// The gate of the project with this root.
    pub(crate) fn new(store: Arc<dyn Store>, root: PathBuf, policy: PolicyBundle) -> Self {
        Self { store, root, policy }
    }

    fn judge(&self, args: CommitArgs, dir: PathBuf, now: Timestamp) -> Verdict {
        let active = match ActiveCouncils::of(&self.policy) {
            Ok(active) => active,
            Err(error) => return Verdict::error(error.chain(), "run `lictor check`"),
        };
        if active.councils.is_empty() && self.nothing_is_found() {
            return Verdict::pass();
        }
        let git = match Git::rooted(&self.root) {
            Ok(git) => git,
            // Not a repository: git reports that itself.
            Err(_) => return Verdict::pass(),
        };
        if !Git::at(&dir).is_ok_and(|other| other.id() == git.id()) {
            return Verdict::pass();
        }
        let clock = At(now);
        let ledger = Ledger::new(&*self.store, git.id(), &clock);
        let trust = |_: &str, _: &Reviewer| Err("nothing runs before git does".to_owned());
        let progress = |_: &Progress<'_>| {};
        let gate = Gate {
            ledger: &ledger,
            repository: &git,
            councils: &active.councils,
            alone: active.alone,
            trust: &trust,
            progress: &progress,
        };
        match gate.judge(&GateEvent::AgentCommit { args, dir }) {
            GateOutcome::Ok(_) => Verdict::pass(),
            GateOutcome::Blocked(blocked, _) => Verdict::block(words(&blocked), FIX),
            GateOutcome::Error { reason } if guards(&active.councils, active.alone) => {
                Verdict::error(reason, "run `lictor doctor`")
            }
            GateOutcome::Error { reason } => Verdict::warn(reason),
        }
    }

    /// Whether no finding of any repository is on record. Git, which takes longer than the rest, is not started
    /// then.
    fn nothing_is_found(&self) -> bool {
        let found = self.store.view(|view| view.scan(Space::Finding, &Keys::all().limit(1)));
        found.is_ok_and(|found| found.is_empty())
    }
}

struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

impl Guard for CommitGate {
    fn name(&self) -> &str {
        "commit_gate"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let dir = if action.cwd.is_empty() { self.root.clone() } else { PathBuf::from(&action.cwd) };
        let exchanged = context.facts().commands().find_map(|command| exchanged(command, &dir));
        let exchanged = exchanged.or_else(|| over_commands(context.facts(), &dir, &self.root));
        if let Some(question) = exchanged {
            return question;
        }
        let mut commits = context.facts().commands().filter(|command| commits(command));
        let Some(first) = commits.next() else { return Verdict::pass() };
        let mut args = args(first);
        if commits.next().is_some() {
            args.unclear.get_or_insert_with(|| "a second `git commit`".to_owned());
        }
        // `git add . && git commit`: what will be staged is not staged yet.
        let stages =
            ["add", "rm", "mv", "stage", "apply", "stash", "reset", "restore", "checkout", "update-index"];
        if context.facts().commands().any(|command| is_git(command, &stages)) {
            args.unclear.get_or_insert_with(|| "git add".to_owned());
        }
        let dir = elsewhere(first, git_switch::directory_of(first, &dir));
        self.judge(args, dir, context.now())
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

/// Asks about a git command that would replace governing files.
fn exchanged(command: &Command, dir: &Path) -> Option<Verdict> {
    let git = GitCommand::read(command, dir)?;
    question(&git, &git.targets())
}

/// The question about the first of these targets with other governing files.
fn question(git: &GitCommand, targets: &[Target]) -> Option<Verdict> {
    if targets.is_empty() {
        return None;
    }
    let governing = git_switch::anywhere(lictor_observe::governing_in_projects());
    targets.iter().find_map(|target| {
        let mut differing = git.differing(target, &governing);
        differing.retain(|path| git.keeps_to(path));
        asked(&git.words.verb, &target.name, &differing)
    })
}

fn asked(verb: &str, name: &str, files: &[String]) -> Option<Verdict> {
    let first = files.first()?;
    let more = match files.len() {
        1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    let words = format!("git {verb} {name}");
    let text =
        format!("`{}` would replace or remove `{first}`{more}, which governs this agent", words.trim_end());
    Some(Verdict::ask(text).by_rule("self.switch"))
}

/// Effects of several commands together: one prints a patch or an archive that another applies, one fetches what
/// another merges, one adds files to git that another removes.
fn over_commands(facts: &Facts, dir: &Path, root: &Path) -> Option<Verdict> {
    if facts.commands().nth(1).is_none() || !facts.commands().any(|command| command.program == "git") {
        return None;
    }
    let gits = || facts.commands().filter_map(|command| GitCommand::read(command, dir));
    if facts.commands().any(|command| applies(command, dir, root))
        && let Some(question) = gits().find_map(|git| question(&git, &git.printed()))
    {
        return Some(question);
    }
    let merges = |git: &GitCommand| git.words.operands().contains(&"FETCH_HEAD");
    if let Some(merging) = gits().find(merges) {
        let fetched = gits().filter(|git| git.words.verb == "fetch").flat_map(|git| git.fetched());
        if let Some(question) = question(&merging, &fetched.collect::<Vec<_>>()) {
            return Some(question);
        }
    }
    let last = gits().filter(GitCommand::takes_away).last()?;
    let governing = git_switch::anywhere(lictor_observe::governing_in_projects());
    let taken = gits().find_map(|git| Some(git.taken_up(&governing)).filter(|files| !files.is_empty()))?;
    asked(&last.words.verb, last.words.word(0), &taken)
}

/// Whether a command applies a patch or unpacks an archive in the project.
fn applies(command: &Command, dir: &Path, root: &Path) -> bool {
    let words: Vec<&str> = command.args.iter().flatten().map(String::as_str).collect();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let value = |names: &[&str]| {
        let at = words.iter().position(|word| names.contains(word))?;
        words.get(at + 1).copied()
    };
    let letters = |letter: char| {
        words.iter().enumerate().any(|(at, word)| {
            let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            short.or((at == 0).then_some(*word)).is_some_and(|letters| letters.contains(letter))
        })
    };
    let (applied, into) = match command.program.as_str() {
        "git" if has(&["apply"]) => {
            (!has(&["--check", "--stat", "--numstat", "--summary"]), value(&["--directory"]))
        }
        "git" => (has(&["am"]), None),
        "patch" | "gpatch" => (!has(&["--dry-run", "-C"]), value(&["-d", "--directory"])),
        "tar" | "gtar" | "bsdtar" | "star" => {
            (letters('x') || has(&["--extract", "--get"]), value(&["-C", "--directory"]))
        }
        "cpio" | "pax" => (letters('i') || letters('r') || has(&["--extract"]), None),
        _ => return false,
    };
    let here = git_switch::directory_of(command, dir).join(into.unwrap_or_default());
    applied && (here.components().eq(root.components()) || here.components().eq(dir.components()))
}

/// Commands that make commits which no `pre-commit` hook sees, or which are not made by git.
const OTHER_COMMITS: [(&str, &[&str]); 6] = [
    ("git", &["am"]),
    ("hub", &["commit", "am"]),
    ("jj", &["commit", "describe", "squash", "new"]),
    ("sl", &["commit", "amend"]),
    ("stg", &["new", "refresh", "commit"]),
    ("gix", &["commit"]),
];

fn commits(command: &Command) -> bool {
    is_git(command, &["commit"]) || is_other_commit(command)
}

fn is_other_commit(command: &Command) -> bool {
    let known = |word: &str| command.args.iter().flatten().any(|arg| arg == word);
    let ends = ["--abort", "--quit", "--skip", "--show-current-patch"];
    let verb = command.args.iter().flatten().find(|word| !word.starts_with('-'));
    OTHER_COMMITS.iter().any(|(program, verbs)| {
        command.program == *program && verb.is_some_and(|verb| verbs.contains(&verb.as_str()))
    }) && !ends.into_iter().any(known)
}

fn is_git(command: &Command, subcommands: &[&str]) -> bool {
    command.program == "git" && command.words.get(1).is_some_and(|word| subcommands.contains(&word.as_str()))
}

fn args(command: &Command) -> CommitArgs {
    if is_other_commit(command) {
        let unclear = command.words.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
        return CommitArgs { unclear: Some(unclear), ..CommitArgs::default() };
    }
    let own = command.args.iter().skip_while(|word| word.as_deref() != Some("commit")).skip(1);
    let known: Option<Vec<&str>> = own.map(Option::as_deref).collect();
    match known {
        Some(words) => CommitArgs::parse(&words),
        None => {
            CommitArgs { unclear: Some("a word that is not known yet".to_owned()), ..CommitArgs::default() }
        }
    }
}

/// `git -C dir commit` happens in `dir`.
fn elsewhere(command: &Command, dir: &Path) -> PathBuf {
    let mut words = command.args.iter().take_while(|word| word.as_deref() != Some("commit")).flatten();
    let mut dir = dir.to_owned();
    while let Some(word) = words.next() {
        if word == "-C"
            && let Some(to) = words.next()
        {
            dir = dir.join(to);
        }
    }
    dir
}

fn words(blocked: &Blocked) -> String {
    let findings = blocked.findings.iter().take(3).map(|blocker| {
        let place = blocker.evidence.first().map(|place| format!(" at {place}")).unwrap_or_default();
        format!("{} {}{place}", blocker.finding.level, blocker.finding.title)
    });
    let all: Vec<String> = findings.chain(blocked.reasons.iter().cloned()).collect();
    let text = format!("this commit contains what a reviewer has flagged: {}", all.join("; "));
    Plain(&text).to_string()
}
