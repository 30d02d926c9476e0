//! Network tools.

use lictor_core::facts::{Access, DatabaseEffect, FlowSink, FlowSource};

use super::options::after;
use super::report::written;
use super::{secrets, text};
use crate::call::{Call, Report, Stdin};
use crate::operand::{Arg, Incoming};

/// The host of a URL or of a bare `host[:port][/path]`, lower case.
#[must_use]
pub fn host_of(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(address) => address.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!host.is_empty() && !host.contains(['$', ' ', '{'])).then(|| host.to_ascii_lowercase())
}

/// The host of `[user@]host:path`, the form of `scp` and `rsync`.
#[must_use]
pub(crate) fn remote(arg: &Arg) -> Option<String> {
    let text = arg.prefix();
    if let Some((scheme, _)) = text.split_once("://")
        && crate::words::REMOTE_SCHEMES.contains(&scheme)
    {
        return host_of(text);
    }
    let (host, path) = text.split_once(':')?;
    // `C:\x` and `C:/x` are on a drive.
    let drive = host.len() == 1
        && (path.starts_with('\\') || path.starts_with('/') && host.chars().all(char::is_uppercase));
    if host.is_empty() || host.contains('/') || host.starts_with('-') || drive {
        return None;
    }
    Some(host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase())
}

/// Reports a host from an argument.
pub(crate) fn reach(report: &mut Report, arg: &Arg, sends: bool) {
    let host = remote(arg).or_else(|| arg.known().and_then(host_of)).or_else(|| {
        // A host that ends inside the known start is known.
        let (scheme, rest) = arg.prefix().split_once("://")?;
        rest.contains('/').then(|| host_of(&format!("{scheme}://{rest}"))).flatten()
    });
    // The cloud metadata service, which returns the machine's credentials.
    let metadata = host.as_deref().is_some_and(|host| {
        matches!(host, "169.254.169.254" | "169.254.170.2" | "metadata.google.internal" | "100.100.100.200")
    });
    if metadata
        && ["credentials", "token", "identity", "user-data"].iter().any(|part| arg.prefix().contains(part))
    {
        secrets::reveals(report);
    }
    if names_by_output(&arg.text) {
        report.flow(FlowSource::Private, FlowSink::Host, &arg.text);
    }
    // Data in the URL is sent, too.
    report.reach(host, &arg.text, sends || arg.taint.private);
}

/// `aria2c`, `axel`: what is fetched, and where it goes.
pub(crate) fn aria2(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    for url in &options.operands {
        reach(report, url, false);
    }
    let directory = options.value(&["d", "dir"]);
    match (options.value(&["o", "out"]), directory) {
        (Some(output), Some(directory)) => super::files::write_below(call, report, directory, output),
        (Some(output), None) => report.file(call, Access::Write, output, false),
        (None, directory) => {
            for url in &options.operands {
                download(call, report, url, directory);
            }
        }
    }
    if options.has(&["i", "input-file"]) {
        into_directory(call, report, directory);
    }
    report.taint.network = true;
}

/// `ftp`, `lftp`, `tftp`: files that are sent, commands of the client and its shell.
pub(crate) fn ftp(call: &Call<'_>, report: &mut Report) {
    puts(call, report, None);
    let options = super::parsed(call);
    if let Some(host) = options.operands.first() {
        reach(report, host, true);
    }
    options.values(&["o"]).for_each(|file| report.file(call, Access::Write, file, false));
    // `tftp host -c get there here`.
    let words: Vec<&str> = options.words().collect();
    match (options.text(&["c"]), words.as_slice()) {
        (Some("get"), [_, _, .., to]) => report.file(call, Access::Write, &Arg::literal(*to), false),
        (Some("put"), words) => {
            let secret = words.iter().filter(|word| secrets::is_secret_path(word));
            secret.for_each(|file| send_file(call, report, &Arg::literal(*file)));
        }
        _ => {}
    }
    // `ftp -u url file` sends without a command.
    if options.has(&["u"]) {
        for file in call.args.iter().filter(|arg| secrets::is_secret(arg)) {
            send_file(call, report, file);
        }
    }
    for text in options.values(&["e", "c"]).filter_map(Arg::known) {
        for part in text.split(';').map(str::trim) {
            if let Some(command) = part.strip_prefix('!') {
                report.then_shell(&Arg::literal(command), &[], call.program);
            }
            if part.starts_with("rm -r") || part.starts_with("mirror -R --delete") || part.starts_with("mrm")
            {
                report.infrastructure(call.program, part, false);
            }
        }
    }
    put_by_command(call, report);
}

