//! Effects of calls that are not in the tables of functions: methods of paths, connections and cursors, libraries
//! that intercept input or traffic, secrets passed to any function.

use lictor_core::facts::{Access, FlowSink, FlowSource};
use tree_sitter::Node;

use super::Python;
use crate::call::{Call, Report};
use crate::languages::act::{FILE, Invocation};
use crate::languages::api::{self, Api};
use crate::languages::printed::is_secret;
use crate::languages::value::Value;
use crate::operand::Arg;

impl Python<'_, '_> {
    /// Libraries that take in what others type or send, or that leave something to run later.
    pub(super) fn watches(&mut self, name: &str, report: &mut Report) {
        match name {
            "pynput.keyboard.Listener"
            | "keyboard.on_press"
            | "keyboard.hook"
            | "keyboard.record"
            | "pyxhook.HookManager" => report.deed("capture", "keys"),
            "scapy.all.sniff"
            | "scapy.sniff"
            | "scapy.sendrecv.sniff"
            | "pyshark.LiveCapture"
            | "pcap.pcap" => {
                report.deed("capture", "traffic");
            }
            "socket.socket" if self.body.contains("AF_PACKET") => report.deed("capture", "traffic"),
            "crontab.CronTab" if self.body.contains(".write(") => report.deed("change", "startup"),
            _ => {}
        }
    }

    /// A function with effects, passed to another one together with its arguments: `Thread(target=os.system,
    /// args=(…,))`, `partial(os.remove, path)`, `pool.submit(shutil.rmtree, path)`.
    pub(super) fn handed_over(&mut self, invocation: &Invocation<'_>, report: &mut Report) {
        let acts = |value: &Value| match value {
            Value::Name(name) => api::python(name).filter(|api| {
                matches!(
                    api,
                    Api::Delete
                        | Api::DeleteTree
                        | Api::Shell
                        | Api::Process
                        | Api::Spawn
                        | Api::Evaluate
                        | Api::Move
                        | Api::Kill
                        | Api::Send
                )
            }),
            _ => None,
        };
        let placed = invocation.positional.iter().position(|value| acts(value).is_some());
        let named =
            ["target", "function", "func", "initializer"].iter().find_map(|name| invocation.option(name));
        let (api, behind) = match (placed, named) {
            (Some(at), _) => (
                invocation.positional.get(at).and_then(acts),
                invocation.positional.get(at + 1..).unwrap_or_default(),
            ),
            (None, Some(value)) => (acts(value), Default::default()),
            (None, None) => return,
        };
        let given = ["args", "argument", "initargs"].iter().find_map(|name| invocation.option(name));
        let words = match (given.or(behind.first()), behind) {
            (Some(Value::List(words)), [] | [_]) => words.as_slice(),
            _ => behind,
        };
        if let Some(api) = api.filter(|_| !words.is_empty()) {
            self.actor(report)
                .perform(api, &Invocation { positional: words, named: &[], text: invocation.text });
        }
    }

    /// A secret by its full path, passed to an unknown function.
    pub(super) fn reads_named_secret(
        &mut self,
        callee: &Value,
        invocation: &Invocation<'_>,
        report: &mut Report,
    ) {
        let name = callee.name().unwrap_or_default();
        let only_names = name.is_empty()
            || matches!(
                name,
                "print" | "str" | "repr" | "len" | "format" | "isinstance" | "set" | "list" | "tuple"
            )
            || ["Path", ".join", ".exists", ".isfile", ".isdir", ".expanduser", ".basename", ".dirname"]
                .iter()
                .any(|end| name.ends_with(end))
            || name.starts_with("logging.");
        if only_names {
            return;
        }
        let given = invocation.positional.iter().chain(invocation.named.iter().map(|(_, value)| value));
        for path in given.filter_map(Value::known).filter(|path| path.starts_with(['/', '~'])) {
            if crate::programs::is_secret_path(path) {
                report.file(self.call, Access::Read, &Arg::literal(path), false);
            }
        }
    }

