//! Sends one message.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use lictor_core::Timestamp;
use serde_json::json;
use sha2::Sha256;

use super::{Message, Way, mail};

/// How long a receiver may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Sends it; why not, when it does not go.
pub(super) fn send(way: &Way, message: &Message, now: Timestamp) -> Result<(), String> {
    let text = format!("{} ({}): {}", message.agent, message.tenant, message.summary);
    match way {
        Way::Webhook { url, secret } => {
            let body = json!({"event": "approval.requested", "question": message}).to_string();
            let at = (now.0 / 1000).to_string();
            let signature = format!("sha256={}", signature(secret, &at, &body));
            post(
                url,
                &body,
                &[
                    ("content-type", "application/json"),
                    ("lictor-timestamp", &at),
                    ("lictor-signature", &signature),
                ],
            )
        }
        Way::Slack { url } => {
            let body = json!({"text": format!("Lictor asks: {}\n{}", plain(&text), message.link)});
            post(url, &body.to_string(), &[("content-type", "application/json")])
        }
        Way::Ntfy { url } => {
            let headers = [
                ("title", "Lictor asks"),
                ("priority", "high"),
                ("tags", "raised_hand"),
                ("click", &message.link),
            ];
            post(url, &text, &headers)
        }
        Way::Mail { server, to } => mail::send(server, to, &text, message, now),
    }
}

/// Over the time and the body, so that an old message cannot be sent again as a new one.
pub(super) fn signature(secret: &str, at: &str, body: &str) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.update(at.as_bytes());
    mac.update(b".");
    mac.update(body.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Escapes markup of chat programs.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn post(url: &str, body: &str, headers: &[(&str, &str)]) -> Result<(), String> {
    let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).max_redirects(0).build();
    let agent: ureq::Agent = config.into();
    let mut request = agent.post(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send(body).map(drop).map_err(|error| error.to_string())
}
