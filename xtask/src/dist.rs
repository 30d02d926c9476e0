//! What people install without a Rust toolchain: archives, npm packages and a wheel, built into `dist/`.
//!
//! The same commit gives the same bytes: times are the commit's, owners and order are fixed.

mod check;
mod npm;
mod targets;
mod tried;
mod wheel;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::shell;
use targets::Target;

const USAGE: &str = "\
usage: cargo xtask dist [--target NAME]… [--all] [--binary FILE]… [--quick] [--without-wheel] [--out DIR]
       cargo xtask dist try [DIR]
  --target NAME   build for that target instead of this machine's
  --all           build for every target that is shipped (needs Python for zig)
  --binary FILE   pack that program instead of building them, for this machine
  --quick         build without optimisation, to try the packages out
  --without-wheel build no wheel, which takes another release build
  --out DIR       write there instead of into `dist`; the directory is emptied first
  try             install the packages for this machine from DIR or `dist`, in homes of their own, and run them";

/// The release profile, for somebody who waits.
const QUICK: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
];

/// The version of everything.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where packages are put together, below the output directory.
const STAGE: &str = ".stage";

/// Builds everything and prints a table of sizes.
pub fn run(args: &[String]) -> Result<()> {
    match args {
        [chore] if chore == "try" => return tried::run(&shell::root().join("dist")),
        [chore, directory] if chore == "try" => return tried::run(&std::env::current_dir()?.join(directory)),
        _ => {}
    }
    let Options { targets, programs: given, quick, wheel, out } = options(args)?;
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty `{}`", out.display()))?;
    }
    fs::create_dir_all(&out)?;
    let release = Release::here(&out, quick)?;
    for target in &targets {
        let programs = if given.is_empty() { target.build(&release)? } else { given.clone() };
        for program in programs.iter().filter(|_| given.is_empty()) {
            println!("{}: {}", program.display(), check::program(&release, target, program)?);
        }
        archive(&release, target, &programs)?;
        npm::platform(&release, target, &programs)?;
        if wheel {
            wheel::build(&release, target, &programs)?;
        }
    }
    npm::root(&release)?;
    fs::remove_dir_all(out.join(STAGE))?;
    checksums(&out)?;
    table(&out)
}

struct Options {
    targets: Vec<&'static Target>,
    /// Those that were built already.
    programs: Vec<PathBuf>,
    quick: bool,
    wheel: bool,
    out: PathBuf,
}

fn options(args: &[String]) -> Result<Options> {
    let (mut chosen, mut programs, mut quick, mut wheel) = (Vec::new(), Vec::new(), false, true);
    let mut out = shell::root().join("dist");
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--all" => chosen.extend(targets::SHIPPED),
            "--target" => chosen.push(targets::named(args.next().context(USAGE)?)?),
            "--binary" => programs.push(std::env::current_dir()?.join(args.next().context(USAGE)?)),
            "--quick" => quick = true,
            "--without-wheel" => wheel = false,
            "--out" => out = std::env::current_dir()?.join(args.next().context(USAGE)?),
            _ => bail!("{USAGE}"),
        }
    }
    if chosen.is_empty() {
        chosen.push(targets::here()?);
    }
    if !programs.is_empty() && chosen.len() != 1 {
        bail!("`--binary` packs programs for one target");
    }
    Ok(Options { targets: chosen, programs, quick, wheel, out })
}

/// What every package of one release shares.
pub(crate) struct Release {
    out: PathBuf,
    /// Seconds since 1970 of the commit: the time on every packed file.
    epoch: String,
    quick: bool,
}

impl Release {
    fn here(out: &Path, quick: bool) -> Result<Self> {
        let epoch = shell::output("git", &["log", "-1", "--format=%ct"])?.trim().to_owned();
        Ok(Self { out: out.to_owned(), epoch, quick })
    }

    /// What every build gets in its environment.
    fn variables(&self) -> Result<Vec<(&'static str, OsString)>> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([targets::tools()?].into_iter().chain(std::env::split_paths(&path)))?;
        let mut variables = vec![
            ("PATH", path),
            ("SOURCE_DATE_EPOCH", OsString::from(&self.epoch)),
            ("CARGO_TARGET_DIR", shell::target().into_os_string()),
        ];
        if self.quick {
            variables.extend(QUICK.map(|(name, value)| (name, OsString::from(value))));
        }
        Ok(variables)
    }

    /// An empty directory to put a package together in.
    fn stage(&self, name: &str) -> Result<PathBuf> {
        let directory = self.out.join(STAGE).join(name);
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        Ok(directory)
    }

    /// Packs a directory, with the same bytes for the same content.
    fn pack(&self, parent: &Path, directory: &str, file: &str) -> Result<()> {
        let (plain, packed) = (self.out.join(format!("{file}.tar")), self.out.join(file));
        let mtime = format!("--mtime=@{}", self.epoch);
        let parent = parent.to_string_lossy();
        let plain_name = plain.to_string_lossy();
        let fixed = ["--sort=name", &mtime, "--owner=0", "--group=0", "--numeric-owner", "--mode=go-w"];
        let tar = [&fixed[..], &["-C", &parent, "-cf", &plain_name, directory]].concat();
        shell::run("tar", &tar)?;
        shell::run("gzip", &["-n9", &plain_name])?;
        fs::rename(plain.with_extension("tar.gz"), &packed)?;
        Ok(())
    }
}

/// Copies a file into a directory.
fn put(file: &Path, directory: &Path) -> Result<()> {
    let name = file.file_name().context("a file without a name")?;
    fs::copy(file, directory.join(name)).with_context(|| format!("cannot copy `{}`", file.display()))?;
    Ok(())
}

/// The archive of release pages: the programs, their licence, the page to read first.
fn archive(release: &Release, target: &Target, programs: &[PathBuf]) -> Result<()> {
    let name = format!("lictor-{}-{}", VERSION, target.name);
    let stage = release.stage("archive")?;
    let directory = stage.join(&name);
    fs::create_dir_all(&directory)?;
    for program in programs {
        put(program, &directory)?;
    }
    for file in ["README.md", "LICENSE", "CHANGELOG.md"] {
        put(&shell::root().join(file), &directory)?;
    }
    release.pack(&stage, &name, &format!("{name}.tar.gz"))
}

/// Checksums of everything, and a signature over them where a key was given in `LICTOR_SIGNING_KEY` (an SSH key).
fn checksums(out: &Path) -> Result<()> {
    let mut names = names(out)?;
    names.sort();
    let mut args: Vec<&str> = vec!["--"];
    args.extend(names.iter().map(String::as_str));
    let sums = shell::output_in(out, "sha256sum", &args)?;
    fs::write(out.join("SHA256SUMS"), sums)?;
    let Some(key) = std::env::var_os("LICTOR_SIGNING_KEY") else {
        println!("unsigned: set LICTOR_SIGNING_KEY to an SSH key file to sign SHA256SUMS");
        return Ok(());
    };
    let sums = out.join("SHA256SUMS");
    let (key, sums) = (key.to_string_lossy(), sums.to_string_lossy());
    shell::run("ssh-keygen", &["-Y", "sign", "-f", &key, "-n", "lictor-release", &sums])
}

fn table(out: &Path) -> Result<()> {
    let mut names = names(out)?;
    names.sort();
    println!("\n{:<60} {:>10}", "dist/", "bytes");
    for name in names {
        println!("{name:<60} {:>10}", fs::metadata(out.join(&name))?.len());
    }
    Ok(())
}

fn names(directory: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(directory)?.collect::<std::io::Result<Vec<_>>>()?;
    Ok(entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}
