//! A whole governed session, driven by a program that depends on `lictor` alone.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lictor::completion::Completion;
use lictor::ledger::gate::{GateEvent, GateOutcome};
use lictor::ledger::{Claim, Evidence, Level, PlanHash};
use lictor::{Action, Answer, Decision, Lifetime, Options, Outcome, Runtime, SessionKey, Standing, StopRequest, Who};

const POLICY: &str = r#"
version: 1
tools:
  require_first: {bash("git push"): [bash("cargo test")]}
guards:
  deploys: {expr: 'action.task_type != "deploy"', decision: ask, reason: a deploy, fix: ask a person}
policy: {all: [tools, deploys]}
feedback:
  - {name: plan, every_n_calls: 1, say: "Look at the plan."}
completion: {files: [report.md]}
"#;

fn git(project: &Path, args: &[&str]) {
    let done = Command::new("git").args(args).current_dir(project).status();
    assert!(done.is_ok_and(|status| status.success()), "git {args:?}");
}

fn main() -> Result<(), Box<dyn Error>> {
    let home = PathBuf::from(std::env::args_os().nth(1).ok_or("name a directory")?);
    let project = home.join("project");
    fs::create_dir_all(project.join("src"))?;
    git(&project, &["init", "-q"]);
    fs::write(project.join("governance.yaml"), POLICY)?;
    fs::write(project.join("src/users.py"), "a\nb\n")?;

    let options = Options::from_process().home(&home).registered_home(&home);
    let lictor = Runtime::open_with(&project, options)?;
    let root = project.to_str().ok_or("no UTF-8")?;
    let bash = |command: &str| Action::bash(command).in_session("s1").in_dir(root);
    let session = SessionKey { agent: String::new(), id: "s1".to_owned() };

    // The policy file decides, and what happened before counts.
    let push = lictor.evaluate(&bash("git push"));
    assert_eq!(push.decision, Decision::Block, "{}", push.reason());
    assert!(lictor.evaluate(&bash("cargo test")).passed());

    // Feedback comes back with the outcome.
    let posted = lictor.post(&bash("cargo test"), Outcome::success())?;
    assert_eq!(posted.standing, Standing::Governed);
    assert_eq!(posted.feedback.len(), 1, "{:?}", posted.feedback);
    assert!(lictor.evaluate(&bash("git push")).passed());

    // A question is answered on the spot, or waits for a person.
    let deploy = Action::task("deploy").in_session("s1").in_dir(root);
    let asked = lictor.evaluate(&deploy);
    assert_eq!(asked.decision, Decision::Ask);
    let no = asked.questions().iter().map(|_| Answer::from(false)).collect();
    assert_eq!(lictor.resolve(asked.id.ok_or("not recorded")?, no)?.decision, Decision::Block);
    assert_eq!(lictor.evaluate(&deploy).decision, Decision::Ask);
    let now = lictor.project().options().now();
    let pending = lictor.approvals().pending(now)?;
    let who = Who { by: "ada".to_owned(), at: now, from: "embed".to_owned() };
    let first = pending.first().ok_or("nothing waits")?;
    lictor.approvals().approve(&first.id, who, Lifetime::Once, 600_000)?;
    assert!(lictor.evaluate(&deploy).passed());
    assert_eq!(lictor.evaluate(&deploy).decision, Decision::Ask, "a yes counts once");

    // The stop gate.
    let wish = StopRequest::new(session.clone());
    assert!(matches!(lictor.stop(&wish)?.outcome, Completion::Incomplete { round: 1, .. }));
    fs::write(project.join("report.md"), "done\n")?;
    assert_eq!(lictor.stop(&wish)?.outcome, Completion::Complete);

    // A finding closes the commit gate, for git and for the agent's own commit.
    git(&project, &["add", "src"]);
    assert!(matches!(lictor.gate(&GateEvent::PreCommit, &|_| {}), GateOutcome::Ok(_)));
    assert!(lictor.evaluate(&bash("git commit -m x")).passed());
    let plan: PlanHash = "plan-1".parse()?;
    let evidence = vec![Evidence::parse("src/users.py:2:unescaped input")?];
    let claim = Claim::new(Level::High, "SQL injection", "reviewer")?.with_evidence(evidence)?;
    lictor.ledger().record(&plan, claim)?;
    assert!(matches!(lictor.gate(&GateEvent::PreCommit, &|_| {}), GateOutcome::Blocked(..)));
    let commit = lictor.evaluate(&bash("git commit -m x"));
    assert_eq!(commit.decision, Decision::Block);
    assert!(commit.reason().contains("SQL injection"), "{}", commit.reason());

    // Another process sees the same session.
    let again = Runtime::open_with(&project, Options::from_process().home(&home).registered_home(&home))?;
    assert_eq!(again.session(&session)?, lictor.session(&session)?);
    assert!(lictor.end(&session)?.ended);
    println!("governed");
    Ok(())
}
