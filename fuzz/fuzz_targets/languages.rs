//! Any body in any language is read within bounds: no panic, no overflow, and a body over the limit says so.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lictor_shell::Nowhere;
use lictor_shell::Cwd;
use lictor_shell::call::{Call, Report, Stdin};

const LANGUAGES: [&str; 10] =
    ["python", "javascript", "typescript", "perl", "ruby", "php", "lua", "awk", "sql", "other"];

fuzz_target!(|data: &[u8]| {
    let Some((which, body)) = data.split_first() else { return };
    let Ok(body) = std::str::from_utf8(body) else { return };
    let language = LANGUAGES[usize::from(*which) % LANGUAGES.len()];
    let mut report = Report::default();
    let call = Call {
        program: language,
        path: language,
        args: &[],
        cwd: &Cwd::Start,
        stdin: &Stdin::Inherited,
        assignments: &[],
        env: &Nowhere,
    };
    lictor_shell::languages::judge(language, body, &call, &mut report);
    let scan = lictor_shell::languages::scan(language, body);
    assert!(scan.complete || scan.imports.len() < 1 << 20);
});
