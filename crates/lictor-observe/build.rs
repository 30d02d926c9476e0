//! Compiles `tools/*.yaml` into a static table, so that nothing is parsed when Lictor starts.
#![expect(clippy::expect_used, clippy::panic, reason = "a build script reports by failing")]

#[path = "src/describe.rs"]
#[expect(unreachable_pub, dead_code, reason = "shared with the library, where it is public")]
mod describe;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use describe::{Act, Source};
use serde::Deserialize;

/// One server, or the agents' own tools.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    #[serde(default)]
    server: String,
    tools: BTreeMap<String, Source>,
    /// Calls that are stopped by the default policy, and twins that are not; tests judge them.
    #[serde(default, rename = "match")]
    _matching: Vec<serde_json::Value>,
    #[serde(default, rename = "not_match")]
    _harmless: Vec<serde_json::Value>,
}

fn main() {
    let folder =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is"))
            .join("tools");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=src/describe.rs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of descriptions is there")
        .map(|entry| entry.expect("an entry can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    files.sort();
    let mut out = String::from(
        "/// What is shipped: where it stands, and what it says.\npub(crate) static TOOLS: &[(&str, Tool)] = &[\n",
    );
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("a plain file name");
        let text = std::fs::read_to_string(file).expect("a description can be read");
        let servers: Vec<Server> =
            serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for server in &servers {
            // What fits every tool comes last.
            let mut tools: Vec<(&String, &Source)> = server.tools.iter().collect();
            tools.sort_by_key(|(names, _)| names.as_str() == "*");
            for (names, source) in tools {
                let acts =
                    source.read().unwrap_or_else(|problem| panic!("{}: {names}: {problem}", file.display()));
                let acts: Vec<String> = acts.iter().map(written).collect();
                writeln!(
                    out,
                    "    ({stem:?}, Tool {{ servers: Text::Borrowed({:?}), names: Text::Borrowed({names:?}), acts: Cow::Borrowed(&[{}]) }}),",
                    server.server,
                    acts.join(", ")
                )
                .expect("text can be written");
            }
        }
    }
    out.push_str("];\n");
    let path = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it")).join("tools.rs");
    std::fs::write(path, out).expect("the table can be written");
}

/// An act as source text.
fn written(act: &Act) -> String {
    let text = |text: &str| format!("Text::Borrowed({text:?})");
    match act {
        Act::Sql(field) => format!("Act::Sql({})", text(field)),
        Act::Command(field) => format!("Act::Command({})", text(field)),
        Act::Code(language, field) => format!("Act::Code({}, {})", text(language), text(field)),
        Act::Fetches(field) => format!("Act::Fetches({})", text(field)),
        Act::Posts(field) => format!("Act::Posts({})", text(field)),
        Act::File(how, field) => format!("Act::File(How::{how:?}, {})", text(field)),
        Act::Deed(verb, object, what) => {
            let what = what.as_deref().map_or("None".to_owned(), |what| format!("Some({})", text(what)));
            format!("Act::Deed({}, {}, {what})", text(verb), text(object))
        }
        Act::Destroys(what, all) => format!("Act::Destroys({}, {all})", text(what)),
        Act::Publishes => "Act::Publishes".to_owned(),
        Act::Reveals => "Act::Reveals".to_owned(),
        Act::Task(field) => format!("Act::Task({})", text(field)),
    }
}
