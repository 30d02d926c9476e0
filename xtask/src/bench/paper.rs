//! `docs/benchmarks.md`: figures go between the marks of their section, with where they come from.

use std::fs;

use anyhow::{Context as _, Result};

use crate::shell;

const PAPER: &str = "docs/benchmarks.md";

/// Replaces what a section says.
pub fn write(section: &str, figures: &str) -> Result<()> {
    let file = shell::root().join(PAPER);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{PAPER}`"))?;
    let changed = replaced(&text, section, &format!("{}\n\n{}", origin()?, figures.trim()))
        .with_context(|| format!("`{PAPER}` has no section `<!-- bench:{section} -->`"))?;
    fs::write(&file, changed)?;
    println!("wrote the figures of `{section}` to {PAPER}");
    Ok(())
}

fn replaced(text: &str, section: &str, figures: &str) -> Option<String> {
    let (open, close) = (format!("<!-- bench:{section} -->"), format!("<!-- /bench:{section} -->"));
    let (before, rest) = text.split_once(&open)?;
    let (_, after) = rest.split_once(&close)?;
    Some(format!("{before}{open}\n{figures}\n{close}{after}"))
}

/// The commit of the work tree, and whether anything but the figures themselves differs from it.
pub fn commit() -> Result<String> {
    let commit = shell::output("git", &["rev-parse", "--short", "HEAD"])?;
    let changes = shell::output("git", &["status", "--porcelain", "--", ".", ":!docs"])?;
    let changed = if changes.trim().is_empty() { "" } else { " with changes that are not committed" };
    Ok(format!("`{}`{changed}", commit.trim()))
}

/// What was measured where: figures without it cannot be compared with anything.
fn origin() -> Result<String> {
    let one_line =
        |program: &str, args: &[&str]| shell::output(program, args).map(|text| text.trim().to_owned());
    let date = one_line("date", &["--utc", "+%Y-%m-%d"])?;
    let system = one_line("uname", &["-sr"])?;
    let rustc = one_line("rustc", &["--version"])?;
    let rustc = rustc.split(" (").next().unwrap_or_default();
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    Ok(format!(
        "Commit {}, {date}: {model}, {cores} cores, {system}, {rustc}; load when it ended: {load}.{}",
        commit()?,
        quicker_build()
    ))
}

/// A build that somebody has made quicker makes slower programs.
fn quicker_build() -> &'static str {
    let said = std::env::var("CARGO_PROFILE_RELEASE_LTO").unwrap_or_default();
    if matches!(said.as_str(), "off" | "false" | "thin") {
        " Built without link-time optimisation."
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let text =
            "a\n<!-- bench:x -->\nold\n<!-- /bench:x -->\nb\n<!-- bench:y -->\nkept\n<!-- /bench:y -->\n";
        let changed = replaced(text, "x", "new").unwrap_or_default();
        assert_eq!(changed, text.replace("old", "new"));
        assert_eq!(replaced(&changed, "x", "new"), Some(changed));
        assert_eq!(replaced(text, "z", "new"), None);
    }
}
