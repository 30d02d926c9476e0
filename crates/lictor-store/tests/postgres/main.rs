//! The store on PostgreSQL, on a server that the tests start themselves.

#[cfg(test)]
mod certificate;
#[cfg(test)]
mod chains;
#[cfg(test)]
mod cluster;
#[cfg(test)]
mod tls;
