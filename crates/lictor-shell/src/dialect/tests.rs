use super::{placeholders, recipe, without_prompts};

#[test]
fn a_recipe_is_what_the_shell_gets_to_see() {
    let cases = [
        ("$(RM) x.o", "rm -f x.o"),
        ("$(CC) -c $< -o $@", "cc -c source -o target"),
        ("rm -rf $(BUILDDIR)/html", "rm -rf builddir/html"),
        ("for d in $(SUBDIRS); do make -C $$d; done", "for d in subdirs; do make -C $d; done"),
        ("cp $(BIN) $(HOME)/bin", "cp bin ${HOME}/bin"),
        ("$(Q)rm -rf x", "rm -rf x"),
        ("test -d $(@D) || mkdir -p $(@D)", "test -d target || mkdir -p target"),
        ("gofmt -l $(shell find . -name '*.go')", "gofmt -l $(find . -name '*.go')"),
        ("$(SPHINXBUILD) $(ALLSPHINXOPTS$(_TESTS)) x", "sphinx-build allsphinxopts_tests x"),
        // To a shell these are the system's.
        ("rm -rf $(BUILD)/* $(OUT)/x", "rm -rf $(BUILD)/* out/x"),
        ("rm -rf $(PREFIX)/lib", "rm -rf $(PREFIX)/lib"),
    ];
    for (text, expected) in cases {
        assert_eq!(recipe(text, false).as_deref(), Some(expected), "{text}");
    }
    for text in [
        "echo $(pwd)",
        "rm -rf $(cat list)",
        "F(){ echo ~; }; rm -rf $(F)",
        "echo $$",
        "echo $@ $?",
        "x=$(nproc)",
    ] {
        assert_eq!(recipe(text, false), None, "{text}");
    }
}

#[test]
fn a_placeholder_is_only_where_a_shell_refuses_the_line() {
    let page = "npm explain <package-spec>";
    assert_eq!(placeholders(page).as_deref(), Some("npm explain ${PLACEHOLDER}"));
    let two = "rm -rf <dir> <other>";
    assert_eq!(placeholders(two).as_deref(), Some("rm -rf ${PLACEHOLDER} ${PLACEHOLDER}"));
    for runs in ["cat <id_rsa> /tmp/x", "cat < in > out", "echo '<b>'", "bash <<EOF\n<x>\nEOF"] {
        assert_eq!(placeholders(runs), None, "{runs}");
    }
}

#[test]
fn the_work_grows_with_the_text() {
    let hostile = "$(A".repeat(1_300);
    assert_eq!(recipe(&hostile, false), None);
    assert_eq!(recipe(&"$(AB) ".repeat(10_000), false), None);
}

#[test]
fn a_mark_of_make_says_that_directories_are_set() {
    assert_eq!(recipe("rm -rf $(BUILDDIR)/*", true).as_deref(), Some("rm -rf builddir/*"));
    assert_eq!(recipe("rm -rf $(BUILDDIR)/*", false).as_deref(), Some("rm -rf $(BUILDDIR)/*"));
    assert_eq!(recipe("rm -rf $(DESTDIR)/etc", true).as_deref(), Some("rm -rf $(DESTDIR)/etc"));
}

#[test]
fn prompts_of_environments_are_no_part_of_a_command() {
    assert_eq!(without_prompts("(venv) $ a\n(venv) $ b").as_deref(), Some("a\nb"));
    assert_eq!(without_prompts("(.venv)$ a").as_deref(), Some("a"));
    for runs in ["(cd x; ls) $ a", "(a)", "echo (venv) $ a", ""] {
        assert_eq!(without_prompts(runs), None, "{runs}");
    }
}
