//! Parsing with tree-sitter, within bounds.

use tree_sitter::{Language, Node, Parser, Tree};

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

/// Visits all nodes in the order they are written, without recursion. Stops when `visit` says so.
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
