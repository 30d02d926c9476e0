//! Tools that log into a machine or a box of their own and run a command there.

use super::say::joined;
use crate::call::{Call, Next, Report};
use crate::operand::Arg;

/// How a tool is told what to run there.
enum Told {
    /// By an option whose value is shell text.
    Option(&'static [&'static str]),
    /// By the words behind so many operands, or behind `--`.
    Words(usize),
    /// By the words behind its subcommand or behind `--`, and they run here.
    Exec,
    /// By the last word, which is shell text, behind so many operands.
    Text(usize),
    /// By the words from this operand on, and it runs here.
    Here(usize),
    /// By the words behind one of these, in a window of its own.
    Terminal(&'static [&'static str]),
}

/// The way of a tool, for the subcommand it was given.
fn told(program: &str, words: &[&str]) -> Option<Told> {
    Some(match (program, words) {
        ("vagrant", ["ssh", ..]) => Told::Option(&["-c", "--command"]),
        ("fly" | "flyctl", ["ssh", "console", ..] | ["machine", "exec", ..]) => {
            Told::Option(&["-C", "--command"])
        }
        ("gcloud", ["compute", "ssh", ..] | ["alpha", "compute", ..] | ["beta", "compute", ..]) => {
            Told::Option(&["--command"])
        }
        ("aws", ["ssm", "send-command", ..] | ["ssm", "start-session", ..]) => {
            Told::Option(&["--parameters"])
        }
        ("aws", ["ecs", "execute-command", ..]) => Told::Option(&["--command"]),
        ("az", ["vm" | "vmss", "run-command", ..]) => Told::Option(&["--scripts"]),
        ("cf" | "eb", ["ssh", ..]) => Told::Option(&["-c", "--command"]),
        ("doctl", ["compute", "ssh", ..]) => Told::Option(&["--ssh-command"]),
        ("heroku", ["run", ..] | ["run:detached", ..]) => Told::Words(1),
        ("lxc" | "incus" | "multipass", ["exec", ..]) | ("limactl", ["shell", ..]) => Told::Words(2),
        ("podman", ["machine", "ssh", ..]) => Told::Words(3),
        ("rbenv" | "pyenv" | "nodenv" | "goenv" | "jenv" | "opam" | "stack" | "cabal", ["exec", ..])
        | ("volta", ["run", ..])
        | ("perf", ["record" | "stat" | "trace", ..]) => Told::Exec,
        ("nvm", ["exec" | "run", _, ..]) => Told::Here(2),
        ("envchain", [_, ..]) | ("heroku", ["local:run", ..]) => Told::Here(1),
        ("sops", ["exec-env" | "exec-file", ..]) => Told::Text(2),
        ("adb", ["shell", ..]) | ("pssh" | "parallel-ssh" | "pdsh" | "clush", [_, ..]) => Told::Text(1),
        ("k3s" | "microk8s" | "k0s" | "minikube", ["kubectl", ..]) => Told::Here(0),
        (
            "xterm" | "uxterm" | "rxvt" | "urxvt" | "konsole" | "alacritty" | "kitty" | "st" | "terminator",
            _,
        ) => Told::Terminal(&["-e", "-x", "--command"]),
        ("gnome-terminal" | "xfce4-terminal" | "mate-terminal" | "foot" | "wezterm", _) => {
            Told::Terminal(&["-e", "-x", "--", "--command", "--execute", "start"])
        }
        _ => return None,
    })
}

/// Reports what is run elsewhere.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let words: Vec<&str> =
        call.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-')).take(3).collect();
    match told(call.program, &words) {
        Some(Told::Option(names)) => {
            let mut before = "";
            for arg in call.args {
                let word = arg.known().unwrap_or_default();
                let (option, text) = match word.split_once('=') {
                    Some((option, text)) if names.contains(&option) => (option, text),
                    _ => (before, word),
                };
                if names.contains(&option) {
                    // `--parameters commands='…'` and `commands=["…"]`.
                    let text = match text.strip_prefix("commands=") {
                        Some(list) => list.trim_matches(['[', ']', '"', '\'']),
                        None => text,
                    };
                    report.shell(&Arg::literal(text), &[], call.program, true);
                }
                before = word;
            }
        }
        Some(Told::Words(skip)) => {
            let behind = call.args.iter().position(|arg| arg.known() == Some("--"));
            let operands = call.args.iter().enumerate().filter(|(_, arg)| !arg.prefix().starts_with('-'));
            let first = operands.map(|(at, _)| at).nth(skip);
            let from = behind.map(|at| at + 1).or(first).unwrap_or(call.args.len());
            let argv = call.args.get(from..).unwrap_or_default().to_vec();
            match argv.as_slice() {
                [] => {}
                [only] => report.shell(only, &[], call.program, true),
                _ if call.program == "heroku" => report.shell(&joined(&argv), &[], call.program, true),
                _ => report.next.push(Next::Argv {
                    argv,
                    assignments: Vec::new(),
                    cwd: None,
                    through: call.program.to_owned(),
                    more: false,
                    elsewhere: true,
                }),
            }
        }
        Some(Told::Exec) => {
            let behind = call.args.iter().position(|arg| arg.known() == Some("--"));
            let first = call.args.iter().position(|arg| arg.known() == words.first().copied());
            let from = behind.or(first).map_or(call.args.len(), |at| at + 1);
            let argv = call.args.get(from..).unwrap_or_default();
            report.then_argv(argv, call.program);
        }
        Some(Told::Text(skip)) => {
            let text =
                call.args.last().filter(|text| text.prefix().contains(' ') && words.len() > skip.min(1));
            if let Some(text) = text {
                report.shell(text, &[], call.program, call.program != "sops");
            }
        }
        Some(Told::Here(skip)) => {
            let at = call.args.iter().position(|arg| arg.known() == words.get(skip).copied());
            let rest: Vec<Arg> = at.and_then(|at| call.args.get(at..)).unwrap_or_default().to_vec();
            let dashes = |arg: &Arg| arg.known() == Some("--");
            let rest: Vec<Arg> = rest
                .into_iter()
                .enumerate()
                .filter(|(at, arg)| *at != 1 || !dashes(arg))
                .map(|(_, arg)| arg)
                .collect();
            report.then_argv(&rest, call.program);
        }
        Some(Told::Terminal(options)) => {
            let at = call.args.iter().position(|arg| arg.known().is_some_and(|word| options.contains(&word)));
            match at.and_then(|at| call.args.get(at + 1..)) {
                Some([only]) => report.then_shell(only, &[], call.program),
                Some(argv) => report.then_argv(argv, call.program),
                None => {}
            }
        }
        None => {}
    }
}
