//! Archives and trees copied as a whole: tar, zip, 7z, cpio, compressors, rsync.

use lictor_core::facts::{Access, FlowSink, FlowSource, OpaqueWhat};

use super::network::remote;
use super::options::{Grammar, Options, after};
use super::secrets;
use crate::call::{Call, Report, Stdin};
use crate::operand::{Arg, Coding, Incoming, Known, Source};

/// How many leading folders a renaming pattern is assumed to drop.
const DEEPEST_RENAMED: usize = 3;

pub(crate) fn zip(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if let Some(archive) = options.operands.first().filter(|archive| archive.known() != Some("-")) {
        report.file(call, Access::Modify, &with_ending(archive, ".zip"), false);
    }
    if options.has(&["@", "names-stdin"]) {
        listed(call, report, Some(&Arg::literal("-")));
    }
    // All words after `-x` are excluded.
    let left_out = call.args.iter().skip_while(|arg| !matches!(arg.known(), Some("-x" | "--exclude")));
    let left_out: Vec<&Arg> = left_out.skip(1).collect();
    for file in options.from(1).iter().filter(|file| !left_out.contains(file)) {
        secrets::read(call, report, file, false);
        if options.has(&["m", "move"]) {
            report.file(call, Access::Delete, file, options.has(&["r", "recurse-paths"]));
        }
    }
    if let Some(command) = options.value(&["unzip-command"]) {
        report.then_shell(command, &[], "zip");
    }
    if let Some(command) = call.args.iter().skip_while(|arg| arg.known() != Some("-TT")).nth(1) {
        report.then_shell(command, &[], "zip");
    }
}

/// The name of an archive that gets its ending from the program when it has none.
fn with_ending(archive: &Arg, ending: &str) -> Arg {
    match archive.known().and_then(|path| path.rsplit('/').next()) {
        Some(name) if !name.contains('.') && !name.is_empty() => {
            Arg { value: Known::Text(format!("{}{ending}", archive.prefix()).into()), ..archive.clone() }
        }
        _ => archive.clone(),
    }
}

/// `jar cf out.jar FILE …`: into an archive. The first word is a cluster even without a dash.
fn jar_creates(call: &Call<'_>, report: &mut Report) -> bool {
    let Some(mode) = call.args.first().and_then(Arg::known) else { return false };
    let letters = if mode.starts_with("--") { "" } else { mode.trim_start_matches('-') };
    let creates = letters.contains(['c', 'u']) || matches!(mode, "--create" | "--update");
    if !creates {
        return false;
    }
    let mut words = call.args.iter().skip(1);
    // Its letters name what follows, in their order.
    for letter in letters.chars().filter(|letter| "fme".contains(*letter)) {
        match (letter, words.next()) {
            ('f', Some(archive)) => report.file(call, Access::Write, archive, false),
            ('m', Some(manifest)) => secrets::read(call, report, manifest, false),
            _ => {}
        }
    }
    let rest: Vec<Arg> = words.cloned().collect();
    let options = super::spelling(call).parse(&rest);
    for archive in options.values(&["file"]) {
        report.file(call, Access::Write, archive, false);
    }
    // `-C DIR .`: later words are relative to it.
    let here = |file: &&Arg| !options.has(&["C"]) || file.known() != Some(".");
    options.operands.iter().filter(here).for_each(|file| secrets::read(call, report, file, true));
    options.values(&["C", "dir"]).for_each(|tree| secrets::read(call, report, tree, true));
    true
}

/// `unzip`, `unrar`, `unar`, `jar`.
pub(crate) fn unzip(call: &Call<'_>, report: &mut Report) {
    if call.program == "jar" && jar_creates(call, report) {
        return;
    }
    let options = super::parsed(call);
    if options.has(&["l", "t", "p", "z", "Z", "v", "c"]) && call.program == "unzip" {
        return;
    }
    unpack(call, report, &options);
}

