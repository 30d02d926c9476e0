//! The map in `docs/architecture.md` is correct and complete; links have existing targets.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// The paths in backticks that are in a crate.
fn places(page: &str) -> BTreeSet<&str> {
    let words = page.split('`').skip(1).step_by(2);
    words.filter(|word| word.starts_with("lictor") && word.contains('/')).collect()
}

/// Whether this path exists. `<guard>.rs` matches any file in its folder.
fn is_there(place: &str) -> bool {
    let crates = root().join("crates");
    match place.split_once('<') {
        Some((folder, _)) => crates.join(folder).is_dir(),
        None => crates.join(place).exists(),
    }
}

/// Whether a module of a crate is on the map: by its file, by its folder, or by its parent folder.
fn is_shown(module: &str, places: &BTreeSet<&str>) -> bool {
    let folder = module.trim_end_matches(".rs");
    let (above, _) = module.rsplit_once('/').unwrap();
    places.iter().any(|place| {
        let place = place.split_once('<').map_or(*place, |(above, _)| above).trim_end_matches('/');
        place == module || place == folder || place == above || place.starts_with(&format!("{folder}/"))
    })
}

fn modules() -> Vec<String> {
    let mut modules = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for file in fs::read_dir(folder.join("src")).unwrap() {
            let file = file.unwrap().file_name().into_string().unwrap();
            if file.ends_with(".rs")
                && !["lib.rs", "main.rs", "commands.rs", "testing.rs"].contains(&file.as_str())
            {
                modules.push(format!("{name}/src/{file}"));
            }
        }
    }
    modules.sort();
    modules
}

#[test]
fn every_place_on_the_map_is_there_and_every_module_is_on_it() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let places = places(&page);
    let gone: Vec<&&str> = places.iter().filter(|place| !is_there(place)).collect();
    assert!(gone.is_empty(), "on the map and not there: {gone:?}");
    let modules = modules();
    assert!(modules.len() > 100 && places.len() > 100, "{} {}", modules.len(), places.len());
    let missing: Vec<&String> = modules.iter().filter(|module| !is_shown(module, &places)).collect();
    assert!(missing.is_empty(), "there and not on the map in docs/architecture.md: {missing:#?}");
}

#[test]
fn the_map_is_held_to_what_is_there() {
    assert!(is_there("lictor-core/src/graph/fold.rs") && is_there("lictor-guards/src/<guard>.rs"));
    assert!(!is_there("lictor-core/src/graph/fold2.rs") && !is_there("lictor-guards/sources/<guard>.rs"));
    let places = BTreeSet::from([
        "lictor-a/src/b.rs",
        "lictor-a/src/c/",
        "lictor-a/src/d/e.rs",
        "lictor-x/src/<y>.rs",
    ]);
    for (module, shown) in [("b", true), ("c", true), ("d", true), ("e", false), ("bb", false)] {
        assert_eq!(is_shown(&format!("lictor-a/src/{module}.rs"), &places), shown, "{module}");
    }
    assert!(is_shown("lictor-x/src/z.rs", &places));
}

/// The targets of the links of a page that lead to files.
fn links(page: &str) -> Vec<&str> {
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let targets = targets.map(|target| target.split('#').next().unwrap_or_default());
    targets.filter(|target| !target.is_empty() && !target.contains("://")).collect()
}

/// Whether a word between backticks is meant as a path of this repository.
fn is_of_ours(word: &str) -> bool {
    let folders = ["crates/", "xtask/", "fuzz/", "benches/", ".ci/"];
    folders.iter().any(|folder| word.starts_with(folder)) && !word.contains([' ', '<', '*', '\n'])
}

#[test]
fn links_lead_to_files_and_the_readme_leads_to_every_page() {
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages: Vec<PathBuf> = pages.filter(|page| page.extension().is_some_and(|end| end == "md")).collect();
    let own = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|name| root().join(name));
    let mut followed = 0;
    for page in pages.iter().chain(&own) {
        let text = fs::read_to_string(page).unwrap();
        for target in links(&text) {
            assert!(page.parent().unwrap().join(target).exists(), "{}: {target}", page.display());
            followed += 1;
        }
        for target in text.split('`').skip(1).step_by(2).filter(|word| is_of_ours(word)) {
            assert!(root().join(target).exists(), "{}: {target}", page.display());
            followed += 1;
        }
    }
    assert!(followed > 20, "{followed}");
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let linked = links(&readme);
    for page in &pages {
        let name = Path::new("docs").join(page.file_name().unwrap());
        assert!(linked.contains(&name.to_str().unwrap()), "the README does not lead to {}", name.display());
    }
}
