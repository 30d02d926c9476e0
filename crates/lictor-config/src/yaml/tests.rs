use super::*;

fn problems(text: &str) -> Vec<String> {
    parse("g.yaml", text.as_bytes()).unwrap_err().iter().map(Diagnostic::one_line).collect()
}

#[test]
fn keeps_positions() {
    let tree = parse("g.yaml", b"a:\n  - 'x y'\n  - 2\n").unwrap();
    let Yaml::Map(entries) = tree.value else { panic!("a map") };
    let (key, value) = &entries[0];
    assert_eq!((key.text.as_str(), key.span), ("a", Span { line: 1, column: 1, end_line: 1, end_column: 2 }));
    let Yaml::List(items) = &value.value else { panic!("a list") };
    assert_eq!(items[0].span, Span { line: 2, column: 5, end_line: 2, end_column: 10 });
    assert_eq!(items[0].value, Yaml::Scalar { text: "x y".into(), quoted: true });
    assert_eq!(items[1].value, Yaml::Scalar { text: "2".into(), quoted: false });
}

#[test]
fn an_empty_file_is_an_empty_policy() {
    for text in ["", "# only a comment\n"] {
        assert_eq!(parse("g.yaml", text.as_bytes()).unwrap().value, Yaml::Map(vec![]));
    }
}

#[test]
fn refuses_what_hides_meaning() {
    assert_eq!(problems("a: 1\nb: 2\na: 3\n"), ["g.yaml:3:1: error: duplicate key `a`"]);
    assert_eq!(
        problems("a: &x 1\nb: 2\n"),
        ["g.yaml:1:4: error: anchors (`&name`) are not used in policies"]
    );
    assert_eq!(problems("a: !!str 1\n"), ["g.yaml:1:4: error: tags (`!name`) are not used in policies"]);
    assert_eq!(problems("a: 1\n---\nb: 2\n"), ["g.yaml:2:1: error: the file holds more than one document"]);
}

#[test]
fn alias_bombs_do_not_grow() {
    let mut text = String::from("a: &a [x,x,x,x,x,x,x,x,x]\n");
    for (this, last) in [("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"), ("f", "e")] {
        text += &format!("{this}: &{this} [*{last},*{last},*{last},*{last},*{last},*{last}]\n");
    }
    assert!(problems(&text)[0].contains("anchors"));
}

#[test]
fn refuses_hostile_sizes_and_bytes() {
    assert!(problems(&"x".repeat(MAX_BYTES + 1))[0].contains("at most"));
    let deep = format!("a: {}1{}", "[".repeat(60), "]".repeat(60));
    assert!(problems(&deep)[0].contains("nested too deeply"));
    assert!(problems(&"[".repeat(5_000))[0].contains("not valid YAML"));
    assert!(problems(&format!("a: [{}]", "1,".repeat(MAX_NODES)))[0].contains("too many values"));
    let error = parse("g.yaml", b"a: 1\nb: \xff\n").unwrap_err();
    assert_eq!(error[0].one_line(), "g.yaml:2:4: error: the file is not valid UTF-8");
}

#[test]
fn tabs_are_named() {
    let error = parse("g.yaml", b"a:\n\t- 1\n").unwrap_err();
    assert!(error[0].help.contains("tabs"), "{error:?}");
}
