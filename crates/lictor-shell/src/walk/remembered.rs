//! Files that programs write, for later commands on the line.

use lictor_core::facts::{Access, Effect};

use super::simple::Context;
use super::{Output, Walker};
use crate::call::Stdin;
use crate::operand::{Arg, Operand, Taint};
use crate::programs;
use crate::state::Content;

impl Walker<'_> {
    /// Records the files that programs write by copying their input or a file.
    pub(super) fn remember_written(
        &mut self,
        context: &Context<'_>,
        written: Vec<(String, Taint)>,
        printed: &Output,
    ) {
        for (key, taint) in written {
            let content = match context.program {
                "tee" | "sponge" => content_of(context.stdin),
                "npm" => {
                    let words: Vec<&str> = context.args.iter().filter_map(Arg::known).collect();
                    match programs::set_scripts(&words) {
                        Some(text) => Content::known(text.into()),
                        None => continue,
                    }
                }
                "sed" | "gsed" | "perl" | "yq" if key.ends_with("package.json") => {
                    let words: Vec<&str> = context.args.iter().filter_map(Arg::known).collect();
                    let seen = self.state.file(&key).is_some_and(|content| content.text.is_some());
                    match programs::edited_scripts(context.program, &words).filter(|_| !seen) {
                        Some(text) => Content::known(text.into()),
                        // The line's earlier content is still in it.
                        None => continue,
                    }
                }
                "cp" if is_linking(context.args) => {
                    let source = context.args.iter().filter_map(Arg::known).find(|arg| !arg.starts_with('-'));
                    let Some(source) = source else { continue };
                    self.links = true;
                    let link = Some(crate::paths::key(context.cwd, source).into());
                    Content { link, ..Content::default() }
                }
                "ln" | "link" => {
                    let source = context.args.iter().filter_map(Arg::known).find(|arg| !arg.starts_with('-'));
                    let Some(source) = source else { continue };
                    self.links = true;
                    Content {
                        link: Some(crate::paths::key(context.cwd, source).into()),
                        ..Content::default()
                    }
                }
                "cp" | "mv" | "install" => {
                    let source = context.args.iter().filter_map(Arg::known).find(|arg| !arg.starts_with('-'));
                    let from_input = context.args.iter().any(|arg| arg.known() == Some("/dev/stdin"));
                    let content = source.and_then(|path| self.written_content(path));
                    let program = source.filter(|path| is_installed(path) && context.program != "mv");
                    match content.or_else(|| from_input.then(|| content_of(context.stdin))) {
                        Some(content) => content,
                        // A program under another name.
                        None if program.is_some() => {
                            self.links = true;
                            Content { link: program.map(Into::into), ..Content::default() }
                        }
                        // A secret under another name.
                        None if context.program == "mv" && source.is_some_and(programs::is_secret_path) => {
                            self.links = true;
                            let link = source.map(|path| crate::paths::key(context.cwd, path).into());
                            Content { link, ..Content::default() }
                        }
                        None => continue,
                    }
                }
                _ => Content {
                    own: self.from_files && self.state.file(&key).is_none_or(|content| content.own),
                    ..Content::unknown(taint.and(printed.taint()))
                },
            };
            self.state.set_file(key, content);
        }
    }

    /// Whether a command reads a file into which the line put a secret.
    pub(super) fn reads_written_secret(&self, effects: &[Effect<Operand>]) -> bool {
        !self.state.wrote_nothing()
            && effects.iter().any(|effect| match effect {
                Effect::File { access: Access::Read, target, .. } => {
                    let written = target.arg.known().and_then(|path| self.written_content(path));
                    written.is_some_and(|content| content.taint.secret)
                }
                _ => false,
            })
    }

    /// Remembers what code wrote to files, as far as all of it is known.
    pub(super) fn remember_contents(
        &mut self,
        context: &Context<'_>,
        contents: Vec<(String, Option<String>)>,
    ) {
        let mut whole: std::collections::BTreeMap<String, Option<String>> = std::collections::BTreeMap::new();
        for (path, text) in contents {
            let known = whole.entry(path).or_insert_with(|| Some(String::new()));
            *known = known.take().zip(text).map(|(known, text)| known + &text);
        }
        for (path, text) in whole {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                let key = crate::paths::key(context.cwd, &path);
                self.state.set_file(key, Content::known(text.into()));
            }
        }
    }
}

/// Where programs of the system are.
fn is_installed(path: &str) -> bool {
    ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/"]
        .iter()
        .any(|place| path.starts_with(place))
}

/// The content of a file that standard input was copied to.
fn content_of(stdin: &Stdin) -> Content {
    match stdin {
        Stdin::Text(text) => Content::known(text.as_str().into()),
        Stdin::Unknown(taint) => Content::unknown(*taint),
        Stdin::Names(names) => Content::listing(names.clone()),
        Stdin::Inherited => Content::default(),
    }
}

/// `cp -l`, `cp -s`: another name for the same file.
fn is_linking(args: &[Arg]) -> bool {
    args.iter().filter_map(Arg::known).any(|word| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| letters.contains(['l', 's']))
            || matches!(word, "--link" | "--symbolic-link")
    })
}