    /// Names that are only made while the program runs.
    pub(super) fn reflection(&mut self, name: &str, invocation: &Invocation<'_>, report: &mut Report) {
        let wanted =
            if name == "getattr" { invocation.positional.get(1) } else { invocation.positional.first() };
        let on_danger = match invocation.positional.first() {
            Some(Value::Name(module)) => matches!(
                module.as_str(),
                "os" | "subprocess" | "shutil" | "builtins" | "__builtins__" | "sys" | "pty"
            ),
            _ => false,
        };
        let unknown = wanted.is_some_and(|value| !value.all_known() && value.name().is_none());
        if unknown && (name != "getattr" || on_danger) {
            report.opaque(lictor_core::facts::OpaqueWhat::Code, invocation.text);
        }
    }

    /// Methods of paths, connections, cursors.
    pub(super) fn method(&mut self, function: Node<'_>, invocation: &Invocation<'_>, report: &mut Report) {
        let (Some(object), Some(name)) =
            (function.child_by_field_name("object"), function.child_by_field_name("attribute"))
        else {
            return;
        };
        let name = self.text(name).to_owned();
        let receiver = self.value(object, 0);
        if let Some(path) = receiver.name().and_then(|name| name.strip_prefix(FILE))
            && matches!(name.as_str(), "write" | "writelines")
        {
            let content = invocation.positional.first().and_then(Value::known).map(str::to_owned);
            report.contents.push((path.to_owned(), content.filter(|_| name == "write")));
        }
        let acts = self.on_path(&name, object, &receiver, invocation, report)
            || self.on_database(&name, object, invocation, report);
        if !acts {
            self.on_other(&name, object, invocation, report);
        }
    }

    /// Methods of paths and of archives. Says whether it was one.
    fn on_path(
        &mut self,
        name: &str,
        object: Node<'_>,
        receiver: &Value,
        invocation: &Invocation<'_>,
        report: &mut Report,
    ) -> bool {
        let is_path = matches!(receiver, Value::Text(_) | Value::Any(_));
        let mut on = vec![receiver.clone()];
        on.extend(invocation.positional.iter().cloned());
        let api = match name {
            "unlink" | "rmdir" => Api::Delete,
            "rmtree" => Api::DeleteTree,
            "extractall" => {
                // Of an archive that is opened right there, or was before.
                let named = object.child_by_field_name("arguments").and_then(|args| args.named_child(0));
                if let (Some(named), Some(first)) = (named, on.first_mut()) {
                    *first = self.value(named, 0);
                }
                Api::Unpack
            }
            "write_text" | "write_bytes" if is_path => Api::Write,
            "read_text" | "read_bytes" if is_path => Api::Read,
            "open" if is_path => Api::Open,
            "rename" | "replace"
                if is_path && invocation.positional.len() == 1 && self.is_path_expression(object) =>
            {
                Api::Move
            }
            "read" if names_secret(invocation) => {
                on.remove(0);
                Api::Read
            }
            "touch" if is_path => Api::Append,
            "mkdir" if is_path => Api::MakeDirectory,
            "chmod" | "lchmod" if is_path => Api::Mode,
            "symlink_to" | "hardlink_to" if is_path => {
                on = vec![Value::unknown(), receiver.clone()];
                Api::Link
            }
            "write_text" | "write_bytes" => {
                report.changes_some(Access::Write);
                return true;
            }
            _ => return false,
        };
        let on = Invocation { positional: &on, named: invocation.named, text: invocation.text };
        self.actor(report).perform(api, &on);
        true
    }

    /// Methods of databases and their collections. Says whether it was one.
    fn on_database(
        &self,
        name: &str,
        object: Node<'_>,
        invocation: &Invocation<'_>,
        report: &mut Report,
    ) -> bool {
        use lictor_core::facts::DatabaseEffect::{DropAll, DropPart};
        let text = invocation.text;
        let nothing = invocation.positional.is_empty() && invocation.named.is_empty();
        let everything = matches!(invocation.positional, [Value::Map(pairs)] if pairs.is_empty());
        let effect = match name {
            "execute" | "executescript" | "executemany" | "raw" | "exec_driver_sql" => {
                if let Some(sql) = invocation.positional.first().and_then(Value::known) {
                    crate::programs::sql::judge(sql, report);
                }
                return true;
            }
            "delete" if text.contains(".objects.all()") || text.contains(".query.delete(") => DropPart,
            "delete" if text.contains(".indices.delete(") => DropAll,
            "drop_all" | "drop_database" | "dropDatabase" | "flushall" | "flushdb" => DropAll,
            "delete_many" | "drop" if everything => DropPart,
            "drop" if nothing && self.text(object).contains("db") => DropPart,
            _ => return false,
        };
        report.database(effect, text);
        true
    }

