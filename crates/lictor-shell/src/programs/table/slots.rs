//! The probe sequence of the hash table of names, shared with the build script that fills it.

/// How many slots there are: about twice as many as names, so that few names share one.
pub(crate) const COUNT: usize = 4096;

/// The slots of a name, the first one by its hash (FNV-1a), then its neighbours.
pub(crate) fn of(name: &str) -> impl Iterator<Item = usize> {
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let first = (hash ^ (hash >> 15)) as usize;
    (first..first + COUNT).map(|slot| slot % COUNT)
}
