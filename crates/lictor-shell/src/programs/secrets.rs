//! Where secrets are kept, and the programs whose purpose is to print them.

use lictor_core::facts::{Access, Cardinality, Effect};

use super::options::Grammar;
use super::say::glob;
use crate::call::{Call, Report};
use crate::operand::Arg;

/// Whether a path names a secret: a private key, credentials of a cloud or registry, an environment file.
/// Templates (`.env.example`) and public halves (`id_rsa.pub`) are not.
#[must_use]
pub fn is_secret_path(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let name = path.rsplit('/').next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let under = |folder: &str| {
        path.split('/').rev().skip(1).any(|part| part == folder) || path.trim_start_matches("./") == folder
    };
    if lower.ends_with(".pub") || lower.ends_with(".pem.crt") {
        return false;
    }
    if is_environment_file(&lower) {
        return true;
    }
    const NAMES: [&str; 41] = [
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "id_ecdsa_sk",
        "id_ed25519_sk",
        "identity",
        "credentials.json",
        "credentials.tfrc.json",
        "service-account.json",
        "service_account.json",
        "application_default_credentials.json",
        ".netrc",
        "_netrc",
        ".pgpass",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        ".dockercfg",
        ".htpasswd",
        ".my.cnf",
        "secrets.yml",
        "secrets.yaml",
        "secrets.json",
        "secrets.toml",
        "master.key",
        "shadow",
        "gshadow",
        "sudoers",
        "kubeconfig",
        ".vault-token",
        ".boto",
        ".s3cfg",
        "rclone.conf",
        ".credentials.json",
        ".bash_history",
        ".zsh_history",
        ".psql_history",
        ".mysql_history",
        ".rediscli_history",
        ".node_repl_history",
    ];
    const ENDINGS: [&str; 12] = [
        ".pem",
        ".key",
        ".p12",
        ".pfx",
        ".jks",
        ".keystore",
        ".kdbx",
        ".ppk",
        ".asc.key",
        ".tfvars.secret",
        ".gpg-key",
        ".keychain-db",
    ];
    if matches!(lower.as_str(), "shadow" | "gshadow" | "sudoers" | "identity") {
        return path.starts_with("/etc/") || under(".ssh");
    }
    // Certificates are public; only keys share their ending.
    if lower.ends_with(".pem")
        && ["cert", "chain", "ca.", "ca-", "bundle", "public", "pub."].iter().any(|part| lower.contains(part))
        && !lower.contains("key")
    {
        return false;
    }
    if NAMES.contains(&lower.as_str()) || ENDINGS.iter().any(|ending| lower.ends_with(ending)) {
        return true;
    }
    if under(".ssh") || path.ends_with("/.ssh") || path == ".ssh" {
        return !matches!(lower.as_str(), "config" | "known_hosts" | "known_hosts.old" | "authorized_keys");
    }
    if matches!(lower.as_str(), ".aws" | ".kube" | ".gnupg" | ".password-store" | ".azure")
        || path.ends_with(".config/gcloud")
        || path.ends_with(".config/gh")
    {
        return true;
    }
    (under(".aws") && matches!(lower.as_str(), "credentials" | "config"))
        || (under(".kube") && lower == "config")
        || (under(".docker") && lower == "config.json")
        || (under(".gnupg") && !lower.ends_with(".conf"))
        || path.ends_with("/.gnupg")
        || (under("gcloud") && (lower.ends_with(".db") || lower.contains("credential")))
        || (under(".azure") && lower.contains("token"))
        || (under("gh") && lower == "hosts.yml")
        || (under(".cargo") && lower.starts_with("credentials"))
        || (under(".gem") && lower == "credentials")
        || (under(".codex") && lower == "auth.json")
        || (under(".config") && lower == "hub")
        || (under("doctl") && lower == "config.yaml")
        || (under(".config") && under("op"))
        || under("keyrings")
        || (under("Keychains") || path.ends_with("/Keychains"))
        || ((under(".aws") || path.contains("/.aws/")) && (under("cache") || lower == "cache"))
        // What browsers keep.
        || matches!(lower.as_str(), "login data" | "logins.json" | "cookies.sqlite" | "key4.db" | "cookies.binarycookies")
        || (lower == "cookies" && ["google-chrome", "Chrome", "chromium", "BraveSoftware"].iter().any(|name| under(name)))
        || under(".password-store")
        || (path.starts_with("/proc/") && lower == "environ")
        || path.starts_with("/run/secrets/")
        || path.starts_with("/var/run/secrets/")
}

