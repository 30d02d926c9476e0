//! The laws of the algebra. Each is a checker of an evaluator: the fast one and the reference must satisfy it,
//! and an injected fault must violate it.

mod algebra;
mod effects;
mod mutants;
