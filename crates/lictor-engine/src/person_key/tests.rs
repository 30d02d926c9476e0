use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn what_one_key_signs_another_does_not_check() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let key = PersonKey::open_or_create(&here.path().join("keys")).unwrap();
    PersonKey::open_or_create(&there.path().join("keys")).unwrap();
    let seal = key.sign(b"yes");
    let seals = |directory: &Path| PersonSeals::in_directory(directory.join("keys"));
    assert!(seals(here.path()).is_theirs(b"yes", &seal));
    assert!(!seals(here.path()).is_theirs(b"yes, all", &seal));
    assert!(!seals(there.path()).is_theirs(b"yes", &seal));
    let cut = Seal { signature: seal.signature.chars().skip(2).collect(), ..seal.clone() };
    assert!(!seals(here.path()).is_theirs(b"yes", &cut));
    assert!(!seals(Path::new("/nowhere")).is_theirs(b"yes", &seal));
    assert!(
        !format!("{key:?}")
            .contains(fs::read_to_string(here.path().join("keys/approval.key")).unwrap().trim())
    );
}

#[test]
fn a_key_is_made_once_for_this_user_alone() {
    let directory = tempfile::tempdir().unwrap();
    let keys = directory.path().join("keys");
    let (first, again) =
        (PersonKey::open_or_create(&keys).unwrap(), PersonKey::open_or_create(&keys).unwrap());
    assert_eq!(first.sign(b"x"), again.sign(b"x"));
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&keys), mode(&keys.join(SECRET)), mode(&keys.join(PUBLIC))), (0o700, 0o600, 0o600));
}

#[test]
fn a_file_that_is_no_key_is_refused_without_waiting_for_it() {
    let refused = |make: &dyn Fn(&Path)| {
        let directory = tempfile::tempdir().unwrap();
        make(&directory.path().join(SECRET));
        PersonKey::open_or_create(directory.path()).unwrap_err().to_string()
    };
    let fifo = refused(&|file| {
        assert!(std::process::Command::new("mkfifo").arg(file).status().unwrap().success());
    });
    assert!(fifo.contains("is not a regular file"), "{fifo}");
    let open = refused(&|file| fs::write(file, "00").unwrap());
    assert!(open.contains("is not this user's alone"), "{open}");
    let short = refused(&|file| write_new(file, "00\n").unwrap());
    assert!(short.contains("64 hexadecimal digits"), "{short}");
    let other = refused(&|file| {
        write_new(file, &format!("{}\n", digits(&[7; 32]))).unwrap();
        write_new(&file.with_file_name(PUBLIC), &format!("{}\n", digits(&[9; 32]))).unwrap();
    });
    assert!(other.contains("does not belong to its secret half"), "{other}");
}
