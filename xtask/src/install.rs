//! From a fresh clone to a governed repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::release;

/// Builds the binary (or takes `--binary FILE`), puts it into `~/.local/bin` (or `--to DIR`) and runs `lictor init` with
/// all other arguments, in the directory that the chore was called in (or `--repo DIR`).
pub fn run(args: &[String]) -> Result<()> {
    let (mut binary, mut to, mut repository, mut rest) = (None, None, PathBuf::from("."), Vec::new());
    let mut server = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--binary" => binary = Some(PathBuf::from(args.next().context("`--binary` needs a file")?)),
            "--to" => to = Some(PathBuf::from(args.next().context("`--to` needs a directory")?)),
            "--repo" => repository = PathBuf::from(args.next().context("`--repo` needs a directory")?),
            "--server" => server = true,
            _ => rest.push(arg.as_str()),
        }
    }
    let directory = match to {
        Some(directory) => env::current_dir()?.join(directory),
        None => {
            let home = env::var_os("HOME").filter(|home| !home.is_empty());
            PathBuf::from(home.context("HOME is not set; name a directory: `--to DIR`")?).join(".local/bin")
        }
    };
    let built = binary.map_or_else(release::build, Ok)?;
    let binary = put(&built, &directory, "lictor")?;
    println!("installed {}", binary.display());
    if server {
        println!("installed {}", put(&release::server()?, &directory, "lictor-server")?.display());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    if !env::split_paths(&path).any(|known| known == directory) {
        println!("`{}` is not on your PATH; hooks do not need it, you do", directory.display());
    }
    let status = Command::new(&binary).arg("init").args(&rest).current_dir(&repository).status()?;
    match status.code() {
        Some(0) => Ok(()),
        // `init` has said what to do.
        Some(1 | 3) => Ok(()),
        _ => bail!("`lictor init` failed with {status}"),
    }
}

/// Replaces a binary that may be running.
fn put(binary: &Path, directory: &Path, name: &str) -> Result<PathBuf> {
    fs::create_dir_all(directory).with_context(|| format!("cannot create `{}`", directory.display()))?;
    let (half, whole) = (directory.join(format!(".{name}.new")), directory.join(name));
    fs::copy(binary, &half).with_context(|| format!("cannot write `{}`", half.display()))?;
    fs::rename(&half, &whole).with_context(|| format!("cannot write `{}`", whole.display()))?;
    Ok(whole)
}
