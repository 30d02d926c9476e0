use super::path;

#[test]
fn files_are_told_from_text() {
    assert_eq!(path("file@.env"), Some(".env"));
    assert_eq!(path("body=@.env"), Some(".env"));
    assert_eq!(path("@.env"), Some(".env"));
    assert_eq!(path("path=.env"), None);
    assert_eq!(path("a text @.env"), None);
    assert_eq!(path("me@example.com"), Some("example.com"));
}
