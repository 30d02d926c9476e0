//! Prints what a command does: `cargo run -p lictor-shell --example facts -- 'rm -rf /'`.
#![expect(clippy::print_stdout, reason = "printing is what an example is for")]

#[path = "../tests/support/render.rs"]
mod render;

fn main() {
    for text in std::env::args().skip(1) {
        let reading = lictor_shell::read(&text, &render::World);
        println!("$ {text}");
        for line in render::render(&reading, true) {
            let mark = if render::is_of_the_reader(&line) { ' ' } else { '·' };
            println!("  {mark} {line}");
        }
    }
}
