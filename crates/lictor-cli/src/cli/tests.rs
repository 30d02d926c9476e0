//! Every command has golden output and a published JSON schema: a new command without them fails here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use lictor_agents::commands::{Audience, COMMANDS, is_for_agents};

use super::Cli;
use crate::schemas;

/// Commands without `--json`, each for a reason.
const NO_JSON: &[(&str, &str)] = &[
    ("man", "prints a manual page"),
    ("serve", "starts a server"),
    ("ui", "starts a server and prints its address"),
    ("mcp run", "speaks the protocol of its client"),
    ("mcp serve", "starts a server"),
    ("hook", "answers in the form that its agent obeys"),
    ("run", "prints what the agent prints"),
    ("schema", "prints JSON already"),
    ("rpc", "speaks JSON already"),
    ("completions", "prints a script"),
    ("help", "prints text"),
];

/// The broken environments of a command: each has a golden file that runs every command in it.
const BROKEN: [&str; 6] =
    ["nothing-recorded", "damaged-store", "newer-store", "refused-policy", "unusable-state", "no-repository"];

/// Commands that read neither the project's policy nor its record.
const ALOOF: &[&str] = &[
    "hook",
    "run",
    "serve",
    "mcp pins",
    "mcp scan",
    "mcp serve",
    "man",
    "ui",
    "schema",
    "completions",
    "help",
    "demo",
    "agents",
];

/// Every command that does something, by the words it is called with.
fn leaves() -> Vec<(String, clap::Command)> {
    let mut cli = Cli::command();
    cli.build();
    let mut leaves = Vec::new();
    let mut open = vec![(String::new(), cli)];
    while let Some((words, command)) = open.pop() {
        let below: Vec<&clap::Command> =
            command.get_subcommands().filter(|sub| sub.get_name() != "help" || words.is_empty()).collect();
        for sub in &below {
            open.push((format!("{words} {}", sub.get_name()).trim().to_owned(), (*sub).clone()));
        }
        if below.is_empty() {
            leaves.push((words, command));
        }
    }
    leaves.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(leaves.len() > 35, "{}", leaves.len());
    leaves
}

/// Those that people are shown.
fn shown() -> Vec<(String, clap::Command)> {
    leaves().into_iter().filter(|(_, command)| !command.is_hide_set()).collect()
}

fn golden(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cli/golden/{name}.txt"));
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The command lines of a golden file that run this command.
fn runs<'a>(text: &'a str, words: &str) -> Vec<&'a str> {
    let start = format!("lictor {words}");
    let is_run = |line: &&str| line.contains(&format!("{start} ")) || line.ends_with(&start);
    text.lines().filter_map(|line| line.strip_prefix("$ ")).filter(is_run).collect()
}

#[test]
fn every_command_has_golden_output() {
    for (words, _) in shown() {
        let text = golden(&words.replace(' ', "-"));
        assert!(!runs(&text, &words).is_empty(), "no golden run of `lictor {words}`");
        assert!(words == "demo" || text.contains("\n? "), "no golden error of `lictor {words}`");
    }
}

#[test]
fn every_command_has_published_json_or_a_reason() {
    let exempt: BTreeSet<&str> = NO_JSON.iter().map(|(words, _)| *words).collect();
    let mut published: BTreeSet<&str> = schemas::COMMANDS.iter().map(|(words, _)| *words).collect();
    for (words, command) in shown() {
        if exempt.contains(words.as_str()) {
            continue;
        }
        let json = command.get_arguments().any(|argument| argument.get_id() == "json");
        assert!(json, "`lictor {words}` has no --json");
        assert!(published.remove(words.as_str()), "no schema of `lictor {words} --json`");
        let golden = golden(&words.replace(' ', "-"));
        let run = runs(&golden, &words).into_iter().any(|line| line.contains("--json"));
        assert!(run, "no golden run of `lictor {words} --json`");
    }
    assert!(published.is_empty(), "schemas of commands that are not there: {published:?}");
}

#[test]
fn every_command_meets_everything_that_can_be_broken() {
    for broken in BROKEN {
        let text = golden(broken);
        for (words, _) in shown().iter().filter(|(words, _)| !ALOOF.contains(&words.as_str())) {
            assert!(!runs(&text, words).is_empty(), "`lictor {words}` is missing in {broken}.txt");
        }
    }
}

