use super::*;
use crate::load::load;
use crate::policy::PolicyBundle;
use crate::source::{Origin, Source};

fn loaded(files: &[(Origin, &str)]) -> Result<PolicyBundle, String> {
    let source = |(origin, text): &(Origin, &str)| Source {
        origin: *origin,
        path: origin.as_str().to_owned(),
        bytes: format!("version: 1\n{text}").into_bytes(),
    };
    let sources: Vec<Source> = files.iter().map(source).collect();
    load(&sources).map(|loaded| loaded.policy).map_err(|error| error.to_string())
}

#[test]
fn a_size_has_a_unit() {
    assert_eq!(bytes("1GB"), Some(1_000_000_000));
    assert_eq!(bytes("20 kB"), Some(20_000));
    for wrong in ["", "GB", "1", "1 G", "1gb", "-1MB", "99999999999999999999GB"] {
        assert_eq!(bytes(wrong), None, "{wrong}");
    }
}

#[test]
fn the_strongest_file_says_where_the_record_is() {
    let policy = loaded(&[
        (Origin::User, "store: postgres://me@db/lictor"),
        (Origin::Managed, "store: postgres://team@db/lictor"),
        (Origin::Repository, "store: postgres://elsewhere/x"),
    ])
    .unwrap();
    assert_eq!(policy.database(), Some("postgres://team@db/lictor"));
    assert_eq!(loaded(&[(Origin::Repository, "store: postgres://x/y")]).unwrap().database(), None);
    assert_eq!(loaded(&[(Origin::User, "store: sqlite")]).unwrap().database(), None);
    assert!(loaded(&[(Origin::User, "store: mysql://x")]).unwrap_err().contains("cannot be `mysql://x`"));
    assert!(loaded(&[(Origin::User, "store: postgres://")]).unwrap_err().contains("names no database"));
}

#[test]
fn only_the_managed_file_lets_pass() {
    let away = |origin| {
        let text = "server: {url: 'https://lictor.example.com', away: pass}";
        loaded(&[(origin, text)]).unwrap().server().unwrap().away
    };
    assert_eq!(away(Origin::Managed), Some(Away::Pass));
    assert_eq!(away(Origin::User), Some(Away::LastGood));
    assert!(loaded(&[(Origin::Repository, "server: {url: 'https://evil'}")]).unwrap().server().is_none());
}

#[test]
fn tokens_do_not_travel_unencrypted() {
    for url in
        ["http://lictor.example.com", "http://127.0.0.1.evil.example", "http://localhost.evil", "https://"]
    {
        let error = loaded(&[(Origin::User, &format!("server: {{url: '{url}'}}"))]).unwrap_err();
        assert!(error.contains("unencrypted"), "{url}: {error}");
    }
    for url in ["https://lictor.example.com", "http://127.0.0.1:4747", "http://localhost/x", "http://[::1]:1"]
    {
        assert!(loaded(&[(Origin::User, &format!("server: {{url: '{url}'}}"))]).is_ok(), "{url}");
    }
}

#[test]
fn retention_has_defaults() {
    assert_eq!(loaded(&[]).unwrap().retention(), RetentionConfig::default());
    let said = loaded(&[(Origin::User, "retention: {keep: 30d}")]).unwrap().retention();
    assert_eq!(said, RetentionConfig { keep: 30 * DAY, max_size: 1_000_000_000 });
    let larger = loaded(&[(Origin::User, "retention: {max_size: 5GB}")]).unwrap().retention();
    assert_eq!(larger.max_size, 5_000_000_000);
    let repository = loaded(&[(Origin::Repository, "retention: {keep: 1d}")]).unwrap().retention();
    assert_eq!(repository, RetentionConfig::default());
}
