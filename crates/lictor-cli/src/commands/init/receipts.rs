//! Receipts: the data for undoing an installation byte for byte.
//!
//! A file and not an entry of a store: a store belongs to one project and may be a database that machines share, while
//! these are files of this machine and user, most of them in no project.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use lictor::Project;
use lictor_agents::Agent;
use lictor_agents::install::{Receipt, Scope};
use serde::{Deserialize, Serialize};

use crate::here;

/// One file for all projects: settings of a user or of the machine belong to none of them.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipts {
    files: BTreeMap<PathBuf, Receipt>,
    /// Directories that did not exist before.
    directories: BTreeSet<PathBuf>,
    /// The agents that each file of settings was written for: some read the same one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    agents: BTreeMap<PathBuf, BTreeSet<String>>,
}

impl Receipts {
    /// Reads the receipts.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged: undoing must not guess.
    pub fn load() -> Result<Self> {
        let file = here::dirs().receipts_file();
        match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text).with_context(|| {
                format!("`{}` is damaged; move it away, then run this again", file.display())
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read `{}`", file.display())),
        }
    }

    /// Writes the receipts atomically. Removes the file when there are none.
    pub fn save(&self) -> Result<()> {
        let file = here::dirs().receipts_file();
        let told = || format!("cannot write `{}`", file.display());
        if self.files.is_empty() && self.directories.is_empty() && self.agents.is_empty() {
            return match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).with_context(told),
                _ => Ok(()),
            };
        }
        lictor::dirs::create_private(file.parent().unwrap_or(&file))?;
        let half = file.with_extension(format!("{}.new", std::process::id()));
        let text = serde_json::to_string_pretty(self)?;
        fs::write(&half, text).and_then(|()| fs::rename(&half, &file)).with_context(told)
    }

    /// The receipt of a file.
    pub fn of(&self, file: &Path) -> Option<&Receipt> {
        self.files.get(file)
    }

    /// The projects with receipts, this one first. A project whose directory is gone is left out.
    pub fn projects(&self, here: &Project) -> Vec<Project> {
        let mut found = vec![here.clone()];
        for file in self.files.keys() {
            for root in file.ancestors().skip(1).filter(|root| root.is_dir()) {
                let project = Project::around(root, here.options());
                let known = found.iter().any(|other| other.root == project.root);
                if project.root == root && !known && is_written_by_init(&project, file) {
                    found.push(project);
                }
            }
        }
        found
    }

    /// The same for a copy of a directory that git created from a commit.
    pub fn as_below(&self, from: &Path, to: &Path) -> Self {
        let copied = self.files.iter().filter_map(|(file, receipt)| {
            let below = file.strip_prefix(from).ok()?;
            Some((to.join(below), receipt.clone()))
        });
        // Files that were written there directly have their own receipts.
        let files = copied.chain(self.files.clone()).collect();
        Self { files, ..Self::default() }
    }

    /// Stores the receipt of a file and the directories created for it.
    pub fn keep(&mut self, file: &Path, receipt: Receipt, made: Vec<PathBuf>) {
        self.files.insert(file.to_owned(), receipt);
        self.made(made);
    }

    /// Keeps directories that had to be made.
    pub fn made(&mut self, directories: Vec<PathBuf>) {
        self.directories.extend(directories);
    }

    /// Forgets a file.
    pub fn drop_file(&mut self, file: &Path) {
        self.files.remove(file);
        self.agents.remove(file);
    }

    /// Whether a file was written for an agent.
    pub fn is_for(&self, file: &Path, agent: Agent) -> bool {
        self.agents.get(file).is_some_and(|agents| agents.contains(agent.name()))
    }

    /// Records whether an agent reads a file.
    pub fn reads(&mut self, file: &Path, agent: Agent, still: bool) {
        let agents = self.agents.entry(file.to_owned()).or_default();
        if still {
            agents.insert(agent.name().to_owned());
        } else {
            agents.remove(agent.name());
        }
        if agents.is_empty() {
            self.agents.remove(file);
        }
    }

    /// Removes created directories that are empty again.
    pub fn remove_directories(&mut self) {
        // Children sort after their parents.
        let made: Vec<PathBuf> = self.directories.iter().rev().cloned().collect();
        for directory in made {
            let removed = fs::remove_dir(&directory);
            let gone = matches!(&removed, Err(error) if error.kind() == std::io::ErrorKind::NotFound);
            if removed.is_ok() || gone {
                self.directories.remove(&directory);
            }
        }
    }
}

/// Whether `init` in that project writes that file.
fn is_written_by_init(project: &Project, file: &Path) -> bool {
    let place = project.agent_settings();
    let settings = |agent: Agent| super::settings_of(agent, Scope::Project, &place);
    project.policy_file() == file
        || Agent::ALL.into_iter().filter_map(settings).any(|settings| settings.path() == file)
}
