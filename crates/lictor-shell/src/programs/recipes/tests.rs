use super::{just, make, package, tasks};

#[test]
fn only_the_asked_target_and_what_it_needs_is_made() {
    let rules = make::rules(
        "B = out\nall: lib\n\t@echo $@ $(B)\nlib:\n\tcc $$X\nclean:\n\trm -rf $(B) $(HOME)\n",
        &[],
    );
    assert_eq!(rules.lines(&[]), ["echo all out", "cc $X"]);
    assert_eq!(rules.lines(&["clean"]), ["rm -rf out $HOME"]);
}

#[test]
fn inline_recipes_and_continued_lines_are_read() {
    let rules = make::rules("x: ; rm \\\n -rf y\n", &[]);
    assert_eq!(rules.lines(&["x"]), ["rm   -rf y"]);
}

#[test]
fn a_variable_that_names_itself_ends() {
    let rules = make::rules("A = $(A)$(A)\nx:\n\techo $(A)\n", &[]);
    assert_eq!(rules.lines(&["x"]).len(), 1);
}

#[test]
fn recipes_of_just_know_their_variables() {
    let rules = just::rules("dir := 'out'\nbuild: lint\n  mkdir {{dir}}\nlint:\n  @cargo clippy\n");
    assert_eq!(rules.lines(&[]), ["mkdir out", "cargo clippy"]);
}

#[test]
fn tasks_have_commands_and_needs() {
    let rules = tasks::rules(
        "version: '3'\ntasks:\n  a:\n    deps: [b]\n    cmds:\n      - echo a\n  b:\n    cmd: echo b\n",
    );
    assert_eq!(rules.lines(&["a"]), ["echo a", "echo b"]);
}

#[test]
fn scripts_run_with_what_stands_before_and_after_them() {
    let text = r#"{"scripts": {"prebuild": "a", "build": "b \"c\"", "deploy": "d"}}"#;
    assert_eq!(package::scripts(text, "npm", &["run", "build"]), ["a", "b \"c\""]);
    assert!(package::scripts(text, "npm", &["install"]).is_empty());
}
