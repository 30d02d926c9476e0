//! What several targets need.

use std::sync::Arc;

use lictor_config::{Asked, Runner, BuildEnv};

/// Runs nothing.
struct Nobody;

impl Runner for Nobody {
    fn run(&self, _asked: &Asked<'_>, _input: &[u8]) -> Result<Vec<u8>, String> {
        Err("programs are not run here".to_owned())
    }
}

/// A project in which programs are not run.
pub fn around(root: &str) -> BuildEnv {
    BuildEnv { root: root.to_owned(), runner: Arc::new(Nobody) }
}