    /// Methods of connections, containers, processes and repositories.
    fn on_other(&mut self, name: &str, object: Node<'_>, invocation: &Invocation<'_>, report: &mut Report) {
        match name {
            // `ctypes.CDLL(None).system(b"…")`.
            "system" | "execl" | "execlp" if self.body.contains("ctypes") => {
                self.actor(report).perform(Api::Shell, invocation);
            }
            "kill" | "killpg" if self.body.contains("ctypes") && invocation.positional.len() == 2 => {
                self.actor(report).perform(Api::Kill, invocation);
            }
            "reboot" if self.body.contains("ctypes") => {
                report.process(lictor_core::facts::ProcessEffect::Shutdown);
            }
            "serve_forever" | "test" if self.body.contains("SimpleHTTPRequestHandler") => {
                let gone = report.gone_to.clone();
                let cwd = gone.as_ref().unwrap_or(self.call.cwd);
                crate::programs::hands_out(&Call { cwd, ..*self.call }, report);
            }
            "run" | "create" if self.body.contains("docker.from_env") => {
                let root = invocation.option("volumes").is_some_and(|value| value.field("/").is_some());
                if root || invocation.option("privileged").is_some_and(Value::is_true) {
                    report.privilege(lictor_core::facts::Privilege::Container);
                }
            }
            "connect" | "connect_ex" if matches!(invocation.positional.first(), Some(Value::List(_))) => {
                self.connected = true;
                self.actor(report).perform(Api::Send, invocation);
            }
            // A secret goes into an archive, a store or to another machine.
            _ if (matches!(name, "add" | "write" | "put" | "attach") || name.contains("upload"))
                && names_secret(invocation) =>
            {
                self.actor(report).perform(Api::Read, invocation);
                if name == "put" || name.contains("upload") {
                    report.flow(FlowSource::Secret, FlowSink::Host, invocation.text);
                }
            }
            // GitPython: `repo.git.push("--force")` is `git push --force`.
            _ if self.text(object).ends_with(".git")
                && ["import git", "from git import"].iter().any(|way| self.body.contains(way)) =>
            {
                let mut argv = vec![Arg::literal("git"), Arg::literal(name.replace('_', "-"))];
                argv.extend(invocation.positional.iter().flat_map(|value| value.args(invocation.text)));
                report.then_argv(&argv, "python");
            }
            "post" | "put" | "patch" | "sendall" | "send" | "sendto" | "storbinary" | "sendmail"
                if sends(invocation) =>
            {
                self.actor(report).perform(Api::Send, invocation);
            }
            // Every process there is, one by one.
            "kill" | "terminate" | "suspend"
                if invocation.positional.is_empty()
                    && self.body.contains("process_iter(")
                    && !self.body.contains("if ") =>
            {
                report.process(lictor_core::facts::ProcessEffect::KillAll);
            }
            name if ["delete_", "terminate_", "destroy", "prune", "purge"]
                .iter()
                .any(|start| name.starts_with(start))
                || name == "remove" && invocation.option("force").is_some_and(Value::is_true) =>
            {
                let tested = ["moto", "endpoint_url", "localhost", "Stubber"];
                let tested = tested.iter().any(|word| self.body.contains(word));
                let library = api::manages(self.body).filter(|_| !tested);
                library
                    .into_iter()
                    .for_each(|library| report.infrastructure(library, invocation.text, false));
            }
            // libgit2 in Python: what `git reset --hard` and `git checkout --force` do.
            "reset" | "checkout" | "checkout_head" | "checkout_tree" | "checkout_index"
                if ["GIT_RESET_HARD", "GIT_CHECKOUT_FORCE", "ResetMode.HARD", "CheckoutStrategy.FORCE"]
                    .iter()
                    .any(|mode| invocation.text.contains(mode)) =>
            {
                report.git(lictor_core::facts::GitEffect::DiscardWork, Some(invocation.text));
            }
            _ => {}
        }
    }

