use crate::reading::Nowhere;

/// The paths that a line mentions; those that count as directories too end in a slash.
fn mentioned(line: &str) -> Vec<String> {
    let reading = crate::read(line, &Nowhere);
    let shown = reading.mentions.into_iter().map(|mention| {
        let path = mention.file.arg.known().unwrap_or_default().to_owned();
        if mention.directory { path + "/" } else { path }
    });
    shown.collect()
}

#[test]
fn words_of_programs_that_nobody_described_are_mentioned() {
    assert_eq!(mentioned("frobnicate -v a.json"), ["a.json/"]);
    assert_eq!(mentioned("frobnicate -oa/b --dest=x/y"), ["a/b/", "x/y/"]);
    assert_eq!(mentioned("frobnicate OPEN:x.json,trunc"), ["OPEN:x.json,trunc/", "x.json/"]);
}

#[test]
fn what_is_described_left_out_or_looked_at_is_not() {
    for line in ["cat a.json", "frobnicate --exclude .git", "frobnicate check a.json", "git add a.json"] {
        assert_eq!(mentioned(line), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn strings_in_code_are_mentioned_unless_they_are_only_asked_about() {
    assert_eq!(mentioned("ruby -e 'frob(\"a/b\")'"), ["a/b/"]);
    assert_eq!(mentioned("python3 -c \"x = ['a.json']\""), ["a.json"]);
    for code in ["os.path.exists('a.json')", "print('a.json')", "x == 'a.json'", "print('see a.json')"] {
        assert_eq!(mentioned(&format!("python3 -c \"{code}\"")), Vec::<String>::new(), "{code}");
    }
}
