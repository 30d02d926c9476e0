use super::{Named, path};

#[test]
fn files_are_told_from_text() {
    assert_eq!(path(Named::Word, "", ".env"), Some(".env"));
    assert_eq!(path(Named::Word, "--cert", "x.pem"), None);
    assert_eq!(path(Named::Option, "--body-file", ".env"), Some(".env"));
    assert_eq!(path(Named::Option, "--body", "about .env"), None);
    assert_eq!(path(Named::Option, "", "--from-file=k=.env"), Some(".env"));
    assert_eq!(path(Named::Option, "-F", "title=.env"), None);
    assert_eq!(path(Named::Option, "-F", "body=@.env"), Some(".env"));
    assert_eq!(path(Named::At, "", "file@.env"), Some(".env"));
    assert_eq!(path(Named::At, "", "path=.env"), None);
    assert_eq!(path(Named::At, "", "me@example.com"), Some("example.com"));
    assert_eq!(path(Named::Put, "-e", "put .env; bye"), Some(".env"));
    assert_eq!(path(Named::Put, "-e", "get .env"), None);
}
