//! Any text is read, within bounds, and a deletion behind it on a line of its own is never hidden without a word.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lictor_core::facts::Access;
use lictor_shell::{Effect, Reading, Surroundings};

struct Nothing;

impl Surroundings for Nothing {
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
    fn home_of(&self, _user: &str) -> Option<String> {
        None
    }
    fn git_alias(&self, _name: &str) -> Option<String> {
        None
    }
    fn script(&self, _path: &str) -> Option<String> {
        None
    }
}

/// Whether the reading either sees the deletion or says that it does not understand everything.
fn is_honest(reading: &Reading) -> bool {
    let deletes = reading.effects.iter().any(|effect| {
        matches!(effect, Effect::File { access: Access::Delete, target, .. } if target.arg.known() == Some("/lictor"))
    });
    deletes || !reading.opaque.is_empty()
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = lictor_shell::read(text, &Nothing);
    // Text may turn the line into data (an open here-document) or take `rm` over (a function, an alias).
    if text.contains("<<") || text.contains("rm") || text.contains('(') || text.ends_with('\\') {
        return;
    }
    let reading = lictor_shell::read(&format!("{text}\nrm /lictor\n"), &Nothing);
    assert!(is_honest(&reading), "{text:?}");
});