#[test]
fn every_help_fits_a_screen_and_shows_an_example() {
    let help = |words: &str| {
        let args = ["lictor"].into_iter().chain(words.split_whitespace()).chain(["--help"]);
        super::parse(args).unwrap_err().to_string()
    };
    assert!(help("").lines().count() <= 45, "{}", help(""));
    assert!(help("").lines().all(|line| line.chars().count() <= 100), "{}", help(""));
    let groups = Cli::command();
    for (words, command) in shown() {
        let text = help(&words);
        assert!(text.lines().count() <= 45, "{text}");
        assert!(!text.contains(&u64::MAX.to_string()), "{text}");
        let above = words.split(' ').next().unwrap_or_default();
        let example = groups.find_subcommand(above).is_some_and(|group| {
            group.get_after_help().is_some_and(|text| text.to_string().contains("Examples:"))
        });
        assert!(example, "`lictor {above} --help` shows no example");
        // A longer line would be wrapped in the wrong place.
        let own = command
            .get_after_help()
            .into_iter()
            .chain(groups.find_subcommand(above).and_then(clap::Command::get_after_help));
        for line in own.map(ToString::to_string).collect::<Vec<_>>().join("\n").lines() {
            assert!(line.chars().count() <= 98, "lictor {words}: {line}");
        }
    }
}

#[test]
fn help_lists_every_command_once() {
    let top = Cli::command();
    let mut known: Vec<&str> =
        top.get_subcommands().filter(|sub| !sub.is_hide_set()).map(clap::Command::get_name).collect();
    let mut listed: Vec<&str> =
        super::GROUPS.iter().flat_map(|(_, lines)| *lines).flat_map(|(names, _)| *names).copied().collect();
    known.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, known);
}

#[test]
fn schemas_are_complete_in_themselves() {
    for (words, _) in schemas::COMMANDS {
        let schema = schemas::of(words).unwrap().unwrap();
        assert_eq!(schema["title"], format!("lictor {words}"));
    }
    assert!(schemas::of("no such command").unwrap().is_none());
}

#[test]
fn clap_finds_nothing_wrong_with_the_command_line() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_says_whom_it_is_for() {
    let leaves: BTreeSet<String> = leaves().into_iter().map(|(words, _)| words).collect();
    let classified: BTreeSet<String> = COMMANDS.iter().map(|(words, _)| (*words).to_owned()).collect();
    assert_eq!(classified.len(), COMMANDS.len(), "a command is classified twice");
    let missing: Vec<_> = leaves.difference(&classified).collect();
    assert!(missing.is_empty(), "say in lictor-agents/src/commands.rs whom these are for: {missing:?}");
    let gone: Vec<_> = classified.difference(&leaves).collect();
    assert!(gone.is_empty(), "no such command any more: {gone:?}");
    // The commands that the design reserves for people.
    for words in [
        "approve",
        "deny",
        "trust",
        "tools",
        "session refresh",
        "verdict clear",
        "verdict waive",
        "verdict lower",
        "init",
    ] {
        assert!(COMMANDS.contains(&(words, Audience::People)), "{words}");
    }
}

/// The shell analysis lets an agent run exactly the commands classified for agents, whatever wraps them.
#[test]
fn agents_may_run_what_is_for_agents_and_nothing_else() {
    let world = lictor_observe::FakeObserver::for_judging();
    let project = lictor_observe::Project::discover("/home/user/project", &world);
    let stopped = |line: &str| {
        let action = lictor_core::Action::bash(line).in_dir("/home/user/project");
        let facts = lictor_observe::facts(&action, &project, &world);
        facts.effects.iter().any(|effect| {
            matches!(effect, lictor_core::facts::Effect::GuardOff { what, .. } if *what == lictor_core::facts::GuardOff::LictorCommand)
        })
    };
    for (words, audience) in COMMANDS {
        for line in [
            format!("lictor {words} x"),
            format!("/usr/local/bin/lictor --json {words} x"),
            format!("env A=1 lictor --cwd . {words} x"),
            format!("sh -c 'lictor --cwd=sub {words} x'"),
        ] {
            assert_eq!(stopped(&line), *audience != Audience::Agents, "{line}");
        }
        let split: Vec<Option<&str>> = words.split(' ').map(Some).collect();
        assert_eq!(is_for_agents(split), *audience == Audience::Agents, "{words}");
    }
    for line in [
        "lictor unknown",
        "lictor $(cat word)",
        "lictor verdict $VERB x",
        "lictor --unknown check",
        "lictor $A approve x",
    ] {
        assert!(stopped(line), "{line}");
    }
}

#[test]
fn help_says_what_is_refused_to_agents() {
    for (words, audience) in COMMANDS {
        let mut command = &mut super::definition();
        for word in words.split(' ') {
            command = command.find_subcommand_mut(word).unwrap();
        }
        let said = command.render_long_help().to_string().contains("refused to agents");
        assert_eq!(said, *audience != Audience::Agents, "{words}");
    }
}

#[test]
fn notes_fill_the_width_and_examples_keep_their_lines() {
    let text = "One sentence that is\nbroken here.\n\nExamples:\n  lictor a\n  lictor b\n\nExit codes: 0 yes, 1\nno.";
    let joined = super::joined(text);
    assert_eq!(
        joined,
        "One sentence that is broken here.\n\nExamples:\n  lictor a\n  lictor b\n\nExit codes: 0 yes, 1 no."
    );
    let help = super::definition().find_subcommand_mut("init").unwrap().render_help().to_string();
    assert!(!help.lines().any(|line| line == "written because nobody said yes."), "{help}");
}
