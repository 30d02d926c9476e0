//! Secrets on command lines: option values, assignments, headers, and text piped into a prompt.

use std::ops::Range;

use super::secrets::is_secret_name;

/// The encoding of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is.
    Plain,
    /// JSON: a bare quote begins or ends a string, quotes inside a string are escaped.
    Json,
}

/// How a program takes a password in a short option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// `-pX`.
    Attached,
    /// `-p X`.
    Next,
    /// `-pX` and `-p X`.
    Either,
}

/// Programs, by name prefix, and the short option that takes a password.
pub(super) const SHORT: &[(&str, &str, How)] = &[
    ("mysql", "-p", How::Attached),
    ("mariadb", "-p", How::Attached),
    ("sshpass", "-p", How::Either),
    ("mongo", "-p", How::Either),
    ("redis-cli", "-a", How::Either),
    ("docker", "-p", How::Next),
    ("podman", "-p", How::Next),
    ("helm", "-p", How::Next),
    ("oc", "-p", How::Next),
    ("az", "-p", How::Next),
    ("cqlsh", "-p", How::Either),
    ("ldap", "-w", How::Either),
    ("sqlcmd", "-P", How::Either),
    ("bcp", "-P", How::Either),
    ("zip", "-P", How::Either),
    ("unzip", "-P", How::Either),
    ("7z", "-p", How::Attached),
    ("rar", "-p", How::Attached),
    ("unrar", "-p", How::Attached),
    ("mosquitto", "-P", How::Either),
    ("snmp", "-A", How::Either),
    ("ipmitool", "-P", How::Either),
    ("rpcclient", "-U", How::Next),
    ("smbclient", "-U", How::Next),
    ("twine", "-p", How::Next),
    ("swaks", "-ap", How::Next),
    ("snowsql", "-p", How::Next),
    ("openssl", "-k", How::Next),
    ("curl", "-b", How::Next),
    ("http", "-a", How::Next),
    ("xh", "-a", How::Next),
    ("snmp", "-c", How::Either),
    ("ssh-keygen", "-N", How::Next),
    ("ssh-keygen", "-P", How::Next),
    ("rar", "-hp", How::Attached),
    ("useradd", "-p", How::Next),
    ("usermod", "-p", How::Next),
    ("rdesktop", "-p", How::Next),
    ("crackmapexec", "-p", How::Next),
    ("netexec", "-p", How::Next),
    ("nxc", "-p", How::Next),
    ("doctl", "-t", How::Next),
    ("codecov", "-t", How::Next),
    ("flyctl", "-t", How::Next),
    ("supabase", "-p", How::Next),
    ("security", "-w", How::Next),
];

/// Programs that take a secret after one of their words, and how many words come between.
pub(super) const GIVEN: [(&str, &str, usize); 21] = [
    ("vault", "login", 0),
    ("cargo", "login", 0),
    ("heroku", "auth:token", 0),
    ("rabbitmqctl", "change_password", 1),
    ("rabbitmqctl", "add_user", 1),
    ("npm", "_authToken", 0),
    ("aws", "aws_secret_access_key", 0),
    ("nmcli", "password", 0),
    ("wpa_passphrase", "wpa_passphrase", 1),
    ("ngrok", "authtoken", 0),
    ("snyk", "auth", 0),
    ("wandb", "login", 0),
    ("twilio", "login", 1),
    ("bw", "unlock", 0),
    ("bw", "login", 1),
    ("rclone", "obscure", 0),
    ("redis-cli", "AUTH", 0),
    ("redis-cli", "requirepass", 0),
    ("pulumi", "--secret", 1),
    ("poetry", "pypi-token.pypi", 0),
    ("rclone", "secret_access_key", 0),
];

/// Words of commands that store a secret, in any program.
const STORES: [&str; 4] = ["secret", "secrets", "SecureString", "add-generic-password"];

/// Options with which such a command takes the secret.
const STORED: [&str; 4] = ["--value", "--body", "-b", "-w"];

/// Programs that store secrets, with the subcommand: the assignments after it are secrets.
pub(super) const PUTS: [(&str, &str); 5] =
    [("vault", "put"), ("vault", "write"), ("vault", "patch"), ("kubectl", "secret"), ("oc", "secret")];

