//! The councils in force: those of the managed, the user's and the repository's policy, together.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use lictor_ledger::council::{Councils, Preset, Reviewer};
use lictor_store::Store;
use serde::Deserialize;

use crate::place::{Project, managed_policy_file, user_policy_file};
use crate::trust::Program;

/// The councils in force, and which of them the repository named.
#[derive(Debug, Default)]
pub struct InForce {
    /// All of them.
    pub councils: Councils,
    from_repository: BTreeSet<String>,
}

/// The part of a policy file that is about councils. The other parts are read elsewhere.
#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    councils: Councils,
}

impl InForce {
    /// Reads the councils of all layers. A layer adds councils; it cannot change or drop one of a layer above it: a name
    /// that is taken gets the layer's name in front.
    pub fn load(project: &Project) -> Result<Self> {
        let repository = project.policy_file();
        let layers =
            [("managed", managed_policy_file()), ("user", user_policy_file()), ("repository", repository)];
        let mut in_force = Self::default();
        for (layer, file) in layers {
            for (name, council) in read(&file)? {
                council.check(&name).map_err(|wrong| {
                    let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
                    anyhow::anyhow!("`{}`: {}", file.display(), wrong.join("; "))
                })?;
                let name =
                    if in_force.councils.contains_key(&name) { format!("{layer}/{name}") } else { name };
                if layer == "repository" {
                    in_force.from_repository.insert(name.clone());
                }
                in_force.councils.insert(name, council);
            }
        }
        Ok(in_force)
    }

    /// Why a reviewer's program must not run, if it must not: a repository's program runs only with the very bytes that
    /// a person has trusted.
    pub fn trust(
        &self,
        store: &dyn Store,
        root: &Path,
        council: &str,
        reviewer: &Reviewer,
    ) -> Result<(), String> {
        if !self.from_repository.contains(council) {
            return Ok(());
        }
        let Some(program) = program(council, reviewer) else { return Ok(()) };
        match program.is_trusted(store, root) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!(
                "the repository names `{}`, and nobody has trusted it as it is; look at it and run `lictor trust`",
                program.argv.join(" ")
            )),
            Err(error) => Err(format!("{error:#}")),
        }
    }

    /// The programs that the repository's councils run.
    pub fn programs(&self) -> Vec<Program> {
        let of_repository = self.councils.iter().filter(|(name, _)| self.from_repository.contains(*name));
        of_repository
            .flat_map(|(name, council)| council.reviewers.iter().map(move |reviewer| (name, reviewer)))
            .filter_map(|(name, reviewer)| program(name, reviewer))
            .collect()
    }
}

/// What a reviewer runs. Ruff runs nothing of the repository; clippy runs its build scripts.
fn program(council: &str, reviewer: &Reviewer) -> Option<Program> {
    let argv = match reviewer.preset {
        Some(Preset::Ruff) => return None,
        Some(Preset::Clippy) => vec!["cargo".to_owned(), "clippy".to_owned()],
        None => reviewer.command.clone(),
    };
    Some(Program { what: format!("council {council}, reviewer {}", reviewer.name), argv })
}

fn read(file: &Path) -> Result<Councils> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Councils::new()),
        Err(error) => bail!("cannot read `{}`: {error}", file.display()),
    };
    if text.trim().is_empty() {
        return Ok(Councils::new());
    }
    let part: Part =
        serde_saphyr::from_str(&text).with_context(|| format!("`{}` is refused", file.display()))?;
    Ok(part.councils)
}
