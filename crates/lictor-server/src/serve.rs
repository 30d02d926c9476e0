//! Listening and graceful shutdown.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;

use crate::http::{Shared, router};
use crate::listen::{self, Serving};
use crate::random;
use crate::stores::Stores;
use crate::tenants::Tenants;

/// How to serve.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The Unix socket to listen on.
    pub socket: Option<PathBuf>,
    /// Where records are: `sqlite:DIRECTORY` or `postgres://…`.
    pub store: Option<String>,
    /// The directory for the key, and by default for records.
    pub state: PathBuf,
    /// A proxy terminates TLS.
    pub behind_proxy: bool,
    /// Requests a second for each token.
    pub rate: u32,
    /// Whether every request is written to standard error, as a line of JSON.
    pub log: bool,
    /// The certificate chain and its key, if the server terminates TLS itself.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// The address under which browsers reach the server, if it is not its own.
    pub address: Option<String>,
    /// How long the head of a request may take, and a connection may be idle.
    pub patience: Duration,
}

/// The maximum number of database connections; PostgreSQL allows a hundred in total by default.
const IN_A_DATABASE: usize = 64;

/// Requests that are worked on at a time. A judgement on files takes a processor, one in a database mostly waits for the
/// disk to have it, and those that wait together share that.
fn at_a_time(store: Option<&str>) -> usize {
    if store.is_some_and(|store| store.starts_with("postgres")) {
        return IN_A_DATABASE;
    }
    4 * std::thread::available_parallelism().map_or(2, usize::from).max(4)
}

/// Serves until shutdown. `ready` gets the address and, at the first start, the link for the operator.
///
/// # Errors
/// When the stores cannot be opened or the addresses cannot be listened on.
pub async fn run(settings: Settings, ready: impl FnOnce(&str, Option<String>)) -> Result<()> {
    if !settings.listen.ip().is_loopback() && !settings.behind_proxy && settings.tls.is_none() {
        bail!(
            "`{}` can be reached from other machines, and tokens would travel unencrypted; listen on 127.0.0.1, say `--tls-cert FILE --tls-key FILE`, or put a proxy with TLS in front and say `--behind-proxy`",
            settings.listen
        );
    }
    let at_a_time = at_a_time(settings.store.as_deref());
    let nowhere = settings.state.join("nowhere");
    let opening = settings.clone();
    let shared = tokio::task::spawn_blocking(move || -> Result<Shared> {
        let stores = Stores::open(opening.store.as_deref(), &opening.state, at_a_time)?;
        std::fs::create_dir_all(&nowhere).with_context(|| format!("cannot make `{}`", nowhere.display()))?;
        let tenants = Tenants::new(stores, nowhere)?;
        let mut shared = Shared::new(tenants, opening.rate, at_a_time);
        shared.log = opening.log;
        shared.address = opening.address;
        if !shared.tenants.registry.has_operator()? {
            *shared.setup.lock().unwrap_or_else(PoisonError::into_inner) = Some(random::hex(16)?);
        }
        Ok(shared)
    });
    let shared = Arc::new(shared.await.context("the stores could not be opened")??);
    let tcp = TcpListener::bind(settings.listen).await;
    let tcp = tcp.with_context(|| format!("cannot listen on `{}`", settings.listen))?;
    let address = tcp.local_addr()?;
    let code = shared.setup.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let unix = settings.socket.as_deref().map(bind).transpose()?;
    let (stop, stopped) = watch::channel(false);
    let acceptor = settings.tls.as_ref().map(|(chain, key)| listen::tls(chain, key)).transpose()?;
    let scheme = if acceptor.is_some() { "https" } else { "http" };
    let base = settings.address.clone().unwrap_or_else(|| format!("{scheme}://{address}"));
    *shared.outbox.link.lock().unwrap_or_else(PoisonError::into_inner) = base;
    let telling = Arc::clone(&shared);
    let telling = std::thread::spawn(move || crate::notify::run(&telling));
    let serving = Serving { app: router(Arc::clone(&shared)), stopped, patience: settings.patience };
    let on_tcp = tokio::spawn(listen::on_tcp(tcp, acceptor, serving.clone()));
    let on_unix = unix.map(|unix| tokio::spawn(listen::on_unix(unix, serving)));
    ready(
        &format!("{scheme}://{address}"),
        code.map(|code| format!("{scheme}://{address}/setup?code={code}")),
    );
    signalled().await;
    shared.stopping.store(true, std::sync::atomic::Ordering::Relaxed);
    let _ = stop.send(true);
    // Streams wait for something new; then they see that the server ends.
    shared.tenants.changed();
    let _ = tokio::time::timeout(Duration::from_secs(10), on_tcp).await;
    if let Some(on_unix) = on_unix {
        let _ = tokio::time::timeout(Duration::from_secs(1), on_unix).await;
    }
    if let Some(socket) = &settings.socket {
        let _ = std::fs::remove_file(socket);
    }
    let _ = tokio::task::spawn_blocking(move || telling.join()).await;
    // Database connections have their own runtime, which must not be dropped inside this one.
    let _ = tokio::task::spawn_blocking(move || drop(shared)).await;
    Ok(())
}

/// A socket that only this user can connect to. A stale socket is replaced.
fn bind(file: &Path) -> Result<UnixListener> {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
    if let Ok(meta) = std::fs::symlink_metadata(file) {
        if !meta.file_type().is_socket() {
            bail!("`{}` is not a socket; remove it, or choose another place", file.display());
        }
        if std::os::unix::net::UnixStream::connect(file).is_ok() {
            bail!("another process listens on `{}`; stop it, or choose another socket", file.display());
        }
        std::fs::remove_file(file)?;
    }
    let listener =
        UnixListener::bind(file).with_context(|| format!("cannot listen on `{}`", file.display()))?;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Until the process is asked to end.
pub(crate) async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                terminate.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}
