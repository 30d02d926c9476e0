//! Splits a page into sections and fenced blocks.

/// The part of a page under one `##` heading.
pub struct Section {
    pub title: String,
    pub blocks: Vec<Block>,
}

/// One fenced block.
pub struct Block {
    pub language: String,
    pub text: String,
    pub line: usize,
    /// Why it is not run.
    pub skipped: Option<String>,
}

pub fn sections(page: &str) -> Vec<Section> {
    let mut sections = vec![Section { title: "top".to_owned(), blocks: Vec::new() }];
    let mut open: Option<Block> = None;
    let mut skip = None;
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => sections.last_mut().unwrap().blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(language)) => {
                open = Some(Block {
                    language: language.trim().to_owned(),
                    text: String::new(),
                    line: index + 1,
                    skipped: skip.take(),
                });
            }
            (None, None) => {
                if let Some(title) = line.strip_prefix("## ") {
                    sections.push(Section { title: title.to_owned(), blocks: Vec::new() });
                } else if let Some(why) = line.strip_prefix("<!-- not run: ") {
                    skip = Some(why.trim_end_matches(" -->").to_owned());
                }
            }
        }
    }
    assert!(open.is_none(), "a fenced block is not closed");
    sections
}

/// The file that a block names in its first line, and the rest; `otherwise` when it names none.
pub fn named<'a>(text: &'a str, otherwise: &str) -> (String, &'a str) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    match first.strip_prefix("# ") {
        Some(name) if !name.contains(' ') && name.contains(['.', '/']) => (name.to_owned(), rest),
        _ => (otherwise.to_owned(), text),
    }
}
