//! Data flow from a sensitive source to a sensitive sink on one line.

use lictor_core::facts::{Access, Effect, FlowSink, FlowSource};

use crate::operand::{Arg, Operand, Taint};
use crate::programs::{is_credential_header, is_secret};
use crate::walk::simple::{Context, leaves_content};
use crate::walk::{Plumbing, Walker};

impl Walker<'_> {
    /// Something of doubtful origin is executed.
    pub(crate) fn flow_into_shell(&mut self, taint: Taint, text: &str) {
        for from in taint.sources() {
            // A secret that is run as code is odd, not dangerous.
            if from != FlowSource::Secret {
                self.flow(from, FlowSink::Shell, text);
            }
        }
    }

    fn flow(&mut self, from: FlowSource, to: FlowSink, text: &str) {
        let text = text.chars().take(120).collect();
        self.effect(Effect::Flow { from, to, text });
    }

    /// The taint of a command's words, without credentials for the service itself.
    fn sent_by_words(&self, effects: &[Effect<Operand>], context: &Context<'_>, stdin: Taint) -> Taint {
        let mut sent = stdin;
        if context.args.iter().all(|arg| arg.taint == Taint::default()) {
            return sent;
        }
        let reached = effects.iter().filter_map(|effect| match effect {
            Effect::Reach(reach) => Some(Arg::literal(reach.text.as_str())),
            _ => None,
        });
        let reached: Vec<Arg> = reached.collect();
        let addresses: Vec<&Arg> =
            if reached.is_empty() { context.args.iter().collect() } else { reached.iter().collect() };
        let is_set_here = |name: &str| self.state.is_set_here(name);
        for arg in context.args {
            let own = || crate::programs::is_for(&arg.text, &addresses, &is_set_here);
            if !(is_credential_header(arg.prefix()) || arg.taint.secret && own()) {
                sent = sent.and(arg.taint);
            }
        }
        sent
    }

    /// Looks at what a command reads and where it sends. Returns the files it wrote, with where their content
    /// came from.
    pub(crate) fn flows(
        &mut self,
        effects: &[Effect<Operand>],
        context: &Context<'_>,
        stdin: Taint,
        printed: Taint,
        plumbing: &Plumbing,
    ) -> Vec<(String, Taint)> {
        let mut sent = self.sent_by_words(effects, context, stdin);
        let mut receives = false;
        let mut host = None;
        for effect in effects {
            match effect {
                Effect::Reach(reach) => {
                    receives = true;
                    if reach.sends {
                        host = Some(reach.text.clone());
                    }
                }
                Effect::File { access: Access::Read, target, .. } => {
                    sent.secret |= is_secret(&target.arg);
                    if let Some(path) = target.arg.known()
                        && let Some(content) = self.state.file(&crate::paths::key(&target.cwd, path))
                    {
                        sent = sent.and(content.taint);
                    }
                }
                _ => {}
            }
        }
        sent.private |= self.reads_private(effects) || self.takes_private(context);
        let host = host.or_else(|| Self::store_of(context));
        let away = host.as_deref().filter(|host| !is_here(host));
        if let (true, Some(host)) = (sent.private && !sent.secret, away) {
            let host = host.to_owned();
            self.flow(FlowSource::Private, FlowSink::Host, &host);
        }
        let already = effects.iter().any(|effect| {
            matches!(effect, Effect::Flow { from: FlowSource::Secret, to: FlowSink::Host, .. })
        });
        if sent.secret
            && !already
            && let Some(host) = host
        {
            self.flow(FlowSource::Secret, FlowSink::Host, &host);
        }
        if (sent.private || printed.private)
            && !sent.secret
            && let Some(reach) = plumbing.socket()
        {
            let text = reach.text.clone();
            self.flow(FlowSource::Private, FlowSink::Host, &text);
        }
        if (sent.secret || printed.secret)
            && let Some(reach) = plumbing.socket()
        {
            let text = reach.text.clone();
            self.flow(FlowSource::Secret, FlowSink::Host, &text);
        }
        let taint =
            Taint { network: receives, secret: sent.secret, private: sent.private, ..Taint::default() };
        effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::File { access, target, .. } if leaves_content(*access) => {
                    Some((crate::paths::key(&target.cwd, target.arg.known()?), taint))
                }
                _ => None,
            })
            .collect()
    }
}

/// An address of this machine.
fn is_here(address: &str) -> bool {
    let host = address.trim_matches('"');
    let host = host.split_once("://").map_or(host, |(_, rest)| rest);
    ["localhost", "127.", "0.0.0.0", "[::1]", "host.docker.internal"].iter().any(|own| host.starts_with(own))
}

/// Whether a command prints all variables, the secret ones among them.
pub(crate) fn prints_environment(program: &str, args: &[Arg]) -> bool {
    match program {
        "env" | "printenv" => args.iter().all(|arg| arg.prefix().starts_with('-')),
        // `ps auxe` shows what each process was started with.
        "ps" => args.first().and_then(Arg::known).is_some_and(|flags| {
            !flags.starts_with('-')
                && flags.contains('e')
                && flags.chars().all(|flag| flag.is_ascii_lowercase())
        }),
        _ => false,
    }
}
