//! The active councils: those of the managed, the user's and the repository's policy, together.

use std::collections::BTreeSet;
use std::mem::discriminant;
use std::path::Path;

use lictor_config::{Origin, PolicyBundle};
use lictor_ledger::council::{Council, Councils, Globs, Preset, Reviewer, Trigger};
use lictor_store::Store;

use crate::error::Error;
use crate::trust::Program;

pub(crate) mod summoned;

/// A moment of an agent's work at which councils may meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CouncilMoment {
    /// A session starts.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// Files were saved.
    FileSave,
}

impl CouncilMoment {
    /// Its name in policy files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::SessionEnd => "session-end",
            Self::FileSave => "file-save",
        }
    }

    fn trigger(self) -> Trigger {
        match self {
            Self::SessionStart => Trigger::SessionStart,
            Self::SessionEnd => Trigger::SessionEnd,
            Self::FileSave => Trigger::FileSave(Globs(Vec::new())),
        }
    }
}

/// The active councils, and which of them the repository defined.
#[derive(Debug, Default)]
pub struct ActiveCouncils {
    /// All of them.
    pub councils: Councils,
    /// Whether findings stop commits if there are no councils.
    pub alone: bool,
    from_repository: BTreeSet<String>,
}

impl ActiveCouncils {
    /// The councils of all layers. A layer adds councils; it cannot change or drop one of a layer above it: a
    /// name that is taken gets the layer's name as a suffix.
    ///
    /// # Errors
    /// When a council cannot be read.
    pub fn of(policy: &PolicyBundle) -> Result<Self, Error> {
        let mut layers = policy.councils();
        layers.sort_by_key(|(_, origin, _)| *origin);
        let mut active = Self { alone: policy.findings_block_alone(), ..Self::default() };
        for (name, origin, council) in layers {
            let council = serde_json::from_value(council)
                .map_err(|source| Error::Council { name: name.clone(), source })?;
            let mut own_name = name;
            while active.councils.contains_key(&own_name) {
                own_name.push_str(if origin == Origin::Repository { " (repository)" } else { " (user)" });
            }
            if origin == Origin::Repository {
                active.from_repository.insert(own_name.clone());
            }
            active.councils.insert(own_name, council);
        }
        Ok(active)
    }

    /// Whether any council runs at this moment, whatever was saved.
    #[must_use]
    pub fn may_meet(&self, moment: CouncilMoment) -> bool {
        let wanted = discriminant(&moment.trigger());
        self.councils.values().flat_map(|council| &council.on).any(|on| discriminant(on) == wanted)
    }

    /// The councils that run at this moment, each with the saved files that triggered it.
    pub fn meeting<'a>(
        &'a self,
        moment: CouncilMoment,
        saved: &'a [String],
    ) -> impl Iterator<Item = (&'a str, &'a Council, Vec<String>)> {
        let trigger = moment.trigger();
        self.councils.iter().filter_map(move |(name, council)| {
            let made_it_meet = |file: &&String| council.meets(&trigger, Some(file));
            let own: Vec<String> = saved.iter().filter(made_it_meet).cloned().collect();
            let meets = !own.is_empty() || council.meets(&trigger, None);
            meets.then_some((name.as_str(), council, own))
        })
    }

    /// The council with that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, name: &str) -> Result<&Council, Error> {
        self.councils.get(name).ok_or_else(|| Error::NoCouncil {
            name: name.to_owned(),
            known: self.councils.keys().cloned().collect(),
        })
    }

    /// Why a reviewer's program must not run, if it must not: a repository's program runs only with exactly the
    /// bytes that a person has trusted.
    ///
    /// # Errors
    /// That reason.
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
            Err(error) => Err(error.chain()),
        }
    }
}

/// Every program that the repository's policy runs, including preset reviewers.
///
/// # Errors
/// When a council cannot be read.
pub fn programs(policy: &PolicyBundle) -> Result<Vec<Program>, Error> {
    let own = policy.programs().into_iter().filter(|program| program.origin == Origin::Repository);
    let mut programs: Vec<Program> =
        own.map(|program| Program { what: program.what, argv: program.argv, reads: program.reads }).collect();
    let active = ActiveCouncils::of(policy)?;
    for (name, council) in active.councils.iter().filter(|(name, _)| active.from_repository.contains(*name)) {
        let presets = council.reviewers.iter().filter(|reviewer| reviewer.preset.is_some());
        programs.extend(presets.filter_map(|reviewer| program(name, reviewer)));
    }
    Ok(programs)
}

/// The program of a reviewer. Ruff runs nothing of the repository; clippy runs its build scripts.
fn program(council: &str, reviewer: &Reviewer) -> Option<Program> {
    let argv = match reviewer.preset {
        _ if reviewer.agent => return None,
        Some(Preset::Ruff) => return None,
        Some(Preset::Clippy) => vec!["cargo".to_owned(), "clippy".to_owned()],
        None => reviewer.command.clone(),
    };
    let what = format!("council {council}, reviewer {}", reviewer.name);
    Some(Program { what, argv, reads: reviewer.reads.clone() })
}
