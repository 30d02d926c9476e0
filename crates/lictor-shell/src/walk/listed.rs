//! Files that contain file names, which commands take as operands. Such a list is not certain, because it may
//! change before it is used; a governing or watched file in it makes the action ask.

use lictor_core::facts::{Access, Effect};

use super::Walker;
use crate::describe::Trait;
use crate::operand::{Arg, Operand};
use crate::programs::{self, mentions::is_path};
use crate::reading::{Done, Mention};

/// The maximum number of names of one list that are checked.
const MOST_NAMES: usize = 256;

impl Walker<'_> {
    /// The names in a file from which a program takes what it works on: `tar -T list`, `xargs cat < list`. Returns those
    /// of secrets: they are read.
    pub(crate) fn names_in(&mut self, list: &Arg) -> Vec<Operand> {
        let from = self.reading.mentions.len();
        self.mention_names(list, |_| true);
        let named = self.reading.mentions.get(from..).unwrap_or_default();
        let secret = named.iter().filter(|named| programs::is_secret(&named.file.arg));
        let mut secret: Vec<Operand> = secret.map(|named| named.file.clone()).collect();
        // What the line itself listed there: `tar -T <(find ~ -name '*.key')`.
        if let Some(content) = list.known().and_then(|path| self.written_content(path)) {
            let cwd = self.state.directories().now.clone();
            let listed = content.names.iter().filter(|name| programs::is_secret(name));
            secret.extend(listed.map(|name| Operand::new(name.clone(), cwd.clone())));
        }
        secret
    }

    /// The names in a file whose words are expanded on the line: `cat $(cat list)`. Prose is not a list.
    pub(crate) fn words_in(&mut self, list: &Arg) {
        self.mention_names(list, is_list);
    }

    /// The names in a file that a builtin puts into variables: the one its input is redirected from, or the one around it.
    pub(crate) fn reads_names(&mut self, source: Option<&Arg>) {
        if let Some(list) = source.cloned().or_else(|| self.piped.clone()) {
            self.words_in(&list);
        }
    }

    /// The same for what was read since that many effects, when one file was read and printed.
    pub(crate) fn words_printed(&mut self, from: usize) {
        let mut read: Option<Arg> = None;
        for effect in self.reading.effects.get(from..).unwrap_or_default() {
            match effect {
                Effect::Run(command) if programs::is(&command.program, Trait::Filters) => {}
                Effect::File { access: Access::Read, target, .. } if read.is_none() => {
                    read = Some(target.arg.clone());
                }
                _ => return,
            }
        }
        if let Some(list) = read {
            self.words_in(&list);
        }
    }

    fn mention_names(&mut self, list: &Arg, counts: fn(&str) -> bool) {
        let Some(path) = list.known().filter(|_| self.elsewhere == 0 && !list.glob) else { return };
        let written = self.written_content(path).and_then(|content| content.text);
        let Some(text) = written.map(|text| text.to_string()).or_else(|| self.local_script(path)) else {
            return;
        };
        if !self.spend(text.len() as u64) || !counts(&text) {
            return;
        }
        let cwd = self.state.directories().now.clone();
        let names = text.split(|letter: char| letter.is_whitespace() || letter == '\0');
        for name in names.filter(|name| is_path(name)).take(MOST_NAMES) {
            self.reading.mentions.push(Mention {
                file: Operand::new(Arg::literal(name), cwd.clone()),
                directory: false,
                archive: false,
                by: format!("{name} in {path}"),
                done: Done::Anything,
            });
        }
    }
}

/// Whether most lines are one word.
fn is_list(text: &str) -> bool {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let single = lines().filter(|line| !line.contains(char::is_whitespace)).count();
    single * 2 > lines().count()
}
