//! File boundaries: the directories an agent may use, and the files it must not touch.

use std::borrow::Cow;

use lictor_core::facts::{Access, Command, Effect, Existence, Facts, OpaqueWhat, Place, Zone};
use lictor_core::{Action, ActionKind, Context, Fixable, Guard, Layer, Verdict};
use lictor_shell::describe::Trait;
use lictor_shell::programs::is;
use serde::{Deserialize, Serialize};

/// The configuration of `boundaries:`. Paths are relative to the project's root; red lines and blocked paths may
/// be globs.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct FileBoundaryConfig {
    /// Directories in which everything is allowed. Absent: everywhere. Empty: nowhere.
    pub allowed_dirs: Option<Vec<String>>,
    /// Files that must not be touched at all.
    pub red_line_files: Vec<String>,
    /// Paths that are not allowed although they are in an allowed directory.
    pub blocked_paths: Vec<String>,
    /// What a red line forbids.
    pub red_line_mode: RedLineMode,
}

/// What a red line forbids.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum RedLineMode {
    /// Reading too.
    #[default]
    All,
    /// Writing, deleting, moving, changing rights.
    Write,
}

/// Blocks actions that leave the allowed directories or touch a red line.
#[derive(Debug)]
pub struct FileBoundary {
    root: String,
    allowed: Option<Vec<String>>,
    red_lines: Vec<Line>,
    blocked: Vec<Line>,
    mode: RedLineMode,
}

/// One entry of a list of paths: a path, or a glob.
#[derive(Debug)]
struct Line {
    /// The text, as written.
    text: String,
    /// Absolute, unless it is a glob for any directory (`**/.env*`).
    path: String,
    glob: bool,
}

impl Line {
    fn new(text: &str, root: &str) -> Self {
        let glob = text.contains(['*', '?', '[', '{']);
        let plain = text.trim_start_matches("./").trim_end_matches('/');
        let path = if plain.starts_with('/') { plain.to_owned() } else { [root, "/", plain].concat() };
        Self { text: text.to_owned(), path, glob }
    }

    /// Whether it covers this path: it is the path itself or a directory above it.
    fn covers(&self, path: &str) -> bool {
        if !self.glob {
            return is_at_or_below(path, &self.path);
        }
        // A glob for any directory is meant for any directory, not only below the project.
        let anywhere = self.text.strip_prefix("**/").is_some_and(|rest| {
            let depth = rest.split('/').count();
            let skip = path.matches('/').count().saturating_sub(depth);
            let tail = path.trim_start_matches('/').splitn(skip + 1, '/').last().unwrap_or(path);
            fast_glob::glob_match(rest, tail)
        });
        anywhere || fast_glob::glob_match(self.path.as_str(), path)
    }

    /// Whether a path that it covers is below this directory, as far as the text shows.
    fn lies_below(&self, directory: &str) -> bool {
        let fixed = self.path.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let any_directory = self.glob && self.text.starts_with("**");
        !any_directory && is_at_or_below(fixed.trim_end_matches('/'), directory)
    }

    /// Whether a text names it (`$X/handler.py` names `src/auth/handler.py`).
    fn is_named_in(&self, text: &str) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default().trim_matches('*');
        name.len() >= 3 && text.contains(name)
    }
}

/// Why a boundary is refused: it could never match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoundaryError {
    /// The root is not absolute.
    #[error("the root `{0}` is not an absolute path; nothing could be told to lie below it")]
    RelativeRoot(String),
    /// A path that no place has.
    #[error("`{0}` matches nothing: write it from the root, without `..` and `~`")]
    NotAPath(String),
}

impl BoundaryError {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::RelativeRoot(_) => ("relative_root", "give the root as an absolute path"),
            Self::NotAPath(_) => ("not_a_path", "write the path from the root, without `..` and `~`"),
        }
    }
}

impl Fixable for BoundaryError {
    fn kind(&self) -> &'static str {
        self.words().0
    }

    fn fix(&self) -> &'static str {
        self.words().1
    }
}

impl FileBoundary {
    /// As [`new`](Self::new), refusing entries that could never match.
    ///
    /// # Errors
    /// A root that is not absolute, and entries with `..`, with `~`, or that are empty.
    pub fn try_new(config: &FileBoundaryConfig, root: &str) -> Result<Self, BoundaryError> {
        if !root.starts_with('/') {
            return Err(BoundaryError::RelativeRoot(root.to_owned()));
        }
        let lists = [&config.red_line_files, &config.blocked_paths];
        let mut all = lists.into_iter().chain(&config.allowed_dirs).flatten();
        let impossible = |text: &&String| {
            text.trim().is_empty() || text.starts_with('~') || text.split('/').any(|part| part == "..")
        };
        match all.find(impossible) {
            Some(text) => Err(BoundaryError::NotAPath(text.clone())),
            None => Ok(Self::new(config, root)),
        }
    }

