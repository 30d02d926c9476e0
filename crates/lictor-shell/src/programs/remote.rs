//! Tools that run commands on many machines at once.

use lictor_core::facts::{Access, Privilege};

use super::options::Grammar;
use super::report::{joined, templated};
use crate::call::{Call, Report};
use crate::operand::Arg;

/// A command that every machine of a fleet runs. Destruction there is not limited to a container.
fn everywhere(call: &Call<'_>, report: &mut Report, command: &Arg) {
    let command = templated(std::slice::from_ref(command));
    report.shell(&command, &[], call.program, true);
    if destroys(command.known().unwrap_or_default()) {
        report.infrastructure(call.program, command.prefix(), true);
    }
}

/// Whether one of the commands of a shell text deletes, wipes or stops.
fn destroys(text: &str) -> bool {
    text.split([';', '|', '&', '\n', '(', '`']).any(|command| {
        let mut words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        let program = words
            .find(|word| !matches!(*word, "sudo" | "env" | "nohup" | "timeout" | "$") && !word.contains('='))
            .map(|path| path.rsplit('/').next().unwrap_or(path))
            .unwrap_or_default();
        match program {
            "rm" | "dd" | "shred" | "shutdown" | "reboot" | "halt" | "poweroff" | "wipefs" => true,
            "find" => words.any(|word| matches!(word, "-delete" | "rm" | "shred")),
            "init" | "telinit" => words.any(|word| matches!(word, "0" | "6")),
            "systemctl" => words.any(|word| matches!(word, "poweroff" | "reboot" | "halt")),
            program => program.starts_with("mkfs"),
        }
    })
}

/// `ansible HOSTS -m MODULE -a ARGS`.
pub(crate) fn ansible(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if options.has(&["C", "check", "list-hosts", "list-tasks", "syntax-check"]) {
        return;
    }
    if options.has(&["b", "become"]) {
        report.privilege(Privilege::BecomeRoot);
    }
    let args = options.value(&["a", "args"]);
    let module = options.text(&["m", "module-name"]).map(|name| name.rsplit('.').next().unwrap_or(name));
    match (module, args) {
        (Some("shell" | "command" | "raw") | None, Some(args)) if call.program == "ansible" => {
            everywhere(call, report, args);
        }
        (Some("file"), Some(args)) if args.prefix().contains("state=absent") => {
            report.infrastructure("ansible", "file state=absent", false);
        }
        // Files that a module writes on the remote machine.
        (
            Some("copy" | "template" | "get_url" | "lineinfile" | "blockinfile" | "replace" | "unarchive"),
            Some(args),
        ) => {
            let here = options.words().any(|host| matches!(host, "localhost" | "127.0.0.1"))
                || options.text(&["c", "connection"]) == Some("local");
            let words = args.known().unwrap_or_default().split_whitespace();
            for path in
                words.filter_map(|word| word.strip_prefix("dest=").or_else(|| word.strip_prefix("path=")))
            {
                if here {
                    report.file(call, Access::Write, &Arg::literal(path), false);
                }
            }
        }
        (Some("reboot"), _) => report.infrastructure("ansible", "reboot", false),
        _ => {}
    }
}

/// `salt TARGET FUNCTION ARGS`.
pub(crate) fn salt(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let skip = usize::from(call.program != "salt-call");
    let rest = options.from(skip + 1);
    match options.word(skip) {
        "cmd.run" | "cmd.run_all" | "cmd.run_stdout" | "cmd.shell" | "cmd.retcode" => {
            let words: Vec<Arg> = rest.iter().filter(|arg| !arg.prefix().contains("cwd=")).cloned().collect();
            everywhere(call, report, &joined(&words));
        }
        "system.reboot" | "system.shutdown" | "system.poweroff" | "system.halt" | "file.remove"
        | "user.delete" => {
            report.infrastructure(call.program, &super::report::written(call), true);
        }
        _ => {}
    }
}

/// `aws ssm send-command --parameters commands=…`: shell text, alone or in a list.
pub(crate) fn parameters(call: &Call<'_>, report: &mut Report) {
    for text in
        Grammar::anywhere("", "parameters= command=").parse(call.args).values(&["parameters", "command"])
    {
        let known = text.known().unwrap_or_default();
        let list = known.split_once("commands=").map_or(known, |(_, list)| list);
        report.shell(&Arg::literal(list.trim_matches(['[', ']', '"', '\''])), &[], call.program, true);
    }
}
