//! The server as a process, over HTTP, on SQLite and on PostgreSQL.

#[cfg(test)]
mod api;
#[cfg(test)]
mod away;
#[cfg(test)]
#[path = "../../../lictor-store/tests/postgres/certificate.rs"]
mod certificate;
#[cfg(test)]
#[path = "../../../lictor-store/tests/postgres/cluster.rs"]
#[expect(dead_code, reason = "tests of the store use more of it")]
mod cluster;
#[cfg(test)]
mod databases;
#[cfg(test)]
mod document;
#[cfg(test)]
mod entering;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod govern;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod managing;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod mcp_rmcp;
#[cfg(test)]
mod network;
#[cfg(test)]
mod page;
#[cfg(test)]
mod quorum;
#[cfg(test)]
mod records;
#[cfg(test)]
mod tenancy;
#[cfg(test)]
mod world;
