//! Parsing with tree-sitter, within bounds.

use lictor_core::facts::OpaqueWhat;
use tree_sitter::{Language, Node, Parser, Tree};

use super::functions::Functions;
use super::{CodeScan, broken};
use crate::call::Report;

/// Longest body that is parsed.
pub(super) const LONGEST: usize = 1 << 20;
/// How many nodes are visited and evaluated before the body counts as too much.
pub(super) const FUEL: usize = 400_000;
/// Deepest expression that is evaluated; deeper ones are not known.
pub(super) const DEPTH: usize = 40;

/// Parses a body. `None` when the parser refuses.
pub(super) fn parse(language: &Language, body: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    parser.parse(body, None)
}

/// The text of a node.
pub(super) fn text<'a>(node: Node<'_>, body: &'a str) -> &'a str {
    body.get(node.byte_range()).unwrap_or_default()
}

/// Visits all nodes in the order they are written, without recursion. Stops when `visit` returns false.
pub(super) fn walk<'t>(tree: &'t Tree, mut visit: impl FnMut(Node<'t>) -> bool) {
    let mut cursor = tree.walk();
    loop {
        if !visit(cursor.node()) {
            return;
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// Code that is judged node by node.
pub(super) trait Code {
    /// Keywords, one of which occurs in code that defines functions.
    const FUNCTIONS: &'static [&'static str];

    /// Judges one node.
    fn visit(&mut self, node: Node<'_>, report: &mut Report);

    /// How many nodes may still be visited and evaluated.
    fn fuel(&mut self) -> &mut usize;

    /// The functions of the code itself.
    fn functions(&mut self) -> &mut Functions;

    /// Clears the analysis, except for the recorded calls of functions.
    fn forget(&mut self);

    /// Judges all of it.
    fn judge(&mut self, body: &str, tree: &Tree, report: &mut Report) {
        if Self::FUNCTIONS.iter().any(|word| body.contains(word)) {
            self.look_ahead(tree);
        }
        self.visit_all(tree, report);
        if *self.fuel() == 0 {
            report.opaque(OpaqueWhat::Limit, body);
        }
        if tree.root_node().has_error() {
            broken::judge(body, report);
        }
    }

    /// Notes what functions are called with before their bodies are judged.
    fn look_ahead(&mut self, tree: &Tree) {
        while self.functions().next_pass() {
            self.visit_all(tree, &mut Report::default());
            self.forget();
        }
        *self.fuel() = FUEL;
    }

    /// Visits all nodes as long as there is fuel.
    fn visit_all(&mut self, tree: &Tree, report: &mut Report) {
        walk(tree, |node| {
            self.visit(node, report);
            let fuel = self.fuel();
            *fuel = fuel.saturating_sub(1);
            *fuel > 0
        });
    }
}

/// What a body mentions, without judging it: `note` is called with every node.
pub(super) fn scan(
    language: &Language,
    body: &str,
    found: &mut CodeScan,
    note: impl Fn(Node<'_>, &mut CodeScan),
) {
    let Some(parsed) = parse(language, body) else {
        found.parse_ok = false;
        return;
    };
    found.parse_ok = !parsed.root_node().has_error();
    let mut left = FUEL;
    walk(&parsed, |node| {
        note(node, found);
        left = left.saturating_sub(1);
        left > 0
    });
    found.complete = left > 0;
}

/// Named children, at most `most`.
pub(super) fn children<'t>(node: Node<'t>, most: usize) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).take(most).collect()
}

/// The content of a quoted literal without its escapes.
pub(super) fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(quote @ ('\'' | '"' | '`' | '$' | '/' | '-' | '#' | '{' | '}' | '@')) => {
                    plain.push(quote)
                }
                Some('\n') => {}
                Some(other) => {
                    plain.push('\\');
                    plain.push(other);
                }
                None => plain.push('\\'),
            },
            letter => plain.push(letter),
        }
    }
    crate::programs::text::unescape(&plain)
}
