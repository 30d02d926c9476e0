//! A PostgreSQL cluster of the run's own, on a socket in its directory. It runs outside of the namespace, since it refuses to
//! run as root, and is reached by the socket's path.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::shell;

#[path = "../../../crates/lictor-store/tests/postgres/programs.rs"]
mod programs;

/// Has no rights of its own.
const NOBODY: u32 = 65534;

/// A cluster that ends with its owner.
pub struct Database(Child);

/// Where the socket is.
pub fn directory() -> PathBuf {
    shell::target().join("mcp/cluster")
}

impl Database {
    /// Makes a fresh cluster and waits until it answers.
    pub fn start() -> Result<Self> {
        let directory = directory();
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        let root = shell::output("id", &["-u"])?.trim() == "0";
        if root {
            chown(&directory, Some(NOBODY), Some(NOBODY))?;
        }
        let programs =
            programs::programs().context("there is no PostgreSQL here: `cargo xtask setup` installs it")?;
        let command = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command.current_dir(&directory).env_clear().env("LC_ALL", "C").stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            if root {
                command.uid(NOBODY).gid(NOBODY);
            }
            command
        };
        let made = command("initdb")
            .args(["--no-sync", "--auth=trust", "--username=owner", "--encoding=UTF8", "-D", "data"])
            .status()?;
        if !made.success() {
            bail!("`initdb` failed: {made}");
        }
        let socket = format!("unix_socket_directories={}", directory.display());
        let server =
            command("postgres").args(["-D", "data", "-c", "listen_addresses=", "-c", &socket]).spawn()?;
        let started = Self(server);
        for _ in 0..300 {
            if UnixStream::connect(directory.join(".s.PGSQL.5432")).is_ok() {
                return Ok(started);
            }
            thread::sleep(Duration::from_millis(100));
        }
        bail!("the cluster in `{}` does not answer", directory.display())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
