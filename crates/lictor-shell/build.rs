//! Compiles `programs/*.yaml` and `programs/languages/*.yaml` into static tables, so that nothing is parsed when Lictor starts.
//!
//! A description outside the language of `src/describe.rs`, or a name that occurs in two of them, fails the
//! build. Functions that descriptions name are checked by the compiler: the table points to them.
#![expect(clippy::expect_used, clippy::panic, reason = "a build script reports by failing")]

#[path = "src/describe.rs"]
#[expect(unreachable_pub, reason = "shared with the library, where it is public")]
mod describe;
#[path = "src/programs/table/slots.rs"]
mod slots;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use describe::source::Source;
use describe::{Act, Deep, Given, Place, Program, Recipe, Rule, Text, Token};

fn main() {
    let folder =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is"))
            .join("programs");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=src/describe.rs");
    println!("cargo::rerun-if-changed=src/describe/source.rs");
    println!("cargo::rerun-if-changed=src/describe/traits.rs");
    println!("cargo::rerun-if-changed=src/programs/table/slots.rs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of descriptions is there")
        .map(|entry| entry.expect("an entry can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    files.sort();
    let mut emit = Emit {
        sets: credentials(&folder.join("sets/credentials.yaml"))
            + &variables(&folder.join("sets/variables.yaml")),
        ..Emit::default()
    };
    let sets = sets(&folder.join("sets/names.yaml"));
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let family = file.file_stem().and_then(|stem| stem.to_str()).expect("a plain file name").to_owned();
        let mut text = std::fs::read_to_string(file).expect("a description can be read");
        for (name, words) in &sets {
            text = text.replace(&format!("<{name}>"), words);
        }
        let sources: Vec<Source> =
            serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for source in &sources {
            emit.program(&family, source, file);
        }
    }
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it"));
    std::fs::write(out.join("programs.rs"), emit.finish()).expect("the table can be written");
    std::fs::write(out.join("words.rs"), words(&folder.join("sets/words.yaml")))
        .expect("the lists can be written");
    std::fs::write(out.join("languages.rs"), languages(&folder.join("languages")))
        .expect("the table can be written");
}

/// What functions of languages do, by name, and the libraries that matter.
#[derive(serde::Deserialize)]
struct Library {
    functions: BTreeMap<String, String>,
    #[serde(flatten)]
    sets: BTreeMap<String, String>,
}

/// One table a language, sorted for a binary search: `PYTHON`, and a list for each set: `PYTHON_NETWORK`.
fn languages(folder: &Path) -> String {
    let mut out = String::new();
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(folder).expect("the folder of languages is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    files.sort();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = std::fs::read_to_string(&file).expect("a table can be read");
        let library: Library =
            serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = stem(&file).to_ascii_uppercase();
        let mut rows: BTreeMap<&str, String> = BTreeMap::new();
        for (act, names) in &library.functions {
            for function in names.split_whitespace() {
                let twice = rows.insert(function, camel(act));
                assert!(twice.is_none(), "{}: `{function}` stands there twice", file.display());
            }
        }
        let rows: Vec<String> =
            rows.iter().map(|(function, act)| format!("({function:?}, Api::{act})")).collect();
        writeln!(out, "static {name}: [(&str, Api); {}] = [{}];", rows.len(), rows.join(", "))
            .expect("a string takes text");
        for (set, names) in &library.sets {
            let names: Vec<&str> = names.split_whitespace().collect();
            let set = set.to_ascii_uppercase();
            writeln!(out, "static {name}_{set}: [&str; {}] = {names:?};", names.len())
                .expect("a string takes text");
        }
    }
    out
}

/// The table as source text.
#[derive(Default)]
struct Emit {
    /// Lists, each in a static of its own.
    lists: String,
    count: usize,
    entries: String,
    programs: usize,
    names: BTreeMap<String, (usize, PathBuf)>,
    functions: Vec<String>,
    /// Sets of names, as source text.
    sets: String,
}

impl Emit {
    fn program(&mut self, family: &str, source: &Source, file: &Path) {
        let functions = &mut self.functions;
        let mut number = |name: &str| {
            let at = functions.iter().position(|known| known == name).unwrap_or_else(|| {
                functions.push(name.to_owned());
                functions.len() - 1
            });
            u16::try_from(at).ok()
        };
        let names = source.program.words();
        let program = source
            .read(&mut number)
            .unwrap_or_else(|error| panic!("{}: `{}`: {error}", file.display(), names.join(" ")));
        assert!(!names.is_empty(), "{}: a program has a name", file.display());
        for name in names {
            if let Some((_, other)) = self.names.insert(name.clone(), (self.programs, file.to_owned())) {
                panic!("{}: `{name}` is described in {} too", file.display(), other.display());
            }
        }
        let program = self.describe(&program);
        writeln!(self.entries, "    Entry {{ family: Family::{}, program: {program} }},", camel(family))
            .expect("a string takes text");
        self.programs += 1;
    }

    fn list<T>(&mut self, kind: &str, items: &[T], each: impl Fn(&mut Self, &T) -> String) -> String {
        if items.is_empty() {
            return "Cow::Borrowed(&[])".to_owned();
        }
        let items: Vec<String> = items.iter().map(|item| each(self, item)).collect();
        let name = format!("L{}", self.count);
        self.count += 1;
        writeln!(self.lists, "static {name}: [{kind}; {}] = [{}];", items.len(), items.join(", "))
            .expect("a string takes text");
        format!("Cow::Borrowed(&{name})")
    }

    fn texts(&mut self, texts: &[Text]) -> String {
        self.list("Text", texts, |_, text| borrowed(text))
    }

    fn describe(&mut self, program: &Program) -> String {
        let names = self.texts(&program.names);
        let quiet = self.list("Given", &program.quiet, Self::given);
        let variables = self.list("Given", &program.variables, Self::given);
        let rules = self.list("Rule", &program.rules, Self::rule);
        let recipes = self.list("Recipe", &program.recipes, |emit, Recipe { kind, names }| {
            format!("Recipe {{ kind: {}, names: {} }}", borrowed(kind), emit.texts(names))
        });
        let hosts = self.texts(&program.hosts);
        let options = &program.options;
        format!(
            "Program {{ names: {names}, options: Options {{ style: Style::{:?}, valued: {}, attached: {}, long: {}, \
             front: {} }}, quiet: {quiet}, variables: {variables}, rules: {rules}, recipes: {recipes}, traits: Traits({}), hosts: {hosts} }}",
            options.style,
            borrowed(&options.valued),
            borrowed(&options.attached),
            borrowed(&options.long),
            options.front,
            program.traits.0
        )
    }

    fn given(&mut self, given: &Given) -> String {
        let names = self.texts(&given.names);
        format!("Given {{ names: {names}, value: {} }}", optional(given.value.as_ref()))
    }

    fn rule(&mut self, rule: &Rule) -> String {
        let words = self.list("Token", &rule.words, |emit, token| match token {
            Token::With(given) => format!("Token::With({})", emit.given(given)),
            Token::Without(given) => format!("Token::Without({})", emit.given(given)),
            Token::Word(text) => format!("Token::Word({})", borrowed(text)),
            Token::NoWord(text) => format!("Token::NoWord({})", borrowed(text)),
            Token::Gap | Token::End | Token::Unknown | Token::Dashes => format!("Token::{token:?}"),
        });
        let acts = self.list("Act", &rule.acts, Self::act);
        format!("Rule {{ words: {words}, acts: {acts}, also: {} }}", rule.also)
    }

    fn act(&mut self, act: &Act) -> String {
        match act {
            Act::Has(what, text, all) => {
                let all = self.list("Given", all, Self::given);
                format!("Act::Has(Consequence::{what:?}, {}, {all})", optional(text.as_ref()))
            }
            Act::Files(how, places, deep) => {
                let places = self.places(places);
                format!("Act::Files(Use::{how:?}, {places}, {})", self.deep(deep))
            }
            Act::Runs(places, elsewhere) => format!("Act::Runs({}, {elsewhere})", self.places(places)),
            Act::Shell(places, elsewhere) => format!("Act::Shell({}, {elsewhere})", self.places(places)),
            Act::Code(language, places) => {
                format!("Act::Code({}, {})", borrowed(language), self.places(places))
            }
            Act::Sql(places) => format!("Act::Sql({})", self.places(places)),
            Act::Reaches(places, sends) => format!("Act::Reaches({}, {sends})", self.places(places)),
            Act::Uploads(places, deep) => {
                let places = self.places(places);
                format!("Act::Uploads({places}, {})", self.deep(deep))
            }
            Act::Serves(places) => format!("Act::Serves({})", self.places(places)),
            Act::Formats(places) => format!("Act::Formats({})", self.places(places)),
            Act::Prints(what) => format!("Act::Prints(Prints::{what:?})"),
            Act::Deed(verb, object, what) => {
                let what =
                    what.as_deref().map_or("None".to_owned(), |what| format!("Some({})", borrowed(what)));
                format!("Act::Deed({}, {}, {what})", borrowed(verb), borrowed(object))
            }
            Act::Function(number) => format!("Act::Function({number})"),
        }
    }

    fn deep(&mut self, deep: &Deep) -> String {
        match deep {
            Deep::With(given) => format!("Deep::With({})", self.given(given)),
            Deep::No | Deep::Yes => format!("Deep::{deep:?}"),
        }
    }

    fn places(&mut self, places: &[Place]) -> String {
        self.list("Place", places, |emit, place| match place {
            Place::Option(names) => format!("Place::Option({})", emit.texts(names)),
            Place::Behind(names) => format!("Place::Behind({})", emit.texts(names)),
            Place::Setting(text) => format!("Place::Setting({})", borrowed(text)),
            Place::Path(text) => format!("Place::Path({})", borrowed(text)),
            place => format!("Place::{place:?}"),
        })
    }

    fn finish(self) -> String {
        let families: Vec<String> = {
            let mut seen: Vec<String> = self.names.values().map(|(_, file)| stem(file)).collect();
            seen.sort();
            seen.dedup();
            seen
        };
        let names: Vec<String> =
            self.names.iter().map(|(name, (at, _))| format!("({name:?}, {at})")).collect();
        let files: Vec<String> = families.iter().map(|family| camel(family)).collect();
        format!(
            "/// The file that a description stands in.\n#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub(crate) enum Family {{ {} }}\n\
             {}\npub(super) static ENTRIES: [Entry; {}] = [\n{}];\n\
             pub(super) static NAMES: [(&str, usize); {}] = [{}];\n\
             pub(super) static SLOTS: [u16; {}] = {:?};\n\
             pub(super) static FUNCTIONS: [Function; {}] = [{}];\n{}",
            files.join(", "),
            self.lists,
            self.programs,
            self.entries,
            names.len(),
            names.join(", "),
            slots::COUNT,
            self.slots(),
            self.functions.len(),
            self.functions.iter().map(|name| format!("super::{name}")).collect::<Vec<_>>().join(", "),
            self.sets,
        )
    }
}

impl Emit {
    /// Which name lies in which slot, counted from one.
    fn slots(&self) -> Vec<u16> {
        let mut filled = vec![0; slots::COUNT];
        for (number, name) in (1..).zip(self.names.keys()) {
            let mut slots = slots::of(name).filter(|slot| filled.get(*slot) == Some(&0));
            let free = slots.next().expect("there are more slots than names");
            filled.get_mut(free).into_iter().for_each(|slot| *slot = number);
        }
        filled
    }
}

/// Lists of names that several descriptions share: `<name>` in a pattern stands for one of them.
fn sets(file: &Path) -> BTreeMap<String, String> {
    let sets: BTreeMap<String, String> = yaml(file);
    sets.into_iter()
        .map(|(name, words)| (name, words.split_whitespace().collect::<Vec<_>>().join("|")))
        .collect()
}

/// Folders and the names in them that hold credentials.
fn credentials(file: &Path) -> String {
    let folders: BTreeMap<String, Vec<String>> = yaml(file);
    let rows: Vec<String> =
        folders.iter().map(|(folder, names)| format!("({folder:?}, &{names:?})")).collect();
    format!("pub(super) static CREDENTIALS: [(&str, &[&str]); {}] = [{}];\n", rows.len(), rows.join(", "))
}

/// Variables of the environment and what their value is.
fn variables(file: &Path) -> String {
    let mut rows: Vec<String> = Vec::new();
    for (kind, names) in &yaml::<BTreeMap<String, String>>(file) {
        rows.extend(names.split_whitespace().map(|name| format!("({name:?}, {kind:?})")));
    }
    format!("pub(super) static VARIABLES: [(&str, &str); {}] = [{}];\n", rows.len(), rows.join(", "))
}

/// Words parted by blanks, or a list of texts that may hold some.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Words {
    Text(String),
    List(Vec<String>),
}

