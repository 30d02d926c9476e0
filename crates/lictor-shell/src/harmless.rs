//! Harmless evaluations that are common in setup files.

use crate::ast::{Node, Part, Script, Word};

/// Programs that print shell code for the current shell, with the words one of which has to be there.
const SETUPS: &[(&str, &[&str])] = &[
    ("ssh-agent", &[]),
    ("gpg-agent", &[]),
    ("keychain", &[]),
    ("dircolors", &[]),
    ("gdircolors", &[]),
    ("lesspipe", &[]),
    ("lesspipe.sh", &[]),
    ("resize", &[]),
    ("tset", &[]),
    ("thefuck", &[]),
    ("register-python-argcomplete", &[]),
    ("getopt", &[]),
    ("direnv", &["hook", "export"]),
    ("brew", &["shellenv"]),
    ("pyenv", &["init", "virtualenv-init", "sh-shell"]),
    ("rbenv", &["init"]),
    ("nodenv", &["init"]),
    ("goenv", &["init"]),
    ("jenv", &["init"]),
    ("plenv", &["init"]),
    ("phpenv", &["init"]),
    ("tfenv", &["init"]),
    ("oh-my-posh", &["init"]),
    ("mcfly", &["init"]),
    ("navi", &["widget"]),
    ("sheldon", &["source"]),
    ("antidote", &["init", "source"]),
    ("just", &["--completions", "completions"]),
    ("task", &["--completion", "completion"]),
    ("op", &["completion"]),
    ("glab", &["completion"]),
    ("flux", &["completion"]),
    ("kind", &["completion"]),
    ("fnm", &["env", "completions"]),
    ("starship", &["init", "completions"]),
    ("zoxide", &["init"]),
    ("atuin", &["init"]),
    ("mise", &["activate", "env", "hook-env"]),
    ("rtx", &["activate", "env"]),
    ("asdf", &["env", "completion"]),
    ("conda", &["hook", "shell.bash", "shell.zsh"]),
    ("mamba", &["hook", "shell"]),
    ("micromamba", &["hook", "shell"]),
    ("opam", &["env"]),
    ("luarocks", &["path"]),
    ("fzf", &["--bash", "--zsh"]),
    ("minikube", &["docker-env", "podman-env", "completion"]),
    ("docker-machine", &["env"]),
    ("kubectl", &["completion"]),
    ("helm", &["completion"]),
    ("gh", &["completion"]),
    ("npm", &["completion"]),
    ("pnpm", &["completion"]),
    ("pip", &["completion"]),
    ("poetry", &["completions"]),
    ("rustup", &["completions"]),
    ("uv", &["generate-shell-completion"]),
    ("uvx", &["--generate-shell-completion"]),
    ("volta", &["completions", "env"]),
    ("ng", &["completion"]),
    ("hub", &["alias"]),
    ("perl", &["-Mlocal::lib"]),
    ("nix", &["print-dev-env"]),
    ("devbox", &["shellenv", "init-hook"]),
    ("guix", &["shell", "package"]),
    ("path_helper", &["-s"]),
    ("vault", &["-autocomplete-install"]),
];

/// Whether `words` is `eval` or `source` of what such a program prints. The line may have a function of that name.
pub(crate) fn is_harmless(words: &[Word], is_function: &dyn Fn(&str) -> bool) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    if !matches!(program.literal(), Some("eval" | "source" | ".")) {
        return false;
    }
    match rest {
        [word] => prints_setup(word, is_function),
        // `eval set -- "$(getopt …)"` only sets the positional parameters.
        [set, dashes, ..] => set.literal() == Some("set") && dashes.literal() == Some("--"),
        [] => false,
    }
}

fn prints_setup(word: &Word, is_function: &dyn Fn(&str) -> bool) -> bool {
    let mut parts = word.parts.as_slice();
    if let [Part::Double(inner)] = parts {
        parts = inner;
    }
    match parts {
        [Part::Command(script) | Part::ProcessIn(script)] => is_setup(script, is_function),
        _ => false,
    }
}

fn is_setup(script: &Script, is_function: &dyn Fn(&str) -> bool) -> bool {
    let [item] = script.items.as_slice() else { return false };
    let [Node::Simple(simple)] = item.first.stages.as_slice() else { return false };
    let fallbacks = item.rest.iter().all(|(_, pipeline)| match pipeline.stages.as_slice() {
        [Node::Simple(simple)] => {
            matches!(simple.words.first().and_then(Word::literal), Some("true" | ":" | "echo"))
        }
        _ => false,
    });
    if !fallbacks {
        return false;
    }
    let mut words = simple.words.iter();
    let program =
        words.next().map(|word| word.literal().unwrap_or_else(|| word.written())).unwrap_or_default();
    let name = program.trim_matches('"').rsplit('/').next().unwrap_or_default();
    if is_function(name) {
        return false;
    }
    let words = words.filter_map(Word::literal);
    // `COMPLETE=bash tool`, `_TOOL_COMPLETE=bash_source tool`: the tool prints its completions and does nothing else.
    let completes =
        simple.assignments.iter().any(|set| set.name.ends_with("COMPLETE")) && words.clone().next().is_none();
    completes && prints_own_text(name) || is_setup_command(name, words)
}

/// `completion`, `--completions`, `complete-zsh`, `--generate-shell-completion`: what tools call the shell code that
/// completes their arguments.
fn asks_for_completions(word: &str) -> bool {
    if word.len() < "complete".len() {
        return false;
    }
    word.split(['-', '=', '_', ':']).any(|part| matches!(part, "completion" | "completions" | "complete"))
}

/// Whether a program only prints its own text: it does not show files, run code or fetch.
fn prints_own_text(program: &str) -> bool {
    use crate::programs::table::{Family, find};
    !program.is_empty()
        && program.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
        && !matches!(program, "echo" | "printf" | "cat" | "curl" | "wget")
        && find(program).is_none_or(|entry| {
            !matches!(
                entry.family,
                Family::Builtins
                    | Family::Documents
                    | Family::Editors
                    | Family::Files
                    | Family::Find
                    | Family::Interpreters
                    | Family::Network
                    | Family::Readers
                    | Family::Shells
                    | Family::Text
                    | Family::Wrappers
            )
        })
}

/// Whether a command prints shell code for the current shell.
pub(crate) fn is_setup_command<'w>(program: &str, mut words: impl Iterator<Item = &'w str> + Clone) -> bool {
    if words.clone().any(asks_for_completions) && prints_own_text(program) {
        return true;
    }
    let Some((_, required)) = SETUPS.iter().find(|(setup, _)| *setup == program) else { return false };
    let is_wanted = |word: &str| {
        required.iter().any(|wanted| {
            word.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    required.is_empty() || words.any(is_wanted)
}
