//! The protocol of evaluate, approve and post: every interleaving of a few actors, and races of real threads.

#[cfg(test)]
mod model;
#[cfg(test)]
mod race;
#[cfg(test)]
mod schedule;
