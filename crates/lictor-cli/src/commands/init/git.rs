//! Git hooks: the commit gate, and the log's anchor with every commit.

use std::path::Path;

use anyhow::{Context as _, Result};
use lictor::Project;
use lictor_ledger::hooks::{self, Home};
use lictor_ledger::repository::Git;

use super::plan::Plan;

/// Plans the hooks.
pub fn install(plan: &mut Plan, project: &Project, binary: &Path) -> Result<()> {
    let git = Git::rooted(&project.root).context("`--git` needs a git repository; run `git init` first")?;
    let home = Home::of(&git.hooks_dir()?);
    plan.add_hooks(hooks::install(&home, &binary.to_string_lossy(), hooks::read_file));
    Ok(())
}

/// Plans their removal, if there is a repository.
pub fn uninstall(plan: &mut Plan, project: &Project) -> Result<()> {
    let Ok(git) = Git::rooted(&project.root) else { return Ok(()) };
    plan.add_hooks(hooks::uninstall(&Home::of(&git.hooks_dir()?), hooks::read_file));
    Ok(())
}
