//! `lictor test`: policy unit tests, with coverage of guards and branches.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use lictor::{Project, Snapshot, policy_run};
use lictor_config::Diagnostic;
use lictor_config::policy_tests::{self, PolicyTest};
use lictor_core::graph::Outline;
use lictor_core::{Evaluation, NodeKind};
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

/// The guards and branches that were reached.
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
        let problem = policy_run::run(&project, &current, test, |runtime, evaluation| {
            coverage.add(evaluation);
            graph.get_or_insert_with(|| runtime.engine().graph().outline());
        })?;
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
    // An explicitly named file is read whatever its name is.
    let named = |file: &PathBuf| paths.contains(file);
    files.retain(|file| named(file) || file.extension().is_some_and(|end| end == "yaml" || end == "yml"));
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