pub(crate) fn ar(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let mode = call.args.first().map(Arg::prefix).unwrap_or_default();
    let members = options.operands.iter().skip(if mode.starts_with('-') { 1 } else { 2 });
    if mode.contains(['r', 'q']) {
        members.for_each(|file| secrets::read(call, report, file, false));
    } else if mode.contains('x') {
        let at = usize::from(!mode.starts_with('-'));
        extract(call, report, None, options.operands.get(at).cloned(), 0);
    }
}

/// `cpio`, `pax`.
pub(crate) fn cpio(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if options.has(&["o", "create", "p", "pass-through"]) {
        // The members are named on standard input.
        report.lists.extend(call.source.cloned());
        named_on_input(call).iter().for_each(|file| secrets::read(call, report, file, false));
    }
    // `pax -w FILE`: into an archive on the output.
    if call.program == "pax" && options.has(&["w"]) && !options.has(&["r"]) {
        return options.operands.iter().for_each(|file| secrets::read(call, report, file, true));
    }
    if options.has(&["p", "pass-through"]) || call.program == "pax" && options.has(&["w"]) {
        if let Some((target, sources)) = options.operands.split_last() {
            let linked = options.has(&["l", "link"]);
            report.arrives(call, Access::Modify, target, true, passed_through(call, sources, linked));
        }
    } else if options.has(&["i", "extract", "r"]) {
        let directory = options.value(&["D", "directory"]);
        extract(call, report, directory, options.value(&["F", "I", "f", "file"]).cloned(), 0);
    }
}

/// The unpacked file has the name without the last extension.
pub(crate) fn without_ending(call: &Call<'_>, report: &mut Report, files: &[Arg]) {
    for file in files.iter().filter(|file| !file.prefix().starts_with('-')) {
        let plain = file.known().and_then(|path| path.rsplit_once('.')).map(|(plain, _)| Arg::literal(plain));
        if let Some(plain) = plain.filter(|plain| !plain.prefix().is_empty()) {
            report.file(call, Access::Write, &Arg { glob: file.glob, ..plain }, false);
        }
    }
}

/// `gpg x.gpg`, `gpg --decrypt-files x.gpg`: without another command it unpacks its operands.
pub(crate) fn unsealed(call: &Call<'_>, report: &mut Report) {
    const NO_COMMAND: [&str; 12] = [
        "yes",
        "batch",
        "quiet",
        "verbose",
        "no-tty",
        "passphrase",
        "passphrase-file",
        "passphrase-fd",
        "pinentry-mode",
        "decrypt-files",
        "multifile",
        "no-verbose",
    ];
    let is_command = |word: &str| match word.strip_prefix("--") {
        Some(long) => !NO_COMMAND.contains(&long.split('=').next().unwrap_or(long)),
        None => word.starts_with('-') && !matches!(word, "-q" | "-v" | "-"),
    };
    if call.args.iter().filter_map(Arg::known).any(is_command) {
        return;
    }
    let sealed = |arg: &&Arg| {
        arg.known()
            .and_then(|path| path.rsplit('.').next())
            .is_some_and(|end| matches!(end, "gpg" | "asc" | "pgp"))
    };
    let files: Vec<Arg> = call.args.iter().filter(sealed).cloned().collect();
    without_ending(call, report, &files);
}