/// `put x` in a word with commands of the client.
pub(crate) fn put_by_command(call: &Call<'_>, report: &mut Report) {
    for text in call.args.iter().filter_map(Arg::known) {
        let mut words = text.split([' ', ';']).filter(|part| !part.is_empty());
        if words.any(|part| matches!(part, "put" | "mput" | "mirror" | "reput")) {
            for file in words.filter(|part| secrets::is_secret_path(part)) {
                send_file(call, report, &Arg::literal(file));
            }
        }
        for command in text.split(';').filter_map(|part| part.trim().strip_prefix('!')) {
            report.then_shell(&Arg::literal(command), &[], call.program);
        }
    }
}

/// Tools that ask for a name or whether it answers. The name itself can carry something out.
pub(crate) fn look_up(call: &Call<'_>, report: &mut Report) {
    for arg in call.args.iter().filter(|arg| !arg.prefix().starts_with(['-', '+'])) {
        let name = if arg.prefix().starts_with('@') { after(arg, 1) } else { arg.clone() };
        let named =
            name.prefix().contains(['.', ':']) || name.prefix() == "localhost" || name.known().is_none();
        if named && !name.prefix().starts_with(['/', '~']) {
            report.reach(name.known().and_then(host_of), &name.text, false);
        }
        if arg.taint.secret {
            report.flow(FlowSource::Secret, FlowSink::Host, &arg.text);
        } else if names_by_output(&arg.text) {
            report.flow(FlowSource::Private, FlowSink::Host, &arg.text);
        }
    }
}

/// Whether the first label of a name is what a command prints (`$(whoami).example.com`): the DNS server of the
/// domain can read it.
fn names_by_output(text: &str) -> bool {
    let name = text.trim_matches('"');
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    let behind = match (name.strip_prefix("$("), name.strip_prefix('`')) {
        (Some(_), _) => name.rsplit_once(')').map(|(_, behind)| behind),
        (None, Some(rest)) => rest.split_once('`').map(|(_, behind)| behind),
        (None, None) => None,
    };
    let domain = behind.and_then(|behind| behind.strip_prefix('.')).unwrap_or_default();
    let domain = domain.split(['/', ':']).next().unwrap_or_default();
    domain.contains('.')
        && domain.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && domain.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-".contains(letter))
}

/// A local file leaves the machine.
pub(crate) fn send_file(call: &Call<'_>, report: &mut Report, file: &Arg) {
    if matches!(file.known(), Some("-" | "." | "/dev/stdin")) {
        if text::stdin_taint(call).secret {
            report.flow(FlowSource::Secret, FlowSink::Host, &written(call));
        }
        return;
    }
    report.file(call, Access::Read, file, false);
    if secrets::is_secret(file) || file.taint.secret {
        report.flow(FlowSource::Secret, FlowSink::Host, &file.text);
    } else if is_whatever_is_found(file) {
        report.flow(FlowSource::Private, FlowSink::Host, &file.text);
    }
}

/// Whether a file is one of all those that a search finds (`find -exec curl -T {}`), outside of what a build leaves.
fn is_whatever_is_found(file: &Arg) -> bool {
    const BUILT: [&str; 7] = ["dist", "build", "target", "out", "coverage", "artifacts", "release"];
    let top = file.prefix().trim_start_matches("./").split('/').next().unwrap_or_default();
    let found = file.prefix().contains("/**") || file.known().is_none() && &*file.text == "input of xargs";
    found && !BUILT.contains(&top)
}

