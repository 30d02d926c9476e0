//! How long reading takes: `cargo bench -p lictor-shell --bench read`.
//!
//! First asserts that what it times gives the right answers, then prints medians for typical and hostile texts.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../tests/support/render.rs"]
mod render;

use std::hint::black_box;
use std::time::{Duration, Instant};

use render::World;

/// A command of about 200 bytes, as agents write them.
const TYPICAL: &str = "cd /home/user/project && export RUST_LOG=debug && cargo build --release 2>&1 | tail -n 40; \
     git add -A && git commit -m \"fix: the parser\" && rm -rf target/tmp/$USER || echo 'failed to build' >> build.log";

fn median(text: &str, rounds: usize) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(lictor_shell::read(black_box(text), &World));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(rounds / 2).copied().unwrap_or_default()
}

fn check() {
    let lines = render::render(&lictor_shell::read(TYPICAL, &World), false);
    assert!(lines.iter().any(|line| line.starts_with("delete -r target/tmp/user")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("opaque")), "{lines:?}");
    assert!(
        lines.iter().all(|line| !line.is_empty() && (render::is_of_the_reader(line) || line.contains(' ')))
    );
    let lines = render::render(&lictor_shell::read(&"(".repeat(10_000), &World), false);
    assert!(lines.iter().any(|line| line == "opaque limit"), "{lines:?}");
}

fn main() {
    check();
    println!("{:>10} bytes  {:>12?}  a typical command", TYPICAL.len(), median(TYPICAL, 2001));
    println!("{:>10} bytes  {:>12?}  ls", 2, median("ls", 2001));
    let script = |size: usize| format!("{TYPICAL}\n").repeat(size / TYPICAL.len() + 1);
    println!("\ngrowth");
    for size in [1, 10, 100, 256] {
        let text: String = script(size * 1024).chars().take(size * 1024).collect();
        let time = median(&text, if size > 50 { 11 } else { 101 });
        println!(
            "{:>10} bytes  {:>12?}  {:>8.1} ns/byte",
            text.len(),
            time,
            time.as_nanos() as f64 / text.len() as f64
        );
    }
    println!("\nhostile");
    let hostile = [
        ("10 000 open parentheses", "(".repeat(10_000)),
        ("10 000 open substitutions", "$(".repeat(10_000)),
        ("10 000 open conditions", "if ".repeat(10_000)),
        ("a line of 10 MiB", "a ".repeat(5 << 20)),
        ("10 MiB of short commands", "a;".repeat(5 << 20)),
        ("nested loops", format!("{}a{}", "for i in 1 2 3 4 5 6 7 8; do ".repeat(20), "; done".repeat(20))),
        ("a value that doubles", format!("x=aa; {}echo $x", "x=$x$x; ".repeat(100))),
        ("100 KiB of braces", "{a,b}".repeat(20_000)),
        ("100 KiB of here-documents", "cat <<E\na\nE\n".repeat(9_000)),
    ];
    for (name, text) in hostile {
        println!("{:>10} bytes  {:>12?}  {name}", text.len(), median(&text, 5));
    }
}