pub(crate) fn compress(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let written = options.values(&["o", "O"]).filter(|_| matches!(call.program, "zstd" | "lz4" | "brotli"));
    written.for_each(|file| report.file(call, Access::Write, file, false));
    let quiet = options.has(&["c", "stdout", "to-stdout", "t", "test", "l", "list"]);
    if let Some(target) = options.value(&["o"]) {
        super::files::write_maybe_device(call, report, target, Access::Write);
    }
    if let Some(directory) = options.value(&["output-dir-flat", "output-dir-mirror"]) {
        report.arrives(call, Access::Modify, directory, true, Incoming::Unknown);
    }
    let unpacks = options.has(&["d", "decompress", "uncompress"]) || call.program.starts_with("un");
    if unpacks && !quiet {
        // The name of old is inside the file.
        if options.has(&["N", "name"]) && !options.operands.is_empty() {
            report.arrives(call, Access::Modify, &Arg::literal("."), false, Incoming::Unknown);
        }
        without_ending(call, report, &options.operands);
    }
    for file in &options.operands {
        if quiet {
            secrets::read(call, report, file, false);
        } else {
            report.file(call, Access::Modify, file, options.has(&["r", "recursive"]));
        }
    }
    if options.operands.is_empty() {
        super::text::derive(call, report);
        report.taint.decoded |=
            options.has(&["d", "decompress", "uncompress"]) && *call.stdin != Stdin::Inherited;
    }
}

pub(crate) fn tar(call: &Call<'_>, report: &mut Report) {
    // `tar xzf a.tgz`: the first word is a cluster even without a dash.
    let mut args = call.args.to_vec();
    if let Some(first) = args.first_mut()
        && let Some(word) = first.known()
        && !word.starts_with('-')
        && !word.is_empty()
        && word.chars().all(|c| c.is_ascii_alphabetic())
        && word.len() < 12
    {
        *first = Arg::literal(format!("-{word}"));
    }
    let options = super::spelling(call).parse(&args);
    tar_programs(&options, report);
    let directory = options.value(&["C", "directory"]).cloned();
    // star names its archive by a setting.
    let setting = args.iter().find_map(|arg| arg.known()?.strip_prefix("f=").map(Arg::literal));
    let archive = options.value(&["f", "file"]).or(setting.as_ref()).filter(|arg| arg.known() != Some("-"));
    if options.has(&["x", "extract", "get"]) {
        if !options.has(&["O", "to-stdout", "to-command"]) {
            tar_extract(call, report, &options, directory.as_ref(), archive);
        }
        return archive.into_iter().for_each(|archive| report.file(call, Access::Read, archive, false));
    }
    if options.has(&["t", "list", "d", "diff", "compare"]) {
        return;
    }
    let creates = options.has(&["c", "create"]);
    if let Some(archive) = archive {
        let access = if creates { Access::Write } else { Access::Modify };
        super::files::write_maybe_device(call, report, archive, access);
    }
    if options.has(&["c", "create", "r", "append", "u", "update"]) {
        listed(call, report, options.value(&["T", "files-from"]));
        for file in &options.operands {
            let there = match (&directory, file.known()) {
                (Some(directory), Some(name)) if !name.starts_with(['/', '~']) => {
                    super::report::below(directory, name)
                }
                _ => file.clone(),
            };
            let file = &there;
            secrets::read(call, report, file, true);
            if archive.is_none() {
                report.packed.extend(file.known().map(|path| {
                    let whole = matches!(path.rsplit('/').next(), Some("." | ".."));
                    let path = crate::paths::key(call.cwd, path);
                    // The contents of a directory, not the directory itself.
                    if whole { format!("{path}/.") } else { path }
                }));
            }
            if options.has(&["remove-files"]) {
                report.file(call, Access::Delete, file, true);
            }
        }
    }
}

/// Programs that tar runs.
fn tar_programs(options: &Options, report: &mut Report) {
    let compresses = ["to-command", "use-compress-program", "rsh-command", "I"];
    let volumes = ["info-script", "F", "new-volume-script"];
    for command in options.values(&compresses).chain(options.values(&volumes)) {
        report.then_shell(command, &[], "tar");
    }
    for action in options.values(&["checkpoint-action"]) {
        if action.prefix().starts_with("exec=") {
            report.then_shell(&after(action, 5), &[], "tar");
        }
    }
}

