//! `layers:`.

use lictor_core::Layer;
use lictor_guards::{LayerConfig, LayerIsolation, LayersConfig, MayTouch};
use serde::{Deserialize, Serialize};

use super::section::{BuiltIn, Section, share, value};
use crate::diagnostic::suggest;
use crate::reader::Reader;
use crate::table::{Key, PATHS, Shape, TEXTS, Table};
use crate::yaml::{Tree, Yaml};

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "layers",
        Shape::Names(&Shape::Fields(&TABLE)),
        "{ui: {files: [\"src/ui/**\"]}}",
        "Layers of the code base that may not reach into each other. Guard `layer_isolation`.",
    )],
    read: |r, file, said| said.layers = value(r, file, "layers", read),
    guards: &[BuiltIn {
        name: "layer_isolation",
        section: "layers",
        layer: Layer::Boundary,
        configured: |said| said.layers.is_some(),
        build: |layer| {
            let layers = layer.sections.layers.as_ref();
            share(layers.map(|layers| LayerIsolation::new(layers.config())).transpose()?)
        },
        last: false,
    }],
};

static APART: Table = Table {
    name: "layers.*.may_touch",
    about: "Layers whose files may be touched, apart for reading and writing.",
    keys: &[
        Key::new("read", TEXTS, "[]", "Layers that may be read."),
        Key::new("write", TEXTS, "[]", "Layers that may be written."),
    ],
};

pub(crate) static TABLE: Table = Table {
    name: "layers.*",
    about: "One layer of the code base. Which layer acts is told by the agent's name, else by the directory it \
            works in.",
    keys: &[
        Key::new("files", PATHS, "[\"src/ui/**\"]", "Its files: globs relative to the project's root.")
            .required(),
        Key::new(
            "may_touch",
            Shape::OneOf(&[TEXTS, Shape::Fields(&APART)]),
            "[]",
            "Layers whose files may be touched from this one. None when it is not said.",
        ),
        Key::new(
            "agents",
            TEXTS,
            "[ui-agent]",
            "Agents that work in this layer. Without an entry, an agent of the layer's own name does.",
        ),
    ],
};

/// The layers of a code base.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayersSection {
    /// In the order of the file.
    pub layers: Vec<LayerSection>,
}

/// One layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerSection {
    /// Its name.
    pub name: String,
    /// Its files.
    pub files: Vec<String>,
    /// Layers that may be read from it.
    pub read: Vec<String>,
    /// Layers that may be written from it.
    pub write: Vec<String>,
    /// Agents that work in it.
    pub agents: Vec<String>,
}

impl LayersSection {
    pub(crate) fn config(&self) -> LayersConfig {
        self.layers
            .iter()
            .map(|layer| {
                let may_touch = MayTouch::Apart { read: layer.read.clone(), write: layer.write.clone() };
                let (files, agents) = (layer.files.clone(), layer.agents.clone());
                (layer.name.clone(), LayerConfig { files, may_touch, agents })
            })
            .collect()
    }
}

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<LayersSection> {
    let names = r.names(tree, "layers")?;
    let known: Vec<&str> = names.iter().map(|(key, _)| key.text.as_str()).collect();
    let mut homes: Vec<(String, &str)> = Vec::new();
    let mut layers = Vec::new();
    for (key, tree) in names.iter() {
        let Some(f) = r.fields(tree, &TABLE) else { continue };
        let (read, write) = f.get("may_touch").map(|tree| may_touch(r, tree, &known)).unwrap_or_default();
        let agents = r.field(&f, "agents", Reader::texts).unwrap_or_default();
        for agent in &agents {
            let home = homes.iter().find(|(known, _)| known == agent).map(|(_, home)| *home);
            match (home, f.get("agents")) {
                (Some(home), Some(place)) => r.error(
                    place.span,
                    format!("agent `{agent}` works in two layers, `{home}` and `{}`", key.text),
                    "name it in one of them",
                ),
                _ => homes.push((agent.clone(), &key.text)),
            }
        }
        let files = r.field(&f, "files", Reader::paths).unwrap_or_default();
        layers.push(LayerSection { name: key.text.clone(), files, read, write, agents });
    }
    Some(LayersSection { layers })
}

fn may_touch(r: &mut Reader<'_>, tree: &Tree, known: &[&str]) -> (Vec<String>, Vec<String>) {
    if let Yaml::Map(_) = &tree.value {
        let Some(f) = r.fields(tree, &APART) else { return Default::default() };
        let mut side = |key: &str| f.get(key).map(|tree| edges(r, tree, known)).unwrap_or_default();
        return (side("read"), side("write"));
    }
    let both = edges(r, tree, known);
    (both.clone(), both)
}

fn edges(r: &mut Reader<'_>, tree: &Tree, known: &[&str]) -> Vec<String> {
    let what = "`layers.*.may_touch`";
    let mut found = Vec::new();
    for item in r.list(tree, what) {
        let Some(name) = r.sentence(item, what) else { continue };
        if known.contains(&name.as_str()) {
            found.push(name);
        } else {
            let help = suggest(&name, "the layers are", known.iter().copied());
            r.error(item.span, format!("there is no layer `{name}`"), help);
        }
    }
    found
}
