//! Where secrets are kept, and the programs whose purpose is to print them.

use lictor_core::facts::{Access, Cardinality, Effect, FlowSink, FlowSource};

use crate::call::{Call, Report};
use crate::describe::Trait;
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
    if lower.ends_with(".pub") || lower.contains(".pub.") || lower.ends_with(".pem.crt") {
        return false;
    }
    if is_environment_file(&lower) {
        return true;
    }
    if matches!(lower.as_str(), "shadow" | "gshadow" | "master.passwd" | "sudoers" | "identity") {
        return path.starts_with("/etc/") || under(".ssh");
    }
    if super::credentials::is_kept(path) {
        return true;
    }
    // Certificates are public; only keys share their ending.
    if lower.ends_with(".pem")
        && ["cert", "chain", "ca.", "ca-", "bundle", "public", "pub."].iter().any(|part| lower.contains(part))
        && !lower.contains("key")
    {
        return false;
    }
    if crate::words::SECRET_NAMES.contains(&lower.as_str())
        || crate::words::SECRET_ENDINGS.iter().any(|ending| lower.ends_with(ending))
    {
        return true;
    }
    // `~/.*_history`: a pattern that says enough of such a name.
    if lower.contains('*')
        && lower.len() > 8
        && crate::words::SECRET_NAMES.iter().any(|name| super::described::fits(&lower, name))
    {
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
    (under(".gnupg") && !lower.ends_with(".conf"))
        || path.ends_with("/.gnupg")
        || path.ends_with("/Keychains")
        || path.contains("/.aws/") && lower == "cache"
        // What browsers keep.
        || matches!(lower.as_str(), "login data" | "logins.json" | "cookies.sqlite" | "key4.db" | "cookies.binarycookies")
        || (lower == "cookies" && ["google-chrome", "Chrome", "chromium", "BraveSoftware"].iter().any(|name| under(name)))
        || (path.starts_with("/proc/") && matches!(lower.as_str(), "environ" | "mem" | "kcore"))
        || path.starts_with("/run/secrets/")
        || path.starts_with("/var/run/secrets/")
}

fn is_environment_file(lower: &str) -> bool {
    const TEMPLATES: [&str; 9] =
        ["example", "sample", "template", "dist", "schema", "defaults", "default", "tpl", "md"];
    let Some(rest) = lower.strip_prefix(".env") else {
        return lower.ends_with(".env") && lower != "printenv.env";
    };
    // What direnv loads.
    let rest = rest.strip_prefix("rc").unwrap_or(rest);
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

/// Whether a variable from an environment file is a secret, by its name. There a key is secret, unless its name
/// marks it as public.
pub(crate) fn is_secret_of_file(name: &str) -> bool {
    let is_key = || {
        let upper = name.to_ascii_uppercase();
        upper.ends_with("KEY") && !["PUBLIC", "PUBLISHABLE", "PUB_"].iter().any(|part| upper.contains(part))
    };
    lictor_core::redact::is_secret_name(name) || is_key()
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
    // A serial line contains no data of this machine.
    let serial = arg.known().and_then(|path| path.strip_prefix("/dev/")).is_some_and(|name| {
        ["ttyUSB", "ttyACM", "ttyAMA", "ttyS", "cu.", "serial/"].iter().any(|start| name.starts_with(start))
    });
    report.file(call, if serial { Access::List } else { Access::Read }, arg, recursive);
    report.taint.secret |= is_secret(arg);
}

/// A script that a shell traces while it runs: an environment file is shown.
pub(crate) fn given_to_trace(call: &Call<'_>, report: &mut Report, script: &Arg) {
    if is_secret(script) {
        read(call, report, script, false);
    }
}

/// Parts of the names of tools that are made for such files: they load, check or lock them.
const MADE_FOR_IT: [&str; 10] =
    ["env", "lint", "scan", "secret", "leak", "crypt", "fmt", "format", "prettier", "check"];

/// Secrets among the words of an unknown program. A secret file as an operand counts as read; as an option value
/// it is most likely used for authentication, unless the option takes content.
pub(crate) fn given(call: &Call<'_>, report: &mut Report) {
    let mut first = call.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-')).take(2);
    // A script of the project knows what its own files are for.
    let own = call.path.contains('/')
        || crate::words::KEEPS_TO_ITSELF.contains(&call.program)
        || MADE_FOR_IT.iter().any(|part| call.program.contains(part))
        || first.any(|word| {
            crate::words::LOADS.iter().any(|verb| word == *verb || word.ends_with(&format!(":{verb}")))
        });
    let mut before = "";
    for arg in call.args {
        let word = arg.known().unwrap_or_default();
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, Arg::literal(value)),
            _ => (before, arg.clone()),
        };
        let outside = value.prefix().starts_with(['/', '~']);
        let behind = if outside { option.len() > 2 } else { !option.is_empty() };
        // The name of a long option indicates that the file is loaded or used for authentication.
        let uses = |option: &str| {
            crate::words::SIGNS_IN.iter().chain(crate::words::LOADS).any(|part| option.contains(part))
        };
        let content = !behind
            || crate::words::CONTENT_OPTIONS.contains(&option)
            || option.starts_with("--") && !uses(option);
        let names =
            if outside { is_secret(&value) } else { !own && value.known().is_some_and(is_plain_secret) };
        if content && names {
            read(call, report, &value, false);
            if is_sent(call) {
                report.flow(FlowSource::Secret, FlowSink::Host, &value.text);
            }
        }
        before = if arg.prefix().starts_with('-') && !word.contains('=') { arg.prefix() } else { "" };
    }
}