/// Words of a line whose standard input may contain a secret.
const MENTIONED: [&str; 14] = [
    "secret",
    "passw",
    "token",
    "login",
    "read -s",
    "pwprompt",
    "signin",
    "env add",
    "pass insert",
    "age -p",
    " pw ",
    "SECRET",
    "kinit",
    "cryptsetup",
];

/// Programs that set a variable to the value after its name.
const SETS: [&str; 3] = ["set", "setenv", "setx"];

/// The SQL phrases before a password.
pub(super) const IN_SQL: [&str; 4] = ["identified by '", "password '", "password = '", "password('"];

/// Programs whose short options take a password only in their login command.
const LOG_IN: [&str; 5] = ["docker", "podman", "helm", "oc", "az"];

/// Options of any program that take `user:password`.
pub(super) const PAIRS: [&str; 5] = ["-u", "--user", "--proxy-user", "-U", "--auth"];

/// Long options that take a secret, in addition to those with a secret's name.
pub(super) const LONG: [&str; 24] = [
    "pass",
    "pw",
    "pwd",
    "passcode",
    "pin",
    "credential",
    "auth",
    "app-key",
    "application-key",
    "auth-key",
    "license-key",
    "master-key",
    "account-key",
    "signing-key",
    "passphrase",
    "secret-string",
    "cookie",
    "oauth2-bearer",
    "_auth",
    "password-command",
    "bearer",
    "otp",
    "sse-c-key",
    "sse-customer-key",
];

/// Programs and options that read a password from standard input.
pub(super) const PROMPTED: [&str; 16] = [
    "--password-stdin",
    "sudo -S",
    "chpasswd",
    "--passwd-stdin",
    "passwd --stdin",
    "--with-token",
    "passwd <<<",
    "secret put",
    "secret set",
    "secrets set",
    "secrets versions add",
    "secrets create",
    "--password-file=<(",
    "--password-file <(",
    "--key-file <(",
    "--key-file=<(",
];

/// One word of a line, without the quotes around it.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    at: usize,
    /// A command begins here.
    first: bool,
}

impl Word<'_> {
    fn from(&self, skip: usize) -> Range<usize> {
        self.at + skip..self.at + self.text.len()
    }
}

/// Adds the ranges of secrets on a command line inside `text`.
pub(super) fn find(text: &str, form: Form, found: &mut Vec<Range<usize>>) {
    const NEAR: [&str; 14] = [
        " -", "\"-", "'-", "login", "set", "put ", "_user", "pass", "uth", "AUTH", "unlock", "obscure",
        "sql", "config",
    ];
    in_sql(text, found);
    if !text.contains([':', '<']) && !NEAR.iter().any(|near| text.contains(near)) {
        return;
    }
    // Computed lazily: it costs more than the rest together.
    let is_prompted = std::cell::LazyCell::new(|| PROMPTED.iter().any(|words| text.contains(words)));
    let mut call = Call::default();
    let mut taken: Option<&str> = None;
    let plain = |next: &Word<'_>| !next.first && !next.text.starts_with('-');
    let mut words = Words { text, form, at: 0, first: true }.peekable();
    while let Some(word) = words.next() {
        if word.first || (taken.is_none() && is_wrapper(call.program)) {
            call = Call::of(&word);
        }
        call.logs_in |= word.text == "login";
        let named = if call.logs_in { call.program } else { "" };
        if let Some(option) = taken.take() {
            note(&word, value_of(option, named, word.text), found);
            continue;
        }
        if call.says(&word) && (call.formats || *is_prompted && is_handed_on(text, call.at, &word)) {
            let said = Word { text: word.text.trim_end_matches(')'), ..word };
            note(&said, Some(said.text.split_once(':').map_or(0, |(user, _)| user.len() + 1)), found);
            continue;
        }
        // A here-string.
        if word.text == "<<<" && (*is_prompted || MENTIONED.iter().any(|words| text.contains(words))) {
            if let Some(next) = words.next() {
                note(&next, Some(0), found);
            }
            continue;
        }
        call.read(&word);
        if let Some(between) = call.words_before_secret(&word) {
            for _ in 0..between {
                words.next_if(plain);
            }
            if let Some(next) = words.next_if(plain) {
                note(&next, Some(0), found);
                continue;
            }
        }
        if let Some(place) = call.secret_in(&word) {
            found.push(place);
            continue;
        }
        match word.text.split_once('=') {
            Some((name, _)) if name.starts_with("--") && is_secret_option(name) => {
                note(&word, Some(name.len() + 1), found);
            }
            Some((name, pair)) if PAIRS.contains(&name) => {
                note(&word, pair.find(':').map(|at| name.len() + at + 2), found);
            }
            _ if word.text.starts_with('-') => {
                note(&word, attached(named, word.text), found);
                if takes_next(named, word.text) {
                    let next = words.peek().filter(|next| plain(next) && next.text != "<<<");
                    taken = next.map(|_| word.text);
                }
            }
            _ => note(&word, in_word(word.text), found),
        }
    }
}

