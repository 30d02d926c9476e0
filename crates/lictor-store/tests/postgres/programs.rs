//! Where PostgreSQL's own programs are. `cargo xtask` uses this file too.

use std::fs;
use std::path::PathBuf;

/// The directory of `initdb` and `postgres`: where Debian, Fedora, Homebrew and a plain build put them.
pub(crate) fn programs() -> Option<PathBuf> {
    let mut places: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .collect();
    places.sort();
    places.extend(
        ["/usr/bin", "/usr/local/bin", "/usr/local/pgsql/bin", "/opt/homebrew/bin"].map(PathBuf::from),
    );
    places.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    places.into_iter().rfind(|place| place.join("initdb").is_file() && place.join("postgres").is_file())
}