fn tar_extract(
    call: &Call<'_>,
    report: &mut Report,
    options: &Options,
    directory: Option<&Arg>,
    archive: Option<&Arg>,
) {
    let strip = options.text(&["strip-components", "strip"]).and_then(|n| n.parse().ok()).unwrap_or(0);
    let renames = options.value(&["transform", "xform", "s"]);
    // A member that is renamed may become anything.
    extract(call, report, directory, archive.cloned().filter(|_| renames.is_none()), strip);
    if let Some(pattern) = renames {
        // Most often folders in front go.
        for strip in 0..=DEEPEST_RENAMED {
            archive.into_iter().for_each(|archive| {
                extract(call, report, directory, Some(archive.clone()), strip);
            });
        }
        if pattern.prefix().contains(['.', '&', '\\']) {
            report.opaque(OpaqueWhat::Target, &super::report::written(call));
        }
    }
    if options.has(&["P", "absolute-names", "absolute-paths"]) {
        extract(call, report, Some(&Arg::literal("/")), archive.cloned(), strip);
    }
}

/// The files that are named on the input.
fn named_on_input(call: &Call<'_>) -> Vec<Arg> {
    match call.stdin {
        Stdin::Text(text) => {
            text.split(['\n', '\0']).filter(|name| !name.is_empty()).map(Arg::literal).collect()
        }
        Stdin::Names(names) => names.clone(),
        _ => Vec::new(),
    }
}

/// The members are named in a file, or on the input.
fn listed(call: &Call<'_>, report: &mut Report, list: Option<&Arg>) {
    let from_input = list.is_some_and(|list| list.known() == Some("-"));
    if from_input {
        named_on_input(call).iter().for_each(|name| secrets::read(call, report, name, true));
    }
    let list = if from_input { call.source } else { list };
    report.lists.extend(list.cloned());
}

pub(crate) fn seven_zip(call: &Call<'_>, report: &mut Report) {
    let Some(mode) = call.args.first().and_then(Arg::known) else { return };
    let deletes = call.args.iter().any(|arg| arg.known() == Some("-sdel"));
    let operands: Vec<&Arg> = call.args.iter().skip(1).filter(|arg| !arg.prefix().starts_with('-')).collect();
    // `-an`: there is no archive among the words; it is on a standard stream.
    let unnamed = call.args.iter().any(|arg| arg.known() == Some("-an"));
    let skip = usize::from(!unnamed);
    match mode {
        "x" | "e" => {
            let target = call.args.iter().find(|arg| arg.prefix().starts_with("-o")).map(|arg| after(arg, 2));
            extract(call, report, target.as_ref(), operands.first().map(|arg| (*arg).clone()), 0);
        }
        "a" | "u" | "d" | "rn" => {
            if let Some(archive) = operands.first().filter(|_| !unnamed) {
                report.file(call, Access::Modify, archive, false);
            }
            for file in operands.iter().skip(skip).filter(|_| mode != "d") {
                if file.prefix().starts_with('@') {
                    report.lists.push(after(file, 1));
                    continue;
                }
                secrets::read(call, report, file, true);
                if deletes {
                    report.file(call, Access::Delete, file, true);
                }
            }
        }
        _ => {}
    }
}

