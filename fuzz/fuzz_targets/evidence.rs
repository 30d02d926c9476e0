//! Any text is evidence that says the same when it is read again, or an error with a message; and any text is a list
//! of findings or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lictor_ledger::Evidence;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Evidence::parse(text) {
        Ok(evidence) => {
            assert!(text.starts_with(&evidence.file) && text.ends_with(&evidence.note));
            assert!(evidence.column.is_none() || evidence.line.is_some());
            assert!(evidence.line.is_some() || evidence.file == text);
            let again =
                Evidence::parse(&format!("{evidence}:{}", evidence.note)).expect("it was read before");
            if evidence.line.is_some() {
                assert_eq!(
                    (again.file, again.line, again.note),
                    (evidence.file, evidence.line, evidence.note)
                );
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let _ = lictor_ledger::jsonl::read(text, "reviewer");
    let _ = lictor_ledger::sarif::import(text, None, None);
});