    /// A function that starts itself again in other processes or threads, without a condition.
    pub(super) fn multiplies(&mut self, node: Node<'_>, report: &mut Report) {
        let Some(name) = node.child_by_field_name("name").map(|name| self.text(name).to_owned()) else {
            return;
        };
        let text = self.text(node);
        let starts = text.contains(&format!("target={name})")) || text.contains(&format!("target={name},"));
        let made = text.contains("Process(") || text.contains("Thread(");
        let chooses = ["if ", "return", "Timer(", "sleep("].iter().any(|word| text.contains(word));
        if starts && made && !chooses {
            report.process(lictor_core::facts::ProcessEffect::ForkBomb);
        }
    }

    /// dulwich: `porcelain.reset(".", "hard")` is `git reset --hard`.
    pub(super) fn porcelain(&mut self, command: &str, invocation: &Invocation<'_>, report: &mut Report) {
        let mut argv = vec![Arg::literal("git"), Arg::literal(command.replace('_', "-"))];
        for value in
            invocation.positional.iter().skip(1).chain(invocation.named.iter().map(|(_, value)| value))
        {
            match value.known() {
                Some("hard") => argv.push(Arg::literal("--hard")),
                _ => argv.extend(value.known().map(Arg::literal)),
            }
        }
        if invocation.option("force").is_some_and(Value::is_true) {
            argv.push(Arg::literal("--force"));
        }
        report.then_argv(&argv, "python");
    }
}

/// `print(os.environ["TOKEN"])`: the whole value of a variable that holds a secret.
pub(super) fn prints_secret_variable(text: &str, body: &str, call: &Call<'_>) -> bool {
    let inner = text.trim_start_matches("print(").trim_end_matches(')').trim();
    let name = ["os.environ[", "os.environ.get(", "os.getenv("]
        .iter()
        .find_map(|start| inner.strip_prefix(start))
        .and_then(|rest| rest.split(['"', '\'']).nth(1));
    // Settings of a framework, by their name.
    let setting = ["settings.", "django.conf.settings."].iter().find_map(|start| inner.strip_prefix(start));
    let set = ["config(", "decouple.config("].iter().find_map(|start| inner.strip_prefix(start));
    let setting = setting.or_else(|| set.map(|rest| rest.trim_matches(['"', '\''])));
    let whole = inner.ends_with(['"', '\'']) || inner.ends_with(']') && inner.matches('[').count() == 1;
    // Only variables with secrets' names, or the result of a password store.
    let picked = inner.starts_with("keyring.get_password(")
        || inner.contains("environ.items()")
            && ["KEY", "TOKEN", "SECRET", "PASS"].iter().any(|part| inner.contains(part));
    name.is_some_and(|name| is_secret(name, body, call)) && whole
        || setting.is_some_and(lictor_core::redact::is_secret_name)
        || picked
}
/// Whether a call has a secret as argument.
fn names_secret(invocation: &Invocation<'_>) -> bool {
    let given = invocation.positional.iter().chain(invocation.named.iter().map(|(_, value)| value));
    given
        .filter(|value| matches!(value, Value::Text(_) | Value::Any(_)))
        .flat_map(|value| value.args(""))
        .any(|arg| crate::programs::is_secret(&arg))
}

/// Whether a method that may send something names a host, or gets private data.
fn sends(invocation: &Invocation<'_>) -> bool {
    let address = invocation.positional.first().and_then(Value::known);
    let mut given = invocation.positional.iter().chain(invocation.named.iter().map(|(_, value)| value));
    address.is_some_and(|text| text.contains("://"))
        || given.any(|value| value.taint().secret || value.taint().private)
}