/// Whether a call sends its arguments to another machine: one of its words is a remote place, or the program or
/// its first word indicates it.
fn is_sent(call: &Call<'_>) -> bool {
    const SENDS: [&str; 7] = ["upload", "ftp", "transfer", "send", "put", "share", "scp"];
    let place = |word: &str| match word.split_once("://") {
        Some((scheme, _)) => crate::words::REMOTE_SCHEMES.contains(&scheme),
        None => word.split_once(':').is_some_and(|(host, path)| {
            let named = |letter: char| letter.is_ascii_alphanumeric() || "._@-".contains(letter);
            !host.is_empty()
                && !host.starts_with('-')
                && host.chars().all(named)
                && (path.is_empty() || path.starts_with(['/', '~']) || host.contains('@'))
        }),
    };
    let says =
        |word: &str| SENDS.iter().any(|part| word.split(['-', '_']).any(|word| word.starts_with(part)));
    let mut words = call.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
    says(call.program) || words.clone().next().is_some_and(says) || words.any(place)
}

/// Files of variables that a program loads for what it runs: `docker run --env-file .env`. That shows nothing, but it
/// is a use.
pub(crate) fn loaded(call: &Call<'_>, report: &mut Report) {
    for (at, arg) in call.args.iter().enumerate() {
        let Some(rest) = arg.prefix().strip_prefix("--env-file") else { continue };
        let file = match rest.strip_prefix('=') {
            Some(_) => Some(super::options::after(arg, "--env-file=".len())),
            None => call.args.get(at + 1).filter(|_| rest.is_empty()).cloned(),
        };
        match file {
            Some(file) if is_environment_path(file.prefix()) => {
                report.file(call, Access::Execute, &file, false)
            }
            Some(file) => read(call, report, &file, false),
            None => {}
        }
    }
}

/// Short options with the same meaning.
const SIGNS_IN_LETTERS: [&str; 6] = ["-i", "-k", "-v", "-m", "-x", "-K"];

/// Secrets outside the project that are among the words of a call, or in them (`src=/etc/shadow`,
/// `\input{/etc/shadow}`), and whose use is unknown: they count as read. `in_text` when words with blanks are
/// code and not a message.
pub(crate) fn unaccounted(call: &Call<'_>, report: &mut Report, in_text: bool) {
    let mut before = "";
    for arg in call.args {
        let word = arg.prefix();
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, value),
            _ => (before, word),
        };
        before = if word.starts_with('-') && !word.contains('=') { word } else { "" };
        let signs_in = SIGNS_IN_LETTERS.contains(&option)
            || option.len() > 2 && crate::words::SIGNS_IN.iter().any(|part| option.contains(part));
        let code = in_text
            || super::takes_command(option)
            || matches!(option, "-e" | "-x" | "-rx")
            || takes_code(option);
        if signs_in || !code && value.contains(char::is_whitespace) {
            continue;
        }
        let key = login_key(value).unwrap_or_default();
        let inner = |sign: char| "{}()\"'=:,@<>;| \t".contains(sign);
        for part in value.split(inner).filter(|part| part.len() > 3) {
            let doubled = part.bytes().take_while(|byte| *byte == b'/').count().saturating_sub(1);
            let part = part.get(doubled..).unwrap_or_default();
            let in_code = code && value.contains(['{', '(', '"', '\'', ' ']) && is_environment_path(part);
            if part == key || !(is_kept_outside(part) || in_code && is_secret_path(part)) {
                continue;
            }
            let told = report.effects.iter().any(|effect| match effect {
                Effect::File { target, .. } => target.arg.prefix() == part || target.arg.prefix() == value,
                _ => false,
            });
            if !told {
                read(call, report, &Arg::literal(part), false);
            }
        }
    }
}

