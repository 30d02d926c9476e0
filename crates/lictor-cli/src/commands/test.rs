//! `lictor test`: policy unit tests, with coverage of guards and branches.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::{Project, Runtime, Snapshot};
use lictor_config::Diagnostic;
use lictor_config::policy_tests::{self, PolicyTest, Step};
use lictor_core::graph::Outline;
use lictor_core::{Clock, Decision, Evaluation, NodeKind, Outcome, Timestamp};
use serde_json::json;

use crate::args::Common;
use crate::exit::{self, Exit};
use crate::here;
use crate::output::{self, Style};

/// Run the policy's tests.
#[derive(Debug, Args)]
#[command(after_help = "\
Tests are YAML files, `policy_tests/*.yaml`:

  tests:
    - name: a push needs a test run
      steps:
        - {bash: git push, expect: block, rule: require_first, message: requires}
        - {bash: cargo test, outcome: success}
        - {bash: git push, expect: pass}

Each test has a session of its own. Nothing is recorded.

Examples:
  lictor test
  lictor test policy_tests/push.yaml --filter push
  lictor test --require-coverage --json

Exit codes: 0 all pass, 1 some fail, 2 the policy was refused.")]
pub struct TestArgs {
    /// Files or directories with tests; `policy_tests` when none is given.
    paths: Vec<PathBuf>,
    /// Only tests whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Fail when a guard or branch was never reached.
    #[arg(long)]
    require_coverage: bool,
    #[command(flatten)]
    common: Common,
}

/// Time as the tests tell it.
#[derive(Clone)]
struct TestClock(Arc<AtomicI64>);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// What was reached.
#[derive(Default)]
struct Coverage {
    paths: BTreeSet<String>,
    rules: BTreeMap<String, u64>,
}

impl Coverage {
    fn add(&mut self, evaluation: &Evaluation) {
        let reached = evaluation.trace.iter().filter(|entry| entry.value.is_some());
        self.paths.extend(reached.map(|entry| entry.path.into_owned()));
        for given in evaluation.active() {
            let rule = given.verdict.rule().unwrap_or(given.guard()).to_owned();
            *self.rules.entry(rule).or_default() += 1;
        }
    }
}

/// Runs the command.
pub fn run(args: &TestArgs) -> Result<Exit> {
    let project = here::project(&args.common.cwd);
    let tests = match collect(&project, &args.paths)? {
        Ok(tests) => tests,
        Err(problems) => return refuse(&problems, args.common.json),
    };
    let current = Arc::new(Snapshot::read(&project)?);
    let style = Style::stdout();
    let mut coverage = Coverage::default();
    let mut failed = Vec::new();
    let mut rows = Vec::new();
    let mut graph = None;
    let chosen =
        |test: &&(String, PolicyTest)| args.filter.as_ref().is_none_or(|text| test.1.name.contains(text));
    for (file, test) in tests.iter().filter(chosen) {
        let clock = TestClock(Arc::new(AtomicI64::new(0)));
        let runtime = Runtime::in_memory(&project, Arc::clone(&current), clock.clone())?;
        let problem = one(&runtime, &clock, &project, test, &mut coverage);
        graph.get_or_insert_with(|| runtime.engine().graph().outline());
        rows.push(
            json!({"file": file, "line": test.span.line, "name": test.name, "passed": problem.is_none(),
                         "problem": problem}),
        );
        if !args.common.json {
            let word = if problem.is_none() { style.green("ok") } else { style.red("FAILED") };
            output::print(&format!("{} ... {word}\n", test.name))?;
        }
        failed.extend(problem.map(|problem| format!("{file}:{problem}")));
    }
    if rows.is_empty() {
        return Err(exit::not_there(match &args.filter {
            Some(text) if !tests.is_empty() => format!("no test has `{text}` in its name"),
            _ => "no tests were found; write `policy_tests/push.yaml` (see `lictor help test`)".to_owned(),
        }));
    }
    let missed = graph.as_ref().map(|outline| unreached(outline, &coverage)).unwrap_or_default();
    let exit = if !failed.is_empty() || (args.require_coverage && !missed.is_empty()) {
        Exit::Problems
    } else {
        Exit::Ok
    };
    if args.common.json {
        output::print_json(&json!({"tests": rows, "failed": failed.len(), "rules": coverage.rules,
                                   "not_reached": missed, "problems": []}))?;
        return Ok(exit);
    }
    let mut text = String::new();
    for problem in &failed {
        text += &format!("\n{problem}\n");
    }
    text += &format!("\n{} passed, {} failed\n", rows.len() - failed.len(), failed.len());
    if !missed.is_empty() {
        text += &style.dim(&format!("never reached: {}\n", missed.join(", ")));
    }
    output::print(&text)?;
    Ok(exit)
}

