//! The laws of the algebra. Each is a checker of an evaluator: the fast one and the reference must keep it, and a
//! planted fault must break it.

mod algebra;
mod effects;
mod mutants;
