//! A PostgreSQL server for the test: a new cluster in a temporary directory, on a socket in it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lictor_store::{PostgresOptions, PostgresPool};
use tempfile::TempDir;

#[path = "programs.rs"]
mod programs;

/// The server refuses to run as root; the user `nobody` has no privileges.
const NOBODY: u32 = 65534;

const MISSING: &str = "these tests need PostgreSQL 13 or newer: `apt-get install postgresql` (or `dnf install \
    postgresql-server`, `brew install postgresql`); nothing of an installed cluster is touched";

pub(crate) struct Cluster {
    programs: PathBuf,
    directory: TempDir,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let cluster =
            Self { programs: programs::programs().expect(MISSING), directory: tempfile::tempdir().unwrap() };
        fs::set_permissions(cluster.path(), Permissions::from_mode(0o755)).unwrap();
        if rustix::process::getuid().is_root() {
            chown(cluster.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let data = cluster.path().join("data");
        cluster.run(
            "initdb",
            &["--no-sync", "--auth=trust", "--username=owner", "--encoding=UTF8", "-D"],
            &data,
        );
        let settings = format!(
            "listen_addresses = ''\nunix_socket_directories = '{}'\nmax_connections = 120\n",
            cluster.path().display()
        );
        let file = data.join("postgresql.conf");
        let before = fs::read_to_string(&file).unwrap();
        fs::write(&file, before + &settings).unwrap();
        cluster.up();
        cluster
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.path()).env_clear().env("LC_ALL", "C").stdin(Stdio::null());
        if rustix::process::getuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn run(&self, program: &str, arguments: &[&str], data: &Path) {
        let log = self.path().join("commands.log");
        let out = fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let errors = out.try_clone().unwrap();
        let status =
            self.command(program).args(arguments).arg(data).stdout(out).stderr(errors).status().unwrap();
        let server = fs::read_to_string(self.path().join("server.log")).unwrap_or_default();
        assert!(status.success(), "{program}: {}{server}", fs::read_to_string(&log).unwrap_or_default());
    }

    /// Starts the server and waits until it answers.
    pub(crate) fn up(&self) {
        let log = self.path().join("server.log");
        let log = log.to_string_lossy();
        self.run("pg_ctl", &["--wait", "--timeout=60", "-l", &log, "start", "-D"], &self.data());
    }

    /// As an operator does: clients are notified.
    pub(crate) fn restart(&self) {
        self.run("pg_ctl", &["stop", "--mode=fast", "--wait", "-D"], &self.data());
        self.up();
    }

    /// Restarts it on a loopback port with TLS only; returns the port.
    pub(crate) fn over_tls(&self, certificate: &Path, key: &Path) -> u16 {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let data = self.data();
        for (from, to) in [(certificate, "server.crt"), (key, "server.key")] {
            let to = data.join(to);
            fs::copy(from, &to).unwrap();
            fs::set_permissions(&to, Permissions::from_mode(0o600)).unwrap();
            if rustix::process::getuid().is_root() {
                chown(&to, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        let file = data.join("postgresql.conf");
        let settings = format!("listen_addresses = '127.0.0.1'\nport = {port}\nssl = on\n");
        fs::write(&file, fs::read_to_string(&file).unwrap() + &settings).unwrap();
        fs::write(data.join("pg_hba.conf"), "local all all trust\nhostssl all all 127.0.0.1/32 trust\n")
            .unwrap();
        self.restart();
        port
    }

    /// As a crash would: no shutdown, no last checkpoint.
    pub(crate) fn kill(&self) {
        let file = self.data().join("postmaster.pid");
        let pid: i32 = fs::read_to_string(&file).unwrap().lines().next().unwrap().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        // The children notice, and the lock on shared memory goes with the last of them.
        let deadline = Instant::now() + Duration::from_secs(30);
        while rustix::process::test_kill_process(pid).is_ok() && Instant::now() < deadline {
            std::thread::yield_now();
        }
    }

    pub(crate) fn url(&self, role: &str, database: &str) -> String {
        let socket = self.path().to_string_lossy().replace('/', "%2F");
        format!("postgres://{role}@{socket}/{database}")
    }

    /// An empty database of this name, and connections to it.
    pub(crate) fn database(&self, name: &str) -> PostgresPool {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.options(name).connect().unwrap()
    }

    pub(crate) fn options(&self, name: &str) -> PostgresOptions {
        PostgresOptions::new(self.url("owner", name)).wait(Duration::from_secs(30))
    }

    /// Runs statements that bypass the store.
    pub(crate) fn sql(&self, database: &str, sql: &str) {
        self.client("owner", database).batch_execute(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    pub(crate) fn client(&self, role: &str, database: &str) -> postgres::Client {
        postgres::Client::connect(&self.url(role, database), postgres::NoTls).unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.data();
        let _ = self
            .command("pg_ctl")
            .args(["stop", "--mode=immediate", "--silent", "-D"])
            .arg(data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}
