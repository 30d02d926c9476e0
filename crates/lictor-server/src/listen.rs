//! Connections: plain, encrypted or local, each with time and size limits.

use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::{Context as _, Result};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Headers of one request.
const MOST_HEADERS: usize = 100;
/// Bytes of one request's head.
const MOST_HEAD: usize = 64 * 1024;

/// What every connection has.
#[derive(Clone)]
pub struct Serving {
    /// What answers.
    pub app: Router,
    /// Turns true when the server ends.
    pub stopped: watch::Receiver<bool>,
    /// How long the head of a request may take, and a connection may be idle.
    pub patience: Duration,
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serving").field("patience", &self.patience).finish_non_exhaustive()
    }
}

/// Reads a certificate chain and its key, both PEM.
///
/// # Errors
/// When they cannot be read or do not fit each other.
pub fn tls(certificates: &Path, key: &Path) -> Result<TlsAcceptor> {
    let unreadable = |file: &Path| format!("cannot read `{}`", file.display());
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificates)
        .and_then(Iterator::collect)
        .with_context(|| unreadable(certificates))?;
    let key_der = PrivateKeyDer::from_pem_file(key).with_context(|| unreadable(key))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key_der)
        .with_context(|| format!("`{}` and `{}` do not fit", certificates.display(), key.display()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Serves on TCP until shutdown, and waits for running requests.
pub async fn on_tcp(listener: TcpListener, acceptor: Option<TlsAcceptor>, serving: Serving) {
    let stopped = serving.stopped.clone();
    let accept = |context: &mut Context<'_>| listener.poll_accept(context).map_ok(|(stream, _)| stream);
    until_stopped(stopped, accept, |stream| {
        let _ = stream.set_nodelay(true);
        let (serving, acceptor) = (serving.clone(), acceptor.clone());
        async move {
            match acceptor {
                None => connection(stream, serving).await,
                Some(acceptor) => {
                    if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
                        connection(stream, serving).await;
                    }
                }
            }
        }
    })
    .await;
}

/// The same on a Unix socket.
pub async fn on_unix(listener: UnixListener, serving: Serving) {
    let stopped = serving.stopped.clone();
    let accept = |context: &mut Context<'_>| listener.poll_accept(context).map_ok(|(stream, _)| stream);
    until_stopped(stopped, accept, |stream| connection(stream, serving.clone())).await;
}

/// Takes connections and serves each on its own.
async fn until_stopped<T, F>(
    mut stopped: watch::Receiver<bool>,
    accept: impl Fn(&mut Context<'_>) -> Poll<io::Result<T>>,
    serve: impl Fn(T) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => break,
            accepted = poll_fn(&accept) => accepted,
        };
        let Some(stream) = taken(accepted).await else { continue };
        connections.spawn(serve(stream));
        while connections.try_join_next().is_some() {}
    }
    while connections.join_next().await.is_some() {}
}

/// A connection; nothing when there are too many already, after a moment.
async fn taken<T>(accepted: io::Result<T>) -> Option<T> {
    match accepted {
        Ok(connection) => Some(connection),
        Err(_) => {
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

/// Answers the requests of one connection.
async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin, serving: Serving) {
    let Serving { app, mut stopped, patience } = serving;
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_headers(MOST_HEADERS)
        .max_buf_size(MOST_HEAD);
    let mut served =
        std::pin::pin!(builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app)));
    let ended = tokio::select! {
        _ = served.as_mut() => true,
        _ = stopped.wait_for(|stopped| *stopped) => false,
    };
    if !ended {
        served.as_mut().graceful_shutdown();
        let _ = served.await;
    }
}
