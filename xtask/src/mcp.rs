//! Governed sessions with real MCP servers: each is installed at a pinned version and run behind `lictor mcp run`, in a
//! network namespace with loopback only. Calls that pass must have the result that the server gives without Lictor.

mod bench;
mod client;
mod conformance;
mod database;
mod session;
mod spec;
mod web;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::namespace::{self, INSIDE};
use crate::shell;
use spec::ServerFile;

/// `cargo xtask mcp [name…] [conformance] [bench] [--lictor PATH]`
pub fn run(args: &[String]) -> Result<()> {
    let (mut names, mut lictor) = (Vec::new(), shell::target().join("debug/lictor"));
    let mut given = false;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            INSIDE => {}
            "--lictor" => {
                lictor = PathBuf::from(rest.next().context("`--lictor` needs a path")?);
                given = true;
            }
            name if name.starts_with('-') => bail!("there is no option `{name}`"),
            name => names.push(name.to_owned()),
        }
    }
    let what = (names.iter().any(|name| name == "conformance"), names.iter().any(|name| name == "bench"));
    names.retain(|name| name != "conformance" && name != "bench");
    let mut servers = spec::servers()?;
    if let Some(unknown) = names.iter().find(|name| !servers.iter().any(|server| server.name == **name)) {
        let known: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        bail!("there is no server `{unknown}`; there is: {}", known.join(", "));
    }
    let only_other = (what.0 || what.1) && names.is_empty();
    servers.retain(|server| !only_other && (names.is_empty() || names.contains(&server.name)));
    if !args.iter().any(|arg| arg == INSIDE) {
        prepare(&servers, what, given)?;
        let needed = servers.iter().any(ServerFile::needs_database);
        let _database = if needed { Some(database::Database::start()?) } else { None };
        return namespace::enter("mcp", args);
    }
    namespace::isolate()?;
    if what.0 {
        conformance::run(&lictor)?;
    }
    if what.1 {
        bench::run(&lictor)?;
    }
    sessions(&servers, &lictor)
}

/// Installs one of the servers.
pub fn install(name: &str) -> Result<()> {
    spec::servers()?.iter().filter(|server| server.name == name).try_for_each(ServerFile::install)
}

fn prepare(servers: &[ServerFile], what: (bool, bool), given: bool) -> Result<()> {
    for server in servers {
        server.install()?;
    }
    if what.0 {
        conformance::install()?;
    }
    if what.1 {
        bench::install()?;
    }
    if !given {
        // The program that speaks HTTP stands beside the command.
        shell::run("cargo", &["build", "--locked", "--package", "lictor-cli", "--package", "lictor-server"])?;
    }
    Ok(())
}

fn sessions(servers: &[ServerFile], lictor: &std::path::Path) -> Result<()> {
    let mut failed = 0;
    for server in servers {
        for era in &server.eras {
            let wrong =
                session::run(server, *era, lictor).with_context(|| format!("{} {era:?}", server.name))?;
            println!("{:12} {era:?}: {}", server.name, if wrong.is_empty() { "ok" } else { "FAILED" });
            failed += usize::from(!wrong.is_empty());
            for line in wrong {
                println!("    {line}");
            }
        }
    }
    if failed > 0 {
        bail!("{failed} sessions went otherwise than they should");
    }
    Ok(())
}
