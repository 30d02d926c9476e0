//! Lictor beside regorus, Cedar and dogwood: the same rules on the same facts, in one process, interleaved.
//! Every engine must first give the right decisions; only then is anything timed.
//!
//! `cargo xtask bench peers`. The last line of the output is the same as JSON.

mod measure;
mod sequence;
mod stateless;

use serde_json::json;

fn main() {
    let ten_rules = stateless::run();
    let sequence = sequence::run();
    println!("{}", json!({ "ten_rules": ten_rules, "sequence": sequence }));
}
