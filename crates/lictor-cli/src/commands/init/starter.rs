//! The initial governance.yaml of a repository.

use std::fs;

use anyhow::{Context as _, Result};
use lictor::Project;
use lictor_agents::install::Change;

use super::plan::{FileStep, Plan};
use super::receipts::Receipts;
use super::{Preset, languages};

/// Plans a policy file if there is none. An existing one is never changed.
pub fn plan(plan: &mut Plan, project: &Project, preset: Preset) -> Result<()> {
    let path = project.policy_file();
    if fs::symlink_metadata(&path).is_ok() {
        return Ok(());
    }
    let change = Change { path, before: None, after: Some(text(&languages::found(&project.root), preset)) };
    let receipt = change.receipt();
    plan.add(FileStep { change, receipt });
    Ok(())
}

/// Plans the removal of what [`plan`] wrote, unless it has been edited since.
pub fn take_back(plan: &mut Plan, project: &Project, receipts: &Receipts) -> Result<()> {
    let path = project.policy_file();
    let Some(receipt) = receipts.of(&path) else { return Ok(()) };
    let before = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    };
    let written = Change { path: path.clone(), before: None, after: Some(before.clone()) };
    if written.receipt().as_ref() == Some(receipt) {
        plan.add(FileStep { change: Change { path, before: Some(before), after: None }, receipt: None });
    } else {
        plan.notes.push(format!("`{}` has been worked on and stays", path.display()));
    }
    Ok(())
}

/// The text. Optional parts are comments, with examples for the repository's first language.
fn text(languages: &[languages::Language], preset: Preset) -> String {
    let names: Vec<&str> = languages.iter().map(|language| language.name).collect();
    let seen = if names.is_empty() { String::new() } else { format!(" Found here: {}.", names.join(", ")) };
    let test = languages.first().map_or(&["make", "test"][..], |language| language.test);
    let sources = languages.first().map_or(&["src", "tests"][..], |language| language.sources);
    let pack = preset.pack();
    let words = test.join(" ");
    let argv = test.join(", ");
    let sources = sources.join(", ");
    let secrets: String = languages
        .iter()
        .flat_map(|language| language.secrets)
        .map(|pattern| format!(r#", "{pattern}""#))
        .collect();
    let schema = lictor_config::SCHEMA_FILE;
    format!(
        r#"# yaml-language-server: $schema={schema}
# `lictor schema > {schema}` lets editors complete and check this file.
# What agents may do in this repository. `lictor check` reads it over, `lictor eval bash "git push"` tries it out.
# It adds to the rules that come with Lictor and to those of the person and the machine; it never takes one away.{seen}
version: 1
extends: [{pack}]

boundaries:
  # No agent reads or changes these. Reading any other file with secrets is asked about.
  red_line_files: ["**/.env.production"{secrets}]
  # Work stays in these directories.
  # allowed_dirs: [{sources}, docs]

# Nothing is pushed before the tests have passed, and an edit makes an earlier run not count.
# tools:
#   require_first: {{'bash("git push")': ['bash("{words}")']}}
#   invalidate: {{write: ['bash("{words}")']}}

# An agent may stop only when this holds. `lictor trust` lets the program run.
# completion:
#   all:
#     - command: [{argv}]
"#
    )
}

#[cfg(test)]
mod tests;
