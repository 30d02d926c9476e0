//! What texts do: reviewed cases and laws that hold for any text.

#[path = "reading/agreement.rs"]
mod agreement;
#[path = "support/cases.rs"]
mod cases;
#[path = "support/render.rs"]
mod render;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

fn does(text: &str, standing: bool) -> Vec<String> {
    let lines = render::render(&lictor_shell::read(text, &render::World), standing);
    lines.into_iter().filter(|line| render::is_of_the_reader(line)).collect()
}

#[test]
fn every_case_does_what_it_says() {
    let cases = cases::all();
    let mut wrong = Vec::new();
    for case in &cases {
        let found = does(&case.text, case.standing);
        if found != case.does {
            wrong.push(format!(
                "{}: {:?}\n  expected {:?}\n  found    {found:?}",
                case.id, case.text, case.does
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn cases_are_many_and_told_apart() {
    let cases = cases::all();
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len(), "an id is used twice");
    assert!(cases.len() >= 400, "{} cases", cases.len());
}

/// How often each line occurs.
fn counted(lines: Vec<String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts.entry(line).or_default() += 1;
    }
    counts
}

/// Every line of `less` occurs in `more` at least as often.
fn is_covered(less: Vec<String>, more: Vec<String>) -> bool {
    let more = counted(more);
    counted(less).iter().all(|(line, count)| more.get(line).is_some_and(|more| more >= count))
}

#[test]
fn harmless_commands_in_front_hide_nothing() {
    for prefix in
        ["ls -la\n", "echo 'it''s fine' # a comment\n", "true;", "x=1 && true\n", "cat <<'E'\n$( ' \"\nE\n"]
    {
        for case in cases::all() {
            let alone = does(&case.text, false);
            let behind = does(&format!("{prefix}{}", case.text), false);
            assert!(
                is_covered(alone.clone(), behind.clone()),
                "{} behind {prefix:?}: {alone:?} {behind:?}",
                case.id
            );
        }
    }
}

#[test]
fn harmless_commands_behind_hide_nothing() {
    for case in cases::all() {
        let alone = does(&case.text, false);
        if alone.iter().any(|line| line == "opaque syntax")
            || case.text.ends_with('\\')
            || case.text.contains("<<")
        {
            continue;
        }
        let longer = does(&format!("{}\nls", case.text), false);
        assert!(is_covered(alone.clone(), longer.clone()), "{}: {alone:?} {longer:?}", case.id);
    }
}

#[test]
fn a_group_or_shell_around_it_hides_no_deletion() {
    for case in cases::all() {
        let alone: Vec<String> = does(&case.text, false);
        if alone.iter().any(|line| line == "opaque syntax")
            || case.text.contains("<<")
            || case.text.contains('#')
        {
            continue;
        }
        let deletes = |lines: Vec<String>| -> Vec<String> {
            lines.into_iter().filter(|line| line.starts_with("delete") || line.starts_with("flow")).collect()
        };
        for (open, close) in
            [("{\n", "\n}"), ("(\n", "\n)"), ("if true; then\n", "\nfi"), ("echo $(\n", "\n)")]
        {
            let inside = does(&format!("{open}{}{close}", case.text), false);
            assert!(
                is_covered(deletes(alone.clone()), deletes(inside.clone())),
                "{} in {open:?}: {alone:?} {inside:?}",
                case.id
            );
        }
    }
}

#[test]
fn too_much_is_never_fine() {
    let limited = |text: &str| does(text, false).iter().any(|line| line == "opaque limit");
    for open in ["(", "$(", "{ ", "if ", "\"$(", "${x:-", "<(", "f() { "] {
        assert!(limited(&open.repeat(10_000)), "{open}");
    }
    let mut long = "echo padding\n".repeat(30_000);
    assert!(limited(&long));
    long.push_str("rm -rf /x\n");
    assert!(does(&long, false).iter().any(|line| line == "delete -r /x"), "the end of a long text is read");
    let mut nested = "rm -rf /x".to_owned();
    for _ in 0..40 {
        nested = format!("sudo {nested}");
    }
    assert!(limited(&nested));
    let doubling = format!("x=ab; {} $x", "x=$x$x; ".repeat(40));
    assert!(limited(&doubling));
    for doubling in ["a=(x); {} rm \"${a[@]}\"", "set -- x; {} rm \"$@\""] {
        let step = if doubling.starts_with('a') { "a+=(\"${a[@]}\"); " } else { "set -- \"$@\" \"$@\"; " };
        assert!(limited(&doubling.replace("{}", &step.repeat(60))), "{doubling}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        let _ = lictor_shell::read(&text, &render::World);
    }

    #[test]
    fn any_pieces_of_shell_are_read(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        let _ = lictor_shell::read(&pieces.concat(), &render::World);
    }

    #[test]
    fn a_deletion_on_a_line_of_its_own_is_seen(
        before in prop::collection::vec(prop::sample::select(CLOSED), 0..12),
    ) {
        let text = format!("{}rm -rf /x\n", before.concat());
        let found = does(&text, false);
        prop_assert!(
            found.iter().any(|line| line.starts_with("delete -r /x")),
            "{:?}: {:?}", text, found
        );
    }
}

/// Pieces that mean something to the shell.
const PIECES: &[&str] = &[
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "(",
    ")",
    "((",
    "))",
    "{ ",
    "}",
    "{",
    ",",
    "..",
    "[[ ",
    " ]]",
    "[",
    "]",
    "$",
    "$(",
    "${",
    "$((",
    "`",
    "\"",
    "'",
    "$'",
    "\\",
    "<",
    ">",
    "<<",
    "<<-",
    "<<<",
    "<(",
    ">(",
    ">&",
    "&>",
    "2>&1",
    "#",
    "!",
    "*",
    "?",
    "~",
    "=",
    "+=",
    "x",
    "rm",
    " -rf",
    " /x",
    "if ",
    "then ",
    "else ",
    "fi",
    "for ",
    "in ",
    "while ",
    "do ",
    "done",
    "case ",
    "esac",
    ";;",
    "function ",
    "f()",
    "EOF",
    "\nEOF\n",
    "eval ",
    "bash -c ",
    "source ",
    "trap ",
    "cd ",
    "set -- ",
    "alias ",
    "export ",
    "read ",
    "xargs ",
    "sudo ",
    "é",
    "\u{1f600}",
    "\0",
    "\r",
    "$x",
    "$@",
    "$1",
    "x=",
    "x=(",
    "@",
    "%",
    "/",
    ":",
    "-",
    "^",
    "1",
];

/// Complete lines that neither end the shell nor change what `rm` or `/x` mean.
const CLOSED: &[&str] = &[
    "ls\n",
    "echo 'a'\n",
    "x=1\n",
    "if a; then b; fi\n",
    "for i in 1 2; do echo $i; done\n",
    "cat <<E\nrm\nE\n",
    "(cd y)\n",
    "f() { g; }\n",
    "case a in b) c;; esac\n",
    "a | b && c || d\n",
    "echo \"$(ls)\" `pwd`\n",
    "# comment '\n",
    "a=(1 2)\n",
    "[[ a = b ]]\n",
    "((i++))\n",
    "{ a; } > log\n",
    "while read l; do echo $l; done < f\n",
    "cd d && make\n",
    "echo ${x:-y} ${x/a/b}\n",
    "trap 'echo bye' EXIT\n",
    "set -e\n",
    "alias l=ls\n",
    "true || exit 1\n",
    "echo $'a\\'b'\n",
    "eval \"$X\"\n",
    "$CMD\n",
];