/// A list for each set of words: `SECRET_NAMES`.
fn words(file: &Path) -> String {
    let mut out = String::new();
    for (name, words) in &yaml::<BTreeMap<String, Words>>(file) {
        let words = match words {
            Words::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
            Words::List(words) => words.clone(),
        };
        let name = name.to_ascii_uppercase();
        writeln!(out, "pub(crate) static {name}: &[&str] = &{words:?};").expect("a string takes text");
    }
    out
}

/// A file of the folder, which is looked at again when it changes.
fn yaml<T: serde::de::DeserializeOwned>(file: &Path) -> T {
    println!("cargo::rerun-if-changed={}", file.display());
    let text = std::fs::read_to_string(file).expect("the file is there");
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn stem(file: &Path) -> String {
    file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned()
}

fn borrowed(text: &str) -> String {
    format!("Cow::Borrowed({text:?})")
}

fn optional(text: Option<&Text>) -> String {
    text.map_or_else(|| "None".to_owned(), |text| format!("Some({})", borrowed(text)))
}

/// `package-managers` as `PackageManagers`.
fn camel(name: &str) -> String {
    name.split('-')
        .map(|part| {
            let mut letters = part.chars();
            letters
                .next()
                .map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
                .unwrap_or_default()
        })
        .collect()
}
