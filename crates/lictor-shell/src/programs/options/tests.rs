use proptest::prelude::*;

use super::*;

const GRAMMAR: Grammar =
    Grammar::anywhere("ot", "output= recursive recurse-submodules? force force-with-lease? verbose")
        .attached("i");

fn parse(line: &str) -> Options {
    let args: Vec<Arg> = line.split_whitespace().map(Arg::literal).collect();
    GRAMMAR.parse(&args)
}

fn operands(options: &Options) -> Vec<&str> {
    options.words().collect()
}

#[test]
fn short_options_cluster_and_take_values_attached_or_apart() {
    for line in ["-rf -o x a", "-rfox a", "a -r -f -o x", "-fo x -r a"] {
        let options = parse(line);
        assert!(options.has(&["r"]) && options.has(&["f"]), "{line}");
        assert_eq!(options.text(&["o"]), Some("x"), "{line}");
        assert_eq!(operands(&options), ["a"], "{line}");
    }
}

#[test]
fn a_value_may_look_like_an_option() {
    let options = parse("-o -rf a");
    assert_eq!(options.text(&["o"]), Some("-rf"));
    assert!(!options.has(&["r"]));
}

#[test]
fn optional_values_are_only_attached() {
    let options = parse("-i a -i.bak --recurse-submodules b --recurse-submodules=c");
    assert_eq!(options.values(&["i"]).filter_map(Arg::known).collect::<Vec<_>>(), [".bak"]);
    assert_eq!(options.text(&["recurse-submodules"]), Some("c"));
    assert_eq!(operands(&options), ["a", "b"]);
}

#[test]
fn long_options_go_by_unambiguous_prefix() {
    assert!(parse("--recursi").has(&["recursive"]));
    assert!(parse("--force").has(&["force"]));
    assert!(parse("--verb").has(&["verbose"]));
    assert_eq!(parse("--out x").text(&["output"]), Some("x"));
    assert_eq!(parse("--out=x").text(&["output"]), Some("x"));
    let ambiguous = parse("--recur");
    assert!(!ambiguous.has(&["recursive", "recurse-submodules"]));
    // Two dashes and one letter are not the short option.
    assert!(!parse("--r").has(&["r"]));
}

#[test]
fn two_dashes_end_options() {
    let options = parse("-r a -- -f --force b");
    assert!(options.has(&["r"]) && !options.has(&["f", "force"]));
    assert_eq!(operands(&options), ["a", "-f", "--force", "b"]);
    assert_eq!(options.ended_at, Some(1));
}

#[test]
fn wrappers_stop_at_the_first_operand() {
    let args: Vec<Arg> = "-u root rm -rf x".split(' ').map(Arg::literal).collect();
    let options = Grammar::until_operand("u", "").parse(&args);
    assert_eq!(options.text(&["u"]), Some("root"));
    assert_eq!(operands(&options), ["rm", "-rf", "x"]);
    assert!(!options.has(&["r"]));
}

#[test]
fn one_dash_may_start_a_long_name() {
    let args: Vec<Arg> =
        "destroy -auto-approve -var a=b -target=x --chdir d".split(' ').map(Arg::literal).collect();
    let options =
        Grammar { style: Style::SingleDash, ..Grammar::anywhere("", "var= target= chdir=") }.parse(&args);
    assert!(options.has(&["auto-approve"]));
    assert_eq!(
        (options.text(&["var"]), options.text(&["target"]), options.text(&["chdir"])),
        (Some("a=b"), Some("x"), Some("d"))
    );
    assert_eq!(operands(&options), ["destroy"]);
}

#[test]
fn unknown_words_may_be_options() {
    let unknown = Arg::unknown("$X");
    assert!(GRAMMAR.parse(std::slice::from_ref(&unknown)).loose);
    let quoted = Arg { splits: false, ..unknown };
    assert!(!GRAMMAR.parse(&[quoted]).loose);
    let partly = Arg {
        value: Known::Partly { prefix: "-ox".to_owned(), suffix: String::new() },
        splits: false,
        ..Arg::literal("-ox$Y")
    };
    let options = GRAMMAR.parse(&[partly]);
    assert_eq!(options.value(&["o"]).map(Arg::prefix), Some("x"));
}

proptest! {
    /// Flags mean the same in any order, in one word or in many.
    #[test]
    fn flags_are_a_set(flags in proptest::collection::btree_set(prop::sample::select(vec!['r', 'f', 'v', 'n']), 1..4), at in 0usize..3) {
        let cluster: String = flags.iter().collect();
        let apart: Vec<String> = flags.iter().rev().map(|flag| format!("-{flag}")).collect();
        let mut words = vec!["a".to_owned(), "b".to_owned()];
        let together = { let mut words = words.clone(); words.insert(at.min(2), format!("-{cluster}")); words };
        words.splice(at.min(2)..at.min(2), apart);
        let parse = |words: &[String]| GRAMMAR.parse(&words.iter().map(Arg::literal).collect::<Vec<_>>());
        let (one, other) = (parse(&together), parse(&words));
        for flag in ["r", "f", "v", "n"] {
            prop_assert_eq!(one.has(&[flag]), other.has(&[flag]));
        }
        prop_assert_eq!(one.operands, other.operands);
    }

    /// Nothing is lost: every word is an option, a value or an operand, and operands keep their order.
    #[test]
    fn operands_keep_their_order(words in proptest::collection::vec("[a-c-]{0,4}|--[a-z]{1,9}(=x)?|-[a-z]{1,3}", 0..10)) {
        let args: Vec<Arg> = words.iter().map(Arg::literal).collect();
        let options = GRAMMAR.parse(&args);
        let mut rest = words.iter();
        for operand in options.words() {
            prop_assert!(rest.any(|word| word == operand), "{operand} is not in order");
        }
        let plain = words.iter().take_while(|word| *word != "--").filter(|word| !word.starts_with('-')).count();
        prop_assert!(options.operands.len() <= words.len() && options.operands.len() + words.len() >= plain);
    }
}

#[test]
fn cmdlets_take_options_in_any_case_cut_short_and_with_a_slash() {
    let grammar = Grammar { style: Style::Cmdlet, ..Grammar::anywhere("", "filter= recurse force whatif") };
    for words in [["-Recurse", "x"], ["-r", "x"], ["-REC", "x"]] {
        let args: Vec<Arg> = words.iter().map(|word| Arg::literal(*word)).collect();
        let options = grammar.parse(&args);
        assert!(options.has(&["recurse"]) && options.word(0) == "x", "{words:?}");
    }
    let args: Vec<Arg> = ["/S", "-f", "-Filter", "*.cs", "/etc"].map(Arg::literal).to_vec();
    let options = grammar.parse(&args);
    assert!(options.has(&["s"]) && !options.has(&["force"]), "`-f` may be either");
    assert_eq!((options.text(&["filter"]), options.word(0)), (Some("*.cs"), "/etc"));
}
