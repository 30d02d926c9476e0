//! Tools that create, move or remove files or change their permissions.

use lictor_core::facts::{Access, GuardOff, Privilege, ProcessEffect};

use super::options::Options;
use super::report::{below, glob};
use super::secrets;
use crate::call::{Call, Report, Stdin};
use crate::operand::{Arg, Incoming, Source};
use crate::paths::is_stream;

fn all(call: &Call<'_>, report: &mut Report, access: Access, args: &[Arg], recursive: bool) {
    for arg in args {
        report.file(call, access, arg, recursive);
    }
}

/// `tee`, `sponge`.
pub(crate) fn tee(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let access = match call.stdin {
        _ if options.has(&["a", "append"]) => Access::Append,
        Stdin::Text(text) if text.is_empty() => Access::Empty,
        _ => Access::Write,
    };
    let files: Vec<Arg> =
        options.operands.into_iter().filter(|arg| !arg.known().is_some_and(is_output)).collect();
    all(call, report, access, &files, false);
    super::text::pass_on(call, report);
}

/// `split`, `csplit`.
pub(crate) fn split(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let prefix = options.value(&["f", "prefix"]).or_else(|| options.operands.get(1));
    match prefix {
        Some(prefix) => {
            if let Some(text) = prefix.known() {
                report.file(call, Access::Append, &glob(&format!("{text}*")), false);
                // Made to be renamed, or read by what takes every file of a folder.
                if crate::walk::startup::runs_later(text) {
                    report.file(call, Access::Append, prefix, false);
                }
            }
        }
        // The first of the files that they name themselves.
        None if !options.has(&["filter"]) => {
            let name = if call.program == "csplit" { "xx00" } else { "xaa" };
            report.file(call, Access::Append, &Arg::literal(name), false);
        }
        None => {}
    }
    if let Some(filter) = options.value(&["filter"]) {
        report.then_shell(filter, &[], "split");
    }
    if let Some(input) = options.operands.first() {
        secrets::read(call, report, input, false);
    }
}

/// `chattr`, `chflags`, `chcon`, `xattr`: attributes start with their own signs.
pub(crate) fn attributes(call: &Call<'_>, report: &mut Report) {
    let recursive = call.args.iter().any(|arg| arg.known().is_some_and(|text| is_cluster(text, 'R')));
    let targets: Vec<Arg> =
        call.args.iter().filter(|arg| !arg.prefix().starts_with(['-', '+', '='])).cloned().collect();
    let skip = usize::from(!matches!(call.program, "chattr"));
    all(call, report, Access::ChangeMode, targets.get(skip..).unwrap_or_default(), recursive);
}

/// `rename`: by an expression of Perl, or from one text to another.
pub(crate) fn rename(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let expression = options.word(0).contains('/');
    if !options.has(&["n", "no-act", "nono"]) {
        let files = options.from(if expression { 1 } else { 2 });
        all(call, report, Access::Modify, files, false);
        let (from, to) =
            if expression { substitution(options.word(0)) } else { (options.word(0), options.word(1)) };
        files.iter().for_each(|file| renamed(call, report, file, from, to));
    }
    if expression
        && options.word(0).contains("system")
        && let Some(code) = options.operands.first()
    {
        report.then_code("perl", code);
    }
}

/// The two sides of `s/from/to/`; empty where it is not plain text.
fn substitution(expression: &str) -> (&str, &str) {
    let mut parts = expression.strip_prefix("s/").unwrap_or_default().split('/');
    let (from, to) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if from.contains(['*', '+', '?', '[', '(', '^', '$', '|', '.']) { ("", to) } else { (from, to) }
}

/// A file gets another name in its directory.
fn renamed(call: &Call<'_>, report: &mut Report, file: &Arg, from: &str, to: &str) {
    let path = file.known().unwrap_or_default();
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let slash = if folder.is_empty() { "" } else { "/" };
    if file.glob || name.is_empty() || from.is_empty() {
        // In the directory itself only a literal name can be distinguished.
        match folder {
            "" if !to.is_empty() => report.file(call, Access::Write, &Arg::literal(to), false),
            "" => {}
            folder => report.arrives(call, Access::Modify, &Arg::literal(folder), false, Incoming::Unknown),
        }
        return;
    }
    let new = format!("{folder}{slash}{}", name.replace(from, to));
    report.file(call, Access::Write, &Arg::literal(new), false);
}

