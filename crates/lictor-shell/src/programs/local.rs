//! Local services that replace remote ones: registries, feeds and emulators on this machine.

use super::network::host_of;
use crate::call::Call;
use crate::operand::Arg;

/// Parts of option and variable names that identify a service.
const SERVICES: [&str; 9] =
    ["registry", "repository", "endpoint", "source", "index", "feed", "server", "url", "repo"];

/// Whether a call publishes on this machine: every service that it names is here, and it names one.
pub(crate) fn is_published(call: &Call<'_>) -> bool {
    is_meant(call, &SERVICES, true)
}

/// Whether a call works on what an emulator on this machine keeps.
pub(crate) fn is_emulated(call: &Call<'_>) -> bool {
    is_meant(call, &["endpoint"], false)
}

fn is_meant(call: &Call<'_>, services: &[&str], operands: bool) -> bool {
    let says_service = |name: &str| services.iter().any(|part| name.contains(part));
    let mut named = Vec::new();
    let set = call.assignments.iter().filter(|(name, _)| says_service(&name.to_ascii_lowercase()));
    named.extend(set.map(|(_, value)| is_here(value.prefix())));
    let mut before = "";
    for word in call.args.iter().map(Arg::prefix) {
        let (option, value) = match word.split_once('=').filter(|_| word.starts_with('-')) {
            Some((option, value)) => (option, value),
            None => (before, word),
        };
        before = if word.starts_with('-') && !word.contains('=') { word } else { "" };
        let service =
            says_service(&option.to_ascii_lowercase()) || option == "-s" && call.program == "dotnet";
        // An image or an address is a place by itself: `docker push localhost:5000/app`.
        let place = operands && option.is_empty() && value.contains('/') && value.contains(':');
        if !value.starts_with('-') && (service || place) {
            named.push(is_here(value));
        }
    }
    !named.is_empty() && named.iter().all(|here| *here)
}

/// Whether a word is a directory, or a place on this machine or on a network of containers.
fn is_here(value: &str) -> bool {
    let value = value.rsplit_once("::").map_or(value, |(_, place)| place);
    if value.starts_with("./") || value.starts_with("file:") {
        return true;
    }
    let address = value.split_once("://").map_or(value, |(_, rest)| rest);
    let Some(host) = host_of(address) else { return false };
    // A name without a dot that has a port: `kind-registry:5000/app`.
    let port = address.split(['/', '?']).next().and_then(|front| front.rsplit_once(':'));
    let near = port.is_some_and(|(name, port)| {
        !name.contains('.') && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    host == "localhost" || host == "::1" || host.starts_with("127.") || near
}

#[cfg(test)]
mod tests;
