//! `lictor-server`: the program behind `lictor serve`, and the client for calling a server.

use std::ffi::OsString;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Parser, Subcommand};
use lictor_mcp::ServerCommand;
use lictor_server::client::{Client, Settings as ClientSettings};
use lictor_server::hold;
use lictor_server::mcp::{self, Address, Reached, Served};
use lictor_server::serve::{self, Settings};

/// Lictor for teams and other programs: the runtime behind HTTP.
#[derive(Debug, Parser)]
#[command(name = "lictor-server", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve.
    Serve(ServeArgs),
    /// Show the page for one person on this machine, over the records that hooks write.
    Ui(UiArgs),
    /// Call a server: JSON-RPC, one message a line on standard input and output. Says what is done while it is away.
    Rpc(RpcArgs),
    /// Fetch the team's policy for hooks on this machine, and send the records of a project.
    Sync(SyncArgs),
    /// Move old records of all tenants and machines to files; on PostgreSQL, drop the months that are empty then.
    Archive(ArchiveArgs),
    /// Print the OpenAPI document.
    Openapi,
    /// Stand before MCP servers; `lictor mcp` starts this.
    #[command(hide = true)]
    Mcp(McpArgs),
    /// Hold a project's record in a database for `lictor`, which starts this itself.
    #[command(hide = true)]
    HoldStore(HoldArgs),
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1:4747", value_parser = address)]
    listen: SocketAddr,
    /// The Unix socket to listen on as well, for programs of this user: `server.sock` in the state directory when it is not
    /// said.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Where records are kept: `sqlite:DIRECTORY` or `postgres://user@host/database`.
    #[arg(long)]
    store: Option<String>,
    /// The directory for the key that seals records, and for records when `--store` is not given.
    #[arg(long, value_name = "DIRECTORY", env = "LICTOR_SERVER_STATE")]
    state: Option<PathBuf>,
    /// Something in front of the server speaks TLS: other addresses than this machine's are allowed.
    #[arg(long)]
    behind_proxy: bool,
    /// Requests a second for each token.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Write every request to standard error, as a line of JSON.
    #[arg(long)]
    log: bool,
    /// The certificate chain, in PEM: the server speaks TLS itself.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its key.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The address under which browsers reach the server, if it is not its own: `https://lictor.example.com`.
    #[arg(long, value_name = "URL", value_parser = origin)]
    address: Option<String>,
    /// How many milliseconds the head of a request may take, and a connection may be idle.
    #[arg(long, default_value_t = 30_000, hide = true)]
    patience: u64,
}

#[derive(Debug, Args)]
struct UiArgs {
    /// Do not open a browser; the link is printed.
    #[arg(long)]
    no_open: bool,
    /// The port to listen on; any that is free when it is not said.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The project that comes first.
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    cwd: PathBuf,
}

#[derive(Debug, Args)]
struct RpcArgs {
    /// The server: `http://127.0.0.1:4747`.
    #[arg(long)]
    server: String,
    /// Where the last policy and what happened without the server are kept.
    #[arg(long, value_name = "DIRECTORY")]
    state: PathBuf,
    /// The token.
    #[arg(long, env = "LICTOR_TOKEN", hide_env_values = true)]
    token: String,
}

#[derive(Debug, Args)]
struct SyncArgs {
    /// The project whose records are sent.
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    cwd: PathBuf,
    /// Only fetch the policy.
    #[arg(long)]
    fetch_only: bool,
}

