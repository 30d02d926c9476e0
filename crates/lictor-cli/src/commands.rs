//! One small file per command.

pub mod agents;
pub mod approve;
pub mod audit;
pub mod check;
pub mod completions;
pub mod council;
pub mod demo;
pub mod doctor;
pub mod eval;
pub mod explain;
pub mod graph;
pub mod init;
pub mod log;
pub mod man;
pub mod replay;
pub mod report;
pub mod rpc;
pub mod run;
pub mod schema;
pub mod serve;
pub mod session;
pub mod test;
pub mod trust;
pub mod verdict;
pub mod why_not;
pub mod wrong;
