//! `boundaries:`.

use lictor_core::Layer;
use lictor_guards::{FileBoundary, FileBoundaryConfig, RedLineMode};

use super::section::{BuiltIn, Section, share, value};
use crate::reader::Reader;
use crate::table::{Key, PATHS, Shape, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "boundaries",
        Shape::Fields(&TABLE),
        "{allowed_dirs: [src]}",
        "Where the agent may go. Guard `file_boundary`.",
    )],
    read: |r, file, said| said.boundaries = value(r, file, "boundaries", read),
    guards: &[BuiltIn {
        name: "file_boundary",
        section: "boundaries",
        layer: Layer::Boundary,
        configured: |said| said.boundaries.is_some(),
        build: |layer| {
            let root = &layer.env.root;
            share(layer.sections.boundaries.as_ref().map(|config| FileBoundary::new(config, root)))
        },
        last: false,
    }],
};

pub(crate) static TABLE: Table = Table {
    name: "boundaries",
    about: "Where the agent may go. Paths are relative to the project's root. A red line wins over everything, a \
            blocked path over an allowed directory.",
    keys: &[
        Key::new(
            "allowed_dirs",
            PATHS,
            "[src, tests, docs]",
            "Directories in which everything is allowed. Absent: everywhere. Empty: nowhere. No globs.",
        ),
        Key::new(
            "red_line_files",
            PATHS,
            "[src/auth/handler.py, \"**/.env*\"]",
            "Files that must not be touched at all, not even read. Globs are fine.",
        ),
        Key::new(
            "blocked_paths",
            PATHS,
            "[vendor]",
            "Paths that are not allowed although an allowed directory holds them.",
        ),
        Key::new(
            "red_line_mode",
            Shape::Word(&["all", "write"]),
            "write",
            "What a red line forbids. `all` when it is not said; `write` lets them be read.",
        ),
    ],
};

pub(crate) fn read(r: &mut Reader<'_>, tree: &Tree) -> Option<FileBoundaryConfig> {
    let f = r.fields(tree, &TABLE)?;
    Some(FileBoundaryConfig {
        allowed_dirs: r.field(&f, "allowed_dirs", |r, tree, what| r.each(tree, what, directory)),
        red_line_files: r.field(&f, "red_line_files", Reader::paths).unwrap_or_default(),
        blocked_paths: r.field(&f, "blocked_paths", Reader::paths).unwrap_or_default(),
        red_line_mode: r
            .field(&f, "red_line_mode", |r, tree, what| {
                r.choice(tree, what, &[("all", RedLineMode::All), ("write", RedLineMode::Write)])
            })
            .unwrap_or_default(),
    })
}

fn directory(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<String> {
    let path = r.path(tree, what)?;
    if path.contains(['*', '?', '[', '{']) {
        let plain = path.split(['*', '?', '[', '{']).next().unwrap_or_default().trim_end_matches('/');
        let help = if plain.is_empty() {
            "name the directories".to_owned()
        } else {
            format!("a directory stands for all it holds: write `{plain}`")
        };
        r.error(tree.span, format!("{what} takes directories, not globs"), help);
        return None;
    }
    Some(path)
}
