//! One small file per command.

pub mod audit;
pub mod eval;
pub mod explain;
pub mod session;