pub(crate) fn rsync(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if let Some(command) = options.value(&["e", "rsh"]) {
        report.then_shell(command, &[], "rsync");
    }
    if let Some(command) = options.value(&["rsync-path"]) {
        report.shell(command, &[], "rsync", true);
    }
    if options.has(&["n", "dry-run", "list-only"]) {
        return;
    }
    let deletes = options.has(&[
        "delete",
        "del",
        "delete-before",
        "delete-during",
        "delete-delay",
        "delete-after",
        "delete-excluded",
    ]);
    let Some((destination, sources)) =
        options.operands.split_last().filter(|(_, sources)| !sources.is_empty())
    else {
        return;
    };
    let target = remote(destination);
    // Unchanged files become hard links to the existing ones.
    for linked in options.values(&["link-dest"]).filter(|_| target.is_none()) {
        super::files::another_name(call, report, linked, destination, true);
    }
    listed(call, report, options.value(&["files-from"]));
    for source in sources {
        if let Some(host) = remote(source) {
            report.reach(Some(host), &source.text, false);
            report.taint.network = true;
            continue;
        }
        secrets::read(call, report, source, true);
        if secrets::is_secret(source) && target.is_some() {
            report.flow(FlowSource::Secret, FlowSink::Host, &source.text);
        }
        if options.has(&["remove-source-files", "remove-sent-files"]) {
            report.file(call, Access::Delete, source, true);
        }
    }
    let picked = options
        .values(&["include"])
        .filter_map(Arg::known)
        .find(|pattern| secrets::is_secret_path(pattern.trim_end_matches(['*', '/'])));
    if let (Some(pattern), true) = (picked, target.is_some()) {
        report.flow(FlowSource::Secret, FlowSink::Host, pattern);
    }
    match target {
        Some(host) => {
            report.reach(Some(host), &destination.text, true);
            if deletes {
                report.infrastructure("rsync", "--delete on another machine", false);
            }
        }
        None => {
            if deletes {
                report.file(call, Access::Delete, destination, true);
            }
            rsync_arrives(call, report, &options, sources, destination);
        }
    }
}

/// Trees that `rsync` writes on this machine.
fn rsync_arrives(
    call: &Call<'_>,
    report: &mut Report,
    options: &Options,
    sources: &[Arg],
    destination: &Arg,
) {
    let tree = options.has(&["r", "a", "recursive", "archive"]);
    let source = |arg: &Arg| Source {
        arg: arg.clone(),
        tree,
        contents: arg.prefix().ends_with(['/', '.']) && arg.known().is_some(),
        elsewhere: remote(arg).is_some(),
    };
    let incoming = match options.value(&["files-from"]) {
        Some(_) => Incoming::Unknown,
        None => Incoming::Sources {
            sources: sources.iter().map(source).collect(),
            into: false,
            exact: false,
            linked: false,
            kept: options.has(&["ignore-existing"]),
        },
    };
    // `-R a/./b/c` makes `b/c` there.
    if options.has(&["R", "relative"]) {
        for path in sources.iter().filter_map(Arg::known) {
            let kept = path.split_once("/./").map_or(path, |(_, kept)| kept).trim_start_matches(['/', '~']);
            let target = super::report::below(destination, kept.trim_start_matches('/'));
            report.arrives(call, Access::Write, &target, false, Incoming::Unknown);
        }
    }
    report.arrives(call, Access::Modify, destination, true, incoming);
}

/// The members of an archive are written below a directory. Without a file it comes from standard input.
pub(crate) fn extract(
    call: &Call<'_>,
    report: &mut Report,
    directory: Option<&Arg>,
    file: Option<Arg>,
    strip: usize,
) {
    let target = directory.cloned().unwrap_or_else(|| Arg::literal("."));
    let file = file.or_else(|| call.source.cloned());
    // `tar c x | tar x`: what the line packed itself arrives as if it were copied.
    let packed = if file.is_none() { call.env.packed() } else { Vec::new() };
    let (files, coding) = match file {
        Some(file) => (vec![file], Coding::Plain),
        None if packed.is_empty() => fed(call),
        None => (Vec::new(), Coding::Plain),
    };
    if !packed.is_empty() {
        let source =
            |path: String| Source { arg: Arg::literal(path), tree: true, contents: false, elsewhere: false };
        let sources = packed.into_iter().map(source).collect();
        let incoming = Incoming::Sources { sources, into: true, exact: false, linked: false, kept: false };
        report.arrives(call, Access::Modify, &target, true, incoming);
    }
    let incoming = Incoming::Archive { files, coding, strip, flat: false, only: Vec::new() };
    report.arrives(call, Access::Modify, &target, true, incoming);
}

