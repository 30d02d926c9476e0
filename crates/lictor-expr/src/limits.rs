//! All limits of the language. Together they bound the cost of an expression before it runs: parsing it is
//! bounded by [`MAX_SOURCE`], checking it by [`MAX_NODES`] and [`MAX_DEPTH`], running it by [`STEP_BUDGET`].

/// Longest source text, in bytes.
pub const MAX_SOURCE: usize = 8 * 1024;

/// Most nodes in one expression.
pub const MAX_NODES: usize = 512;

/// Deepest nesting, of the tree as well as of parentheses. Everything recursive in this crate recurses along the
/// tree, so this also bounds the stack.
pub const MAX_DEPTH: usize = 64;

/// Steps that one evaluation may take. A node costs one step each time it is evaluated, an element of a list or
/// map one each time it is read, text one per [`BYTES_PER_STEP`] bytes that are read or written. A regular
/// expression or glob reads its text once for each part of the pattern.
pub const STEP_BUDGET: u32 = 1_000_000;

/// Steps that [`crate::Program::explain`] may take: it evaluates the parts one by one.
pub const EXPLAIN_BUDGET: u32 = 8 * STEP_BUDGET;

/// Bytes of text that compare, search, copy or convert for one step.
pub const BYTES_PER_STEP: usize = 64;

/// Compiled size of one regular expression, in bytes.
pub const MAX_REGEX_SIZE: usize = 1 << 20;

/// Deepest value that `==` follows; the budget bounds the width, this bounds the stack.
pub const MAX_VALUE_DEPTH: usize = 256;

/// Longest window of a history operator, in seconds (one year).
pub const MAX_WINDOW_SECONDS: u64 = 366 * 24 * 60 * 60;
