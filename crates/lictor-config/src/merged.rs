//! Where each setting comes from.

use serde::Serialize;

use crate::load::Loaded;
use crate::policy::BASE;
use crate::source::Origin;
use crate::yaml::{Tree, Yaml};

/// One setting of the current policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The setting: `boundaries.red_line_files[0]`.
    pub path: String,
    /// Its value, as one line.
    pub value: String,
    /// The origin of its file; `None` for built-in settings.
    pub origin: Option<Origin>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// Sections in which a stronger file overrides the weaker ones completely.
const FIRST_WORD_COUNTS: [&str; 2] = ["mode", "store"];

impl Loaded {
    /// Every active setting, with its file and line. All files count together: a later file adds to the earlier
    /// ones.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        if !self.policy.trusted().any(|layer| layer.sections.extends.is_some()) {
            settings.push(Setting {
                path: "extends".to_owned(),
                value: BASE.to_owned(),
                origin: None,
                file: None,
                line: None,
            });
        }
        for file in &self.files {
            let Yaml::Map(sections) = &file.tree.value else { continue };
            for (key, tree) in sections {
                let known = crate::sections::FILE.key(&key.text);
                let ignored = known.is_some_and(|known| known.trusted) && file.origin == Origin::Repository;
                let said = FIRST_WORD_COUNTS.contains(&key.text.as_str())
                    && settings.iter().any(|setting| setting.path == key.text);
                if !ignored && !said && key.text != "version" {
                    collect(tree, key.text.clone(), &mut |path, value, line| {
                        settings.push(Setting {
                            path,
                            value,
                            origin: Some(file.origin),
                            file: Some(file.path.clone()),
                            line: Some(line),
                        });
                    });
                }
            }
        }
        settings
    }
}

fn collect(tree: &Tree, path: String, add: &mut impl FnMut(String, String, usize)) {
    match &tree.value {
        Yaml::Scalar { text, .. } => {
            let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            add(path, shown, tree.span.line);
        }
        Yaml::List(items) if items.is_empty() => add(path, "[]".to_owned(), tree.span.line),
        Yaml::Map(entries) if entries.is_empty() => add(path, "{}".to_owned(), tree.span.line),
        Yaml::List(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{path}[{index}]"), add);
            }
        }
        Yaml::Map(entries) => {
            for (key, value) in entries {
                collect(value, format!("{path}.{}", key.text), add);
            }
        }
    }
}
