//! `cd`, `pushd`, `popd`.

use std::rc::Rc;

use crate::expand::fields::Expanded;
use crate::operand::{Arg, Cwd};
use crate::paths;
use crate::state::Value;
use crate::walk::Walker;

impl Walker<'_> {
    pub(super) fn change_directory(&mut self, args: &[Expanded]) {
        let target = super::operands(args).next().cloned();
        let back = args.iter().any(|word| word.arg.known() == Some("-"));
        let mut directories = self.state.directories().clone();
        let from = directories.now.clone();
        if back {
            directories.now = directories.previous.clone();
            directories.instead = None;
        } else {
            let home = self.home().unwrap_or_else(|| "~".to_owned());
            let target = target.unwrap_or_else(|| Arg::literal(home));
            directories.now = entered(&from, &target);
            directories.instead = directories
                .instead
                .map(|from| entered(&from, &target))
                .filter(|other| *other != directories.now);
            // Where the line makes `cd` look first.
            if let Some(first) = self.search_path()
                && target.known().is_some_and(|path| !path.starts_with(['/', '.', '~']))
            {
                let there = entered(&first, &target);
                directories.instead = Some(std::mem::replace(&mut directories.now, there));
            }
        }
        directories.previous = from;
        self.state.set_directories(directories);
    }

    /// The first directory of `CDPATH`, when the line sets it or may have set it.
    fn search_path(&self) -> Option<Cwd> {
        let Value::Scalar(datum) = self.state.variable("CDPATH")? else { return None };
        match datum.text() {
            Some(places) => {
                let first = places.split(':').find(|place| !matches!(*place, "" | "."))?;
                Some(Cwd::Known(first.to_owned()))
            }
            None => Some(Cwd::Unknown),
        }
    }

    pub(super) fn push_directory(&mut self, args: &[Expanded]) {
        let target = super::operands(args).next().cloned();
        let mut directories = self.state.directories().clone();
        let mut stack = directories.stack.to_vec();
        let from = directories.now.clone();
        let rotates = target.as_ref().is_none_or(|target| target.prefix().starts_with('+'));
        if rotates {
            directories.now = stack.pop().unwrap_or(Cwd::Unknown);
        } else if let Some(target) = target {
            directories.now = entered(&from, &target);
        }
        stack.push(from.clone());
        directories.instead = None;
        directories.previous = from;
        directories.stack = Rc::new(stack);
        self.state.set_directories(directories);
    }

    pub(super) fn pop_directory(&mut self) {
        let mut directories = self.state.directories().clone();
        let mut stack = directories.stack.to_vec();
        directories.previous = std::mem::replace(&mut directories.now, stack.pop().unwrap_or(Cwd::Unknown));
        directories.instead = None;
        directories.stack = Rc::new(stack);
        self.state.set_directories(directories);
    }
}

fn entered(from: &Cwd, target: &Arg) -> Cwd {
    match target.known() {
        Some("") => from.clone(),
        // A glob is as good as a name: it cannot lead upwards.
        Some(path) => paths::enter(from, path),
        _ => Cwd::Unknown,
    }
}
