//! A scratch repository with its own ledger.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use lictor_core::{FixedClock, Timestamp};
use lictor_ledger::council::{Councils, Reviewer};
use lictor_ledger::gate::{Bypass, Gate, GateEvent, GateOutcome};
use lictor_ledger::repository::{CommitArgs, Git, Repository as _};
use lictor_ledger::{Claim, Evidence, Ledger, Level, PlanHash, RepositoryId, binding};
use lictor_store::MemoryStore;
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) store: MemoryStore,
    pub(crate) councils: Councils,
    pub(crate) progress: Mutex<Vec<String>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self {
            dir: tempfile::tempdir().unwrap(),
            store: MemoryStore::new(),
            councils: Councils::new(),
            progress: Mutex::default(),
        };
        fs::create_dir(world.root()).unwrap();
        world.git(&["init", "-q", "-b", "main"]);
        world
    }

    /// With one council on pre-commit under a guardrail, whose reviewers are these shell scripts.
    pub(crate) fn with_council(reviewers: &[(&str, &str)]) -> Self {
        let mut world = Self::new();
        let reviewers: Vec<_> = reviewers
            .iter()
            .map(|(name, script)| {
                let path = world.dir.path().join(format!("{name}.sh"));
                fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
                serde_json::json!({ "name": name, "command": [path] })
            })
            .collect();
        world.councils = serde_json::from_value(serde_json::json!({
            "ship-it": { "on": ["pre-commit"], "guardrail": true, "reviewers": reviewers }
        }))
        .unwrap();
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    pub(crate) fn git_in(&self, dir: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.root(), args)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a file and stages all there is.
    pub(crate) fn stage(&self, path: &str, text: &str) {
        self.write(path, text);
        self.git(&["add", "."]);
    }

    /// Commits a file that passes the gate.
    pub(crate) fn pass(&self, path: &str, text: &str) {
        self.stage(path, text);
        assert_eq!(self.commit().exit_code(), 0);
    }

    pub(crate) fn repository(&self) -> Git {
        Git::at(&self.root()).unwrap()
    }

    pub(crate) fn ledger<T>(&self, id: &RepositoryId, f: impl FnOnce(&Ledger<'_>) -> T) -> T {
        f(&Ledger::new(&self.store, id, &FixedClock(Timestamp(1_000))))
    }

    /// Records a finding on the current work tree.
    pub(crate) fn record(&self, level: Level, title: &str, evidence: &str) -> (PlanHash, String) {
        let repository = self.repository();
        let evidence = Evidence::parse(evidence).unwrap();
        let mut claims = [Claim::new(level, title, "sec").unwrap().with_evidence([evidence]).unwrap()];
        binding::bind(&mut claims, &repository, None).unwrap();
        let plan: PlanHash = "abc123".parse().unwrap();
        let [claim] = claims;
        let recorded = self.ledger(repository.id(), |ledger| ledger.record(&plan, &claim)).unwrap();
        (plan, recorded.id.to_string())
    }

    pub(crate) fn gate<T>(&self, repository: &Git, f: impl FnOnce(&Gate<'_>) -> T) -> T {
        let progress = |progress: &lictor_ledger::council::Progress<'_>| {
            use lictor_ledger::council::Progress;
            let word = match progress {
                Progress::Started { reviewer, .. } => format!("start {reviewer}"),
                Progress::Ended { reported, .. } => format!("{}: {}", reported.name, reported.state),
                Progress::Reused { council, .. } => format!("reused {council}"),
            };
            self.progress.lock().unwrap().push(word);
        };
        let trust = |_: &str, reviewer: &Reviewer| {
            if reviewer.name == "stranger" {
                Err("not trusted; run `lictor trust`".to_owned())
            } else {
                Ok(())
            }
        };
        self.ledger(repository.id(), |ledger| {
            let councils = &self.councils;
            f(&Gate { ledger, repository, councils, alone: true, trust: &trust, progress: &progress })
        })
    }

    pub(crate) fn judge(&self, event: &GateEvent) -> GateOutcome {
        self.gate(&self.repository(), |gate| gate.judge(event))
    }

    pub(crate) fn pre_commit(&self) -> GateOutcome {
        self.judge(&GateEvent::PreCommit)
    }

    pub(crate) fn agent_commit(&self, words: &[&str]) -> GateOutcome {
        self.judge(&GateEvent::AgentCommit { args: CommitArgs::parse(words), dir: self.root() })
    }

    /// `git commit` as it goes with the hooks in place: judged before, checked after.
    pub(crate) fn commit(&self) -> GateOutcome {
        let outcome = self.pre_commit();
        if outcome.exit_code() == 0 {
            self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
            assert_eq!(self.after_commit(), None);
        }
        outcome
    }

    pub(crate) fn after_commit(&self) -> Option<Bypass> {
        self.gate(&self.repository(), |gate| gate.after_commit()).unwrap()
    }

    pub(crate) fn take_progress(&self) -> Vec<String> {
        std::mem::take(&mut self.progress.lock().unwrap())
    }
}

/// The titles that stop something, with where they are now.
pub(crate) fn blockers(outcome: &GateOutcome) -> Vec<String> {
    let GateOutcome::Blocked(blocked, _) = outcome else { return Vec::new() };
    let show = |blocker: &lictor_ledger::gate::Blocker| {
        let places: Vec<String> = blocker.evidence.iter().map(ToString::to_string).collect();
        format!("{} {}", blocker.finding.title, places.join(","))
    };
    blocked.findings.iter().map(show).collect()
}

pub(crate) fn reasons(outcome: &GateOutcome) -> String {
    match outcome {
        GateOutcome::Blocked(blocked, _) => blocked.reasons.join("\n"),
        GateOutcome::Error { reason } => panic!("{reason}"),
        GateOutcome::Ok(_) => String::new(),
    }
}