/// `mmv 'a/*' 'b/#1'`: the last word is the destination.
pub(crate) fn many_moved(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if let ([.., target], false) = (options.operands.as_slice(), options.has(&["n", "t"]))
        && options.operands.len() > 1
    {
        let folder = target.known().and_then(|path| path.rsplit_once('/')).map(|(folder, _)| folder);
        match folder {
            Some(folder) => {
                report.arrives(call, Access::Modify, &Arg::literal(folder), false, Incoming::Unknown)
            }
            None => report.file(call, Access::Write, target, false),
        }
    }
}

pub(crate) fn empty_trash(call: &Call<'_>, report: &mut Report) {
    report.file(call, Access::Delete, &glob("~/.local/share/Trash/*"), true);
}

fn is_cluster(text: &str, letter: char) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
}

/// Sources and destination of `mv`, `cp`, `install`, `ln`.
fn split_destination(options: &Options) -> (&[Arg], Option<&Arg>) {
    if let Some(directory) = options.value(&["t", "target-directory"]) {
        return (&options.operands, Some(directory));
    }
    match options.operands.split_last() {
        Some((last, sources)) if !sources.is_empty() => (sources, Some(last)),
        _ => (&options.operands, None),
    }
}

fn is_null(arg: &Arg) -> bool {
    arg.known().is_some_and(|path| crate::paths::clean(path) == "/dev/null")
}

/// The sources that a copy, move or link brings to its destination.
fn incoming(options: &Options, sources: &[Arg], tree: bool, linked: bool) -> Incoming {
    let source = |arg: &Arg| Source {
        contents: arg.known().is_some_and(|path| path.ends_with("/.") || matches!(path, "." | "..")),
        arg: arg.clone(),
        tree,
        elsewhere: false,
    };
    Incoming::Sources {
        sources: sources.iter().map(source).collect(),
        into: options.has(&["t", "target-directory"]),
        exact: options.has(&["T", "no-target-directory"]),
        linked,
        // Letters of `ln` mean something else.
        kept: !linked && is_kept(options),
    }
}

/// Whether existing files are kept. `-i` does not ensure that: the question can be answered with yes.
fn is_kept(options: &Options) -> bool {
    options.has(&["n", "no-clobber"])
        || options.text(&["update"]).is_some_and(|which| which.starts_with("none"))
}

pub(crate) fn mv(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let (sources, destination) = split_destination(&options);
    if let Some(null) = destination.filter(|arg| is_null(arg)) {
        // A file that is moved there is lost, and with enough rights so is the device.
        report.file(call, Access::Destroy, null, false);
        return all(call, report, Access::Delete, sources, true);
    }
    all(call, report, Access::MoveAway, sources, false);
    for source in sources {
        report.taint.secret |= secrets::is_secret(source);
    }
    if let Some(destination) = destination {
        // Existing files are kept with `-n`.
        let access = if is_kept(&options) { Access::Append } else { Access::Write };
        let incoming = incoming(&options, sources, true, false);
        report.arrives(call, access, destination, false, incoming);
    }
}

/// Whether a path is a stream that leads to no file.
fn is_output(path: &str) -> bool {
    is_stream(path) && !crate::paths::is_open_stream(path)
}

