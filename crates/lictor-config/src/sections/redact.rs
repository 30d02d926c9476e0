//! `redact:`.

use super::section::Section;
use crate::reader::Reader;
use crate::table::{Key, REGEXES};
use crate::yaml::Tree;

/// Text that is redacted from records.
pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "redact",
        REGEXES,
        "['token=\\S+']",
        "Text that is left out of the record, of questions and of answers, beyond what Lictor knows as secrets; \
             `[redacted]` stands there instead. Decisions are made on the real text.",
    )],
    read: |r, file, said| said.redact = r.field(file, "redact", redact).unwrap_or_default(),
    guards: &[],
};

fn redact(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<Vec<String>> {
    r.each(tree, what, |r, item, what| {
        let pattern = r.regex(item, what)?;
        if let Some(word) = crate::redact::word_of_the_record(&pattern) {
            r.error(
                item.span,
                format!("this is found in `{word}`, a word that the record itself is written in"),
                "say more of what stands around it, for example `token=\\S+`",
            );
            return None;
        }
        Some(pattern)
    })
}