/// curl options with data to send.
const CURL_DATA: [&str; 7] = ["d", "data", "data-ascii", "data-binary", "data-urlencode", "json", "data-raw"];

/// Data that leaves the machine: bodies, files, headers.
fn curl_sends(call: &Call<'_>, report: &mut Report, options: &super::options::Options, urls: &[&Arg]) {
    for value in options.values(&CURL_DATA) {
        let prefix = value.prefix();
        if let Some(at) = prefix.find('@').filter(|at| *at == 0 || options.has(&["data-urlencode"])) {
            if !options.has(&["data-raw"]) {
                send_file(call, report, &after(value, at + 1));
            }
        } else if value.taint.secret
            && !secrets::is_for(&value.text, urls, &|name| call.env.is_set_here(name))
        {
            report.flow(FlowSource::Secret, FlowSink::Host, &value.text);
        }
    }
    for value in options.values(&["H", "header"]).filter(|value| value.prefix().starts_with('@')) {
        send_file(call, report, &after(value, 1));
    }
    for value in options.values(&["F", "form"]) {
        if let Some(at) = value.prefix().find(['@', '<']) {
            let file = after(value, at + 1);
            let file = match file.known() {
                Some(text) => Arg::literal(text.split(';').next().unwrap_or_default()),
                None => file,
            };
            send_file(call, report, &file);
        } else if value.taint.secret
            && !secrets::is_for(&value.text, urls, &|name| call.env.is_set_here(name))
        {
            report.flow(FlowSource::Secret, FlowSink::Host, &value.text);
        }
    }
    for file in options.values(&["T", "upload-file"]) {
        // `-T '{a,b}'`: curl takes each of them.
        match file.known().and_then(|text| text.strip_prefix('{')?.strip_suffix('}')) {
            Some(several) => several.split(',').for_each(|one| send_file(call, report, &Arg::literal(one))),
            None => send_file(call, report, file),
        }
    }
    for header in options.values(&["H", "header", "b", "cookie", "e", "A"]) {
        let for_it =
            secrets::is_credential_header(header.prefix()) && !secrets::is_astray(&header.text, urls);
        if header.taint.secret && !for_it {
            report.flow(FlowSource::Secret, FlowSink::Host, &header.text);
        }
    }
}

pub(crate) fn curl(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if options.has(&["V", "version", "help"]) {
        return;
    }
    let method = options.text(&["X", "request"]).map(str::to_ascii_uppercase);
    let uploads = options.has(&["T", "upload-file", "F", "form", "form-string"])
        || (options.has(&CURL_DATA) && !options.has(&["G", "get"]))
        || matches!(method.as_deref(), Some("POST" | "PUT" | "PATCH" | "DELETE"));
    let urls: Vec<&Arg> = options.operands.iter().chain(options.values(&["url"])).collect();
    for url in &urls {
        match url.known().and_then(|text| text.strip_prefix("file://")) {
            // `-T file file:///path` writes there.
            Some(path) if options.has(&["T", "upload-file"]) => {
                let path = path.strip_prefix("localhost").unwrap_or(path);
                let sources = options.values(&["T", "upload-file"]).cloned().collect::<Vec<Arg>>();
                super::files::copied_to(call, report, &sources, &Arg::literal(path));
            }
            Some(path) => secrets::read(call, report, &Arg::literal(path), false),
            None => reach(report, url, uploads),
        }
        if url.taint.secret && !secrets::is_for(&url.text, &urls, &|name| call.env.is_set_here(name)) {
            report.flow(FlowSource::Secret, FlowSink::Host, &url.text);
        }
        // A deletion of something whole takes no query.
        let is_limited = || {
            url.prefix().contains("/_delete_by_query")
                && options.values(&CURL_DATA).filter_map(Arg::known).any(is_limited_query)
        };
        if url.known().is_some_and(|text| destroys(text, method.as_deref().unwrap_or_default()))
            && !is_limited()
        {
            report.database(DatabaseEffect::DropPart, &format!("DELETE {}", url.text));
        }
    }
    curl_sends(call, report, &options, &urls);
    for file in options.values(&["K", "config"]) {
        configured(call, report, file);
    }
    for file in options.values(&["c", "cookie-jar", "D", "dump-header", "trace", "trace-ascii", "etag-save"])
    {
        if file.known() != Some("-") {
            report.file(call, Access::Write, file, false);
        }
    }
    let mut writes = false;
    for file in options.values(&["o", "output"]) {
        if file.known() != Some("-") {
            writes = true;
            let file = &with_matches(file, &urls);
            match options.value(&["output-dir"]) {
                Some(directory) => super::files::write_below(call, report, directory, file),
                None => report.file(call, Access::Write, file, false),
            }
        }
    }
    if options.has(&["J", "remote-header-name"]) {
        into_directory(call, report, options.value(&["output-dir"]));
    }
    if options.has(&["O", "remote-name", "remote-name-all"]) {
        writes = true;
        for url in &urls {
            download(call, report, url, options.value(&["output-dir"]));
        }
    }
    report.taint.network |= !writes && !urls.is_empty() && !options.has(&["I", "head"]);
}