/// One command of a line, as far as its words have been read.
#[derive(Default)]
struct Call<'a> {
    program: &'a str,
    /// Where it begins.
    at: usize,
    /// Its short options are those of a login.
    logs_in: bool,
    /// What is assigned from here on is put away as a secret.
    puts: bool,
    /// It puts a secret away.
    stores: bool,
    /// It gives settings values.
    configures: bool,
    /// Its other words are put behind the name of a secret.
    formats: bool,
}

impl<'a> Call<'a> {
    fn of(word: &Word<'a>) -> Self {
        let program = word.text.rsplit('/').next().unwrap_or(word.text);
        Self { program, at: word.at, logs_in: !LOG_IN.contains(&program), ..Self::default() }
    }

    /// Whether the word is printed.
    fn says(&self, word: &Word<'_>) -> bool {
        !word.first && matches!(self.program, "echo" | "printf") && !word.text.starts_with('-')
    }

    /// Takes up what a word says about those after it.
    fn read(&mut self, word: &Word<'_>) {
        self.puts |= PUTS.iter().any(|(name, before)| self.program == *name && word.text == *before);
        self.stores |= STORES.contains(&word.text);
        self.configures |= word.text.eq_ignore_ascii_case("config");
        self.formats |= self.program == "printf" && self.says(word) && fills_in_secret(word.text);
    }

    /// How many words come between this one and a secret, if one follows.
    fn words_before_secret(&self, word: &Word<'_>) -> Option<usize> {
        if self.stores && STORED.contains(&word.text) {
            return Some(0);
        }
        let given =
            |(name, before, _): &&(&str, &str, usize)| self.program == *name && word.text.ends_with(before);
        if let Some((_, _, between)) = GIVEN.iter().find(given) {
            return Some(*between);
        }
        if word.text.starts_with('-') {
            // `htpasswd -nbB user password`, and `-bc file user password`.
            let given = self.program == "htpasswd" && !word.text.starts_with("--") && word.text.contains('b');
            return given.then(|| if word.text.contains('n') { 1 } else { 2 });
        }
        if self.configures && word.text.starts_with("http-basic.") {
            return Some(1);
        }
        let is_setting = SETS.contains(&self.program) && is_secret_name(word.text)
            || self.configures && word.text.split(['.', ':']).any(is_secret_name);
        is_setting.then_some(0)
    }

    /// Where in a word a secret stands by the form that the program takes it in.
    fn secret_in(&self, word: &Word<'_>) -> Option<Range<usize>> {
        let behind = |from: usize| secret_from(word, Some(from));
        if self.program == "sed" {
            let place = super::shapes::put_in_place(word.text)?;
            return Some(word.at + place.start..word.at + place.end);
        }
        if ORACLE.contains(&self.program) {
            let (user, rest) = word.text.split_once('/').filter(|(user, _)| !user.is_empty())?;
            let from = word.at + user.len() + 1;
            return Some(from..from + rest.find('@').unwrap_or(rest.len()));
        }
        if self.program.contains("freerdp") && word.text.starts_with("/p:") {
            return behind(3);
        }
        if self.stores && self.program == "gh" && word.text.starts_with("-b") {
            return behind(2);
        }
        let (name, _) = word.text.rsplit_once('=').filter(|_| self.puts)?;
        behind(name.len() + 1)
    }
}

/// Oracle programs, which take `user/password@database`.
const ORACLE: [&str; 5] = ["sqlplus", "sqlldr", "expdp", "impdp", "rman"];

/// Whether a `printf` format puts the next word after a secret's name.
fn fills_in_secret(form: &str) -> bool {
    form.find("%s").and_then(|at| form.get(..at)).is_some_and(|front| {
        is_secret_name(
            front.trim_end_matches(['=', ':', ' ', '"', '\'']).rsplit([' ', '\n']).next().unwrap_or_default(),
        )
    })
}

