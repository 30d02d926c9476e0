//! Any bytes are one message, which is written anew as the same message, or an error with words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lictor_mcp::Message;

fuzz_target!(|data: &[u8]| {
    match Message::parse(data) {
        Ok(message) => {
            let line = message.to_line();
            assert_eq!(line.matches('\n').count(), 1);
            assert_eq!(Message::parse(line.as_bytes()).as_ref(), Ok(&message));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
