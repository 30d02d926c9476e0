//! Zones of paths.

use lictor_core::facts::Zone;

use crate::project::Project;

/// Trees that belong to the system.
const SYSTEM: [&str; 21] = [
    "/bin",
    "/boot",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/snap",
    "/System",
    "/Library",
    "/Applications",
    "/private",
];

/// Devices that do no harm when written to or read from.
const HARMLESS_DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/full",
];

/// Whether `path` is `top` or is below it. Compares whole components: `/a/src-old` is not below `/a/src`.
pub(crate) fn is_at_or_below(path: &str, top: &str) -> bool {
    match path.strip_prefix(top) {
        Some("") => true,
        Some(rest) => rest.starts_with('/') || top.ends_with('/'),
        None => false,
    }
}

/// Whether a path refers to a file descriptor of the process itself.
fn is_descriptor(path: &str) -> bool {
    ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"]
        .iter()
        .find_map(|folder| path.strip_prefix(folder))
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// The zone of an absolute path without `.` and `..`.
pub(crate) fn zone_of(path: &str, project: &Project) -> Zone {
    if path == "/" {
        return Zone::Root;
    }
    if is_at_or_below(path, "/dev") && !is_at_or_below(path, "/dev/shm") {
        let harmless = HARMLESS_DEVICES.contains(&path) || is_descriptor(path) || path == "/dev/fd";
        return if harmless { Zone::HarmlessDevice } else { Zone::Device };
    }
    if is_descriptor(path) {
        return Zone::HarmlessDevice;
    }
    for root in project.roots() {
        if is_at_or_below(root, path) {
            // The root, or a parent of it: an effect on it affects the project, even if the whole project is in a
            // temporary directory.
            return match above_project(path, project) {
                Some(zone) if path != root && !matches!(zone, Zone::Temp | Zone::TempRoot) => zone,
                _ => Zone::ProjectRoot,
            };
        }
        if let Some(inside) = path.strip_prefix(root)
            && inside.starts_with('/')
        {
            let in_git = inside.split('/').any(|part| part == ".git");
            return if in_git || project.is_git_dir(path) { Zone::GitDir } else { Zone::Project };
        }
    }
    if project.is_git_dir(path) {
        return Zone::GitDir;
    }
    above_project(path, project).unwrap_or(Zone::Outside)
}

/// The zone of a path that is not inside the project; `None` when it is nowhere special.
fn above_project(path: &str, project: &Project) -> Option<Zone> {
    if path == project.home || matches!(path, "/home" | "/Users" | "/root") {
        return Some(Zone::HomeRoot);
    }
    // A home directory in a temporary place is still a home.
    let home = project.home.as_str();
    if is_at_or_below(path, home)
        && project.temp.iter().any(|temp| home != temp && is_at_or_below(home, temp))
    {
        return Some(Zone::Home);
    }
    for temp in &project.temp {
        if path == temp {
            return Some(Zone::TempRoot);
        }
        if is_at_or_below(path, temp) {
            return Some(Zone::Temp);
        }
    }
    if is_at_or_below(path, &project.home) {
        return Some(Zone::Home);
    }
    let another_home = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"));
    if another_home.is_some_and(|rest| !rest.contains('/')) {
        return Some(Zone::HomeRoot);
    }
    SYSTEM.iter().any(|top| is_at_or_below(path, top)).then_some(Zone::System)
}