/// The key that a command line logs in with: `ssh -i key`.
fn login_key(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace();
    matches!(words.next()?, "ssh" | "scp" | "sftp" | "autossh").then_some(())?;
    words.find(|word| *word == "-i")?;
    words.next()
}

/// Whether the name of an option indicates that its value is code.
fn takes_code(option: &str) -> bool {
    const PARTS: [&str; 7] = ["eval", "expr", "expression", "script", "code", "query", "template"];
    option.strip_prefix("--").is_some_and(|name| name.split(['-', '_']).any(|part| PARTS.contains(&part)))
}

/// A secret by a path from the root or from a home: no file of the project, and none that a tool loads by itself.
fn is_kept_outside(path: &str) -> bool {
    path.starts_with(['/', '~'])
        && is_secret_path(path)
        && !is_environment_path(path)
        // Servers and clients get their keys by path; files among a person's own keys are not such keys.
        && (!path.ends_with(".pem") && !path.ends_with(".key") || path.contains("/.gnupg/") || path.contains("/.ssh/"))
}

/// Secrets that are known by their name alone and that few tools make.
fn is_plain_secret(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    is_secret_path(path)
        && !path.contains(char::is_whitespace)
        && (is_environment_path(path)
            || name.starts_with("id_")
            || matches!(
                name,
                ".netrc" | ".pgpass" | ".git-credentials" | "credentials.json" | "service-account.json"
            ))
}

/// The output contains a secret without a path: it comes from a service.
pub(crate) fn reveals(report: &mut Report) {
    report.taint.secret = true;
    report.effects.push(Effect::Deed {
        verb: "read".to_owned(),
        object: "secret".to_owned(),
        cardinality: Cardinality::Single,
        what: None,
    });
}

/// Whether every secret variable in a text belongs to the addressed service: it is named after it
/// (`$CODECOV_TOKEN` for `codecov.io`, `$GOOGLE_API_KEY` for `maps.googleapis.com`), or the URL is a variable
/// with the same prefix (`$N8N_API_KEY` for `$N8N_BASE_URL`).
pub(crate) fn is_for(text: &str, addresses: &[&Arg], is_set_here: &dyn Fn(&str) -> bool) -> bool {
    let host = |address: &Arg| {
        let lower = address.text.to_ascii_lowercase();
        let host = lower.split_once("://").map_or(lower.as_str(), |(_, rest)| rest);
        host.split('/').next().unwrap_or_default().to_owned()
    };
    let hosts: Vec<String> = addresses.iter().map(|address| host(address)).collect();
    let from_outside = |address: &&Arg| {
        let name = address.text.trim_start_matches(['"', '$', '{']);
        let name = crate::parser::name_prefix(name);
        address.text.trim_start_matches('"').starts_with('$') && !name.is_empty() && !is_set_here(name)
    };
    if !addresses.is_empty() && addresses.iter().all(from_outside) {
        return true;
    }
    let mut any = false;
    let all = text.split('$').skip(1).all(|rest| {
        let name = crate::parser::name_prefix(rest.strip_prefix('{').unwrap_or(rest));
        if !is_secret_of_file(name) {
            return true;
        }
        any = true;
        let stem = name.split('_').next().unwrap_or_default().to_ascii_lowercase();
        let generic = crate::words::GENERIC_STEMS.contains(&stem.as_str());
        let is_called_so = |part: &str| {
            part == stem
                || part.strip_prefix("api") == Some(&stem)
                || stem.len() >= 5 && part.starts_with(&stem)
        };
        let named = |host: &String| host.split(['.', '-', '_', '"', '$', '{', '}', ':']).any(is_called_so);
        stem.len() >= 3 && !generic && hosts.iter().any(named)
    });
    any && all
}