fn is_environment_file(lower: &str) -> bool {
    const TEMPLATES: [&str; 9] =
        ["example", "sample", "template", "dist", "schema", "defaults", "default", "tpl", "md"];
    let Some(rest) = lower.strip_prefix(".env") else {
        return lower.ends_with(".env") && lower != "printenv.env";
    };
    match rest.strip_prefix(['.', '-', '_']) {
        None => rest.is_empty() || rest.starts_with('*'),
        Some(kind) => {
            let last = kind.rsplit('.').next().unwrap_or_default();
            !TEMPLATES.contains(&kind) && !TEMPLATES.contains(&last) && last != "ts" && last != "js"
        }
    }
}

/// Whether a path names a file of variables (`.env`, `.env.local`).
pub(crate) fn is_environment_path(path: &str) -> bool {
    is_environment_file(&path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase())
}

/// Whether an operand names a secret, as far as it is known.
pub(crate) fn is_secret(arg: &Arg) -> bool {
    match arg.known() {
        Some(path) => is_secret_path(path),
        None => match &arg.value {
            crate::operand::Known::Partly { prefix, suffix } => is_secret_path(&format!("{prefix}x{suffix}")),
            _ => false,
        },
    }
}

/// Reports the reading of an operand, and what it does to the taint of the output.
pub(crate) fn read(call: &Call<'_>, report: &mut Report, arg: &Arg, recursive: bool) {
    // A serial line holds nothing of this machine: it is listened to.
    let serial = arg.known().and_then(|path| path.strip_prefix("/dev/")).is_some_and(|name| {
        ["ttyUSB", "ttyACM", "ttyAMA", "ttyS", "cu.", "serial/"].iter().any(|start| name.starts_with(start))
    });
    report.file(call, if serial { Access::List } else { Access::Read }, arg, recursive);
    report.taint.secret |= is_secret(arg);
}

/// The output holds a secret of a store that lies in one known place.
fn kept_in(call: &Call<'_>, report: &mut Report, place: &str) {
    report.taint.secret = true;
    report.file(call, Access::Read, &Arg::literal(place), false);
}

/// The output holds a secret that no path names: it comes from a service.
pub(crate) fn reveals(report: &mut Report) {
    report.taint.secret = true;
    report.effects.push(Effect::Deed {
        verb: "read".to_owned(),
        object: "secret".to_owned(),
        cardinality: Cardinality::Single,
    });
}

