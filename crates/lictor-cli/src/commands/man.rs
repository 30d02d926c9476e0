//! `lictor man`: manual pages, generated from the `--help` texts.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use clap_mangen::Man;

use crate::exit::{self, Exit};
use crate::output;

/// Print a manual page, or write all of them into a directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lictor man | man -l -
  lictor man audit query | man -l -
  lictor man --dir ~/.local/share/man/man1")]
pub struct ManArgs {
    /// The command; without one, `lictor` itself.
    command: Vec<String>,
    /// Write the pages of all commands into this directory.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &ManArgs, mut cli: clap::Command) -> Result<Exit> {
    cli.build();
    if let Some(directory) = &args.dir {
        fs::create_dir_all(directory).with_context(|| format!("cannot create `{}`", directory.display()))?;
        let written = write_all(&cli, "lictor", directory)?;
        output::print(&format!("wrote {}\n", output::count(written, "page")))?;
        return Ok(Exit::Ok);
    }
    let mut name = "lictor".to_owned();
    let mut wanted = &cli;
    for word in &args.command {
        wanted = wanted.find_subcommand(word).ok_or_else(|| {
            let near = crate::cli::nearest(wanted, word);
            exit::usage(format!("there is no command `{}`; {near}", args.command.join(" ")))
        })?;
        name = format!("{name}-{word}");
    }
    output::print_exact(&page(wanted, &name)?)?;
    Ok(Exit::Ok)
}

fn page(command: &clap::Command, name: &str) -> Result<String> {
    let mut text = Vec::new();
    let source = concat!("lictor ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).title(name).source(source).manual("Lictor").render(&mut text)?;
    Ok(String::from_utf8(text)?)
}

fn write_all(command: &clap::Command, name: &str, directory: &std::path::Path) -> Result<u64> {
    let file = directory.join(format!("{name}.1"));
    fs::write(&file, page(command, name)?).with_context(|| format!("cannot write `{}`", file.display()))?;
    let mut written = 1;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        written += write_all(sub, &format!("{name}-{}", sub.get_name()), directory)?;
    }
    Ok(written)
}