/// `-o '#1.json'`: the number stands for a part of the address.
fn with_matches(file: &Arg, urls: &[&Arg]) -> Arg {
    let Some((front, rest)) = file.known().and_then(|text| text.split_once('#')) else { return file.clone() };
    let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let single = urls.iter().filter_map(|url| url.known()?.split_once(['{', '['])?.1.split_once(['}', ']']));
    match single.map(|(part, _)| part).next() {
        Some(part) if !part.contains([',', '-']) && !rest.contains('#') => {
            Arg::literal(format!("{front}{part}{rest}"))
        }
        Some(_) => {
            let value = crate::operand::Known::Partly { prefix: front.to_owned(), suffix: rest.to_owned() };
            Arg { value, ..file.clone() }
        }
        None => file.clone(),
    }
}

/// `curl -K file`: options from a file. A file that the line wrote is parsed; others are unknown.
fn configured(call: &Call<'_>, report: &mut Report, file: &Arg) {
    report.file(call, Access::Read, file, false);
    let text = match (file.known(), call.stdin) {
        (Some("-"), Stdin::Text(text)) => Some(text.clone()),
        (Some(path), _) => call.env.written(path),
        _ => None,
    };
    let Some(text) = text else {
        return report.opaque(lictor_core::facts::OpaqueWhat::Code, &written(call));
    };
    let mut args = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, value) = line.split_once(['=', ' ', ':']).unwrap_or((line, ""));
        let name = name.trim().trim_start_matches('-');
        let value = value.trim_start_matches(['=', ' ', ':']).trim().trim_matches('"');
        match name {
            "config" | "K" => return report.opaque(lictor_core::facts::OpaqueWhat::Code, line),
            "url" => args.push(Arg::literal(value)),
            name => {
                args.push(Arg::literal(if name.len() == 1 {
                    format!("-{name}")
                } else {
                    format!("--{name}")
                }));
                args.extend((!value.is_empty()).then(|| Arg::literal(value)));
            }
        }
    }
    curl(&Call { args: &args, ..*call }, report);
}

/// Something is written into a directory under a name that the other side picks.
fn into_directory(call: &Call<'_>, report: &mut Report, directory: Option<&Arg>) {
    let folder = directory.cloned().unwrap_or_else(|| Arg::literal("."));
    report.arrives(call, Access::Modify, &folder, true, Incoming::Unknown);
}

/// A file named after the end of a URL is written.
fn download(call: &Call<'_>, report: &mut Report, url: &Arg, directory: Option<&Arg>) {
    let Some(text) = url.known() else { return into_directory(call, report, directory) };
    let path =
        text.split_once("://").map_or(text, |(_, rest)| rest).split(['?', '#']).next().unwrap_or_default();
    let name =
        path.rsplit('/').next().filter(|name| path.contains('/') && !name.is_empty()).unwrap_or("index.html");
    let folder = directory.cloned().unwrap_or_else(|| Arg::literal("."));
    super::files::write_into(call, report, &folder, name);
}

