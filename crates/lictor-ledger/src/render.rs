//! How findings, verdicts and the gate's answer look.

pub mod github;
pub mod json;
pub mod markdown;
pub mod text;

#[cfg(test)]
mod tests;
