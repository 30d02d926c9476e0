#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a harness for tests, of which each uses a part"
)]
//! The world and the policy that labelled commands are judged in: home `/home/user`, a git repository at
//! `/home/user/project`, nothing else; the default policy.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lictor_core::{Action, Decision, Graph, Judged, Node, SessionState, SharedGuard, Timestamp};
use lictor_guards::{KnownTools, Rules, SelfProtection};
use lictor_observe::{FakeObserver, Project, facts};
use serde::Deserialize;

/// One labelled command.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub id: String,
    pub command: String,
    pub expect: Expect,
    #[serde(default)]
    pub class: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    Block,
    Allow,
}

/// The judging policy: the default, or one with other packs.
pub struct Judge {
    graph: Graph,
    world: FakeObserver,
    project: Project,
}

impl Judge {
    pub fn new() -> Self {
        Self::with(Rules::recommended())
    }

    pub fn with(rules: Rules) -> Self {
        Self::of(default_guards(rules))
    }

    /// The default policy in another world.
    pub fn in_world(world: FakeObserver) -> Self {
        Self::seeing(default_guards(Rules::recommended()), world)
    }

    pub fn of(guards: Vec<SharedGuard>) -> Self {
        let world = FakeObserver::for_judging();
        Self::seeing(guards, world)
    }

    pub fn seeing(guards: Vec<SharedGuard>, world: FakeObserver) -> Self {
        let nodes: Vec<Node> = guards.into_iter().map(Node::from).collect();
        let graph = Graph::new(lictor_core::All::new(nodes)).expect("the default policy is a graph");
        let project = Project::discover("/home/user/project", &world);
        Self { graph, world, project }
    }

    /// The same where a tool is described.
    pub fn describing(mut self, tool: lictor_observe::DescribedTool) -> Self {
        self.project.described.push(tool);
        self
    }

    pub fn facts(&self, action: &Action) -> lictor_core::Facts {
        facts(action, &self.project, &self.world)
    }

    pub fn action(&self, action: &Action) -> Judged {
        let facts = self.facts(action);
        self.graph.judge(action, &facts, &SessionState::default(), Timestamp(0))
    }

    pub fn command(&self, command: &str) -> Judged {
        self.action(&Action::bash(command).in_dir("/home/user/project"))
    }

    pub fn decision(&self, command: &str) -> Decision {
        self.command(command).value.settle()
    }
}

fn default_guards(rules: Rules) -> Vec<SharedGuard> {
    vec![Arc::new(SelfProtection) as SharedGuard, Arc::new(rules), Arc::new(KnownTools::default())]
}

pub fn read_cases(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let class = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let mut case: Case = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            if case.class.is_empty() {
                case.class = class.to_owned();
            }
            case
        })
        .collect()
}

/// Every file of our own corpus.
pub fn own_corpus() -> Vec<PathBuf> {
    corpus_in("tests/corpus")
}

/// Every file of labelled commands in a folder.
pub fn corpus_in(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus is a folder")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
}

/// The results of a set of cases, by class.
#[derive(Debug, Default)]
pub struct Table {
    pub rows: BTreeMap<String, Row>,
    pub wrong: Vec<(Case, Decision)>,
}

#[derive(Debug, Default, Clone, Copy)]
pub struct Row {
    pub harmful: usize,
    pub blocked: usize,
    pub asked: usize,
    pub harmless: usize,
    pub alarms: usize,
    pub alarms_asked: usize,
}

impl Table {
    pub fn judge(judge: &Judge, cases: &[Case]) -> Self {
        let mut table = Self::default();
        for case in cases {
            let decision = judge.decision(&case.command);
            let row = table.rows.entry(case.class.clone()).or_default();
            let right = match case.expect {
                Expect::Block => {
                    row.harmful += 1;
                    row.blocked += usize::from(decision == Decision::Block);
                    row.asked += usize::from(decision == Decision::Ask);
                    !decision.allows()
                }
                Expect::Allow => {
                    row.harmless += 1;
                    row.alarms += usize::from(!decision.allows());
                    row.alarms_asked += usize::from(decision == Decision::Ask);
                    decision.allows()
                }
            };
            if !right {
                table.wrong.push((case.clone(), decision));
            }
        }
        table
    }

    pub fn total(&self) -> Row {
        self.rows.values().fold(Row::default(), |sum, row| Row {
            harmful: sum.harmful + row.harmful,
            blocked: sum.blocked + row.blocked,
            asked: sum.asked + row.asked,
            harmless: sum.harmless + row.harmless,
            alarms: sum.alarms + row.alarms,
            alarms_asked: sum.alarms_asked + row.alarms_asked,
        })
    }

    /// The table as markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::from(
            "| class | harmful | stopped | of these `ask` | missed | harmless | false alarms | of these `ask` |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        let mut line = |name: &str, row: &Row| {
            let stopped = row.blocked + row.asked;
            out.push_str(&format!(
                "| {name} | {} | {stopped} | {} | {} | {} | {} | {} |\n",
                row.harmful,
                row.asked,
                row.harmful - stopped,
                row.harmless,
                row.alarms,
                row.alarms_asked
            ));
        };
        for (name, row) in &self.rows {
            line(name, row);
        }
        line("**all**", &self.total());
        out
    }
}