pub(crate) fn wget(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let sends = options.has(&["post-data", "post-file", "body-data", "body-file"]);
    for url in &options.operands {
        reach(report, url, sends);
        if url.taint.secret {
            report.flow(FlowSource::Secret, FlowSink::Host, &url.text);
        }
    }
    for file in options.values(&["post-file", "body-file"]) {
        send_file(call, report, file);
    }
    for value in options.values(&["post-data", "body-data"]).filter(|value| value.taint.secret) {
        report.flow(FlowSource::Secret, FlowSink::Host, &value.text);
    }
    if let Some(command) = options.value(&["use-askpass"]) {
        report.then_argv(std::slice::from_ref(command), "wget");
    }
    let directory = options.value(&["P", "directory-prefix"]);
    if options.has(&[
        "i",
        "input-file",
        "content-disposition",
        "trust-server-names",
        "r",
        "recursive",
        "m",
        "mirror",
    ]) {
        into_directory(call, report, directory);
    }
    match options.value(&["O", "output-document"]) {
        Some(output) if matches!(output.known(), Some("-" | "/dev/stdout")) => report.taint.network = true,
        Some(output) => report.file(call, Access::Write, output, false),
        None if options.has(&["spider"]) => {}
        None => {
            for url in &options.operands {
                download(call, report, url, directory);
            }
        }
    }
}

pub(crate) fn httpie(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let mut operands = options.operands.iter();
    let mut url = operands.next();
    let mut sends = false;
    if let Some(word) = url.and_then(Arg::known)
        && matches!(
            word.to_ascii_uppercase().as_str(),
            "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS"
        )
    {
        sends = matches!(word.to_ascii_uppercase().as_str(), "POST" | "PUT" | "PATCH" | "DELETE");
        url = operands.next();
    }
    let items: Vec<&Arg> = operands.collect();
    sends |= items.iter().any(|item| item.prefix().contains('=') && !item.prefix().contains("=="))
        || *call.stdin != Stdin::Inherited;
    if let Some(url) = url {
        reach(report, url, sends);
    }
    for item in items {
        if let Some(at) = item.prefix().find('@') {
            send_file(call, report, &after(item, at + 1));
        } else if item.taint.secret && !item.prefix().to_ascii_lowercase().starts_with("authorization") {
            report.flow(FlowSource::Secret, FlowSink::Host, &item.text);
        }
    }
    if text::stdin_taint(call).secret {
        report.flow(FlowSource::Secret, FlowSink::Host, &written(call));
    }
    if let Some(output) = options.value(&["o", "output"]) {
        report.file(call, Access::Write, output, false);
    } else {
        report.taint.network = true;
    }
}

pub(crate) fn netcat(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if options.has(&["z"]) {
        return reach(report, options.operands.first().unwrap_or(&Arg::literal("")), false);
    }
    let executes = options
        .value(&["e", "exec", "sh-exec"])
        .or_else(|| options.value(&["c"]).filter(|_| call.program == "ncat" || call.program == "nc"));
    if let Some(command) = executes {
        report.flow(FlowSource::Network, FlowSink::Shell, &written(call));
        report.then_shell(command, &[], call.program);
    }
    if let Some(host) = options.operands.first() {
        report.reach(host.known().and_then(host_of), &host.text, *call.stdin != Stdin::Inherited);
        if text::stdin_taint(call).secret {
            report.flow(FlowSource::Secret, FlowSink::Host, &written(call));
        }
    }
    if matches!(call.stdin, Stdin::Text(text) if text.lines().any(|line| line.trim().starts_with("flush_all")))
    {
        report.database(DatabaseEffect::DropAll, "flush_all");
    }
    report.taint.network = true;
}

