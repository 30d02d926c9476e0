//! A reading as short text lines, for cases and for people.

use lictor_core::facts::Access;
use lictor_shell::{Arg, Cwd, Effect, Known, Operand, Reading, ShellEnv};

/// The world of the cases: home `/home/user`, started in `/home/user/project`.
pub(crate) struct World;

impl ShellEnv for World {
    fn variable(&self, name: &str) -> Option<String> {
        let value = match name {
            "HOME" => "/home/user",
            "PWD" => "/home/user/project",
            "USER" => "user",
            "TMPDIR" => "/tmp",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn home_of(&self, user: &str) -> Option<String> {
        (user == "alice").then(|| "/home/alice".to_owned())
    }

    fn git_alias(&self, name: &str) -> Option<String> {
        (name == "wipe").then(|| "!rm -rf wiped".to_owned())
    }

    fn script(&self, path: &str) -> Option<String> {
        let text = match path {
            "./danger.sh" | "danger.sh" => "#!/bin/bash\nrm -rf /\nrm -rf \"$UNKNOWN\"\ncat .env\n",
            "./build.sh" => "#!/bin/sh\nset -e\n$MAKE all\neval \"$HOOK\"\nrm -rf \"$OUT\"\n",
            "./args.sh" => "rm -rf \"$1\"\n",
            "env.sh" | "./env.sh" => "export DIR=/srv/data\n",
            _ => return None,
        };
        Some(text.to_owned())
    }

    fn project_root(&self) -> Option<String> {
        Some("/home/user/project".to_owned())
    }
}

/// One line for each effect and each opaque part. With `standing`, commands that may not run or whose failure does
/// not show say so.
pub(crate) fn render(reading: &Reading, standing: bool) -> Vec<String> {
    let effects = reading.effects.iter().map(|each| effect(each, standing));
    let opaque =
        reading.opaque.iter().map(|opaque| format!("opaque {}", name(&format!("{:?}", opaque.what))));
    let told = reading.opaque.iter().any(|opaque| format!("{:?}", opaque.what) == "Syntax");
    let refused = (reading.refused && !told).then(|| "opaque syntax".to_owned());
    effects.chain(refused).chain(opaque).collect()
}

/// Whether a line is about what the reader itself works out. What programs read, list or say to a repository is
/// the business of their tables.
pub(crate) fn is_of_the_reader(line: &str) -> bool {
    const KINDS: [&str; 10] =
        ["run", "delete", "write", "append", "empty", "execute", "flow", "process", "opaque", "send"];
    KINDS.contains(&line.split(' ').next().unwrap_or_default())
}

fn effect(effect: &Effect<Operand>, standing: bool) -> String {
    match effect {
        Effect::File { access, target, recursive, .. } => {
            let deep = if *recursive { " -r" } else { "" };
            format!("{}{deep} {}", verb(*access), operand(target))
        }
        Effect::Run(command) => {
            let mut line = "run".to_owned();
            for through in &command.through {
                line.push_str(&format!(" [{through}]"));
            }
            line.push_str(&format!(" {}", command.program));
            for arg in &command.args {
                line.push_str(&format!(" {}", arg.as_deref().map_or_else(|| "?".to_owned(), shown)));
            }
            if standing && !command.certain {
                line.push_str(" (maybe)");
            }
            if standing && !command.attributable {
                line.push_str(" (unattributable)");
            }
            line
        }
        Effect::Reach(reach) => {
            format!("{} {}", if reach.sends { "send" } else { "reach" }, reach.host.as_deref().unwrap_or("?"))
        }
        Effect::Flow { from, to, .. } => {
            format!("flow {} {}", name(&format!("{from:?}")), name(&format!("{to:?}")))
        }
        Effect::Process(process) => format!("process {}", name(&format!("{process:?}"))),
        Effect::Git { effect, .. } => format!("git {}", name(&format!("{effect:?}"))),
        Effect::Privilege(privilege) => format!("privilege {}", name(&format!("{privilege:?}"))),
        Effect::Database { effect, .. } => format!("database {}", name(&format!("{effect:?}"))),
        Effect::Code { language, .. } => format!("code {language}"),
        other => name(&format!("{other:?}")),
    }
}

fn verb(access: Access) -> String {
    name(&format!("{access:?}"))
}

fn operand(operand: &Operand) -> String {
    let path = arg(&operand.arg);
    match &operand.cwd {
        Cwd::Start => path,
        Cwd::Known(cwd) | Cwd::Glob(cwd) => format!("{path} in {cwd}"),
        Cwd::Unknown => format!("{path} in ?"),
    }
}

fn arg(arg: &Arg) -> String {
    let text = match &arg.value {
        Known::Text(text) => shown(text),
        Known::Partly { prefix, suffix } => format!("{prefix}?{suffix}"),
        Known::Nothing => "?".to_owned(),
    };
    if arg.glob { format!("glob:{text}") } else { text }
}

fn shown(text: &str) -> String {
    if text.is_empty() || text.contains([' ', '\n']) { format!("{text:?}") } else { text.to_owned() }
}

/// `ForkBomb` as `fork-bomb`.
fn name(text: &str) -> String {
    let mut name = String::new();
    for (index, c) in text.chars().enumerate() {
        if c.is_ascii_uppercase() && index > 0 {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}
