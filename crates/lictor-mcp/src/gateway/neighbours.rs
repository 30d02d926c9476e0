//! A server's neighbours: other servers that were seen on this machine, and those in agents' settings.

use std::fs;

use lictor::Project;
use lictor::agents::install::servers::ServerSettings;
use serde_json::Value;

use crate::identity::Running;
use crate::pins::{Pinned, Server};
use crate::poison::{self, Origin, Others, Suspicion};

/// The names of all servers in agents' settings. Unreadable settings are skipped.
pub(super) fn configured(project: &Project) -> Vec<String> {
    let mut names: Vec<String> = ServerSettings::all(&project.agent_settings())
        .iter()
        .filter_map(|settings| settings.servers(&fs::read_to_string(settings.path()).ok()?).ok())
        .flatten()
        .map(|server| server.name)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Definitions of one list, and what is around them.
pub(super) struct Around<'a> {
    keyed: &'a [(String, Value)],
    /// The pins of the server itself.
    server: Option<&'a Server>,
    others: Others<'a>,
}

impl<'a> Around<'a> {
    pub(super) fn of(
        all: &'a Pinned,
        running: &Running,
        name: &'a str,
        configured: &'a [String],
        keyed: &'a [(String, Value)],
    ) -> Self {
        // The same server with other arguments, or in another version, is no neighbour.
        let is_other = |key: &str, server: &Server| {
            let same_package = running.package_name().is_some_and(|own| server.package_name() == Some(own));
            running.version_in(key).is_none() && server.name != name && !same_package
        };
        let others: Vec<&Server> = all
            .servers
            .iter()
            .filter(|(key, server)| is_other(key, server))
            .map(|(_, server)| server)
            .collect();
        let tools = others
            .iter()
            .flat_map(|server| server.items.iter().map(|(key, item)| (server.name.as_str(), key, item)))
            .filter_map(|(server, key, item)| Some((server, key.strip_prefix("tool/")?, &item.accepted)))
            .collect();
        let names = others.iter().map(|server| server.name.as_str());
        let servers = names.chain(configured.iter().map(String::as_str)).collect();
        let server = all.servers.get(&running.key());
        Self { keyed, server, others: Others { own: name, tools, servers } }
    }

    /// The suspicions about one of the definitions.
    pub(super) fn suspicions(&self, key: &str, item: &Value) -> Vec<Suspicion> {
        let mut found = poison::suspicions(item, Origin::Definition);
        let own = |name: &str| self.siblings().any(|sibling| sibling == name);
        found.extend(self.others.named_in(item, &own));
        let Some(name) = key.strip_prefix("tool/") else { return found };
        found.extend(poison::looks_like(name, self.siblings()));
        // A later server imitates an earlier one.
        let was_there = self.server.is_some_and(|server| server.is_settled(key));
        found.extend(self.others.taken_for(name, item).filter(|_| !was_there));
        found
    }

    fn siblings(&self) -> impl Iterator<Item = &str> {
        self.keyed.iter().filter_map(|(key, _)| key.strip_prefix("tool/"))
    }
}
