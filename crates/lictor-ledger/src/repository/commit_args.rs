//! The arguments of `git commit`, as far as they change what is committed or whether hooks run.

#[cfg(test)]
mod tests;

/// The arguments of `git commit`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitArgs {
    /// `-a`: every tracked file as it is in the work tree.
    pub all: bool,
    /// `-i`: the index and the given paths, instead of only the given paths.
    pub include: bool,
    /// `--amend`: instead of the last commit.
    pub amend: bool,
    /// `--no-verify`: no hooks.
    pub no_verify: bool,
    /// The given paths.
    pub paths: Vec<String>,
    /// Why it cannot be determined beforehand what is committed: `--interactive`, `--patch`,
    /// `--pathspec-from-file`, or a `git add` on the same line.
    pub unclear: Option<String>,
}

/// Long options whose value is the next word when it is not attached.
const LONG_WITH_VALUE: [&str; 12] = [
    "message",
    "file",
    "reuse-message",
    "reedit-message",
    "fixup",
    "squash",
    "author",
    "date",
    "template",
    "cleanup",
    "trailer",
    "pathspec-from-file",
];
/// Short options whose value is the rest of the word, or the next word.
const SHORT_WITH_VALUE: &str = "mFCct";
/// Short options whose value, if any, is the rest of the word.
const SHORT_WITH_REST: &str = "uS";

impl CommitArgs {
    /// Reads the words after `git commit`.
    #[must_use]
    pub fn parse<S: AsRef<str>>(words: &[S]) -> Self {
        let mut args = Self::default();
        let mut words = words.iter().map(AsRef::as_ref);
        while let Some(word) = words.next() {
            if word == "--" {
                args.paths.extend(words.by_ref().map(str::to_owned));
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, attached) = match long.split_once('=') {
                    Some((name, _)) => (name, true),
                    None => (long, false),
                };
                args.long(name);
                // git accepts any unambiguous prefix of an option.
                let takes_value = LONG_WITH_VALUE.iter().any(|option| is_beginning(name, option));
                if takes_value && !attached {
                    words.next();
                }
            } else if let Some(cluster) = word.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
                if args.short(cluster) {
                    words.next();
                }
            } else {
                args.paths.push(word.to_owned());
            }
        }
        args
    }

    fn long(&mut self, name: &str) {
        if name == "all" {
            self.all = true;
        } else if is_beginning(name, "include") && name.len() > 3 {
            self.include = true;
        } else if is_beginning(name, "amend") && name.len() > 1 {
            self.amend = true;
        } else if is_beginning(name, "no-verify") && name.len() > 3 {
            self.no_verify = true;
        } else if ["interactive", "patch", "pathspec-from-file"]
            .iter()
            .any(|option| is_beginning(name, option))
        {
            self.unclear = Some(format!("--{name}"));
        }
    }

    /// Reads one cluster of short options. `true`: the next word is a value.
    fn short(&mut self, cluster: &str) -> bool {
        let mut letters = cluster.chars();
        while let Some(letter) = letters.next() {
            match letter {
                'a' => self.all = true,
                'i' => self.include = true,
                'n' => self.no_verify = true,
                'p' => self.unclear = Some("-p".to_owned()),
                _ if SHORT_WITH_VALUE.contains(letter) => return letters.as_str().is_empty(),
                _ if SHORT_WITH_REST.contains(letter) => return false,
                _ => {}
            }
        }
        false
    }
}

fn is_beginning(name: &str, option: &str) -> bool {
    !name.is_empty() && option.starts_with(name)
}
