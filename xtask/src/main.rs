//! Chores of this repository. `cargo xtask help` lists them.

mod lint;
mod shell;
mod test;

use anyhow::{Result, bail};

const HELP: &str = "\
cargo xtask <chore>

  test            everything a change must pass: lint, all tests, doc tests (what .ci/run calls)
  lint            format, clippy, purity of the pure crates, direction of dependencies, licences
";

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let chore = args.next();
    let rest: Vec<String> = args.collect();
    match (chore.as_deref(), rest.as_slice()) {
        (Some("test"), []) => test::run(),
        (Some("lint"), []) => lint::run(),
        (None | Some("help" | "--help" | "-h"), []) => {
            print!("{HELP}");
            Ok(())
        }
        _ => bail!("no such chore; `cargo xtask help` lists them"),
    }
}
