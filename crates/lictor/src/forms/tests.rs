use super::near_kind;

#[test]
fn a_misspelt_kind_is_not_another_kind() {
    for (name, meant) in [
        ("Bash", Some("bash")),
        ("BASH", Some("bash")),
        ("bsh", Some("bash")),
        ("execute-code", Some("execute_code")),
        ("Submit Task", Some("submit_task")),
        ("bash", None),
        ("execute_code", None),
        ("approve", None),
        ("", None),
    ] {
        assert_eq!(near_kind(name), meant, "{name}");
    }
}
