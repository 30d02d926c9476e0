use super::CommitArgs;

#[test]
fn what_git_commit_is_told() {
    let none = CommitArgs::default();
    let all = CommitArgs { all: true, ..none.clone() };
    let path = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    for (line, expected) in [
        ("", none.clone()),
        ("-m -a", none.clone()),
        ("-m x", none.clone()),
        ("-mall", none.clone()),
        ("--message=-a", none.clone()),
        ("--message all", none.clone()),
        ("-F -", none.clone()),
        ("-u no", CommitArgs { paths: path(&["no"]), ..none.clone() }),
        ("-uno -S0a", none.clone()),
        ("-a", all.clone()),
        ("-am x", all.clone()),
        ("-qam x", all.clone()),
        ("--all -m x", all.clone()),
        ("--amend", CommitArgs { amend: true, ..none.clone() }),
        ("-n", CommitArgs { no_verify: true, ..none.clone() }),
        ("--no-verify", CommitArgs { no_verify: true, ..none.clone() }),
        ("--no-veri", CommitArgs { no_verify: true, ..none.clone() }),
        ("-anm x", CommitArgs { no_verify: true, ..all.clone() }),
        ("-i a b", CommitArgs { include: true, paths: path(&["a", "b"]), ..none.clone() }),
        ("-o a", CommitArgs { paths: path(&["a"]), ..none.clone() }),
        ("-m x a -- -b", CommitArgs { paths: path(&["a", "-b"]), ..none.clone() }),
        ("--fixup HEAD a", CommitArgs { paths: path(&["a"]), ..none.clone() }),
        ("--author x a", CommitArgs { paths: path(&["a"]), ..none.clone() }),
        ("-p", CommitArgs { unclear: Some("-p".to_owned()), ..none.clone() }),
        ("--interactive", CommitArgs { unclear: Some("--interactive".to_owned()), ..none.clone() }),
    ] {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        assert_eq!(CommitArgs::parse(&words), expected, "{line}");
    }
}
