//! Measures how long a new process takes to read a policy: from YAML, and from its stored form.
//!
//! `cargo run --release -p lictor-config --example cold_load`

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lictor_config::{Asked, BuildEnv, Origin, PolicyBundle, Runner, Source, load};

struct Nobody;

impl Runner for Nobody {
    fn run(&self, _: &Asked<'_>, _: &[u8]) -> Result<Vec<u8>, String> {
        Err("nobody answers".to_owned())
    }
}

/// A file with a hundred rules.
fn hundred_rules() -> String {
    let mut text = String::from("bash_safety:\n  blocked_patterns:\n");
    for index in 0..60 {
        let _ = writeln!(text, "    - 'tool{index}\\s+--force\\b'");
    }
    text += "boundaries:\n  red_line_files:\n";
    for index in 0..20 {
        let _ = writeln!(text, "    - \"src/secret{index}/**\"");
    }
    text += "guards:\n";
    for index in 0..20 {
        let _ = writeln!(
            text,
            "  g{index}: {{expr: 'action.kind != \"bash\" || risk <= 0.{index:02}1', reason: r, fix: f}}"
        );
    }
    let names: Vec<String> = (0..20).map(|index| format!("g{index}")).collect();
    let _ = writeln!(text, "policy: {{all: [{}]}}", names.join(", "));
    text
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn time<T>(rounds: usize, mut work: impl FnMut() -> T) -> Duration {
    let run = |_| {
        let start = Instant::now();
        let _kept = work();
        start.elapsed()
    };
    median((0..rounds).map(run).collect())
}

#[expect(clippy::print_stdout, reason = "a program that reports what it measured")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source =
        Source { origin: Origin::Repository, path: "g.yaml".to_owned(), bytes: hundred_rules().into_bytes() };
    let sources = [source];
    let policy = load(&sources)?.policy;
    let seal = |parts: &[&[u8]]| lictor_core::Digest::of_parts(parts.iter().copied());
    let stored = policy.to_cache(&sources, seal).ok_or("not storable")?;
    let env = BuildEnv { root: "/p".to_owned(), runner: Arc::new(Nobody) };
    assert!(PolicyBundle::from_cache(&stored, &sources, seal).is_some());
    println!("yaml      {:>9.1?}", time(50, || load(&sources)));
    println!("key       {:>9.1?}", time(2000, || PolicyBundle::key_of(&sources)));
    println!("stored    {:>9.1?}", time(2000, || PolicyBundle::from_cache(&stored, &sources, seal)));
    println!(
        "graph     {:>9.1?}",
        time(2000, || policy.build(&env).map(|built| lictor_core::Graph::new(built.root)))
    );
    println!("bytes     {:>9}", stored.len());
    Ok(())
}