/// Programs whose purpose is to print secrets.
pub(crate) fn judge(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere("", "").parse(call.args);
    let words: Vec<&str> = options.words().collect();
    let first = options.word(0);
    let second = options.word(1);
    match call.program {
        "gpg" | "gpg2" => {
            if options.has(&["export-secret-keys", "export-secret-subkeys", "export-secret-key"]) {
                kept_in(call, report, "~/.gnupg/private-keys-v1.d");
            }
            if options.has(&["delete-secret-keys", "delete-secret-key", "delete-secret-and-public-key"]) {
                report.file(call, Access::Delete, &glob("~/.gnupg/private-keys-v1.d/*"), true);
            }
            if options.has(&["d", "decrypt"]) {
                report.taint.secret = true;
            }
        }
        "security" => match first {
            "find-generic-password" | "find-internet-password" if options.has(&["w", "g"]) => {
                kept_in(call, report, "~/Library/Keychains/login.keychain-db");
            }
            "dump-keychain" | "export" => kept_in(call, report, "~/Library/Keychains/login.keychain-db"),
            "delete-keychain" | "delete-generic-password" | "delete-internet-password" => {
                report.file(
                    call,
                    Access::Delete,
                    &Arg::literal("~/Library/Keychains/login.keychain-db"),
                    false,
                );
            }
            _ => {}
        },
        "pass" | "gopass" => match first {
            "" | "ls" | "list" | "find" | "search" | "git" | "help" | "version" | "init" | "insert"
            | "edit" | "generate" | "grep" => {}
            "rm" | "remove" | "delete" => {
                let recursive = options.has(&["r", "recursive"]);
                report.file(
                    call,
                    Access::Delete,
                    &Arg::literal(format!("~/.password-store/{second}")),
                    recursive,
                );
            }
            _ => {
                let entry = if first == "show" { second } else { first };
                kept_in(call, report, &format!("~/.password-store/{entry}.gpg"));
            }
        },
        "op" | "doppler" | "infisical" | "chamber" if matches!(first, "run" | "exec") => {
            let behind = call.args.iter().position(|arg| arg.known() == Some("--"));
            report.then_argv(behind.and_then(|at| call.args.get(at + 1..)).unwrap_or_default(), call.program);
            let front = call.args.get(..behind.unwrap_or(call.args.len())).unwrap_or_default();
            for text in Grammar::anywhere("", "command=").parse(front).values(&["command"]) {
                report.then_shell(text, &[], call.program);
            }
        }
        "op" => match (first, second) {
            ("read" | "inject", _) | ("item" | "document", "get") => reveals(report),
            ("item" | "vault" | "document" | "user" | "group" | "service-account", "delete") => {
                report.infrastructure("op", &format!("{first} delete"), first == "vault");
            }
            _ => {}
        },
        "bw" => match first {
            "get" | "export" | "list" if second != "template" => reveals(report),
            "delete" => report.infrastructure("bw", "delete", false),
            _ => {}
        },
        "secret-tool" if matches!(first, "lookup" | "search") => {
            kept_in(call, report, "~/.local/share/keyrings/login.keystore")
        }
        "keyctl" if matches!(first, "print" | "pipe" | "read") => report.taint.secret = true,
        "ssh-add" if options.has(&["D"]) => {}
        "ssh-keygen" => {
            let options = Grammar::anywhere("bCFfGIJjKMmNnOPRrSsTtVWwYz", "").parse(call.args);
            if let Some(path) = options.value(&["f"]) {
                match () {
                    // The public half is worked out of the private one, which lies open for that.
                    () if options.has(&["y", "e"]) => read(call, report, path, false),
                    () if options.has(&["l", "B", "H", "F", "R"]) => {}
                    () => report.file(call, Access::Write, path, false),
                }
            }
        }
        "age" | "sops" if options.has(&["d", "decrypt"]) || words.contains(&"decrypt") => {
            report.taint.secret = true;
            if let Some(file) = options.operands.last() {
                report.file(call, Access::Read, file, false);
            }
        }
        "ansible-vault" if matches!(first, "view" | "decrypt") => report.taint.secret = true,
        "doppler" | "infisical" if second == "delete" => {
            report.infrastructure(call.program, &format!("{first} delete"), first == "projects");
        }
        "doppler" | "infisical" if first == "secrets" && !matches!(second, "set" | "delete") => {
            reveals(report);
        }
        "chamber" if matches!(first, "read" | "export") => report.taint.secret = true,
        _ => {}
    }
}

/// Whether a command prints the whole value of a variable that holds a secret (`echo $TOKEN`, `printenv TOKEN`).
pub(crate) fn prints_secret(call: &Call<'_>) -> bool {
    use lictor_core::redact::is_secret_name;
    match call.program {
        "printenv" => call.args.iter().any(|arg| arg.known().is_some_and(is_secret_name)),
        "echo" | "printf" => {
            call.args.iter().filter(|arg| arg.taint.secret && arg.known().is_none()).any(|arg| {
                arg.text.split('$').skip(1).any(|rest| {
                    let braced = rest.strip_prefix('{');
                    let rest = braced.unwrap_or(rest);
                    let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                    let (name, tail) = rest.split_at(end.unwrap_or(rest.len()));
                    // `${TOKEN:0:4}` and `${TOKEN:+set}` show less than the whole.
                    is_secret_name(name) && (braced.is_none() || tail.starts_with('}'))
                })
            })
        }
        _ => false,
    }
}
