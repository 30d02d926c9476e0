//! How long parsing takes: `cargo bench -p lictor-shell --bench read`.
//!
//! First asserts that the measured operations give the right results, then prints medians for typical and hostile
//! texts.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../tests/support/render.rs"]
mod render;

use std::hint::black_box;
use std::time::{Duration, Instant};

use render::World;

/// A command of about 200 bytes, as agents write them.
const TYPICAL: &str = "cd /home/user/project && export RUST_LOG=debug && cargo build --release 2>&1 | tail -n 40; \
     git add -A && git commit -m \"fix: the parser\" && rm -rf target/tmp/$USER || echo 'failed to build' >> build.log";

/// Median and fastest time. On a busy machine the second says more about long texts.
fn times(text: &str, rounds: usize) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(lictor_shell::read(black_box(text), &World));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    (times.get(rounds / 2).copied().unwrap_or_default(), times.first().copied().unwrap_or_default())
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

fn print(name: &str, text: &str, rounds: usize) {
    let (median, fastest) = times(text, rounds);
    let each = fastest.as_nanos() as f64 / text.len().max(1) as f64;
    println!("{:>10} bytes  {median:>12.1?}  {fastest:>12.1?}  {each:>8.1} ns/byte  {name}", text.len());
}

/// Inline code whose functions call each other.
fn code(functions: usize) -> String {
    let mut body = String::from("import os, sys\nx = os.path.join('out', 'a')\n");
    for at in 0..functions {
        body.push_str(&format!("def f{at}(a, b='x'):\n    c = a + b\n    return f{}(c)\n", at + 1));
    }
    body.push_str("print(open(x).read())\nf0('y')\n");
    format!("python3 - <<'EOF'\n{body}EOF\n")
}

fn main() {
    check();
    println!("{:>16}  {:>12}  {:>12}", "", "median", "fastest");
    print("a typical command", TYPICAL, 2001);
    print("ls", "ls", 2001);
    println!("\ngrowth");
    let script = format!("{TYPICAL}\n").repeat(256 * 1024 / TYPICAL.len() + 1);
    for size in [1, 10, 100, 256] {
        let text: String = script.chars().take(size * 1024).collect();
        print("typical commands", &text, if size > 50 { 31 } else { 201 });
    }
    println!("\ninline code");
    for count in [0, 1, 10, 100] {
        print(&format!("Python with {count} functions"), &code(count), 201);
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
        (
            "a function that runs what defines it",
            "cat >> ~/.x <<'E'\npython() {\n rm -rf ~/x\n command python \"$@\"\n}\nE\n".to_owned(),
        ),
        ("100 KiB of braces", "{a,b}".repeat(20_000)),
        ("100 KiB of here-documents", "cat <<E\na\nE\n".repeat(9_000)),
    ];
    for (name, text) in hostile {
        print(name, &text, 11);
    }
}
