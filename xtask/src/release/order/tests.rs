use super::*;

#[test]
fn what_differs_from_build_to_build_is_a_star() {
    for (name, expected) in [
        ("_ZN6lictor4main17h0123456789abcdefE", "_ZN6lictor4main17h*E"),
        ("_ZN6lictor4main17h0123456789abcdefE.llvm.12345", "_ZN6lictor4main17h*E"),
        ("_RNvNtCsaz6eC2DG7lh_3std2rt4initCs7BliBxkEZsN_4core", "_RNvNtCs*_3std2rt4initCs*_4core"),
        ("sqlite3RunParser", "sqlite3RunParser"),
    ] {
        assert_eq!(pattern(name), expected);
    }
}

#[test]
fn names_with_much_in_tow_come_last() {
    let listed = "\
0000000000401000 0000000000000010 t _ZN1a4many17h0000000000000000E
0000000000401010 0000000000000010 t _ZN1a4many17h1111111111111111E
0000000000401020 0000000000000010 t _ZN1a4many17h2222222222222222E
0000000000401030 0000000000000010 T few
0000000000401040 B not_a_function
";
    let ran = ["_ZN1a4many17h1111111111111111E".to_owned(), "few".to_owned()];
    assert_eq!(patterns(&ran, &sizes(listed)), ["few", "_ZN1a4many17h*E"]);
    let all = ["0", "1", "2"].map(|digit| format!("_ZN1a4many17h{}E", digit.repeat(16)));
    assert_eq!(patterns(&[&all[..], &ran].concat(), &sizes(listed)), ["_ZN1a4many17h*E", "few"]);
}

/// A character that the script has a meaning for would end the build.
#[test]
fn the_list_is_one_that_a_linker_can_read() {
    let names = fs::read_to_string(shell::root().join(FILE)).unwrap();
    assert!(names.lines().count() > 500, "`cargo xtask order` was not run");
    let unknown =
        |name: &&str| !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$*".contains(&byte));
    assert_eq!(names.lines().find(unknown), None);
}
