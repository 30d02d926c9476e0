use super::*;

/// The sandbox prevents the creation of missing files with an empty file or an empty directory in their place. An
/// agent that expects a directory may not start if it finds a file.
#[test]
fn a_directory_with_a_dot_in_its_name_is_told_by_what_lies_in_it() {
    let paths: Vec<&str> =
        governing_files().filter(|file| file.at == At::Project).map(|file| file.path).collect();
    for path in &paths {
        let name = path.rsplit('/').next().unwrap_or(path);
        let could_be_both = name.strip_prefix('.').is_some_and(|rest| !rest.contains('.') && rest != "env");
        let inside = format!("{path}/");
        assert!(
            !could_be_both || paths.iter().any(|other| other.starts_with(&inside)),
            "`{path}` may be a file or a directory; name a file in it, too"
        );
    }
}
