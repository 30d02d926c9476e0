//! `lictor ui`: the local page for one person, with the records that hooks write.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use lictor::{Options, store::MemoryStore};
use tokio::net::TcpListener;

use crate::http::{Shared, router};
use crate::identity::Role;
use crate::local::Projects;
use crate::page::{Entrance, LOCAL};
use crate::random;
use crate::registry::{Person, Tenant};
use crate::serve::signalled;
use crate::tenants::{Tenants, now};

/// The polling interval for new records.
const EVERY: Duration = Duration::from_millis(150);
/// Requests a second: one person's browser.
const RATE: u32 = 1_000;

/// How to show it.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The directory whose project comes first.
    pub directory: PathBuf,
    /// The port; any that is free when it is 0.
    pub port: u16,
    /// Whether a browser is opened.
    pub open: bool,
}

/// Serves the page until shutdown. `ready` gets the link, which opens it once.
///
/// # Errors
/// When nothing can be listened on.
pub async fn run(settings: Settings, options: Options, ready: impl FnOnce(&str)) -> Result<()> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port))).await;
    let listener = listener.with_context(|| format!("cannot listen on port {}", settings.port))?;
    let address = listener.local_addr()?;
    let word = random::hex(24)?;
    let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", address.port())).to_vec();
    let projects = Projects::around(&settings.directory, options);
    if let Some(agent) = lictor::governed::above(projects.here()) {
        bail!(
            "`lictor ui` is for people: process {agent} above this one is an agent that Lictor governs here"
        );
    }
    let state = projects.here().dirs().state.clone();
    let shared = tokio::task::spawn_blocking(move || -> Result<Shared> {
        let mut tenants = Tenants::in_memory(Arc::new(MemoryStore::new()), std::env::temp_dir());
        let uid = person();
        tenants.registry.put_tenant(LOCAL, &Tenant::default(), &uid, now())?;
        let roles = vec![Role::Viewer, Role::Auditor, Role::Approver, Role::Author, Role::Publisher];
        let one = Person {
            uid: uid.clone(),
            email: None,
            role: None,
            scopes: Vec::new(),
            groups: Vec::new(),
            roles,
            disabled: false,
        };
        tenants.registry.put_people(LOCAL, &[one], &uid, now())?;
        tenants.local = Some(projects);
        let mut shared = Shared::new(tenants, RATE, 8);
        shared.entrance = Entrance::local(hosts, word.clone());
        Ok(shared)
    });
    let shared = Arc::new(shared.await.context("the page cannot be made")??);
    let watched = Arc::clone(&shared);
    std::thread::spawn(move || {
        if let Some(local) = &watched.tenants.local {
            local.watch(EVERY, || {
                watched.tenants.changed();
                !watched.stopping.load(std::sync::atomic::Ordering::Relaxed)
            });
        }
    });
    let link = format!("http://{address}/enter?once={}", shared.entrance.word().unwrap_or_default());
    ready(&link);
    if settings.open {
        open(&state, &link);
    }
    let stopping = Arc::clone(&shared);
    let served = axum::serve(listener, router(shared)).with_graceful_shutdown(async move {
        signalled().await;
        stopping.stopping.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    // Streams have no end of their own.
    tokio::select! {
        served = served => served?,
        () = async { signalled().await; tokio::time::sleep(Duration::from_millis(300)).await } => {}
    }
    Ok(())
}

/// Who sits here.
fn person() -> String {
    let named = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| crate::registry::name(name).is_ok()).unwrap_or_else(|| "me".to_owned())
}

/// Opens the browser on a file that leads to the link: the link itself must not be in a process's arguments,
/// which all users of the machine can read.
fn open(state: &Path, link: &str) {
    let file = state.join("page.html");
    let html = format!(
        "<!doctype html><meta charset=utf-8><title>Lictor</title><meta http-equiv=refresh content=\"0; url={link}\">\
         <p><a href=\"{link}\">Open Lictor</a>\n"
    );
    let _ = std::fs::remove_file(&file);
    let made = lictor::dirs::create_private(state).map_err(std::io::Error::other).and_then(|()| {
        let mut out = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?;
        out.write_all(html.as_bytes())
    });
    if made.is_err() {
        return;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    // Without a browser the link is on the terminal.
    let _ = Command::new(program)
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
