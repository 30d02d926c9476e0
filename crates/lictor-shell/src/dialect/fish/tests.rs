use super::translated;

#[test]
fn blocks_and_functions_are_those_of_other_shells() {
    let cases = [
        ("function ll; ls -la $argv; end", "ll() { :\nls -la $argv\n} \n"),
        ("function g --description 'x; y'\n  git $argv\nend", "g() { :\ngit $argv\n} \n"),
        ("if test -d x; and cd x; end", "if test -d x; then :\ncd x\nfi \n"),
        ("set x (pwd)", "set x $(pwd)\n"),
        ("for f in (ls); echo $f; end", "for f in $(ls); do :\necho $f\ndone \n"),
        ("echo ';' # a; b\npwd", "echo ';' # a; b\npwd\n"),
        ("end", ": \n"),
    ];
    for (fish, shell) in cases {
        assert_eq!(translated(fish), shell, "{fish}");
    }
}
