//! Compiles `packs/*.yaml` into static tables, so that nothing is parsed when Lictor starts.
//!
//! A rule outside the closed condition language, an unknown key, or a name that is not a variant of its enum
//! fails the build.
#![expect(clippy::expect_used, reason = "a build script reports by failing and by printing")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pack {
    about: String,
    #[serde(default)]
    extends: Vec<String>,
    /// Named groups of words: `<name>` in the words of commands.
    #[serde(default)]
    groups: BTreeMap<String, String>,
    rules: Vec<Rule>,
}

impl Pack {
    /// The rules with group names replaced by the words of the groups.
    fn expanded(mut self) -> Self {
        let groups = std::mem::take(&mut self.groups);
        for rule in &mut self.rules {
            let When::Run(run) = &mut rule.when else { continue };
            for words in run.words.iter_mut().chain(&mut run.not_words) {
                for (name, group) in &groups {
                    *words = words.replace(&format!("<{name}>"), group);
                }
                assert!(!words.contains('<'), "{}: no group fits in `{words}`", rule.id);
            }
        }
        self
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    when: When,
    decision: String,
    reason: String,
    fix: String,
    #[serde(default)]
    ways: Vec<Way>,
    #[serde(default, rename = "match")]
    matching: Vec<String>,
    #[serde(default)]
    not_match: Vec<String>,
    /// An example of following the fix, if the fix names no command. Tests judge it.
    #[serde(default, rename = "then")]
    _then: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Way {
    words: String,
    #[serde(default)]
    swap: BTreeMap<String, String>,
    say: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum When {
    File(File),
    Git(Vec<String>),
    Process(Vec<String>),
    Database(Vec<String>),
    Infrastructure(Infrastructure),
    Publish(Anything),
    Privilege(Vec<String>),
    Flow(Flow),
    GuardOff(Vec<String>),
    Opaque(Vec<String>),
    Run(Run),
    Reach(Reach),
    Deed(Deed),
    Code(Anything),
    Delegate(Anything),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Anything {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    access: Vec<String>,
    #[serde(default)]
    zone: Vec<String>,
    #[serde(default)]
    existence: Vec<String>,
    tree: Option<bool>,
    secret: Option<bool>,
    malformed: Option<bool>,
    committed: Option<bool>,
    #[serde(default)]
    below: Vec<String>,
    #[serde(default)]
    ends: Vec<String>,
    #[serde(default)]
    not_below: Vec<String>,
    #[serde(default)]
    not_ends: Vec<String>,
    #[serde(default)]
    by: Vec<String>,
    #[serde(default)]
    not_by: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Infrastructure {
    #[serde(default)]
    tool: Vec<String>,
    mass: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Flow {
    from: Vec<String>,
    to: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    flag: Vec<String>,
    #[serde(default)]
    not_words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reach {
    sends: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deed {
    #[serde(default)]
    verb: Vec<String>,
    #[serde(default)]
    object: Vec<String>,
    #[serde(default)]
    not_verb: Vec<String>,
}

fn main() {
    println!("cargo::rerun-if-changed=packs");
    println!("cargo::rerun-if-changed=build.rs");
    let mut out = String::new();
    let mut names = Vec::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir("packs")
        .expect("packs/ is a directory")
        .map(|entry| entry.expect("packs/ can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a pack can be read");
        let pack: Pack = serde_saphyr::from_str(&text)
            .map_err(|error| format!("{}: {error}", file.display()))
            .expect("a pack is written in the condition language");
        let name = file.file_stem().and_then(|stem| stem.to_str()).expect("a pack has a name").to_owned();
        write_pack(&mut out, &name, &pack.expanded());
        names.push(name);
    }
    let table: Vec<String> = names.iter().map(|name| format!("&{}", constant(name))).collect();
    let _ = writeln!(out, "pub(super) static PACKS: &[&Pack] = &[{}];", table.join(", "));
    let target = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&target).join("packs.rs"), out).expect("the tables can be written");
}

fn write_pack(out: &mut String, name: &str, pack: &Pack) {
    let mut by_kind: BTreeMap<&'static str, Vec<&Rule>> = BTreeMap::new();
    for rule in &pack.rules {
        assert!(!rule.matching.is_empty() && !rule.not_match.is_empty(), "{} has no examples", rule.id);
        by_kind.entry(kind(&rule.when)).or_default().push(rule);
    }
    let _ = writeln!(out, "static {}: Pack = Pack {{", constant(name));
    let _ =
        writeln!(out, "    name: {name:?}, about: {:?}, extends: &{:?},", pack.about.trim(), pack.extends);
    let _ = writeln!(out, "    rules: &[");
    for (kind, rules) in by_kind {
        let _ = writeln!(out, "        (Kind::{kind}, &[");
        for rule in rules {
            let _ = writeln!(
                out,
                "            Rule {{ id: {:?}, when: {}, decision: Decision::{}, reason: {:?}, fix: {:?}, ways: &[{}] }},",
                rule.id,
                condition(&rule.when),
                camel(&rule.decision),
                rule.reason.trim(),
                rule.fix.trim(),
                rule.ways.iter().map(way).collect::<Vec<_>>().join(", ")
            );
        }
        let _ = writeln!(out, "        ]),");
    }
    let _ = writeln!(out, "    ],\n}};");
}

fn kind(when: &When) -> &'static str {
    match when {
        When::File(_) => "File",
        When::Git(_) => "Git",
        When::Process(_) => "Process",
        When::Database(_) => "Database",
        When::Infrastructure(_) => "Infrastructure",
        When::Publish(_) => "Publish",
        When::Privilege(_) => "Privilege",
        When::Flow(_) => "Flow",
        When::GuardOff(_) => "GuardOff",
        When::Opaque(_) => "Opaque",
        When::Run(_) => "Run",
        When::Reach(_) => "Reach",
        When::Deed(_) => "Deed",
        When::Code(_) => "Code",
        When::Delegate(_) => "Delegate",
    }
}

fn condition(when: &When) -> String {
    match when {
        When::File(file) => format!(
            "When::File(FileWhen {{ access: {}, zone: {}, existence: {}, tree: {:?}, secret: {:?}, malformed: {:?}, committed: {:?}, \
             below: &{:?}, ends: &{:?}, not_below: &{:?}, not_ends: &{:?}, by: &{:?}, not_by: &{:?} }})",
            variants("Access", &file.access),
            variants("Zone", &file.zone),
            variants("Existence", &file.existence),
            file.tree,
            file.secret,
            file.malformed,
            file.committed,
            file.below,
            file.ends,
            file.not_below,
            file.not_ends,
            file.by,
            file.not_by
        ),
        When::Git(effects) => format!("When::Git({})", variants("GitEffect", effects)),
        When::Process(effects) => format!("When::Process({})", variants("ProcessEffect", effects)),
        When::Database(effects) => format!("When::Database({})", variants("DatabaseEffect", effects)),
        When::Infrastructure(infra) => {
            format!("When::Infrastructure {{ tool: &{:?}, mass: {:?} }}", infra.tool, infra.mass)
        }
        When::Privilege(kinds) => format!("When::Privilege({})", variants("Privilege", kinds)),
        When::Flow(flow) => format!(
            "When::Flow {{ from: {}, to: {} }}",
            variants("FlowSource", &flow.from),
            variants("FlowSink", &flow.to)
        ),
        When::GuardOff(what) => format!("When::GuardOff({})", variants("GuardOff", what)),
        When::Opaque(what) => format!("When::Opaque({})", variants("OpaqueWhat", what)),
        When::Run(run) => format!(
            "When::Run {{ words: &{:?}, flag: &{:?}, not_words: &{:?} }}",
            run.words, run.flag, run.not_words
        ),
        When::Reach(reach) => format!("When::Reach {{ sends: {:?} }}", reach.sends),
        When::Deed(deed) => format!(
            "When::Deed {{ verb: &{:?}, object: &{:?}, not_verb: &{:?} }}",
            deed.verb, deed.object, deed.not_verb
        ),
        When::Publish(_) | When::Code(_) | When::Delegate(_) => "When::Always".to_owned(),
    }
}

fn way(way: &Way) -> String {
    let swap: Vec<(&String, &String)> = way.swap.iter().collect();
    format!("Way {{ words: {:?}, swap: &{swap:?}, say: {:?} }}", way.words, way.say.trim())
}

fn variants(of: &str, names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{of}::{}", camel(name))).collect();
    format!("&[{}]", names.join(", "))
}

fn camel(name: &str) -> String {
    name.split('_')
        .map(|part| {
            let mut chars = part.chars();
            chars
                .next()
                .map(|first| first.to_ascii_uppercase().to_string() + chars.as_str())
                .unwrap_or_default()
        })
        .collect()
}

fn constant(name: &str) -> String {
    name.replace('-', "_").to_uppercase()
}
