//! Any text is a patch with paths, or an error with a message; never a patch that names nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lictor_shell::patch::read_patch;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match read_patch(text) {
        Ok(effects) => {
            assert!(!effects.is_empty());
            assert!(effects.iter().all(|effect| !effect.path.is_empty()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
