//! The `lictor` command. `lictor hook` is the hot path and is recognised before anything else is set up.

mod exit;
mod place;

fn main() {}
