//! What a command does as short lines, without the lines that only say which programs ran.

use lictor_shell::{Arg, Cwd, Effect, Known, Operand, ShellEnv};

/// The world of the cases: home `/home/user`, started in `/home/user/project`.
pub(crate) struct World;

impl ShellEnv for World {
    fn variable(&self, name: &str) -> Option<String> {
        let value = match name {
            "HOME" => "/home/user",
            "PWD" => "/home/user/project",
            "USER" => "user",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn home_of(&self, _: &str) -> Option<String> {
        None
    }

    fn git_alias(&self, name: &str) -> Option<String> {
        match name {
            "undo" => Some("reset --hard HEAD~1".to_owned()),
            "nuke" => Some("!rm -rf /".to_owned()),
            "st" => Some("status -sb".to_owned()),
            _ => None,
        }
    }

    fn script(&self, _: &str) -> Option<String> {
        None
    }
}

/// One line for each effect that is not a run, and for each opaque part.
pub(crate) fn does(text: &str) -> Vec<String> {
    let reading = lictor_shell::read(text, &World);
    let effects = reading.effects.iter().filter_map(line);
    let opaque =
        reading.opaque.iter().map(|opaque| format!("opaque {}", kebab(&format!("{:?}", opaque.what))));
    let mut lines: Vec<String> = effects.chain(opaque).collect();
    lines.dedup();
    lines
}

fn line(effect: &Effect<Operand>) -> Option<String> {
    Some(match effect {
        Effect::Run(_) => return None,
        Effect::File { access, target, recursive, .. } => {
            let deep = if *recursive { " -r" } else { "" };
            format!("{}{deep} {}", kebab(&format!("{access:?}")), operand(target))
        }
        Effect::Reach(reach) => {
            format!("{} {}", if reach.sends { "send" } else { "reach" }, reach.host.as_deref().unwrap_or("?"))
        }
        Effect::Git { effect, .. } => format!("git {}", kebab(&format!("{effect:?}"))),
        Effect::Process(process) => format!("process {}", kebab(&format!("{process:?}"))),
        Effect::Database { effect, .. } => format!("database {}", kebab(&format!("{effect:?}"))),
        Effect::Infrastructure { tool, mass, .. } => {
            format!("infrastructure {tool}{}", if *mass { " mass" } else { "" })
        }
        Effect::Publish { tool } => format!("publish {tool}"),
        Effect::Privilege(privilege) => format!("privilege {}", kebab(&format!("{privilege:?}"))),
        Effect::Flow { from, to, .. } => {
            format!("flow {} {}", kebab(&format!("{from:?}")), kebab(&format!("{to:?}")))
        }
        Effect::GuardOff { what, .. } => format!("guard-off {}", kebab(&format!("{what:?}"))),
        Effect::Code { language, .. } => format!("code {language}"),
        Effect::Delegate { agent } => format!("delegate {agent}"),
        Effect::Deed { verb, object, .. } => format!("deed {verb} {object}"),
        other => kebab(&format!("{other:?}")),
    })
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
        Known::Text(text) if text.starts_with('-') || text.contains(' ') => format!("{text:?}"),
        Known::Text(text) => text.to_string(),
        Known::Partly { prefix, suffix } => format!("{prefix}?{suffix}"),
        Known::Nothing => "?".to_owned(),
    };
    if arg.glob { format!("glob:{text}") } else { text }
}

/// `ForkBomb` as `fork-bomb`.
fn kebab(text: &str) -> String {
    let mut name = String::new();
    for (index, c) in text.chars().enumerate() {
        if c.is_ascii_uppercase() && index > 0 {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}
