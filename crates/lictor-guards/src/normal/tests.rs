use super::*;

fn command(words: &[&str]) -> Command {
    Command {
        program: words[0].to_owned(),
        args: words[1..].iter().map(|word| Some((*word).to_owned())).collect(),
        through: Vec::new(),
        attributable: true,
        certain: true,
        directory: None,
        words: Vec::new(),
    }
}

#[test]
fn every_spelling_of_the_flags_reaches_a_pattern() {
    for words in
        [["rm", "-fr", "/"].as_slice(), &["rm", "-r", "-f", "/"], &["rm", "--recursive", "--force", "/"]]
    {
        assert!(spellings(&command(words)).contains(&"rm -rf /".to_owned()), "{words:?}");
    }
}

#[test]
fn what_follows_two_dashes_is_no_flag() {
    assert!(!spellings(&command(&["rm", "--", "-rf"])).contains(&"rm -fr".to_owned()));
}