#[derive(Debug, Args)]
struct ArchiveArgs {
    /// Records that are not older stay: `90d`, `12h`.
    #[arg(long)]
    keep: String,
    /// Where the files go; `archives` in the state directory when it is not said.
    #[arg(long, value_name = "DIRECTORY")]
    to: Option<PathBuf>,
    /// Where records are kept, as for `serve`.
    #[arg(long)]
    store: Option<String>,
    /// The state directory of the server.
    #[arg(long, value_name = "DIRECTORY", env = "LICTOR_SERVER_STATE")]
    state: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct HoldArgs {
    /// The name of the chain.
    #[arg(long)]
    chain: String,
    /// How long to wait for other writers, in milliseconds.
    #[arg(long)]
    wait: u64,
    /// The file with the key that seals records.
    #[arg(long)]
    key: Option<PathBuf>,
    /// The key is new: what is there without a seal is older.
    #[arg(long)]
    adopt: bool,
    /// The address of the database: not on the command line, which everybody on the machine can read.
    #[arg(long, env = lictor::companion::ADDRESS, hide_env_values = true)]
    address: String,
}

#[derive(Debug, Args)]
struct McpArgs {
    /// `serve` for clients over HTTP, `run` for one on standard input and output, `connect` for one that is not governed.
    #[arg(value_parser = ["serve", "run", "connect"])]
    how: String,
    /// The directory of the project.
    #[arg(long, value_name = "DIRECTORY")]
    cwd: PathBuf,
    /// A word of the program that becomes a server after limits are set.
    #[arg(long, allow_hyphen_values = true)]
    through: Vec<OsString>,
    #[arg(long, default_value = "127.0.0.1:4748", value_parser = address)]
    listen: SocketAddr,
    #[arg(long)]
    config: Option<PathBuf>,
    #[arg(long, required_unless_present = "config")]
    name: Option<String>,
    #[arg(long)]
    url: Option<String>,
    #[arg(long)]
    header: Vec<String>,
    #[arg(long)]
    env: Vec<OsString>,
    #[arg(last = true)]
    server: Vec<OsString>,
}

/// The command line is wrong, as `lictor` says it: 2 would be a block.
const USAGE: u8 = 64;

/// An address to listen on. `localhost` is this machine, whatever a resolver says of it.
fn address(text: &str) -> Result<SocketAddr, String> {
    let numbers = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    numbers.parse().map_err(|_| "say an address and a port below 65536, as in `127.0.0.1:4747`".to_owned())
}

/// Where browsers reach the server. The page has the host to itself, so there is no path.
fn origin(text: &str) -> Result<String, String> {
    let uri = text.parse::<axum::http::Uri>().ok();
    let uri = uri.filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some());
    let uri = uri.filter(|uri| uri.path() == "/" && uri.query().is_none());
    uri.map(|_| text.trim_end_matches('/').to_owned())
        .ok_or_else(|| "say the scheme and the host, as in `https://lictor.example.com`".to_owned())
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(told) => {
            // Nobody may be there to read it. Help and the version are no errors.
            let _ = told.print();
            return if told.use_stderr() { USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    match run(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be there to read it.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Serve(args) => serve(args),
        Command::Ui(args) => ui(args),
        Command::Sync(args) => {
            let said = lictor_server::sync::run(&args.cwd, args.fetch_only)?;
            writeln!(std::io::stdout(), "{said}")?;
            Ok(())
        }
        Command::Archive(args) => archive(args),
        Command::Openapi => {
            let document = serde_json::to_string_pretty(&lictor_server::http::openapi())?;
            writeln!(std::io::stdout(), "{document}")?;
            Ok(())
        }
        Command::HoldStore(HoldArgs { chain, wait, key, adopt, address }) => {
            let held = hold::Held { address, chain, wait: Duration::from_millis(wait), key, adopt };
            hold::run(&held, &mut std::io::stdin().lock(), &mut std::io::stdout().lock())
        }
        Command::Mcp(args) => mcp(args),
        Command::Rpc(args) => {
            let mut client =
                Client::open(ClientSettings { server: args.server, token: args.token, state: args.state })?;
            let (stdin, stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
            lictor::rpc::serve_calls(stdin, stdout, |method, params| client.call(method, &params))?;
            Ok(())
        }
    }
}

fn state_directory(said: Option<PathBuf>) -> Result<PathBuf> {
    said.or_else(default_state).context("no directory for state is known; say `--state DIRECTORY`")
}

fn archive(args: ArchiveArgs) -> Result<()> {
    let state = state_directory(args.state)?;
    let keep = lictor::config::millis(&args.keep).with_context(|| {
        format!("`{}` is no length of time; say it as `90d` or `12h`", args.keep.escape_debug())
    })?;
    let to = args.to.unwrap_or_else(|| state.join("archives"));
    let stores = lictor_server::stores::Stores::open(args.store.as_deref(), &state, 2)?;
    let now = lictor_server::tenants::now();
    let done = lictor_server::archive::run(&stores, &to, Duration::from_millis(keep), now)?;
    let mut stdout = std::io::stdout();
    for one in &done.moved {
        let of = one.machine.as_ref().map(|machine| format!(", machine `{machine}`")).unwrap_or_default();
        let (tenant, records, place) = (&one.tenant, one.records, one.directory.display());
        writeln!(stdout, "tenant `{tenant}`{of}: {records} records moved to `{place}`")?;
    }
    for month in &done.dropped {
        writeln!(stdout, "dropped `{month}`")?;
    }
    if done.moved.is_empty() {
        writeln!(stdout, "no record is older than {}", args.keep)?;
    }
    Ok(())
}

fn serve(args: ServeArgs) -> Result<()> {
    let state = state_directory(args.state)?;
    let settings = Settings {
        listen: args.listen,
        socket: args.socket.or_else(|| default_socket(&state)),
        store: args.store,
        state,
        behind_proxy: args.behind_proxy,
        rate: args.rate,
        log: args.log,
        tls: args.tls_cert.zip(args.tls_key),
        address: args.address,
        patience: Duration::from_millis(args.patience),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let socket = settings.socket.clone();
    runtime.block_on(serve::run(settings, |address, link| {
        let mut stdout = std::io::stdout();
        let _ = match &socket {
            Some(socket) => writeln!(stdout, "lictor serves on `{}` and on {address}", socket.display()),
            None => writeln!(stdout, "lictor serves on {address}"),
        };
        if let Some(link) = link {
            let _ = writeln!(stdout, "open this once to become its operator: {link}");
        }
        let _ = stdout.flush();
    }))
}

fn ui(args: UiArgs) -> Result<()> {
    let settings = lictor_server::ui::Settings { directory: args.cwd, port: args.port, open: !args.no_open };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(lictor_server::ui::run(settings, lictor::Options::from_process(), |link| {
        let mut stdout = std::io::stdout();
        let _ = writeln!(stdout, "{link}");
        let _ = stdout.flush();
    }))?;
    // Streams that browsers hold open are not waited for.
    runtime.shutdown_timeout(Duration::from_millis(500));
    Ok(())
}

/// The socket in the state directory, where its path is not longer than the system takes.
fn default_socket(state: &Path) -> Option<PathBuf> {
    const LONGEST: usize = 100;
    Some(state.join("server.sock")).filter(|path| path.as_os_str().len() <= LONGEST)
}

fn mcp(args: McpArgs) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let servers = mcp_servers(&args)?;
    if args.how == "run" || args.how == "connect" {
        let Some((served, Reached::Address(address))) =
            servers.first().map(|served| (served, &served.reached))
        else {
            bail!("name the address of the server");
        };
        if args.how == "connect" {
            mcp::connect_stdio(address, runtime.handle());
            return Ok(());
        }
        return mcp::run_on_stdio(served, address, runtime.handle());
    }
    runtime.block_on(mcp::run(args.listen, servers, |addresses| {
        let mut stdout = std::io::stdout();
        for address in addresses {
            let _ = writeln!(stdout, "{address}");
        }
        let _ = stdout.flush();
    }))?;
    runtime.shutdown_timeout(Duration::from_millis(500));
    Ok(())
}

fn mcp_servers(args: &McpArgs) -> Result<Vec<Served>> {
    let Some(name) = &args.name else {
        let config = args.config.as_deref().context("say `--config FILE` or `--name NAME`")?;
        return mcp::servers_of(config, &args.cwd, &args.through);
    };
    let reached = match &args.url {
        Some(url) => {
            let mut headers = Vec::new();
            for header in &args.header {
                let (header, variable) = header.split_once('=').context("`--header` is `NAME=VARIABLE`")?;
                let value = std::env::var(variable);
                let value = value.with_context(|| format!("the variable `{variable}` is not set"))?;
                headers.push((header.to_owned(), value));
            }
            Reached::Address(Address::parse(url, &headers).map_err(anyhow::Error::msg)?)
        }
        None => Reached::Command(ServerCommand {
            name: name.clone(),
            argv: args.server.clone(),
            env: args.env.clone(),
            settings: Vec::new(),
            through: args.through.clone(),
        }),
    };
    Ok(vec![Served::new(name.clone(), reached, &args.cwd)?])
}

fn default_state() -> Option<PathBuf> {
    let under = |name: &str, rest: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .map(|path| path.join(rest))
    };
    under("XDG_STATE_HOME", "lictor-server").or_else(|| under("HOME", ".local/state/lictor-server"))
}
