//! Which files a person's yes is about, beside the action's own words: those it would run or read.

use std::collections::BTreeSet;

use lictor_core::approval::Pin;
use lictor_core::facts::{Access, Effect};
use lictor_core::{Action, Digest, Facts};

use crate::observer::{Observer, Seen};
use crate::place::tidy;

/// The largest file whose content is pinned; of a larger one only that it is there.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// More files than a line names; what comes after is not pinned.
const MOST_FILES: usize = 64;

/// The files that an action would run or read, with what is in them now, in order of their names.
#[must_use]
pub fn pins(action: &Action, facts: &Facts, observer: &dyn Observer) -> Vec<Pin> {
    let mut paths: BTreeSet<String> = BTreeSet::new();
    for effect in &facts.effects {
        match effect {
            Effect::Run(command) => {
                let from = command.directory.as_deref().unwrap_or(&action.cwd);
                let words = command.args.iter().flatten().chain(&command.words);
                paths.extend(words.filter(|word| could_be_a_file(word)).map(|word| tidy(from, word)));
                // `make` runs a makefile, `npm` what `package.json` says.
                paths.extend(crate::recipes_of(&command.program).map(|file| tidy(from, file)));
            }
            Effect::File { access: Access::Read | Access::Execute, target, .. } if !target.glob => {
                paths.insert(target.real.clone().unwrap_or_else(|| target.path.clone()));
            }
            _ => {}
        }
    }
    let pin = |path: String| {
        let content = match observer.look(&path) {
            Seen::File { .. } | Seen::Link => observer.content(&path, MOST_BYTES).unwrap_or(Digest::ZERO),
            _ => return None,
        };
        Some(Pin { path, content })
    };
    paths.into_iter().filter_map(pin).take(MOST_FILES).collect()
}

/// Options and words that no file is named by are not looked for.
fn could_be_a_file(word: &str) -> bool {
    !word.is_empty() && word.len() < 4096 && !word.starts_with('-') && !word.contains(['\0', '\n'])
}

#[cfg(test)]
mod tests;
