//! The machine: processes, services, users, firewall, network interfaces.

use lictor_core::facts::{Access, GuardOff, Privilege, ProcessEffect};

use super::options::Grammar;
use super::say::written;
use crate::call::{Call, Report};
use crate::operand::Arg;

pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere("", "").parse(call.args);
    let first = options.word(0);
    let second = options.word(1);
    let tool = call.program;
    match tool {
        "kill" => kill(call, report),
        "killall" | "pkill" | "skill" => by_name(call, report),
        "killall5" => report.process(ProcessEffect::KillAll),
        "shutdown" | "reboot" | "halt" | "poweroff" => {
            let cancels = options.has(&["c"])
                || call.args.iter().any(|arg| matches!(arg.known(), Some("--show" | "--help" | "-k")));
            if !cancels {
                report.process(ProcessEffect::Shutdown);
            }
        }
        "init" | "telinit" if matches!(first, "0" | "6" | "1" | "s" | "S") => {
            report.process(ProcessEffect::Shutdown)
        }
        "kexec" if options.has(&["e", "exec"]) => report.process(ProcessEffect::Shutdown),
        "systemctl" => systemctl(call, report),
        "loginctl" if matches!(first, "poweroff" | "reboot" | "halt") => {
            report.process(ProcessEffect::Shutdown)
        }
        "loginctl"
            if matches!(first, "kill-user" | "terminate-user" | "kill-session" | "terminate-session") =>
        {
            report.process(ProcessEffect::KillAll)
        }
        "service" | "rc-service" | "initctl" | "sv" | "supervisorctl" => {
            let stops = options.words().any(|word| matches!(word, "stop" | "shutdown" | "down"));
            if stops && options.words().any(|word| is_vital(word) || word == "shutdown") {
                report.infrastructure(tool, &written(call), false);
            }
            if stops {
                lictor_service(report, &written(call));
            }
        }
        "launchctl"
            if matches!(first, "unload" | "remove" | "bootout" | "disable" | "kill" | "stop" | "reboot") =>
        {
            if first == "reboot" {
                return report.process(ProcessEffect::Shutdown);
            }
            report.infrastructure(tool, &written(call), false);
            lictor_service(report, &written(call));
        }
        "update-rc.d" | "chkconfig"
            if options.words().any(|word| matches!(word, "remove" | "disable" | "off")) =>
        {
            report.infrastructure(tool, &written(call), false);
        }
        "iptables" | "ip6tables" => {
            let flushes = call
                .args
                .iter()
                .any(|arg| matches!(arg.known(), Some("-F" | "--flush" | "-X" | "--delete-chain" | "-Z")));
            let opens = call.args.windows(3).any(|window| matches!(window, [policy, _, target]
                if matches!(policy.known(), Some("-P" | "--policy")) && matches!(target.known(), Some("ACCEPT" | "DROP"))));
            let deletes = call.args.iter().any(|arg| matches!(arg.known(), Some("-D" | "--delete")));
            if flushes || opens || deletes {
                report.infrastructure(tool, &written(call), flushes);
            }
        }
        "ufw"
            if matches!(first, "disable" | "reset" | "delete")
                || options.words().any(|word| word == "reset") =>
        {
            report.infrastructure(tool, &written(call), first != "delete");
        }
        "nft" if matches!(first, "flush" | "delete" | "reset") => {
            report.infrastructure(tool, &written(call), first == "flush")
        }
        "firewall-cmd" => {
            let opens = call
                .args
                .iter()
                .any(|arg| arg.prefix().starts_with("--remove") || arg.known() == Some("--panic-on"));
            if opens {
                report.infrastructure(tool, &written(call), false);
            }
        }
        "pfctl" if options.has(&["F", "d"]) => report.infrastructure(tool, &written(call), true),
        "ip" => ip(call, report, &options.words().collect::<Vec<_>>()),
        "ifconfig" if options.words().any(|word| word == "down") => {
            report.infrastructure(tool, &written(call), false)
        }
        "ifdown" => report.infrastructure(tool, &written(call), false),
        "route" if matches!(first, "del" | "delete" | "flush") => {
            report.infrastructure(tool, &written(call), false)
        }
        "nmcli" => {
            let words: Vec<&str> = options.words().collect();
            let ends = |word: &&str| matches!(*word, "down" | "delete" | "off" | "disconnect");
            if first != "radio" && words.iter().any(ends) {
                report.infrastructure(tool, &written(call), false);
            }
        }
        "networksetup" if options.words().any(|word| word == "off") => {
            report.infrastructure(tool, &written(call), false)
        }
        "userdel" | "deluser" | "groupdel" | "delgroup" => {
            let options = Grammar::anywhere("RPZ", "root= prefix= remove force remove-home remove-all-files")
                .parse(call.args);
            report.infrastructure(
                tool,
                &written(call),
                options.has(&["r", "remove", "remove-home", "remove-all-files"]),
            );
        }
        "passwd" | "chpasswd" | "chsh" | "usermod" | "gpasswd" | "vipw" => {
            let reads = call
                .args
                .iter()
                .any(|arg| matches!(arg.known(), Some("-S" | "--status" | "-a")) && tool == "passwd");
            // The usual way to let oneself use containers.
            let words: Vec<&str> = call.args.iter().filter_map(Arg::known).collect();
            if tool == "usermod" && words.contains(&"-aG") && words.contains(&"docker") {
                return;
            }
            if !reads {
                report.infrastructure(tool, &written(call), false);
            }
            let groups = call
                .args
                .iter()
                .filter_map(Arg::known)
                .any(|word| matches!(word, "sudo" | "wheel" | "admin" | "docker" | "root"));
            if groups {
                report.privilege(Privilege::BecomeRoot);
            }
        }
        "useradd" | "adduser" => {
            let words: Vec<&str> = call.args.iter().filter_map(Arg::known).collect();
            let root = words.windows(2).any(|pair| matches!(pair, ["-u" | "--uid", "0"]));
            let admin = words.iter().any(|word| matches!(*word, "sudo" | "wheel" | "admin" | "root"));
            if root || admin || options.has(&["o", "non-unique"]) {
                report.infrastructure(tool, &written(call), false);
            }
        }
        "visudo" if !options.has(&["c"]) => {
            report.file(call, Access::Modify, &Arg::literal("/etc/sudoers"), false)
        }
        "dscl"
            if options.words().any(|word| word == "-delete")
                || call.args.iter().any(|arg| matches!(arg.known(), Some("-delete" | "delete"))) =>
        {
            report.infrastructure(tool, &written(call), false);
        }
        "sysctl" => {
            for word in call.args.iter().filter_map(Arg::known).filter(|word| word.contains('=')) {
                if word.starts_with("kernel.sysrq")
                    || word.starts_with("kernel.panic")
                    || word.contains("randomize_va_space")
                    || word.contains("core_pattern")
                    || word.contains("modprobe")
                {
                    report.infrastructure(tool, word, false);
                }
            }
        }
        "rmmod" | "insmod" => report.infrastructure(tool, &written(call), false),
        "modprobe" if options.has(&["r", "remove"]) => report.infrastructure(tool, &written(call), false),
        "setenforce" if matches!(first, "0" | "Permissive" | "permissive") => {
            report.infrastructure(tool, &written(call), false)
        }
        "aa-disable" | "aa-teardown" => report.infrastructure(tool, &written(call), false),
        "auditctl" if call.args.iter().any(|arg| matches!(arg.known(), Some("-D" | "-e"))) => {
            report.infrastructure(tool, &written(call), false)
        }
        "spctl"
            if call
                .args
                .iter()
                .any(|arg| matches!(arg.known(), Some("--master-disable" | "--global-disable"))) =>
        {
            report.infrastructure(tool, &written(call), false);
        }
        "csrutil" if first == "disable" => report.infrastructure(tool, "disable", false),
        "dmesg" if options.has(&["C", "clear"]) => report.infrastructure(tool, "--clear", false),
        "journalctl" if call.args.iter().filter_map(Arg::known).any(keeps_nothing) => {
            report.infrastructure(tool, &written(call), false);
        }
        "wevtutil" if matches!(first, "cl" | "clear-log") => {
            report.infrastructure(tool, &written(call), false)
        }
        "timedatectl" if first == "set-time" => report.infrastructure(tool, &written(call), false),
        "date" if call.args.iter().filter_map(Arg::known).any(sets_clock) => {
            report.infrastructure(tool, &written(call), false)
        }
        "hwclock" if options.has(&["set", "w", "systohc"]) => {
            report.infrastructure(tool, &written(call), false)
        }
        "hostnamectl" if matches!(first, "set-hostname" | "hostname") && !second.is_empty() => {
            report.infrastructure(tool, &written(call), false);
        }
        "rfkill" if first == "block" => report.infrastructure(tool, &written(call), false),
        "pmset" if matches!(first, "sleepnow" | "shutdown" | "restart") => {
            report.process(ProcessEffect::Shutdown)
        }
        "defaults" if first == "delete" => report.infrastructure(tool, &written(call), second.is_empty()),
        _ => {}
    }
}