/// Whether what `echo` or `printf` prints goes to another program: through a pipe, or as the file `<(…)`.
fn is_handed_on(text: &str, program_at: usize, word: &Word<'_>) -> bool {
    let before = text.get(..program_at).unwrap_or_default();
    let rest = text.get(word.at + word.text.len()..).unwrap_or_default();
    let mut marks = rest.match_indices(['|', ';', '&', '\n']);
    before.ends_with("<(")
        || marks.next().is_some_and(|(at, mark)| {
            mark == "|" && !rest.get(at + 1..).is_some_and(|rest| rest.starts_with('|'))
        })
}

/// `ALTER USER u PASSWORD 'x'`.
fn in_sql(text: &str, found: &mut Vec<Range<usize>>) {
    if !text.contains('\'') {
        return;
    }
    let lower = text.to_ascii_lowercase();
    for begins in IN_SQL {
        for (at, _) in lower.match_indices(begins) {
            let from = at + begins.len();
            let length = text.get(from..).and_then(|rest| rest.find('\'')).unwrap_or_default();
            if length > 0 {
                found.push(from..from + length);
            }
        }
    }
}

fn note(word: &Word<'_>, from: Option<usize>, found: &mut Vec<Range<usize>>) {
    found.extend(secret_from(word, from));
}

/// The rest of a word, unless it is expanded later and not written here.
fn secret_from(word: &Word<'_>, from: Option<usize>) -> Option<Range<usize>> {
    let from = from.filter(|from| *from < word.text.len())?;
    let value = word.text.get(from..).unwrap_or_default();
    let quoted = if value.starts_with("$'") { 2 } else { 0 };
    let is_written = (quoted > 0 || !value.starts_with('$')) && !value.starts_with("[redacted");
    is_written.then(|| word.from(from + quoted))
}

fn is_wrapper(program: &str) -> bool {
    matches!(program, "sudo" | "env" | "time" | "nohup" | "exec" | "command") || program.contains('=')
}

/// Whether a long option with this name takes a secret.
fn is_secret_option(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    let is_file = ["-file", "-stdin", "-path", "-env", "-id", "-name", "-type", "-url"];
    !is_file.iter().any(|end| name.ends_with(end)) && (is_secret_name(name) || LONG.contains(&name))
}

/// The longest word that is read as bundled short options.
const LONGEST_BUNDLE: usize = 5;

/// Whether an option has a long name. Some programs have one dash before them: `-storepass x`, `-pw x`.
fn is_long(option: &str) -> bool {
    option.starts_with("--")
        || option.len() > LONGEST_BUNDLE
        || matches!(option, "-pw" | "-pwd" | "-pass" | "-ap")
}

fn takes_next(program: &str, option: &str) -> bool {
    if is_long(option) && (is_secret_option(option) || PAIRS.contains(&option)) {
        return true;
    }
    let short = |(name, letter, how): &(&str, &str, How)| {
        program.starts_with(name) && *letter == option && *how != How::Attached
    };
    PAIRS.contains(&option) || SHORT.iter().any(short)
}

/// Where in the word after an option its secret begins.
fn value_of(option: &str, program: &str, value: &str) -> Option<usize> {
    let is_pair = PAIRS.contains(&option);
    let whole = SHORT.iter().any(|(name, letter, _)| program.starts_with(name) && *letter == option);
    let secret_name = is_long(option) && !is_pair;
    match value.find([':', '%', ',']) {
        // Two numbers are a user and a group.
        Some(_) if is_pair && value.bytes().all(|byte| byte == b':' || byte.is_ascii_digit()) => None,
        Some(at) if is_pair => Some(at + 1),
        // A token alone.
        None if option == "--auth" => Some(0),
        _ if secret_name || (whole && !is_pair) => Some(0),
        _ => None,
    }
}

/// Where in an option its secret begins when it is attached: `-pX`, `-uuser:X`.
fn attached(program: &str, option: &str) -> Option<usize> {
    let short = |(name, letter, how): &(&str, &str, How)| {
        program.starts_with(name)
            && option.len() > letter.len()
            && option.starts_with(letter)
            && *how != How::Next
    };
    if let Some((_, letter, _)) =
        SHORT.iter().filter(|entry| short(entry)).max_by_key(|(_, letter, _)| letter.len())
    {
        let value = option.get(letter.len()..).unwrap_or_default();
        let quotes = value.len() - value.trim_start_matches(['\\', '"', '\'']).len();
        return Some(letter.len() + quotes);
    }
    let is_curl = program.starts_with("curl") && option.starts_with("-u") && option.len() > 2;
    is_curl.then(|| option.find(':').map(|at| at + 1)).flatten()
}

