//! The severity of a finding. Defined in `lictor-core`, because the stop gate uses levels too.

pub use lictor_core::level::{Level, NotALevel};
