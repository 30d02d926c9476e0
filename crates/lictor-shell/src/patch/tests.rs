use super::*;

fn shown(effects: Result<Vec<PatchEffect>, PatchError>) -> Vec<String> {
    match effects {
        Ok(effects) => effects.iter().map(|effect| format!("{:?} {}", effect.access, effect.path)).collect(),
        Err(error) => vec![error.to_string()],
    }
}

#[test]
fn a_codex_patch_names_its_files() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+rm -rf /\n*** Update File: src/b.rs\n*** Move to: src/c.rs\n@@ fn x\n-old\n+new\n \n*** End of File\n*** Delete File: d e.md\n*** End Patch\n";
    assert_eq!(
        shown(read_patch(patch)),
        ["Write a.txt", "MoveAway src/b.rs", "Write src/c.rs", "Delete d e.md"]
    );
}

#[test]
fn text_around_a_codex_patch_does_not_matter() {
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: x\n@@\n+a\n*** End Patch\nEOF\n";
    assert_eq!(shown(read_patch(patch)), ["Modify x"]);
}

#[test]
fn what_is_not_a_patch_is_an_error() {
    for (text, error) in [
        ("", "this is not a patch: start with `*** Begin Patch` or with `--- a/file`"),
        ("rm -rf /", "this is not a patch: start with `*** Begin Patch` or with `--- a/file`"),
        (
            "*** Begin Patch\n*** Add File: a\n+x\n",
            "the patch has no `*** End Patch`; add it as the last line",
        ),
        (
            "*** Begin Patch\n*** Add File:  \n*** End Patch",
            "line 2 names no file; write the path after the colon",
        ),
        ("*** Begin Patch\n*** End Patch", "the patch changes no file"),
        (
            "*** Begin Patch\n*** Add File: a\nnot added\n*** End Patch",
            "line 3 is not part of a patch: `not added`",
        ),
        (
            "*** Begin Patch\n*** Rename File: a\n*** End Patch",
            "line 2 is not part of a patch: `*** Rename File: a`",
        ),
        ("*** Begin Patch\n*** Delete File: a\n+x\n*** End Patch", "line 3 is not part of a patch: `+x`"),
        ("*** Begin Patch\n*** Move to: a\n*** End Patch", "line 2 is not part of a patch: `*** Move to: a`"),
    ] {
        assert_eq!(shown(read_patch(text)), [error], "{text}");
    }
}

#[test]
fn a_diff_names_its_files() {
    let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- not a header\n+++ nor this\n same\n--- /dev/null\n+++ b/new/y\n@@ -0,0 +1 @@\n+z\n--- a/old\t2024-01-01\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\ndiff --git a/p b/q\nrename from p\nrename to q\n";
    assert_eq!(shown(read_patch(diff)), ["Modify x", "Write new/y", "Delete old", "MoveAway p", "Write q"]);
    assert_eq!(
        shown(read_diff("--- ../../etc/passwd\n+++ ../../etc/passwd\n", 0)),
        ["Modify ../../etc/passwd"]
    );
    assert_eq!(shown(read_diff("--- a/b/c\n+++ a/b/c\n", 2)), ["Modify c"]);
}