    /// A guard for the project at `root` (absolute, with links resolved or not: places have both forms).
    #[must_use]
    pub fn new(config: &FileBoundaryConfig, root: &str) -> Self {
        let root = root.trim_end_matches('/');
        let lines = |texts: &[String]| texts.iter().map(|text| Line::new(text, root)).collect();
        let directory = |text: &String| {
            Line::new(if text == "." { "" } else { text }, root).path.trim_end_matches('/').to_owned()
        };
        Self {
            root: root.to_owned(),
            allowed: config.allowed_dirs.as_ref().map(|dirs| dirs.iter().map(directory).collect()),
            red_lines: lines(&config.red_line_files),
            blocked: lines(&config.blocked_paths),
            mode: config.red_line_mode,
        }
    }

    /// The paths that `lictor-observe` must detect in globs and trees.
    pub fn watched(&self) -> impl Iterator<Item = &str> {
        self.red_lines.iter().chain(&self.blocked).map(|line| line.text.as_str())
    }

    fn judge(
        &self,
        access: Access,
        place: &Place,
        recursive: bool,
        by: Option<&Command>,
        cwd: &str,
    ) -> Option<Verdict> {
        if place.malformed {
            return Some(Verdict::block(
                format!("`{}` is not a path that can be judged", place.text.escape_debug()),
                "give a plain path inside the project",
            ));
        }
        // The existence, size and owner of a file do not reveal its content.
        let listed = access == Access::List && place.existence != Existence::Directory;
        if (self.mode == RedLineMode::All || !access.is_read_only())
            && !listed
            && let Some(line) = self.touched(&self.red_lines, access, place, recursive, by)
        {
            return Some(
                Verdict::block(
                    format!("`{}` is a red line of this project (`{}`)", place.text, line.text),
                    self.fix("work on other files"),
                )
                .by_rule("red_line"),
            );
        }
        if let Some(line) = self.touched(&self.blocked, access, place, recursive, by) {
            return Some(
                Verdict::block(
                    format!("`{}` is blocked by `{}`", place.text, line.text),
                    self.fix("work on other files"),
                )
                .by_rule("blocked_path"),
            );
        }
        self.outside(access, place, cwd)
    }

    fn touched<'a>(
        &self,
        lines: &'a [Line],
        access: Access,
        place: &Place,
        recursive: bool,
        by: Option<&Command>,
    ) -> Option<&'a Line> {
        let searches = match by {
            Some(command) => is(&command.program, Trait::LooksThrough),
            None => true,
        };
        let takes_tree = (recursive || access == Access::MoveAway)
            && access != Access::List
            && !(access == Access::Read && searches);
        lines.iter().find(|line| {
            place.paths().any(|path| {
                !path.is_empty()
                    && (!place.glob && line.covers(path)
                        || takes_tree && line.lies_below(path)
                        || place.glob && line.matches_glob(place, path))
            }) || place.zone == Zone::Unknown && line.is_named_in(&place.text)
        })
    }

    fn outside(&self, access: Access, place: &Place, cwd: &str) -> Option<Verdict> {
        let allowed = self.allowed.as_ref()?;
        let bare = access == Access::List && place.path == cwd;
        if access == Access::Execute || bare {
            return None;
        }
        if place.zone == Zone::Unknown {
            return Some(
                Verdict::ask(format!(
                    "`{}` stands for a path that cannot be told before it runs",
                    place.text
                ))
                .with_fix(self.fix("write the path out"))
                .by_rule("allowed_dirs"),
            );
        }
        // A project below the temporary directory is still a project: its files are not exempt.
        let own = |path: &str| is_at_or_below(path, &self.root);
        let exempt = |zone: Zone| matches!(zone, Zone::Temp | Zone::TempRoot | Zone::HarmlessDevice);
        let inside = |path: &str| allowed.iter().any(|dir| is_at_or_below(path, dir));
        let written = (exempt(place.zone) && !own(&place.path)) || inside(&place.path);
        let real = place.real.as_deref().is_none_or(|real| {
            (exempt(place.real_zone) && !own(real))
                || inside(real)
                || self.same_root(real, &place.path, &inside)
        });
        if written && real {
            return None;
        }
        let leads = if written { " (through a link)" } else { "" };
        let reason = format!("`{}` is outside the allowed directories{leads}", place.text);
        Some(Verdict::block(reason, self.fix("stay inside them")).by_rule("allowed_dirs"))
    }

    /// The project root itself is reached through a link: its files keep their relative paths.
    fn same_root(&self, real: &str, written: &str, inside: &impl Fn(&str) -> bool) -> bool {
        let Some(below) = written.strip_prefix(self.root.as_str()) else { return false };
        !below.is_empty() && real.ends_with(below) && inside(written)
    }

    fn fix(&self, start: &str) -> String {
        match self.allowed.as_deref() {
            None => format!("{start}; what is needed from it can be asked of a person"),
            Some([]) => format!("{start}; this policy allows no directory, so that a person has to do it"),
            Some(dirs) => {
                let shown: Vec<String> = dirs
                    .iter()
                    .map(|dir| {
                        dir.strip_prefix(self.root.as_str())
                            .map_or(dir.as_str(), |below| below.trim_start_matches('/'))
                    })
                    .map(|dir| format!("`{}`", if dir.is_empty() { "." } else { dir }))
                    .collect();
                format!("{start}; allowed are {}", shown.join(", "))
            }
        }
    }
}