pub(crate) fn cp(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let installs = call.program.ends_with("install");
    if installs && options.has(&["d", "directory"]) {
        if options.has(&["m", "mode", "o", "owner", "g", "group"]) {
            all(call, report, Access::ChangeMode, &options.operands, false);
        }
        return all(call, report, Access::MakeDirectory, &options.operands, false);
    }
    if let Some(mode) = options.text(&["m", "mode"])
        && installs
        && grants_bits(mode)
    {
        report.privilege(Privilege::GrantBits);
    }
    let recursive =
        !installs && (options.has(&["r", "R", "a", "recursive", "archive"]) || call.program == "ditto");
    let (sources, destination) = split_destination(&options);
    for source in sources {
        secrets::read(call, report, source, recursive);
    }
    let Some(destination) = destination.filter(|arg| !arg.known().is_some_and(is_output)) else { return };
    // A copied tree is merged into what is there; a single file replaces what is there.
    let (access, recursive) = if sources.iter().any(is_null) {
        (Access::Empty, false)
    } else if options.has(&["l", "s", "link", "symbolic-link"]) && !installs {
        (Access::Link, recursive)
    } else if recursive {
        (Access::Modify, true)
    } else if is_kept(&options) && !installs {
        // Existing files are kept.
        (Access::Append, false)
    } else {
        (Access::Write, false)
    };
    let tree = recursive || call.program == "ditto";
    if options.has(&["parents"]) {
        // `cp --parents a/b c` makes c/a/b.
        for path in sources.iter().filter_map(Arg::known) {
            let path = path.trim_start_matches('/');
            report.file(call, access, &below(destination, path), recursive);
        }
        return;
    }
    let incoming = incoming(&options, sources, tree, access == Access::Link);
    report.arrives(call, access, destination, recursive, incoming);
}

pub(crate) fn ln(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let (sources, destination) = split_destination(&options);
    // A link to nothing leaves the name with nothing in it.
    let access = if sources.iter().any(is_null) { Access::Empty } else { Access::Link };
    let Some(destination) = destination else {
        // Without a destination the links are made here.
        for source in sources {
            let name = source.known().and_then(|path| path.trim_end_matches('/').rsplit('/').next());
            let mut arriving = incoming(&options, std::slice::from_ref(source), true, true);
            if let Incoming::Sources { into, exact, .. } = &mut arriving {
                (*into, *exact) = (name.is_none(), name.is_some());
            }
            report.arrives(call, access, &Arg::literal(name.unwrap_or(".")), false, arriving);
        }
        return;
    };
    if options.has(&["n", "no-dereference"]) {
        report.file(call, access, destination, false);
    }
    report.arrives(call, access, destination, false, incoming(&options, sources, true, true));
}

pub(crate) fn mktemp(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let template = options.word(0);
    let folder = match options.value(&["p", "tmpdir"]).and_then(Arg::known) {
        Some(folder) => folder.to_owned(),
        None if template.contains('/') && !options.has(&["t"]) => String::new(),
        None if !template.is_empty() && !options.has(&["t", "tmpdir"]) => ".".to_owned(),
        None => "/tmp".to_owned(),
    };
    let start = if template.is_empty() { "tmp." } else { template.trim_end_matches('X') };
    let prefix = if folder.is_empty() {
        start.to_owned()
    } else {
        format!("{}/{start}", folder.trim_end_matches('/'))
    };
    report.names = vec![Arg {
        value: crate::operand::Known::Partly { prefix, suffix: String::new() },
        text: super::report::written(call).into(),
        glob: false,
        splits: false,
        taint: crate::operand::Taint::default(),
        found: None,
    }];
}

pub(crate) fn truncate(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let access = match options.text(&["s", "size"]).map(|size| size.trim_start_matches(['/', '%', '='])) {
        Some(size) if size.starts_with(['+', '>']) => Access::Append,
        // The last line or a newline at the end.
        Some(size)
            if size
                .strip_prefix('-')
                .and_then(|size| size.parse::<u32>().ok())
                .is_some_and(|size| size <= 1024) =>
        {
            Access::Modify
        }
        Some(size) if size.starts_with(['-', '<']) || size.chars().all(|c| c == '0' || c.is_alphabetic()) => {
            Access::Empty
        }
        _ => Access::Modify,
    };
    all(call, report, access, &options.operands, false);
}

pub(crate) fn dd(call: &Call<'_>, report: &mut Report) {
    let reads = |devices: &[&str]| {
        call.args
            .iter()
            .filter_map(Arg::known)
            .any(|word| word.strip_prefix("if=").is_some_and(|input| devices.contains(&input)))
    };
    let nothing = call.args.iter().any(|arg| arg.known() == Some("count=0"));
    let keeps = call
        .args
        .iter()
        .filter_map(Arg::known)
        .any(|word| word.contains("notrunc") || word.starts_with("seek="));
    let empties = reads(&["/dev/null"]) || nothing && !keeps;
    let noise = reads(&["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"]);
    let access = if empties { Access::Empty } else { Access::Write };
    for arg in call.args {
        let prefix = arg.prefix();
        if prefix.starts_with("if=") {
            secrets::read(call, report, &super::options::after(arg, 3), false);
        } else if prefix.starts_with("of=") {
            let target = super::options::after(arg, 3);
            // Noise over a key is the end of the key.
            let access = if noise && secrets::is_secret(&target) { Access::Destroy } else { access };
            write_maybe_device(call, report, &target, access);
        } else if call.program == "pv" && !prefix.starts_with('-') {
            secrets::read(call, report, arg, false);
        }
    }
    if call.program == "ddrescue"
        && let Some(target) = super::parsed(call).operands.get(1)
    {
        write_maybe_device(call, report, target, Access::Write);
    }
}

