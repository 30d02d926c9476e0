//! Evaluations that everybody's setup does and that are harmless.

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

/// Whether `words` is `eval` or `source` of what such a program prints.
pub(crate) fn is_harmless(words: &[Word]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    if !matches!(program.literal(), Some("eval" | "source" | ".")) {
        return false;
    }
    match rest {
        [word] => prints_setup(word),
        // `eval set -- "$(getopt …)"` only sets the positional parameters.
        [set, dashes, ..] => set.literal() == Some("set") && dashes.literal() == Some("--"),
        [] => false,
    }
}

fn prints_setup(word: &Word) -> bool {
    let mut parts = word.parts.as_slice();
    if let [Part::Double(inner)] = parts {
        parts = inner;
    }
    match parts {
        [Part::Command(script) | Part::ProcessIn(script)] => is_setup(script),
        _ => false,
    }
}

fn is_setup(script: &Script) -> bool {
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
    let words: Vec<&str> = words.filter_map(Word::literal).collect();
    is_setup_command(name, &words)
}

/// Whether a command prints shell code for the current shell.
pub(crate) fn is_setup_command(program: &str, words: &[&str]) -> bool {
    if words.iter().any(|word| matches!(*word, "--completion-bash" | "--completion" | "--completions")) {
        return true;
    }
    let Some((_, required)) = SETUPS.iter().find(|(setup, _)| *setup == program) else { return false };
    let is_wanted = |word: &&str| {
        required.iter().any(|wanted| {
            word.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    required.is_empty() || words.iter().any(is_wanted)
}
