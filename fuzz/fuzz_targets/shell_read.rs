//! Any text is read, within bounds, and a deletion behind it on a line of its own is never hidden without a word.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lictor_core::facts::Access;
use lictor_shell::Nowhere;
use lictor_shell::{Effect, Reading};

/// Whether the reading either sees the deletion or says that it does not understand everything.
fn is_honest(reading: &Reading) -> bool {
    let deletes = reading.effects.iter().any(|effect| {
        matches!(effect, Effect::File { access: Access::Delete, target, .. } if target.arg.known() == Some("/lictor"))
    });
    deletes || !reading.opaque.is_empty()
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = lictor_shell::read(text, &Nowhere);
    // Text may turn the line into data (an open here-document) or take `rm` over (a function, an alias).
    if text.contains("<<") || text.contains("rm") || text.contains('(') || text.ends_with('\\') {
        return;
    }
    let reading = lictor_shell::read(&format!("{text}\nrm /lictor\n"), &Nowhere);
    assert!(is_honest(&reading), "{text:?}");
});
