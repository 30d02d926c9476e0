use lictor_core::facts::Command;

use super::*;

fn command(line: &str) -> Command {
    let mut words = line.split(' ').map(str::to_owned);
    let program = words.next().unwrap_or_default();
    let args: Vec<Option<String>> = words.map(Some).collect();
    let words = std::iter::once(program.clone()).chain(args.iter().flatten().cloned()).collect();
    Command { program, args, through: Vec::new(), attributable: true, certain: true, words, directory: None }
}

const DELETE: Way =
    Way { words: "git branch", swap: &[("-D", "-d"), ("--force", "")], say: "let git check: `{line}`" };

#[test]
fn a_way_is_made_from_the_command() {
    let turned = |line: &str| turned(&DELETE, &command(line));
    assert_eq!(turned("git branch -D topic").as_deref(), Some("let git check: `git branch -d topic`"));
    assert_eq!(turned("git branch --force topic").as_deref(), Some("let git check: `git branch topic`"));
    assert_eq!(turned("git branch topic"), None, "nothing to turn");
    assert_eq!(turned("git tag -D topic"), None, "about another command");
}

#[test]
fn options_are_turned_however_they_are_written() {
    let clean = Way { words: "git clean", swap: &[("-f", "-n"), ("--force", "--dry-run")], say: "`{line}`" };
    let clean = |line: &str| turned(&clean, &command(line));
    assert_eq!(clean("git clean -xdff src").as_deref(), Some("`git clean -xdn src`"));
    assert_eq!(clean("git clean -d --force").as_deref(), Some("`git clean -d --dry-run`"));
    assert_eq!(clean("git clean -dx"), None, "nothing to turn");
    let swap = &[("delete", "get"), ("--all", ""), ("--grace-period=*", ""), ("--timeout *", ""), ("-f", "")];
    let delete = Way { words: "kubectl delete", swap, say: "`{line}`" };
    let delete = |line: &str| turned(&delete, &command(line));
    assert_eq!(delete("kubectl delete all --all").as_deref(), Some("`kubectl get all`"));
    assert_eq!(
        delete("kubectl delete pod x --grace-period=0 --timeout 5s -f").as_deref(),
        Some("`kubectl get pod x`")
    );
}

#[test]
fn unknown_words_are_not_guessed() {
    let mut unknown = command("git branch -D topic");
    unknown.args.push(None);
    assert_eq!(turned(&DELETE, &unknown), None);
}

#[test]
fn words_are_quoted_for_the_shell() {
    assert_eq!(quoted("a/b.txt"), "a/b.txt");
    assert_eq!(quoted("it's me"), r"'it'\''s me'");
    assert_eq!(quoted(""), "''");
    assert_eq!(quoted("$X"), "'$X'");
}
