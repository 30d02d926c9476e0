use super::*;

#[test]
fn every_function_of_a_profile_is_named_once() {
    let profile = "\
# callgrind format
ob=(1) /bin/lictor
fl=(1) ???
fn=(1) _ZN6lictor4main17h0123456789abcdefE
+3 0 4
cfn=(2) sqlite3RunParser'2
calls=1 0x40
fn=(2)
cfn=(3) sqlite3RunParser
fn=(4) (below main)
fn=(5) 0x0000000000401000
fn=(6) _ZN44_$LT$$RF$T$u20$as$u20$core..fmt..Display$GT$3fmt17hE
";
    let expected = [
        "_ZN6lictor4main17h0123456789abcdefE",
        "sqlite3RunParser",
        "_ZN44_$LT$$RF$T$u20$as$u20$core..fmt..Display$GT$3fmt17hE",
    ];
    assert_eq!(names(profile), expected);
}

#[test]
fn a_hook_that_is_stopped_is_no_rehearsal() {
    let scratch = tempfile::tempdir().unwrap();
    let error = functions(Path::new("/bin/false"), &scratch.path().join("home")).unwrap_err();
    assert!(error.to_string().starts_with("the hook of `SessionStart` ended with"), "{error}");
    assert!(!scratch.path().join("home").exists());
}
