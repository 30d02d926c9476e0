use super::is_here;

#[test]
fn this_machine_is_told_from_others() {
    for place in [
        "localhost:5000/app:dev",
        "127.0.0.1:5001/app",
        "http://localhost:4873",
        "docker://localhost:5000/app:dev",
        "kind-registry:5000/app",
        "./local-feed",
        "local::file:./target/repo",
    ] {
        assert!(is_here(place), "{place}");
    }
    for place in [
        "app:dev",
        "me/app:latest",
        "registry.example:5000/app",
        "https://registry.npmjs.org",
        "https://localhost.evil.example",
        "s3://test",
        "ghcr.io/o/app:1",
        "",
    ] {
        assert!(!is_here(place), "{place}");
    }
}
