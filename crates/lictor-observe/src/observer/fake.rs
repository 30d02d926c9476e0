use lictor_core::Digest;
use std::collections::BTreeMap;

use super::{Identity, Names, Observer, Seen, Stat};

/// An in-memory file system, for tests. Paths that were not added are missing.
#[derive(Debug, Clone, Default)]
pub struct FakeObserver {
    nodes: BTreeMap<String, Node>,
    variables: BTreeMap<String, String>,
    users: BTreeMap<String, String>,
    folds_case: bool,
    /// Other names of files.
    hard_links: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
enum Node {
    File(String),
    Bytes(Vec<u8>),
    Directory,
    Link(String),
    Special,
}

impl FakeObserver {
    /// A world in which nothing exists.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// The world that labelled commands are judged in: home `/home/user`, a git repository at `/home/user/project`.
    #[must_use]
    pub fn for_judging() -> Self {
        Self::default()
            .directory("/tmp")
            .directory("/home/user/project/.git/hooks")
            .file("/home/user/project/.git/config", "[core]\n\tbare = false\n")
            .file("/home/user/project/.git/HEAD", "ref: refs/heads/main\n")
            .file("/home/user/project/README.md", "# Project\n")
            .file("/home/user/project/package.json", "{}\n")
            .file("/home/user/project/Cargo.toml", "[workspace]\n")
            .file("/home/user/kept.txt", "worth keeping\n")
            // Hooks of the agents that commands may start.
            .file("/etc/claude-code/managed-settings.d/lictor.json", "{\"hooks\": \"lictor hook\"}")
            .file("/etc/codex/config.toml", "{\"hooks\": \"lictor hook\"}")
            .file("/etc/gemini-cli/settings.json", "{\"hooks\": \"lictor hook\"}")
            .variable_set("HOME", "/home/user")
            .variable_set("USER", "user")
            .user("root", "/root")
    }

    /// The same with a directory, and the directories above it.
    #[must_use]
    pub fn directory(mut self, path: &str) -> Self {
        self.put(path, Node::Directory);
        self
    }

    /// The same with a file.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.put(path, Node::File(text.to_owned()));
        self
    }

    /// The same with a file that is not text.
    #[must_use]
    pub fn binary(mut self, path: &str, bytes: Vec<u8>) -> Self {
        self.put(path, Node::Bytes(bytes));
        self
    }

    /// The same with a symbolic link.
    #[must_use]
    pub fn link_to(mut self, path: &str, target: &str) -> Self {
        self.put(path, Node::Link(target.to_owned()));
        self
    }

    /// The same with another name for a file.
    #[must_use]
    pub fn hard_link(mut self, path: &str, file: &str) -> Self {
        if let Some(node) = self.nodes.get(file).cloned() {
            self.put(path, node);
        }
        self.hard_links.insert(path.to_owned(), file.to_owned());
        self
    }

    /// The same with a socket, fifo or device.
    #[must_use]
    pub fn special(mut self, path: &str) -> Self {
        self.put(path, Node::Special);
        self
    }

    /// The same with an environment variable.
    #[must_use]
    pub fn variable_set(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same with a user of the machine.
    #[must_use]
    pub fn user(mut self, name: &str, home: &str) -> Self {
        self.users.insert(name.to_owned(), home.to_owned());
        self
    }

    /// The same on a volume that takes `A` and `a` for the same name.
    #[must_use]
    pub fn folding_case(mut self) -> Self {
        self.folds_case = true;
        self
    }

    fn put(&mut self, path: &str, node: Node) {
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
            self.nodes.entry(parent.to_owned()).or_insert(Node::Directory);
            above = parent;
        }
        self.nodes.insert(path.to_owned(), node);
    }

    fn node(&self, path: &str) -> Option<&Node> {
        if self.folds_case {
            return self
                .nodes
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(path))
                .map(|(_, node)| node);
        }
        self.nodes.get(path)
    }
}

impl Observer for FakeObserver {
    fn look(&self, path: &str) -> Seen {
        match self.node(path) {
            Some(Node::File(text)) => Seen::File { empty: text.is_empty() },
            Some(Node::Bytes(bytes)) => Seen::File { empty: bytes.is_empty() },
            Some(Node::Directory) => Seen::Directory,
            Some(Node::Link(_)) => Seen::Link,
            Some(Node::Special) => Seen::Special,
            None if path == "/" => Seen::Directory,
            None => Seen::Missing,
        }
    }

    fn link(&self, path: &str) -> Option<String> {
        match self.node(path) {
            Some(Node::Link(target)) => Some(target.clone()),
            _ => None,
        }
    }

    fn names(&self, directory: &str, limit: usize) -> Option<Names> {
        if self.look(directory) != Seen::Directory {
            return None;
        }
        let prefix = format!("{}/", directory.trim_end_matches('/'));
        let all = self
            .nodes
            .keys()
            .filter_map(|path| path.strip_prefix(&prefix))
            .filter(|name| !name.contains('/'));
        let mut names: Vec<String> = all.take(limit.saturating_add(1)).map(str::to_owned).collect();
        let cut = names.len() > limit;
        names.truncate(limit);
        Some(Names { names, cut })
    }

    fn content(&self, path: &str, limit: usize) -> Option<Digest> {
        self.text(path, limit).map(|text| Digest::of(text.as_bytes()))
    }

    fn text(&self, path: &str, limit: usize) -> Option<String> {
        match self.node(path) {
            Some(Node::File(text)) if text.len() <= limit => Some(text.clone()),
            _ => None,
        }
    }

    fn bytes(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        match self.node(path) {
            Some(Node::Bytes(bytes)) if bytes.len() <= limit => Some(bytes.clone()),
            _ => self.text(path, limit).map(String::into_bytes),
        }
    }

    fn part(&self, path: &str, from: u64, length: usize) -> Option<Vec<u8>> {
        let bytes = self.bytes(path, usize::MAX)?;
        Some(bytes.get(usize::try_from(from).ok()?..)?.iter().copied().take(length).collect())
    }

    fn stat(&self, path: &str) -> Option<Stat> {
        let length = match self.node(path) {
            Some(Node::File(text)) => text.len(),
            Some(Node::Bytes(bytes)) => bytes.len(),
            _ => return None,
        };
        Some(Stat { size: u32::try_from(length).ok()?, modified: (0, 0), changed: (0, 0) })
    }

    fn identity(&self, path: &str) -> Option<Identity> {
        let path = crate::place::follow(path, self);
        let file = self.hard_links.get(&path).unwrap_or(&path);
        let size = self.bytes(file, usize::MAX)?.len() as u64;
        let inode = self.nodes.keys().position(|known| known == file)? as u64;
        let links = 1 + self.hard_links.values().filter(|other| *other == file).count() as u64;
        Some(Identity::numbered(inode, links, size))
    }

    fn same_content(&self, one: &str, other: &str) -> bool {
        self.bytes(one, usize::MAX).is_some_and(|bytes| Some(bytes) == self.bytes(other, usize::MAX))
    }

    fn program(&self) -> Option<String> {
        None
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn home_of(&self, user: &str) -> Option<String> {
        self.users.get(user).cloned()
    }

    fn folds_case(&self, _path: &str) -> bool {
        self.folds_case
    }
}
