use super::*;

fn hook(key: &str, hash: &str) -> ListedHook {
    ListedHook { key: key.to_owned(), command: "lictor".to_owned(), hash: hash.to_owned(), trusted: false }
}

#[test]
fn folders_are_trusted_from_their_nearest_entry() {
    let record = r#"{"/work": "TRUST_FOLDER", "/work/other": "DO_NOT_TRUST", "/srv/a/b": "TRUST_PARENT"}"#;
    for (folder, trusted) in [
        ("/work/app", true),
        ("/work/other/x", false),
        ("/srv/a/c", true),
        ("/srv", false),
        ("/workshop", false),
    ] {
        assert_eq!(is_trusted_folder(Some(record), Path::new(folder)), trusted, "{folder}");
    }
    assert!(!is_trusted_folder(None, Path::new("/work")));
    assert!(!is_trusted_folder(Some("not json"), Path::new("/work")));
    let more = with_folder(Some(record), Path::new("/new")).unwrap();
    assert!(is_trusted_folder(Some(&more), Path::new("/new")) && more.contains("/work/other"));
    assert_eq!(with_folder(Some("[1]"), Path::new("/new")), None);
}

#[test]
fn hashes_are_written_once_and_taken_out_again() {
    let before = "model = \"x\"\n\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n";
    let hooks = [
        hook("/w/.x/hooks.json:pre_tool_use:0:0", "sha256:1"),
        hook("/w/.x/hooks.json:stop:0:0", "sha256:2"),
    ];
    let once = with_hashes(before, &hooks);
    assert!(
        once.contains("[hooks.state.\"/w/.x/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:2\"\n"),
        "{once}"
    );
    let newer = [hook("/w/.x/hooks.json:pre_tool_use:0:0", "sha256:9")];
    let again = with_hashes(&once, &newer);
    assert_eq!(again.matches("pre_tool_use").count(), 1, "{again}");
    assert!(
        again.contains("sha256:9") && !again.contains("sha256:1\"") && again.contains("sha256:2"),
        "{again}"
    );
    assert_eq!(without_hooks_of(&once, Path::new("/w/.x/hooks.json")), before);
    assert_eq!(without_hooks_of(&once, Path::new("/w/.y/hooks.json")), once);
    assert_eq!(with_project(before, Path::new("/w")), before);
    assert!(with_project(before, Path::new("/v")).contains("[projects.\"/v\"]"));
    assert_eq!(with_project("", Path::new("/v")), "[projects.\"/v\"]\ntrust_level = \"trusted\"\n");
}
