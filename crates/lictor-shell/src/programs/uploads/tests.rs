use super::{ROWS, names_secret};

#[test]
fn rows_are_sorted_by_program() {
    assert!(ROWS.is_sorted_by_key(|(program, _)| *program));
}

#[test]
fn a_secret_is_found_behind_signs_and_in_commands() {
    for word in [".env", "file@.env", "files[a]=@.env", "put .env; bye"] {
        assert!(names_secret(word), "{word}");
    }
    for word in ["README.md", "put notes.txt; bye", "--from-env-file=.env", ".env.example"] {
        assert!(!names_secret(word), "{word}");
    }
}
