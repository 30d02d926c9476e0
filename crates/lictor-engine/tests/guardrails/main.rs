//! Reading before writing through the whole engine: facts from a made-up world, a store, one event after the other.

#[cfg(test)]
mod vectors;
