//! Allowed and denied hosts.

use lictor_core::facts::Reach;
use lictor_core::{Action, Context, Decision, Guard, Layer, Verdict};
use serde::{Deserialize, Serialize};

/// The configuration of `network:`. A host matches itself; `*.example.com` matches every host below
/// `example.com`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// Allowed hosts. Absent: all. Empty: none.
    pub allow: Option<Vec<String>>,
    /// Denied hosts, even if `allow` lists them.
    pub deny: Vec<String>,
    /// The decision for hosts that cannot be determined. Default: `ask`.
    pub unknown: Option<Decision>,
    /// The decision for sending data out, even to an allowed host. Default: `pass`.
    pub send: Option<Decision>,
}

/// Blocks hosts by list.
#[derive(Debug, Clone)]
pub struct Network {
    config: NetworkConfig,
}

impl Network {
    /// A guard with these lists.
    #[must_use]
    pub fn new(config: NetworkConfig) -> Self {
        Self { config }
    }

    fn judge(&self, reach: &Reach) -> Option<Verdict> {
        let NetworkConfig { allow, deny, unknown, send } = &self.config;
        let Some(host) = reach.host.as_deref() else {
            let strict = allow.is_some() || !deny.is_empty();
            return strict.then(|| {
                Verdict::of(
                    unknown.unwrap_or(Decision::Ask).into(),
                    format!("which host `{}` reaches cannot be told before it runs", reach.text),
                    "write the host out",
                )
            });
        };
        if let Some(entry) = deny.iter().find(|entry| fits(entry, host)) {
            let reason = format!("`{host}` may not be talked to (`{entry}`)");
            return Some(Verdict::block(reason, self.fix()).by_rule("deny"));
        }
        if allow.as_ref().is_some_and(|allow| !allow.iter().any(|entry| fits(entry, host))) {
            let reason = format!("`{host}` is not among the hosts that may be talked to");
            return Some(Verdict::block(reason, self.fix()).by_rule("allow"));
        }
        send.filter(|decision| reach.sends && *decision > Decision::Pass).map(|decision| {
            Verdict::of(
                decision.into(),
                format!("`{}` would send data to `{host}`", reach.text),
                "fetch without sending",
            )
            .by_rule("send")
        })
    }

    fn fix(&self) -> String {
        match self.config.allow.as_deref() {
            Some([]) => "go on without the network; this policy allows no host".to_owned(),
            Some(hosts) => format!("use one of these hosts: {}", hosts.join(", ")),
            None => "use another host".to_owned(),
        }
    }
}

impl Guard for Network {
    fn name(&self) -> &str {
        "network"
    }

    fn check(&self, _action: &Action, context: &mut Context<'_>) -> Verdict {
        let mut found: Vec<Verdict> =
            context.facts().hosts().filter_map(|reach| self.judge(reach)).take(8).collect();
        found.sort_by_key(|verdict| std::cmp::Reverse(verdict.value()));
        context.report(found)
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

/// Whether an entry matches a host. Names are compared without case and without a final dot.
fn fits(entry: &str, host: &str) -> bool {
    let entry = entry.trim_end_matches('.').to_ascii_lowercase();
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    match entry.strip_prefix("*.") {
        Some(domain) => host.strip_suffix(domain).is_some_and(|front| front.ends_with('.')),
        None => entry == "*" || entry == host,
    }
}

#[cfg(test)]
mod tests;
