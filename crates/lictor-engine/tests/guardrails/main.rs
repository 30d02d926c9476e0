//! Reading before writing through the whole engine: facts from a fake file system, a store, one event after the
//! other.

#[cfg(test)]
mod vectors;
