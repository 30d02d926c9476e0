//! The store against everything that happens to files: crashes, other processes, damage, forgery.
//!
//! `LICTOR_STORE_KILLS=500 cargo test -p lictor-store crash` kills writers more often than the default.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod buffered;
#[cfg(test)]
mod child;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod log;
#[cfg(test)]
mod many;
#[cfg(test)]
mod refused;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod sealed;
#[cfg(test)]
mod tamper;

/// The code of child processes. Does nothing in the test run itself.
#[test]
fn child() {
    if let Some(role) = child::Role::of_this_process() {
        role.play();
    }
}
