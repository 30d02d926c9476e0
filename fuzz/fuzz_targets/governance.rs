//! Any text is a policy that makes a graph and comes back from its stored form, or is refused with places inside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lictor_config::{Origin, PolicyBundle, Severity, Source, load};

fuzz_target!(|data: &[u8]| {
    let Some((whose, text)) = data.split_first() else { return };
    let origin = [Origin::Repository, Origin::User, Origin::Managed][usize::from(*whose) % 3];
    let sources = [Source { origin, path: "governance.yaml".to_owned(), bytes: text.to_owned() }];
    match load(&sources) {
        Ok(loaded) => {
            let _ = loaded.check();
            let built = loaded
                .policy
                .build(&lictor_fuzz::around("/project"))
                .expect("an accepted policy makes a graph");
            lictor_core::Graph::new(built.root).expect("and the graph is sound");
            let seal = |parts: &[&[u8]]| lictor_core::Digest::of_parts(parts.iter().copied());
            let bytes = loaded.policy.to_cache(&sources, seal).expect("a policy can be stored");
            let stored = PolicyBundle::from_cache(&bytes, &sources, seal).expect("what was stored comes back");
            assert_eq!(stored.to_cache(&sources, seal), Some(bytes));
        }
        Err(refused) => {
            assert!(refused.diagnostics.iter().any(|problem| problem.severity == Severity::Error));
            // For YAML a carriage return ends a line too.
            let lines = text.split(|byte| matches!(byte, b'\n' | b'\r')).count();
            for problem in refused.diagnostics {
                assert!(!problem.message.is_empty());
                assert!(problem.render(&String::from_utf8_lossy(text)).contains(&problem.message));
                assert!((1..=lines + 1).contains(&problem.span.line), "{problem:?} in {lines} lines");
            }
        }
    }
});
