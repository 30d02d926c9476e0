//! Static assets: style, script, icon. Embedded in the program; named by their content hash, so that browsers can
//! cache them forever.

use std::io::Write as _;
use std::sync::OnceLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use lictor_core::Digest;

struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
    digest: OnceLock<String>,
    small: OnceLock<Option<Vec<u8>>>,
}

impl Asset {
    const fn new(name: &'static str, kind: &'static str, bytes: &'static [u8]) -> Self {
        Self { name, kind, bytes, digest: OnceLock::new(), small: OnceLock::new() }
    }

    fn digest(&self) -> &str {
        self.digest.get_or_init(|| Digest::of(self.bytes).short().to_string())
    }
}

static ASSETS: [Asset; 4] = [
    Asset::new("page.css", "text/css; charset=utf-8", include_bytes!("../../static/page.css")),
    Asset::new("page.js", "text/javascript; charset=utf-8", include_bytes!("../../static/page.js")),
    Asset::new("htmx.js", "text/javascript; charset=utf-8", include_bytes!("../../static/htmx.min.js")),
    Asset::new("icon.svg", "image/svg+xml", include_bytes!("../../static/icon.svg")),
];

/// Where an asset is.
pub(super) fn address(name: &str) -> String {
    let digest = ASSETS.iter().find(|asset| asset.name == name).map_or("none", Asset::digest);
    format!("/static/{digest}/{name}")
}

pub(super) async fn file(Path((digest, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name && asset.digest() == digest) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let small = asset.small.get_or_init(|| gzip(asset.bytes)).as_deref().filter(|_| takes_gzip(&headers));
    let mut response = small.unwrap_or(asset.bytes).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if small.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Whether the browser takes compressed answers.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let taken = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    taken.is_some_and(|taken| taken.split(',').any(|one| one.trim().starts_with("gzip")))
}

/// Compressed; nothing when that fails.
pub(super) fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::default());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}
