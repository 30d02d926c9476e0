//! How bad a finding is. The stop gate speaks of levels too, so they are the model's.

pub use lictor_core::level::{Level, NotALevel};
