//! Errors with a next step.

/// An error with a stable name for programs and a next step for people. `Display` states the problem, and may
/// state the next step too.
pub trait Fixable: std::error::Error {
    /// A stable word for the kind of failure.
    fn kind(&self) -> &'static str;

    /// The next step.
    fn fix(&self) -> &'static str;
}
