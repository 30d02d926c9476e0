//! Helpers for writing a [`Report`].

use std::sync::Arc;

use lictor_core::facts::{
    Cardinality, DatabaseEffect, Effect, FlowSink, FlowSource, GitEffect, GuardOff, OpaqueWhat, Privilege,
    ProcessEffect, Reach,
};

use crate::call::{Call, Next, Report};
use crate::operand::{Arg, Cwd, Found, Known, Listed, Taint};

/// How much of a text is kept for messages.
const KEPT: usize = 120;

/// The start of a text, for messages.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(KEPT).collect()
}

impl Report {
    pub(crate) fn git(&mut self, effect: GitEffect, target: Option<&str>) {
        self.effects.push(Effect::Git { effect, target: target.map(short) });
    }

    pub(crate) fn process(&mut self, effect: ProcessEffect) {
        self.effects.push(Effect::Process(effect));
    }

    pub(crate) fn database(&mut self, effect: DatabaseEffect, text: &str) {
        self.effects.push(Effect::Database { effect, text: short(text.trim()) });
    }

    /// `what` may be the whole call: the tool is named once.
    pub(crate) fn infrastructure(&mut self, tool: &str, what: &str, mass: bool) {
        let what = what.strip_prefix(tool).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(what);
        self.effects.push(Effect::Infrastructure { tool: tool.to_owned(), what: short(what), mass });
    }

    pub(crate) fn publish(&mut self, tool: &str) {
        self.effects.push(Effect::Publish { tool: tool.to_owned() });
    }

    pub(crate) fn privilege(&mut self, privilege: Privilege) {
        self.effects.push(Effect::Privilege(privilege));
    }

    pub(crate) fn guard_off(&mut self, what: GuardOff, text: &str) {
        self.effects.push(Effect::GuardOff { what, text: short(text) });
    }

    pub(crate) fn flow(&mut self, from: FlowSource, to: FlowSink, text: &str) {
        self.effects.push(Effect::Flow { from, to, text: short(text) });
    }

    /// Tainted data goes to a sink.
    pub(crate) fn flows(&mut self, taint: Taint, to: FlowSink, text: &str) {
        for from in taint.sources() {
            self.flow(from, to, text);
        }
    }

    pub(crate) fn reach(&mut self, host: Option<String>, text: &str, sends: bool) {
        if sends && host.as_deref().is_some_and(is_drop) {
            self.flow(FlowSource::Private, FlowSink::Host, text);
        }
        self.effects.push(Effect::Reach(Reach { host, text: short(text), sends }));
    }

    /// A deed in the words of the policy catalogue.
    pub(crate) fn deed(&mut self, verb: &str, object: &str) {
        self.effects.push(Effect::Deed {
            verb: verb.to_owned(),
            object: object.to_owned(),
            cardinality: Cardinality::Single,
            what: None,
        });
    }

    /// Something is run in turn with these words.
    pub(crate) fn then_argv(&mut self, argv: &[Arg], through: &str) {
        if argv.is_empty() {
            return;
        }
        self.next.push(Next::Argv {
            argv: argv.to_vec(),
            assignments: Vec::new(),
            cwd: None,
            through: through.to_owned(),
            more: false,
            elsewhere: false,
        });
    }

    /// Shell text is run in turn. The walker reports its unknown parts.
    pub(crate) fn then_shell(&mut self, text: &Arg, args: &[Arg], through: &str) {
        self.shell(text, args, through, false);
    }

    pub(crate) fn shell(&mut self, text: &Arg, args: &[Arg], through: &str, elsewhere: bool) {
        self.next.push(Next::Shell {
            text: text.clone(),
            args: args.to_vec(),
            through: through.to_owned(),
            elsewhere,
        });
    }

    /// Code that is not known is executed.
    pub(crate) fn unknown_code(&mut self, taint: Taint, text: &str) {
        self.flows(taint, FlowSink::Shell, text);
        // Private data is not dangerous to run.
        if (Taint { private: false, ..taint }) == Taint::default() {
            self.opaque(OpaqueWhat::Code, text);
        }
    }

    /// Inline code is run in turn.
    pub(crate) fn then_code(&mut self, language: &'static str, body: &Arg) {
        self.next.push(Next::Code { language, body: body.clone() });
    }
}