impl Line {
    /// Whether a glob operand matches this red line: by name if the red line is a plain path.
    fn matches_glob(&self, place: &Place, directory: &str) -> bool {
        if self.glob || !is_at_or_below(&self.path, directory) {
            return false;
        }
        let wild = place.text.find(['*', '?', '[', '{']).unwrap_or(0);
        let (head, _) = place.text.split_at(wild);
        let (_, pattern) = place.text.split_at(head.rfind('/').map_or(0, |slash| slash + 1));
        let below = self.path.strip_prefix(directory).unwrap_or_default().trim_start_matches('/');
        fast_glob::glob_match(pattern, below)
    }
}

impl Guard for FileBoundary {
    fn name(&self) -> &str {
        "file_boundary"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let facts = context.facts();
        let cwd = if action.cwd.is_empty() { self.root.as_str() } else { action.cwd.as_str() };
        let mut found: Vec<Verdict> = Vec::new();
        for effect in &facts.effects {
            let Effect::File { access, target, recursive, by } = effect else { continue };
            let target = &*self.resolved_from_root(target, action);
            let by = by.and_then(|index| facts.commands().nth(index as usize));
            if let Some(verdict) = self.judge(*access, target, *recursive, by, cwd)
                && !found.iter().any(|known| known.reason() == verdict.reason())
            {
                found.push(verdict);
            }
        }
        found.extend(self.unread(action, facts));
        let strictest = found
            .iter()
            .enumerate()
            .max_by_key(|(index, verdict)| (verdict.value(), std::cmp::Reverse(*index)));
        let Some((index, _)) = strictest else { return Verdict::pass() };
        let first = found.remove(index);
        for verdict in found.into_iter().take(15) {
            context.also(verdict);
        }
        first
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

impl FileBoundary {
    /// An action without a directory happens at the project root: its relative paths are resolved there, not in
    /// the directory of the judging process.
    fn resolved_from_root<'a>(&self, place: &'a Place, action: &Action) -> Cow<'a, Place> {
        let relative = place.text.trim_start_matches("./");
        if !action.cwd.is_empty() || relative.is_empty() || relative.starts_with(['/', '~', '$']) {
            return Cow::Borrowed(place);
        }
        let Some(directory) = place.path.strip_suffix(relative).and_then(|path| path.strip_suffix('/'))
        else {
            return Cow::Borrowed(place);
        };
        if directory == self.root {
            return Cow::Borrowed(place);
        }
        let path = format!("{}/{relative}", self.root);
        let zone = if place.zone == Zone::Project { place.zone } else { Zone::Outside };
        Cow::Owned(Place { path, real: None, zone, ..place.clone() })
    }

    /// Unparsed input may touch anything: a red line that the text names counts as touched.
    fn unread(&self, action: &Action, facts: &Facts) -> Option<Verdict> {
        if facts.understood() || self.red_lines.is_empty() && self.allowed.is_none() {
            return None;
        }
        let text = match action.kind {
            ActionKind::Bash => action.text("command")?,
            ActionKind::ExecuteCode => action.text("code")?,
            _ => return None,
        };
        if let Some(line) = self.red_lines.iter().find(|line| line.is_named_in(text)) {
            let reason =
                format!("the command cannot be read to its end and names the red line `{}`", line.text);
            return Some(
                Verdict::block(reason, self.fix("write it as plain commands on other files"))
                    .by_rule("red_line"),
            );
        }
        let first = facts.opaque.first();
        let what = first.map(|opaque| opaque.text.as_str()).unwrap_or_default();
        let (reason, fix) = match first.map(|opaque| opaque.what) {
            Some(OpaqueWhat::Limit) => {
                (format!("`{what}` is more than can be looked through"), "do it in smaller steps")
            }
            _ => (
                format!("which files `{what}` touches cannot be told before it runs"),
                "write it as plain commands",
            ),
        };
        Some(Verdict::ask(reason).with_fix(self.fix(fix)).by_rule("opaque"))
    }
}

/// Whether `path` is `top` or is below it, by whole components.
fn is_at_or_below(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