/// Whether a credential that a program printed into this text (`$(gh auth token)`) goes to another host than
/// those it is for. If the description names no hosts, nothing is known.
pub(crate) fn is_astray(text: &str, addresses: &[&Arg]) -> bool {
    let Some((_, command)) = text.split_once("$(").or_else(|| text.split_once('`')) else { return false };
    let program = command.split_whitespace().next().unwrap_or_default();
    let hosts = super::table::find(program).map(|entry| &entry.program.hosts);
    let Some(hosts) = hosts.filter(|hosts| !hosts.is_empty()) else { return false };
    let fits = |host: &str| {
        matches!(host, "localhost" | "127.0.0.1") || hosts.iter().any(|part| host.contains(&**part))
    };
    let named = addresses.iter().filter_map(|address| super::network::host_of(address.known()?));
    named.into_iter().any(|host| !fits(&host))
}

/// A credential header is the intended use of a credential, recognised by its name.
pub(crate) fn is_credential_header(text: &str) -> bool {
    const PARTS: [&str; 8] = ["auth", "token", "api-key", "apikey", "api_key", "cookie", "secret", "session"];
    let header =
        text.strip_prefix("--header=").or_else(|| text.strip_prefix("-H")).unwrap_or(text).trim_start();
    let Some((name, _)) = header.split_once(':') else { return false };
    let name = name.to_ascii_lowercase();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    name.len() <= 40
        && name.chars().all(plain)
        && (PARTS.iter().any(|part| name.contains(part)) || name.ends_with("-key"))
}

/// Programs that print what they read, as it is or written in another way.
pub(crate) fn shows_input(program: &str) -> bool {
    super::is(program, Trait::PrintsFiles)
}

/// `tee /dev/stderr`: a secret is shown on its way to another command.
pub(crate) fn copies_to_terminal(call: &Call<'_>) -> bool {
    let shown = |arg: &Arg| arg.known().is_some_and(|path| path.starts_with("/dev/") && path != "/dev/null");
    call.program == "tee" && super::text::stdin_taint(call).secret && call.args.iter().any(shown)
}

/// Whether a command prints the whole value of a variable that holds a secret (`echo $TOKEN`, `printenv TOKEN`).
pub(crate) fn prints_secret(call: &Call<'_>) -> bool {
    match call.program {
        "printenv" => call.args.iter().filter_map(Arg::known).any(|name| call.env.holds_secret(name)),
        program if shows_input(program) && super::text::stdin_taint(call).secret && call.args.is_empty() => {
            true
        }
        // Of what a store prints that is picked which is called a secret.
        "jq" | "gojq" | "jaq" | "yq" if super::text::stdin_taint(call).secret => {
            call.args.iter().filter_map(Arg::known).any(|filter| {
                let upper = filter.to_ascii_uppercase();
                crate::words::SECRET_VARIABLES.iter().any(|part| upper.contains(part))
            })
        }
        "echo" | "printf" => {
            call.args.iter().filter(|arg| arg.taint.secret && arg.known().is_none()).any(|arg| {
                let made_here = arg.text.contains("$(") || arg.text.contains('`');
                made_here
                    || arg.text.split('$').skip(1).any(|rest| {
                        let braced = rest.strip_prefix('{');
                        let rest = braced.unwrap_or(rest);
                        let named = braced.and_then(|rest| rest.strip_prefix('!'));
                        let rest = named.unwrap_or(rest);
                        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                        // `$@`, `$*`.
                        let end = if rest.starts_with(['@', '*']) { Some(1) } else { end };
                        let (name, tail) = rest.split_at(end.unwrap_or(rest.len()));
                        // `${TOKEN:+set}` tests whether it is set, `${LINE%%=*}` gives its name.
                        let asks =
                            braced.is_some() && [":+", "+", "%%=*"].iter().any(|sign| tail.starts_with(sign));
                        // `${!n}`: the variable named by `n`.
                        !name.is_empty() && !asks && (named.is_some() || call.env.holds_secret(name))
                    })
            })
        }
        _ => false,
    }
}