fn lictor_service(report: &mut Report, text: &str) {
    if text.contains("lictor") {
        report.guard_off(GuardOff::LictorBinary, text);
    }
}

/// `--vacuum-time=1s`, `--vacuum-size=1`: nothing that anybody would want to look at is left.
fn keeps_nothing(word: &str) -> bool {
    let Some((option, kept)) = word.split_once('=') else { return false };
    let short =
        |unit: &str| kept.strip_suffix(unit).is_some_and(|count| count.chars().all(|c| c.is_ascii_digit()));
    match option {
        "--vacuum-time" => short("s") || short("ms") || short("us"),
        "--vacuum-size" | "--vacuum-files" => short("") || short("K"),
        _ => false,
    }
}

/// What a list of all processes stands for where names are followed: picking some of them makes it another pattern.
const EVERY_PROCESS: &str = "/proc/*";
/// The same for the processes of Lictor.
const OUR_PROCESSES: &str = "/proc/lictor*";

/// `ps` and `pgrep`: whether what they print names every process there is.
pub(crate) fn listing(call: &Call<'_>, report: &mut Report) {
    let every = match call.program {
        "ps" => {
            let options = Grammar::anywhere(
                "pCgGsStuUoOkq",
                "pid= ppid= sid= tty= user= User= group= Group= format= sort= quick-pid= cols= columns= rows= width=",
            )
            .parse(call.args);
            let picks = ["p", "C", "g", "s", "t", "q", "pid", "ppid", "sid", "tty", "quick-pid"];
            let bare = options.words().next().unwrap_or_default();
            !options.has(&picks)
                && (options.has(&["e", "A", "u", "U", "user", "User"]) || bare.contains(['a', 'x']))
        }
        "pgrep" => {
            let options = Grammar::anywhere(
                "uUgGtsPFdo",
                "user= uid= euid= group= pgroup= session= terminal= parent= pidfile= delimiter=",
            )
            .parse(call.args);
            let pattern = options.word(0);
            let everybody = options.has(&["u", "U", "euid", "uid"]) && options.operands.is_empty();
            everybody || !options.operands.is_empty() && is_every_name(pattern)
        }
        _ => false,
    };
    if call.args.iter().any(|arg| arg.prefix().contains("lictor")) {
        report.names = vec![super::say::glob(OUR_PROCESSES)];
    } else if every {
        report.names = vec![super::say::glob(EVERY_PROCESS)];
    }
}