/// Where in a plain word a secret begins: `NAME=value`, `Authorization: …`, `pass:…`.
fn in_word(word: &str) -> Option<usize> {
    if word.starts_with("pass:") {
        return Some(5);
    }
    let at = word.find([':', '='])?;
    let (name, rest) = word.split_at_checked(at)?;
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if !plain(name) || rest.len() < 4 {
        return None;
    }
    let is_header = || {
        let heads = ["authorization", "proxy-authorization", "cookie", "set-cookie"];
        heads.iter().any(|head| name.eq_ignore_ascii_case(head))
    };
    if rest.starts_with('=') && (is_secret_name(name) || name == "_auth") {
        return Some(at + 1);
    }
    // The scheme before a credential is not one.
    let value = match rest.strip_prefix(": ") {
        Some(value) => Some(value).filter(|_| is_header() || is_secret_name(name)),
        None => rest.strip_prefix(':').filter(|_| is_header()),
    }?;
    let blank = rest.len() - value.len();
    let scheme =
        value.split_once(' ').filter(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let scheme = scheme.map_or(0, |(scheme, _)| scheme.len() + 1);
    Some(at + blank + scheme)
}

/// The words of a line, split approximately as a shell would: quotes keep blanks together, separators begin a
/// command.
struct Words<'a> {
    text: &'a str,
    form: Form,
    at: usize,
    first: bool,
}

impl Words<'_> {
    fn quotes(&self, mark: &[u8]) -> bool {
        self.form == Form::Plain || mark != b"\""
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b';' | b'|' | b'&' | b'(' | b'\n' | b'{' | b'`' => self.first = true,
                b'"' if self.form == Form::Json => self.first = true,
                byte if byte.is_ascii_whitespace() => {}
                _ => break,
            }
            self.at += 1;
        }
        let start = self.at;
        bytes.get(start)?;
        let first = std::mem::take(&mut self.first);
        // A quote at the beginning, or right behind `=`, extends to the next one.
        let mut end = start;
        let mut quote: Option<(usize, &[u8])> = None;
        while let Some(byte) = bytes.get(end) {
            if let Some((from, mark)) = quote {
                if end > from && bytes.get(end..).is_some_and(|rest| rest.starts_with(mark)) {
                    let inner = from + mark.len();
                    self.at = end + mark.len();
                    let opens = start == from;
                    let at = if opens { inner } else { start };
                    return Some(Word { text: self.text.get(at..end).unwrap_or_default(), at, first });
                }
            } else if let Some(mark) = mark_at(bytes, end).filter(|mark| self.quotes(mark))
                && (end == start || bytes.get(end - 1) == Some(&b'=') || opens_behind(bytes, start, end))
            {
                quote = Some((end, mark));
                end += mark.len().saturating_sub(1);
            } else if byte.is_ascii_whitespace()
                || matches!(byte, b';' | b'|' | b'&' | b'"' | b'\'' | b'`')
                || bytes.get(start..=end).is_some_and(|word| word.ends_with(b"<("))
            {
                break;
            }
            end += 1;
        }
        self.at = end.max(start + 1);
        // An open quote at the end, or a lone punctuation character, is no word.
        let text = self.text.get(start..end).unwrap_or_default();
        Some(Word { text, at: start, first })
    }
}

/// `-p'x'`, `$'x'`: a quote directly after the letter of an option or after a `$`.
fn opens_behind(bytes: &[u8], start: usize, end: usize) -> bool {
    match bytes.get(start..end) {
        Some([b'-', letter]) => letter.is_ascii_alphabetic(),
        Some([b'$']) => true,
        _ => false,
    }
}

/// A quote, with the backslashes that escape it in JSON.
fn mark_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    if !matches!(rest.first(), Some(b'"' | b'\'' | b'\\')) {
        return None;
    }
    let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
    matches!(rest.get(slashes), Some(b'"' | b'\'')).then(|| rest.get(..=slashes)).flatten()
}
