//! Private data that is not secret: a whole home directory, personal folders, system files. Reading it is
//! ordinary; sending it out is not.

use lictor_core::facts::{Access, Effect};

use super::Walker;
use super::simple::Context;
use crate::operand::{Arg, Cwd, Known, Operand};
use crate::paths::is_at_or_below;
use crate::reading::ShellEnv;

/// Hidden folders with data that can be recreated.
const CACHES: [&str; 8] = [".cache", ".cargo", ".rustup", ".npm", ".nvm", ".m2", ".gradle", ".pyenv"];
/// System trees with data about this machine.
const SYSTEM: [&str; 8] =
    ["/etc", "/root", "/var/log", "/var/lib", "/var/spool", "/var/mail", "/var/backups", "/boot"];

/// Whether a path is in one of these system trees.
pub(crate) fn is_private_of_system(path: &str) -> bool {
    let below = |top: &&str| is_at_or_below(path, top);
    SYSTEM.iter().any(below) && !crate::words::PUBLIC_FILES.iter().any(below)
}

impl Walker<'_> {
    /// Whether one of the effects reads what is private.
    pub(crate) fn reads_private(&self, effects: &[Effect<Operand>]) -> bool {
        self.elsewhere == 0
            && effects.iter().any(|effect| match effect {
                Effect::File { access: Access::Read, target, recursive, .. } => {
                    self.is_private(target, *recursive || target.arg.glob)
                }
                _ => false,
            })
    }

    /// Whether a program prints the names in a private tree: what somebody has, and where.
    pub(crate) fn lists_private(&self, program: &str, effects: &[Effect<Operand>]) -> bool {
        self.elsewhere == 0
            && crate::words::LISTS_NAMES.contains(&program)
            && effects.iter().any(|effect| match effect {
                Effect::File { access: Access::List, target, .. } => self.is_private(target, true),
                _ => false,
            })
    }

    /// Whether a program that copies whole trees gets a private one.
    pub(crate) fn takes_private(&self, context: &Context<'_>) -> bool {
        let takes = matches!(
            context.program,
            "tar"
                | "gtar"
                | "bsdtar"
                | "zip"
                | "7z"
                | "7za"
                | "cpio"
                | "pax"
                | "scp"
                | "rsync"
                | "aws"
                | "gsutil"
                | "gcloud"
                | "rclone"
                | "s3cmd"
                | "s5cmd"
                | "mc"
                | "azcopy"
                | "b2"
                | "restic"
                | "borg"
        );
        takes
            && self.elsewhere == 0
            && context.args.iter().enumerate().any(|(at, arg)| {
                let before = at.checked_sub(1).and_then(|at| context.args.get(at)).and_then(Arg::known);
                // Keys, settings and programs that it uses.
                let used = matches!(
                    before,
                    Some("-i" | "-F" | "-S" | "-o" | "-J" | "-e" | "--rsh" | "--config" | "--profile")
                );
                let path = arg.prefix().starts_with(['/', '~']) || arg.prefix().starts_with("../");
                path && !used && self.is_private(&Operand::new(arg.clone(), context.cwd.clone()), true)
            })
    }

    /// The remote destination of a copying program, in the syntax of cloud stores.
    pub(crate) fn store_of(context: &Context<'_>) -> Option<String> {
        let stores = matches!(
            context.program,
            "aws" | "gsutil" | "gcloud" | "rclone" | "s3cmd" | "s5cmd" | "mc" | "azcopy" | "b2"
        );
        let target = context.args.last().filter(|_| stores)?;
        let remote =
            target.prefix().contains("://") || context.program == "rclone" && target.prefix().contains(':');
        remote.then(|| target.text.to_string())
    }

    fn is_private(&self, target: &Operand, tree: bool) -> bool {
        is_private(self.outside(), target, tree)
    }
}

/// Whether something is private; with `tree`, as a whole.
pub(crate) fn is_private(outside: &dyn ShellEnv, target: &Operand, tree: bool) -> bool {
    let path = match &target.arg.value {
        Known::Text(path) => path,
        Known::Partly { prefix, .. } if prefix.contains('/') => prefix.as_str(),
        _ => return false,
    };
    let home = outside.variable("HOME").unwrap_or_default();
    let path = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => path.to_owned(),
    };
    let start = outside.variable("PWD").unwrap_or_default();
    let base = match &target.cwd {
        Cwd::Start => start,
        Cwd::Known(base) | Cwd::Glob(base) => crate::paths::join(&start, base),
        Cwd::Unknown => String::new(),
    };
    let path = crate::paths::join(&base, &path);
    if !path.starts_with('/') {
        return false;
    }
    let fixed = path.split(['*', '?', '[']).next().unwrap_or_default().trim_end_matches('/');
    if outside.project_root().is_some_and(|root| is_at_or_below(fixed, &root)) {
        return false;
    }
    if SYSTEM.iter().any(|top| is_at_or_below(fixed, top)) {
        return !crate::words::PUBLIC_FILES.iter().any(|public| is_at_or_below(fixed, public));
    }
    if !tree {
        return false;
    }
    let homes = home.rsplit_once('/').map_or("", |(homes, _)| homes);
    // The home directory of any user, or all of them.
    let is_home = |top: &str| {
        is_at_or_below(fixed, top) && !fixed.get(top.len() + 1..).unwrap_or_default().contains('/')
    };
    if fixed.is_empty()
        || fixed == home
        || fixed == homes
        || ["/home", "/Users"].iter().any(|top| is_home(top))
    {
        return true;
    }
    let Some(inside) = fixed.strip_prefix(home.as_str()).and_then(|rest| rest.strip_prefix('/')) else {
        return false;
    };
    let folder = inside.split('/').next().unwrap_or_default();
    crate::words::PERSONAL_FOLDERS.contains(&folder) || folder.starts_with('.') && !CACHES.contains(&folder)
}