/// A write that wipes when it goes to a disk.
pub(crate) fn write_maybe_device(call: &Call<'_>, report: &mut Report, target: &Arg, access: Access) {
    if is_disk(target.prefix()) {
        report.file(call, Access::Destroy, target, false);
        report.process(ProcessEffect::Format);
    } else {
        report.file(call, access, target, false);
    }
}

/// Whether a path is the device of a disk or of memory.
pub(crate) fn is_disk(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    crate::words::DISKS.iter().any(|start| name.starts_with(start))
}

fn grants_bits(mode: &str) -> bool {
    if mode.chars().all(|c| c.is_ascii_digit()) {
        let significant = mode.trim_start_matches('0');
        return significant.len() >= 4 && significant.starts_with(['2', '3', '4', '5', '6', '7']);
    }
    // `g+s` alone is how directories keep their group.
    mode.split(',').any(|clause| {
        clause.split_once(['+', '=']).is_some_and(|(who, bits)| bits.contains('s') && who != "g")
    })
}

/// Whether a mode gives all users read or write access.
fn opens_to_everybody(mode: &str) -> bool {
    match mode.chars().last().and_then(|last| last.to_digit(8)) {
        Some(bits) if mode.chars().all(|c| c.is_ascii_digit()) => bits & 6 != 0,
        _ => mode.split(',').any(|clause| {
            let (who, bits) = clause.split_once(['+', '=']).unwrap_or_default();
            (who.is_empty() || who.contains(['o', 'a'])) && bits.contains(['r', 'w'])
        }),
    }
}

/// Whether the owner of a directory can no longer use what is in it.
fn takes_away(mode: &str) -> bool {
    if mode.chars().all(|digit| digit.is_digit(8)) && !mode.is_empty() {
        let owner = mode.chars().rev().nth(2).and_then(|digit| digit.to_digit(8)).unwrap_or(0);
        return owner & 0o5 != 0o5;
    }
    mode.split(',').any(|clause| {
        let (who, sign, bits) = match clause.find(['-', '=']) {
            Some(at) => (clause.get(..at), clause.get(at..=at), clause.get(at + 1..)),
            None => return false,
        };
        let bits = bits.unwrap_or_default();
        let owner = who.is_none_or(|who| who.is_empty() || who.contains(['u', 'a']));
        owner
            && match sign {
                Some("-") => bits.contains(['x', 'r', 'X']),
                _ => !bits.contains(['x', 'X']) || !bits.contains('r'),
            }
    })
}

fn removes_execution(mode: &str) -> bool {
    match mode.chars().all(|c| c.is_ascii_digit()) && !mode.is_empty() {
        true => mode.chars().rev().take(3).all(|digit| digit.to_digit(8).is_some_and(|bits| bits % 2 == 0)),
        false => mode.split(',').any(|clause| {
            clause.split_once('-').is_some_and(|(_, bits)| bits.contains('x'))
                || clause.split_once('=').is_some_and(|(_, bits)| !bits.contains('x'))
        }),
    }
}

