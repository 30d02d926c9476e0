//! The reference page is correct: each line of its `expr` blocks is `expression → result`, each `refused` block
//! an expression and its errors.

const PAGE: &str = include_str!("../../../../docs/expressions.md");

/// The lines of the code blocks with this label.
fn blocks(label: &str) -> Vec<Vec<&'static str>> {
    let mut found = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        if line == format!("```{label}") {
            found.push(lines.by_ref().take_while(|line| *line != "```").collect());
        }
    }
    found
}

#[test]
fn examples_hold() {
    let env = super::environment();
    let mut checked = 0;
    for line in blocks("expr").into_iter().flatten().filter(|line| !line.trim().is_empty()) {
        let (source, want) = line.split_once('→').expect(line);
        let (source, want) = (source.trim(), want.trim());
        let program = super::compile_shown(source).unwrap_or_else(|errors| panic!("{errors}"));
        let found = match program.evaluate(&env) {
            Ok(value) => value.to_string(),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(found, want, "{source}");
        checked += 1;
    }
    assert!(checked >= 40, "only {checked} examples");
}

#[test]
fn history_examples_compile() {
    let lines: Vec<&str> = blocks("history").into_iter().flatten().collect();
    assert!(lines.len() >= 6, "only {} examples", lines.len());
    for line in lines {
        let source = line.split("  #").next().unwrap_or_default().trim();
        let program = super::compile_shown(source).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(!program.history().is_empty(), "{source}");
    }
}

#[test]
fn refused_examples_are_refused() {
    let blocks = blocks("refused");
    assert!(blocks.len() >= 2, "only {} examples", blocks.len());
    for block in blocks {
        let shown = block.join("\n");
        assert_eq!(super::compile_shown(block[0]).err(), Some(shown));
    }
}

#[test]
fn the_limits_are_the_ones_in_the_code() {
    use lictor_expr::limits::{MAX_DEPTH, MAX_NODES, MAX_SOURCE, STEP_BUDGET};
    for limit in [MAX_SOURCE, MAX_NODES, MAX_DEPTH, STEP_BUDGET as usize] {
        let shown = limit.to_string();
        assert!(PAGE.lines().any(|line| line.starts_with('|') && line.contains(&shown)), "{shown}");
    }
}
