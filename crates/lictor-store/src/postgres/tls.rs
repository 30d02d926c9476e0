//! Parses the address of a database, and decides whether to use TLS.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::StoreError;

/// How long sent data may stay unacknowledged. The system's default is a quarter of an hour.
const UNANSWERED: Duration = Duration::from_secs(20);

/// How connections are made.
#[derive(Clone)]
pub(super) enum Connector {
    Plain,
    Tls(MakeRustlsConnect),
}

fn wrong(detail: impl std::fmt::Display) -> StoreError {
    StoreError::other(format!(
        "the address of the database cannot be used: {detail}; it looks like `postgres://user@host/database?sslmode=require`"
    ))
}

/// The configuration in `postgres://…`. Certificates are always checked when TLS is used.
pub(super) fn parse(url: &str) -> Result<(Config, Connector), StoreError> {
    let (mut plain, mut roots, mut said) = (url.to_owned(), None, false);
    if let Some((address, options)) = url.split_once('?') {
        let (ours, theirs): (Vec<&str>, Vec<&str>) =
            options.split('&').partition(|option| option.starts_with("sslrootcert="));
        said = theirs.iter().any(|option| option.starts_with("sslmode="));
        roots = ours.first().and_then(|option| option.strip_prefix("sslrootcert=")).map(str::to_owned);
        plain =
            if theirs.is_empty() { address.to_owned() } else { format!("{address}?{}", theirs.join("&")) };
    }
    let mut config: Config = plain.parse().map_err(wrong)?;
    if config.get_application_name().is_none() {
        config.application_name("lictor");
    }
    config.connect_timeout(Duration::from_secs(5));
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(UNANSWERED);
    }
    let local = config.get_hosts().iter().all(is_local);
    if !said && !local {
        config.ssl_mode(SslMode::Require);
    } else if !said && roots.is_none() {
        config.ssl_mode(SslMode::Disable);
    }
    if config.get_ssl_mode() == SslMode::Disable {
        return Ok((config, Connector::Plain));
    }
    let tls = MakeRustlsConnect::new(client(roots.as_deref().map(Path::new))?);
    Ok((config, Connector::Tls(tls)))
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

fn client(roots: Option<&Path>) -> Result<ClientConfig, StoreError> {
    let mut store = RootCertStore::empty();
    match roots {
        None => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(file) => {
            let bad = |error: &dyn std::fmt::Display| wrong(format!("`{}`: {error}", file.display()));
            for certificate in CertificateDer::pem_file_iter(file).map_err(|error| bad(&error))? {
                let certificate = certificate.map_err(|error| bad(&error))?;
                store.add(certificate).map_err(|error| bad(&error))?;
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(builder.map_err(wrong)?.with_root_certificates(store).with_no_client_auth())
}