/// The directory after `cd dir` in `cwd`.
pub(crate) fn chdir(cwd: &Cwd, dir: &Arg) -> Cwd {
    let any = dir.glob;
    let Some(dir) = dir.known() else { return Cwd::Unknown };
    if any {
        return crate::paths::enter_any(cwd, dir);
    }
    if dir.starts_with('/') || dir.starts_with('~') {
        return Cwd::Known(dir.to_owned());
    }
    match cwd {
        Cwd::Start => Cwd::Known(dir.to_owned()),
        Cwd::Known(base) => Cwd::Known(format!("{}/{dir}", base.trim_end_matches('/'))),
        Cwd::Glob(base) => Cwd::Glob(format!("{}/{dir}", base.trim_end_matches('/'))),
        Cwd::Unknown => Cwd::Unknown,
    }
}

/// `root/tail`, where `tail` may be a glob.
pub(crate) fn below(root: &Arg, tail: &str) -> Arg {
    let join = |root: &str| match root {
        "" => tail.to_owned(),
        root => format!("{}/{tail}", root.strip_suffix('/').unwrap_or(root)),
    };
    let value = match &root.value {
        Known::Text(text) => Known::Text(join(text).into()),
        Known::Partly { prefix, suffix } => Known::Partly { prefix: prefix.clone(), suffix: join(suffix) },
        Known::Nothing => Known::Partly { prefix: String::new(), suffix: format!("/{tail}") },
    };
    let glob = root.glob || tail.contains(['*', '?', '[']);
    Arg {
        value,
        text: join(&root.text).into(),
        glob,
        splits: root.splits,
        taint: root.taint,
        found: root.found.clone(),
    }
}

/// Annotates the names that a call prints with which files they can be, and which text these contain.
pub(crate) fn listed(call: &Call<'_>, names: &mut [Arg], listed: Listed, holding: Option<String>) {
    if names.is_empty() {
        return;
    }
    let found = Arc::new(Found { listed, cwd: call.cwd.clone(), holding });
    names.iter_mut().for_each(|name| name.found = Some(Arc::clone(&found)));
}

/// A literal that is a glob.
pub(crate) fn glob(text: &str) -> Arg {
    Arg { glob: true, ..Arg::literal(text) }
}

/// The words joined by blanks, as `eval`, `watch` and `ssh` do. Not known unless all of them are.
pub(crate) fn joined(args: &[Arg]) -> Arg {
    let text = args.iter().map(|arg| &*arg.text).collect::<Vec<_>>().join(" ");
    let taint = args.iter().fold(Taint::default(), |taint, arg| taint.and(arg.taint));
    let known: Option<Vec<&str>> = args.iter().map(Arg::known).collect();
    let value = match known {
        Some(words) => Known::Text(words.join(" ").into()),
        None => {
            let mut prefix = String::new();
            for arg in args {
                if !prefix.is_empty() {
                    prefix.push(' ');
                }
                prefix.push_str(arg.prefix());
                if arg.known().is_none() {
                    break;
                }
            }
            if prefix.is_empty() { Known::Nothing } else { Known::Partly { prefix, suffix: String::new() } }
        }
    };
    Arg { value, text: text.into(), glob: false, splits: false, taint, found: None }
}

/// All arguments as written, for messages.
pub(crate) fn written(call: &Call<'_>) -> String {
    let mut text = call.program.to_owned();
    for arg in call.args {
        text.push(' ');
        text.push_str(&arg.text);
        if text.len() > 4 * KEPT {
            break;
        }
    }
    short(&text)
}

/// A variable that nothing sets: the placeholder for unknown parts of shell text.
pub(crate) const UNKNOWN: &str = "$LICTOR_UNKNOWN_WORD";

/// The words joined by blanks with [`UNKNOWN`] in the place of what is not known, so that the rest can be read.
pub(crate) fn templated(args: &[Arg]) -> Arg {
    let words: Vec<String> = args
        .iter()
        .map(|arg| match &arg.value {
            Known::Text(text) => text.to_string(),
            Known::Partly { prefix, suffix } => format!("{prefix}{UNKNOWN}{suffix}"),
            Known::Nothing => UNKNOWN.to_owned(),
        })
        .collect();
    let taint = args.iter().fold(Taint::default(), |taint, arg| taint.and(arg.taint));
    Arg { taint, ..Arg::literal(words.join(" ")) }
}

#[cfg(test)]
mod tests;
/// Public file drop hosts.
fn is_drop(host: &str) -> bool {
    crate::words::DROPS
        .iter()
        .any(|drop| host.strip_suffix(drop).is_some_and(|sub| sub.is_empty() || sub.ends_with('.')))
}