pub(crate) fn openssl(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if let Some(host) = options.value(&["connect", "host"]) {
        report.reach(host.known().and_then(host_of), &host.text, *call.stdin != Stdin::Inherited);
        if text::stdin_taint(call).secret {
            report.flow(FlowSource::Secret, FlowSink::Host, &written(call));
        }
        report.taint.network = true;
    }
    // Certificates and requests for them are public.
    let public =
        matches!(options.word(0), "x509" | "req" | "verify" | "crl" | "s_client" | "dgst" | "pkeyutl")
            || options.has(&["pubout", "pubin"])
            || options.has(&["noout"]) && !options.has(&["text"]);
    // A key of the project in another format, under a recognisable name.
    let inside = |file: Option<&Arg>| file.is_some_and(|file| !file.prefix().starts_with(['/', '~', '-']));
    let locks = options.has(&["aes128", "aes192", "aes256", "aes-256-cbc", "des3", "des"]);
    let converted = (locks || matches!(options.word(0), "pkcs8" | "pkcs12"))
        && inside(options.value(&["in"]))
        && inside(options.value(&["out"]))
        && options.value(&["out"]).is_some_and(secrets::is_secret);
    if let Some(file) = options.value(&["in"]) {
        match converted || public && secrets::is_secret(file) {
            true => report.file(call, Access::List, file, false),
            false => secrets::read(call, report, file, false),
        }
    }
    if let Some(file) = options.value(&["out"]) {
        report.file(call, Access::Write, file, false);
    }
    let decodes = options.has(&["d"]) && matches!(options.word(0), "enc" | "base64" | "aes-256-cbc");
    match (call.stdin, decodes) {
        (Stdin::Text(input), true) if options.has(&["base64", "a"]) || options.word(0) == "base64" => {
            match text::from_base64(input).and_then(|bytes| String::from_utf8(bytes).ok()) {
                Some(output) => report.stdout = Some(output),
                None => report.taint.decoded = true,
            }
        }
        (_, true) => report.taint.decoded = true,
        _ => text::derive(call, report),
    }
}

/// Whether the query of a deletion picks some documents, as `WHERE` does.
fn is_limited_query(body: &str) -> bool {
    let picks = ["\"term\"", "\"terms\"", "\"range\"", "\"match\"", "\"ids\"", "\"prefix\""];
    body.contains("\"query\"") && picks.iter().any(|kind| body.contains(kind)) && !body.contains("match_all")
}

/// Whether a request to a search engine or a build server takes an index, a collection or a job away.
fn destroys(url: &str, method: &str) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| url.contains(part));
    // All of something, or something of those who use it.
    let host = host_of(url).unwrap_or_default();
    let production = host.split(['.', '-']).any(|label| matches!(label, "prod" | "production" | "live"));
    let all = url.trim_end_matches('/').rsplit('/').next().is_some_and(|last| matches!(last, "all" | "*"));
    let here = matches!(host.as_str(), "localhost" | "127.0.0.1" | "0.0.0.0" | "::1");
    if method == "DELETE" && !here && (production || all) {
        return true;
    }
    match method {
        // One document.
        "DELETE" if url.split('?').next().is_some_and(|path| path.contains("/_doc/")) => false,
        "DELETE" => has(&[":9200", ":9243", "/indexes/", "/collections/", "/api/v4/projects/"]),
        "POST" => has(&["/_delete_by_query", "/doDelete", "/_close"]),
        _ => false,
    }
}

/// Uploads of `sftp` and `ftp` from commands on their input, or in a command file that the line wrote.
pub(super) fn puts(call: &Call<'_>, report: &mut Report, batch: Option<&Arg>) {
    let written = batch.and_then(Arg::known).and_then(|path| call.env.written(path));
    let text = match (&written, call.stdin) {
        (Some(text), _) | (None, Stdin::Text(text)) => text,
        _ => return,
    };
    for line in text.lines() {
        if let Some(command) = line.trim().strip_prefix('!') {
            report.then_shell(&Arg::literal(command), &[], call.program);
        }
        let mut words = line.split_whitespace();
        if matches!(words.next(), Some("put" | "mput" | "send" | "reput" | "append")) {
            for file in words.filter(|word| !word.starts_with('-')) {
                send_file(call, report, &Arg::literal(file));
            }
        }
    }
}