/// A pattern that fits every name.
fn is_every_name(pattern: &str) -> bool {
    pattern.chars().all(|letter| ".*+?^$[a-z]".contains(letter))
        && !pattern.contains(|letter: char| letter.is_ascii_alphabetic())
        || matches!(pattern, "[a-z]" | "[a-z]*" | "^[a-z]")
}

/// `-s`, `-us`, `--set=…`; what stands behind `-I` is how the date is written.
fn sets_clock(word: &str) -> bool {
    word.starts_with("--set")
        || word.strip_prefix('-').is_some_and(|letters| {
            letters.split(['I', 'd', 'f', 'r', '-']).next().is_some_and(|flags| flags.contains('s'))
        })
}

fn kill(call: &Call<'_>, report: &mut Report) {
    let mut args = call.args.iter();
    let mut seen_signal = false;
    let mut ended = false;
    let mut targets: Vec<&Arg> = Vec::new();
    while let Some(arg) = args.next() {
        let word = arg.prefix();
        match word {
            "--" => ended = true,
            "-l" | "-L" | "--list" | "--table" if !ended => return,
            "-s" | "-n" | "--signal" | "-q" | "--queue" if !ended => {
                args.next();
                seen_signal = true;
            }
            // The first word with a dash is the signal (`-9`, `-KILL`); a later one is a process group.
            _ if word.starts_with('-') && !ended && !seen_signal => {
                seen_signal = true;
                if word == "-1" && call.args.len() == 1 {
                    targets.push(arg);
                }
            }
            _ => targets.push(arg),
        }
    }
    let gentle = |word: &str| {
        matches!(
            word.trim_start_matches("SIG"),
            "0" | "USR1" | "USR2" | "WINCH" | "CONT" | "URG" | "CHLD" | "10" | "12"
        )
    };
    let signal_zero = match call.args {
        [option, name, ..] if matches!(option.known(), Some("-s" | "-n")) => name.known().is_some_and(gentle),
        [option, ..] => option.known().and_then(|word| word.strip_prefix('-')).is_some_and(gentle),
        [] => false,
    };
    if targets.is_empty() || signal_zero {
        return;
    }
    let all = targets.iter().any(|arg| matches!(arg.known(), Some("-1" | "1" | EVERY_PROCESS)))
        // Everything that shares the shell's group, without a chance to end in order.
        || call.args.first().is_some_and(|arg| matches!(arg.known(), Some("-9" | "-KILL" | "-SIGKILL")))
            && targets.iter().any(|arg| matches!(arg.known(), Some("0" | "-0")));
    if targets.iter().any(|arg| arg.known() == Some(OUR_PROCESSES)) {
        report.guard_off(GuardOff::LictorBinary, &written(call));
    }
    report.process(if all { ProcessEffect::KillAll } else { ProcessEffect::Kill });
}