/// Runs one test; says where and how it failed.
fn one(
    runtime: &Runtime,
    clock: &TestClock,
    project: &Project,
    test: &PolicyTest,
    coverage: &mut Coverage,
) -> Option<String> {
    for (number, step) in test.steps.iter().enumerate() {
        let after = i64::try_from(step.after).unwrap_or(i64::MAX);
        // A little time always passes, so that nothing happens at the same moment.
        clock.0.fetch_add(after.max(1), Ordering::Relaxed);
        let mut action = step.action.clone();
        action.cwd = project.root.to_string_lossy().into_owned();
        action.at = clock.now();
        let action = action.in_session("test");
        let evaluation = runtime.engine().evaluate(&action);
        coverage.add(&evaluation);
        if let Some(problem) = compare(step, &evaluation) {
            return Some(format!(
                "{}:{}: `{}`, step {}: {problem}",
                step.span.line,
                step.span.column,
                test.name,
                number + 1
            ));
        }
        if evaluation.decision != Decision::Block {
            let outcome =
                if step.success { Outcome::success() } else { Outcome::failure("as the test says") };
            if let Err(error) = runtime.engine().post_action(&action, outcome) {
                return Some(format!("{}:{}: {error}", step.span.line, step.span.column));
            }
        }
    }
    None
}

fn compare(step: &Step, evaluation: &Evaluation) -> Option<String> {
    let reason = evaluation.reason();
    let shown = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    if evaluation.decision != step.expect {
        return Some(format!("expected {}, got {}{shown}", step.expect, evaluation.decision));
    }
    if let Some(rule) = &step.rule {
        let decided: Vec<String> = evaluation
            .active()
            .iter()
            .flat_map(|given| [Some(given.guard().to_owned()), given.verdict.rule().map(str::to_owned)])
            .flatten()
            .collect();
        // `require_first` stands for every rule of that family.
        let family = format!("{rule}.");
        if !decided.iter().any(|name| name == rule || name.starts_with(&family)) {
            return Some(format!("expected rule `{rule}`, but {} decided", decided.join(", ")));
        }
    }
    match &step.message {
        Some(message) if !reason.contains(message.as_str()) => {
            Some(format!("expected a reason that contains `{message}`, got `{reason}`"))
        }
        _ => None,
    }
}

/// Guards and branches that no test reached.
fn unreached(outline: &Outline, coverage: &Coverage) -> Vec<String> {
    let mut missed = Vec::new();
    let mut open = vec![outline];
    while let Some(node) = open.pop() {
        let matters = node.kind == NodeKind::Guard || node.role.is_some();
        if matters && !coverage.paths.contains(&*node.path) {
            let name = if node.name.is_empty() { &node.path } else { &node.name };
            missed.push(name.to_string());
        } else {
            open.extend(node.children.iter().rev());
        }
    }
    missed
}

type Collected = Result<Vec<(String, PolicyTest)>, Vec<(Diagnostic, String)>>;

fn collect(project: &Project, paths: &[PathBuf]) -> Result<Collected> {
    let default = [project.root.join("policy_tests")];
    let mut files = Vec::new();
    for path in if paths.is_empty() { &default } else { paths } {
        if path.is_dir() {
            let listed = fs::read_dir(path).with_context(|| format!("cannot read `{}`", path.display()))?;
            for entry in listed {
                files.push(entry?.path());
            }
        } else if paths.is_empty() {
            continue;
        } else {
            files.push(path.clone());
        }
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "yaml" || end == "yml"));
    files.sort();
    let mut tests = Vec::new();
    let mut problems = Vec::new();
    for file in files {
        let bytes = fs::read(&file).map_err(|error| exit::unreadable(&file, &error))?;
        let name = shown(&file, project);
        match policy_tests::read(&name, &bytes) {
            Ok(found) => tests.extend(found.into_iter().map(|test| (name.clone(), test))),
            Err(found) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                problems.extend(found.into_iter().map(|problem| (problem, text.clone())));
            }
        }
    }
    Ok(if problems.is_empty() { Ok(tests) } else { Err(problems) })
}

fn shown(file: &Path, project: &Project) -> String {
    file.strip_prefix(&project.root).unwrap_or(file).display().to_string()
}

fn refuse(problems: &[(Diagnostic, String)], json: bool) -> Result<Exit> {
    if json {
        let problems: Vec<&Diagnostic> = problems.iter().map(|(problem, _)| problem).collect();
        output::print_json(
            &json!({"tests": [], "failed": 0, "rules": {}, "not_reached": [], "problems": problems}),
        )?;
        return Ok(Exit::Problems);
    }
    for (problem, text) in problems {
        output::tell(&format!("{}\n", problem.render(text)));
    }
    Ok(Exit::Problems)
}
