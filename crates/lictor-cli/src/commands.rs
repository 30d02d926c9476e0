//! One small file per command.

pub mod approve;
pub mod audit;
pub mod council;
pub mod doctor;
pub mod eval;
pub mod explain;
pub mod init;
pub mod replay;
pub mod session;
pub mod test;
pub mod trust;
pub mod verdict;
pub mod why_not;
pub mod wrong;