/// The files that an archive on standard input is made from.
fn fed(call: &Call<'_>) -> (Vec<Arg>, Coding) {
    let (files, coding) = call.env.feed();
    match call.stdin {
        // Text of the line itself, decoded to bytes.
        Stdin::Unknown(taint) if files.is_empty() && taint.decoded && !taint.network => {
            (vec![Arg::unknown("-")], Coding::Other)
        }
        _ => (files, coding),
    }
}

/// `unzip a.zip [member…] [-d DIR]` and those like it.
fn unpack(call: &Call<'_>, report: &mut Report, options: &Options) {
    if call.program == "jar" {
        let mode = call.args.first().map(Arg::prefix).unwrap_or_default();
        if !mode.contains('x') {
            return;
        }
        let named = || options.operands.iter().find(|arg| arg.known() != Some(mode));
        let file = options.value(&["f", "file"]).or_else(named);
        return extract(call, report, options.value(&["C", "dir"]), file.cloned(), 0);
    }
    let file = options.operands.get(usize::from(call.program == "unrar")).cloned();
    // `unrar x a.rar DIR/`
    let last = options.operands.last().filter(|arg| arg.prefix().ends_with('/') && call.program == "unrar");
    let target = options.value(&["d", "o", "output-directory"]).or(last).cloned();
    let target = target.unwrap_or_else(|| Arg::literal("."));
    let flat = options.has(&["j"]);
    let files = file.into_iter().collect();
    let incoming = Incoming::Archive { files, coding: Coding::Plain, strip: 0, flat, only: Vec::new() };
    report.arrives(call, Access::Modify, &target, true, incoming);
}

/// `cpio -p` reads the names of files to copy from standard input.
fn passed_through(call: &Call<'_>, sources: &[Arg], linked: bool) -> Incoming {
    let named: Vec<Arg> = match call.stdin {
        _ if !sources.is_empty() => sources.to_vec(),
        Stdin::Text(text) => text.lines().map(Arg::literal).collect(),
        Stdin::Names(names) => names.clone(),
        _ => return Incoming::Unknown,
    };
    let source = |arg: Arg| Source { arg, tree: true, contents: false, elsewhere: false };
    Incoming::Sources {
        sources: named.into_iter().map(source).collect(),
        into: true,
        exact: false,
        linked,
        kept: false,
    }
}

/// Programs that unpack their first word.
pub(crate) fn unpack_by_other(call: &Call<'_>, report: &mut Report) {
    let options = Grammar::anywhere(
        if call.program == "ark" { "oD" } else { "dDXW" },
        "destination= batch extract-to= dest= directory= dir= extract list cat vextract= contents info list-files",
    )
    .parse(call.args);
    let lists = options.has(&["l", "list", "t", "c", "contents", "I", "info", "lc", "ll"]);
    let packs = matches!(options.word(0), "compress" | "list")
        || options.has(&["a", "b", "build"]) && call.program != "ark";
    if lists && call.program != "dtrx" || packs {
        return;
    }
    let at = usize::from(matches!(options.word(0), "decompress" | "d"));
    let target = match call.program {
        "extract-zip" => options.operands.get(1),
        "ark" => options.value(&["o", "destination"]),
        _ => options.value(&["d", "D", "X", "extract-to", "dest", "directory", "dir"]),
    };
    extract(call, report, target, options.operands.get(at).cloned(), 0);
}

/// `dpkg-deb -x FILE DIR`, also as `dpkg`. Its other commands write nothing here.
pub(crate) fn package(call: &Call<'_>, report: &mut Report) {
    let unpacks = |word: &str| {
        matches!(word, "-x" | "-X" | "--extract" | "--vextract" | "--raw-extract")
            || word == "-R" && call.program == "dpkg-deb"
    };
    let words = || call.args.iter().skip_while(|arg| !arg.known().is_some_and(unpacks)).skip(1);
    let mut operands = words().filter(|arg| !arg.prefix().starts_with('-'));
    if let Some(file) = operands.next() {
        extract(call, report, operands.next(), Some(file.clone()), 0);
    }
}