fn by_name(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "uUGtsPFnydZ",
        "user= uid= euid= group= pgroup= session= terminal= signal= parent= pidfile= older-than= younger-than= ns= regexp exact full newest \
         oldest list",
    )
    .parse(call.args);
    if options.has(&["l", "list", "help", "version"]) || options.has(&["0"]) && call.program == "killall" {
        return;
    }
    let everyone = options.has(&["u", "U", "user", "uid", "euid"]) && options.operands.is_empty();
    let broad = options.words().any(|word| {
        (is_every_name(word) && (call.program == "pkill" || options.has(&["r", "regexp"]) || word.is_empty()))
            || matches!(
                word,
                "init" | "systemd" | "launchd" | "loginwindow" | "WindowServer" | "sshd" | "Finder"
            )
    }) && !options.operands.is_empty();
    let all = call.program == "killall" && call.args.iter().any(|arg| matches!(arg.known(), Some("-1")));
    report.process(if everyone || broad || all { ProcessEffect::KillAll } else { ProcessEffect::Kill });
    if options.words().any(|word| word.contains("lictor")) {
        report.guard_off(GuardOff::LictorBinary, &written(call));
    }
}

/// Services that a machine is reached, logged, kept in time or guarded by.
fn is_vital(unit: &str) -> bool {
    let name = unit.strip_suffix(".service").or_else(|| unit.strip_suffix(".socket")).unwrap_or(unit);
    name.starts_with("systemd-")
        || matches!(
            name,
            "ssh"
                | "sshd"
                | "firewalld"
                | "ufw"
                | "iptables"
                | "nftables"
                | "fail2ban"
                | "apparmor"
                | "auditd"
                | "rsyslog"
                | "dbus"
                | "NetworkManager"
                | "networking"
                | "network"
                | "cron"
                | "crond"
                | "docker"
                | "containerd"
                | "kubelet"
                | "lictor"
                | "postgresql"
                | "mysql"
                | "mariadb"
        )
}

fn systemctl(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        "tHMnoPs",
        "type= state= property= host= machine= root= lines= output= signal= kill-whom= user now force",
    )
    .parse(call.args);
    if options.has(&["dry-run", "help"]) {
        return;
    }
    let text = written(call);
    match options.word(0) {
        "poweroff" | "reboot" | "halt" | "kexec" | "suspend" | "hibernate" | "emergency" | "rescue"
        | "soft-reboot" | "hybrid-sleep" | "exit" => {
            report.process(ProcessEffect::Shutdown);
        }
        "isolate" => report.process(ProcessEffect::Shutdown),
        "start"
            if options
                .words()
                .any(|word| matches!(word, "poweroff.target" | "reboot.target" | "halt.target")) =>
        {
            report.process(ProcessEffect::Shutdown);
        }
        sub @ ("stop" | "disable" | "mask" | "kill" | "revert") => {
            // Stopping a service of one's own is ordinary work; stopping what the machine is reached and guarded by is not.
            if matches!(sub, "mask" | "revert") || options.words().skip(1).any(is_vital) {
                report.infrastructure("systemctl", text.trim_start_matches("systemctl "), false);
            }
            lictor_service(report, &text);
        }
        _ => {}
    }
}

fn ip(call: &Call<'_>, report: &mut Report, words: &[&str]) {
    if let ["netns" | "vrf", "exec", name, ..] = words {
        let at = call.args.iter().position(|arg| arg.known() == Some(name)).unwrap_or(call.args.len());
        return report.then_argv(call.args.get(at + 1..).unwrap_or_default(), "ip");
    }
    let takes_down = words.first().is_some_and(|word| word.starts_with('l')) && words.contains(&"down");
    let removes =
        words.iter().skip(1).take(2).any(|word| matches!(*word, "del" | "delete" | "flush" | "d" | "f"));
    if takes_down || removes {
        report.infrastructure("ip", &written(call), words.contains(&"flush"));
    }
}