pub(crate) fn chmod(call: &Call<'_>, report: &mut Report) {
    // A mode may start with a dash (`chmod -x f`), so that it looks like an option.
    let mut recursive = false;
    let mut mode: Option<String> = None;
    let mut targets: Vec<&Arg> = Vec::new();
    let mut ended = false;
    let mut reference = false;
    for arg in call.args {
        let prefix = arg.prefix();
        if !ended && prefix == "--" {
            ended = true;
        } else if !ended && prefix.starts_with("--") {
            recursive |= prefix.len() > 4 && "--recursive".starts_with(prefix);
            reference |= prefix.starts_with("--reference");
        } else if !ended && prefix.starts_with('-') && prefix.len() > 1 {
            if prefix.get(1..).unwrap_or_default().chars().all(|c| "RvcfhHLP".contains(c)) {
                recursive |= prefix.contains('R');
            } else {
                mode.get_or_insert_with(|| prefix.to_owned());
            }
        } else if mode.is_none() && !reference {
            mode = Some(prefix.to_owned());
        } else {
            targets.push(arg);
        }
    }
    let mode = mode.unwrap_or_default();
    if grants_bits(&mode) {
        report.privilege(Privilege::GrantBits);
    }
    for target in targets {
        match takes_away(&mode) {
            true => report.arrives(call, Access::ChangeMode, target, recursive, Incoming::Nothing),
            false => report.file(call, Access::ChangeMode, target, recursive),
        }
        let path = target.prefix();
        if opens_to_everybody(&mode) && path.starts_with(['/', '~']) && secrets::is_secret(target) {
            report.deed("grant", "access");
        }
        if removes_execution(&mode) && super::guard::is_hook_path(path) {
            report.guard_off(GuardOff::Hooks, &format!("chmod {mode} {path}"));
        }
    }
}

/// Files of this machine arrive at a path.
pub(crate) fn copied_to(call: &Call<'_>, report: &mut Report, sources: &[Arg], target: &Arg) {
    let source = |arg: &Arg| Source { arg: arg.clone(), tree: false, contents: false, elsewhere: false };
    let sources = sources.iter().map(source).collect();
    let incoming = Incoming::Sources { sources, into: false, exact: false, linked: false, kept: false };
    report.arrives(call, Access::Write, target, false, incoming);
}

/// A file written below a directory operand, for tools that name their output themselves.
pub(crate) fn write_into(call: &Call<'_>, report: &mut Report, directory: &Arg, name: &str) {
    report.file(call, Access::Write, &below(directory, name), false);
}

/// The same with a name that is an operand: an absolute one does not lie below.
pub(crate) fn write_below(call: &Call<'_>, report: &mut Report, directory: &Arg, name: &Arg) {
    match name.known() {
        Some(path) if path.starts_with(['/', '~']) => report.file(call, Access::Write, name, false),
        Some(path) => write_into(call, report, directory, path),
        None => report.arrives(call, Access::Modify, directory, true, Incoming::Unknown),
    }
}

/// A file or tree from another machine or a container arrives at a path of this one.
pub(crate) fn from_elsewhere(call: &Call<'_>, report: &mut Report, source: &Arg, target: &Arg) {
    let source = Source { arg: source.clone(), tree: true, contents: false, elsewhere: true };
    let incoming =
        Incoming::Sources { sources: vec![source], into: false, exact: false, linked: false, kept: false };
    report.arrives(call, Access::Write, target, false, incoming);
}

/// A place under another name: a link or a bind mount.
pub(crate) fn another_name(call: &Call<'_>, report: &mut Report, source: &Arg, target: &Arg, tree: bool) {
    let source = Source { arg: source.clone(), tree: true, contents: false, elsewhere: false };
    let incoming =
        Incoming::Sources { sources: vec![source], into: false, exact: true, linked: true, kept: false };
    report.arrives(call, Access::Link, target, tree, incoming);
}

/// `mount --bind DIR PLACE`: the directory under another name, over what is there.
pub(crate) fn bind(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let binds = call.program == "bindfs"
        || options.has(&["bind", "rbind", "move", "B", "R", "M"])
        || options.values(&["o", "options"]).any(|words| words.prefix().contains("bind"))
        || options.values(&["t", "types"]).any(|kind| kind.prefix().contains("overlay"));
    let source = options.value(&["source"]).or_else(|| options.operands.first());
    let target = options.value(&["target"]).or_else(|| options.operands.get(1));
    let Some(target) = target else { return };
    // Governing files are in hidden directories; a mount over one hides them.
    if target.prefix().starts_with('.') || target.prefix().contains("/.") {
        report.arrives(call, Access::Link, target, false, Incoming::Unknown);
    }
    if let (true, Some(source)) = (binds, source) {
        another_name(call, report, source, target, false);
    }
}
