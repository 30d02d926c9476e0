//! Programs that compute text from text. If their input is literal so is their output, which makes it possible to
//! follow `echo … | base64 -d | sh` and `$(printf …)`.

use lictor_core::facts::Access;

use super::secrets;
use crate::call::{Call, Report, Stdin};
use crate::operand::{Arg, Cwd, Listed, Taint};

/// Longest literal that is carried along.
const TEXT_KEPT: usize = 64 * 1024;

/// The output is the input.
pub(crate) fn pass_on(call: &Call<'_>, report: &mut Report) {
    match call.stdin {
        Stdin::Inherited => {}
        Stdin::Text(text) => report.stdout = Some(text.clone()),
        Stdin::Names(names) => report.names = names.clone(),
        Stdin::Unknown(taint) => report.taint = report.taint.and(*taint),
    }
}

/// The output is derived from the input in an unknown way.
pub(crate) fn derive(call: &Call<'_>, report: &mut Report) {
    match call.stdin {
        Stdin::Inherited => {}
        Stdin::Text(_) => report.taint.decoded = true,
        // Cut or joined text may name any files.
        Stdin::Names(names) => {
            report.names.clone_from(names);
            super::report::listed(call, &mut report.names, Listed::All, None);
        }
        Stdin::Unknown(taint) => report.taint = report.taint.and(*taint),
    }
}

/// The output is `work` applied to the literal input, or tainted as decoded if that fails.
fn compute(call: &Call<'_>, report: &mut Report, work: impl FnOnce(&str) -> Option<String>) {
    match call.stdin {
        Stdin::Text(text) if text.len() <= TEXT_KEPT => match work(text) {
            Some(text) => report.stdout = Some(text),
            None => report.taint.decoded = true,
        },
        _ => derive(call, report),
    }
}

fn decode(call: &Call<'_>, report: &mut Report, work: impl FnOnce(&str) -> Option<String>) {
    compute(call, report, work);
    report.taint.decoded |= report.stdout.is_none() && *call.stdin != Stdin::Inherited;
    report.decoded = report.stdout.is_some();
}

/// Programs that unpack their operands: in place, or to their output.
pub(crate) fn unpacked(call: &Call<'_>, report: &mut Report) {
    decode(call, report, |_| None);
    if !call.args.is_empty() {
        let replaces =
            (call.program.starts_with("un") || call.program.ends_with("unzip") || call.program == "bunzip2")
                && !call
                    .args
                    .iter()
                    .any(|arg| matches!(arg.known(), Some("-c" | "--stdout" | "-kc" | "-ck" | "-t" | "-l")));
        super::reads::operands(call, report, if replaces { Access::Modify } else { Access::Read });
        if replaces {
            super::archive::without_ending(call, report, call.args);
        }
        report.taint.decoded = true;
    }
}

pub(crate) fn rev(call: &Call<'_>, report: &mut Report) {
    if !call.args.is_empty() {
        return super::reads::operands(call, report, Access::Read);
    }
    compute(call, report, |text| {
        Some(text.lines().map(|line| line.chars().rev().chain(['\n']).collect::<String>()).collect())
    });
}

pub(crate) fn rot13(call: &Call<'_>, report: &mut Report) {
    compute(call, report, |text| Some(text.chars().map(rotated).collect()));
}

/// `realpath`, `readlink`.
pub(crate) fn resolved(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    report.names.clone_from(&options.operands);
    if let [only] = options.operands.as_slice()
        && only.known().is_some_and(|path| path.starts_with('/'))
    {
        report.stdout = only.known().map(|path| format!("{path}\n"));
    }
}

/// `which`, `type`: where a program lies.
pub(crate) fn which(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if let [only] = options.operands.as_slice() {
        report.stdout = only.known().map(|name| format!("/usr/bin/{name}\n"));
    }
}

pub(crate) fn pwd(call: &Call<'_>, report: &mut Report) {
    let path = match call.cwd {
        Cwd::Start => call.env.variable("PWD"),
        Cwd::Known(path) if path.starts_with('/') => Some(path.clone()),
        _ => None,
    };
    report.stdout = path.map(|path| path + "\n");
}

pub(crate) fn whoami(call: &Call<'_>, report: &mut Report) {
    report.stdout = call.env.variable("USER").map(|user| user + "\n");
}

pub(crate) fn echo(call: &Call<'_>, report: &mut Report) {
    let mut args = call.args;
    let (mut newline, mut escapes) = (true, false);
    while let Some((first, rest)) = args.split_first() {
        let Some(flags) = first.known().and_then(|text| text.strip_prefix('-')) else { break };
        if flags.is_empty() || !flags.chars().all(|flag| "neE".contains(flag)) {
            break;
        }
        newline &= !flags.contains('n');
        escapes |= flags.contains('e');
        args = rest;
    }
    print(report, args, |words| {
        let mut text = words.join(" ");
        if escapes {
            text = unescape(&text);
        }
        if newline {
            text.push('\n');
        }
        text
    });
}

/// Prints words: literally when all are known, else with their taint and, for globs, as names.
fn print(report: &mut Report, args: &[Arg], render: impl FnOnce(&[&str]) -> String) {
    report.taint = args.iter().fold(report.taint, |taint, arg| taint.and(arg.taint));
    let words: Option<Vec<&str>> = args.iter().map(|arg| arg.known().filter(|_| !arg.glob)).collect();
    match words {
        Some(words) => report.stdout = Some(render(&words)),
        None => report.names = args.to_vec(),
    }
}

pub(crate) fn printf(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if options.has(&["v"]) {
        return;
    }
    print(report, &options.operands, |words| match words.split_first() {
        Some((format, values)) => render_printf(format, values),
        None => String::new(),
    });
    if report.stdout.is_none() {
        // The format itself is not a name.
        report.names.drain(..1.min(report.names.len()));
    }
}

pub(crate) fn render_printf(format: &str, values: &[&str]) -> String {
    let format = unescape(format);
    let mut out = String::new();
    let mut values = values.iter();
    loop {
        let before = values.len();
        let mut letters = format.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                out.push(letter);
                continue;
            }
            let mut conversion = None;
            for letter in letters.by_ref() {
                if !"-+ 0#'.*123456789lhqjzt".contains(letter) || letter == 'q' {
                    conversion = Some(letter);
                    break;
                }
            }
            match conversion {
                Some('%') => out.push('%'),
                Some('b') => out.push_str(&unescape(values.next().copied().unwrap_or_default())),
                Some('c') => out.extend(values.next().and_then(|value| value.chars().next())),
                Some('x') => match values.next().and_then(|value| value.parse::<i64>().ok()) {
                    Some(number) => out.push_str(&format!("{number:x}")),
                    None => out.push('0'),
                },
                Some(_) => out.push_str(values.next().copied().unwrap_or_default()),
                None => {}
            }
        }
        if values.len() == 0 || values.len() == before || out.len() > TEXT_KEPT {
            return out;
        }
    }
}

/// Backslash escapes as `printf`, `echo -e` and `$'…'` know them.
pub(crate) fn unescape(text: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.extend(letter.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let digits = |letters: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize| {
            let mut value: u32 = 0;
            let mut seen = 0;
            while seen < most
                && let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(radix))
            {
                value = value.wrapping_mul(radix).wrapping_add(digit);
                seen += 1;
                letters.next();
            }
            (seen > 0).then_some(value)
        };
        match letters.next() {
            Some('n') => out.push(b'\n'),
            Some('t') => out.push(b'\t'),
            Some('r') => out.push(b'\r'),
            Some('a') => out.push(7),
            Some('b') => out.push(8),
            Some('e' | 'E') => out.push(27),
            Some('f') => out.push(12),
            Some('v') => out.push(11),
            Some('\\') => out.push(b'\\'),
            Some('c') => break,
            Some('x') => match digits(&mut letters, 16, 2) {
                Some(value) => out.push(u8::try_from(value).unwrap_or(b'?')),
                None => out.extend(b"\\x"),
            },
            Some(kind @ ('u' | 'U')) => {
                let most = if kind == 'u' { 4 } else { 8 };
                match digits(&mut letters, 16, most).and_then(char::from_u32) {
                    Some(letter) => out.extend(letter.encode_utf8(&mut [0; 4]).bytes()),
                    None => out.extend([b'\\', kind as u8]),
                }
            }
            Some(first @ '0'..='7') => {
                let rest = digits(&mut letters, 8, if first == '0' { 3 } else { 2 });
                let first = first.to_digit(8).unwrap_or_default();
                let value = match (rest, first) {
                    (Some(rest), 0) => rest,
                    (Some(rest), first) if rest < 8 => first * 8 + rest,
                    (Some(rest), first) => first * 64 + rest,
                    (None, first) => first,
                };
                out.push(u8::try_from(value & 0xff).unwrap_or(b'?'));
            }
            Some(other) => {
                out.push(b'\\');
                out.extend(other.encode_utf8(&mut [0; 4]).bytes());
            }
            None => out.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

pub(crate) fn cat(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let files: Vec<&Arg> = options.operands.iter().filter(|arg| arg.known() != Some("-")).collect();
    if files.len() < options.operands.len() || files.is_empty() {
        pass_on(call, report);
    }
    for file in files {
        secrets::read(call, report, file, false);
        report.taint = report.taint.and(file.taint);
        report.stdout = None;
    }
}

pub(crate) fn base64(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let file = options
        .value(&["i", "input"])
        .or_else(|| options.operands.first())
        .filter(|a| a.known() != Some("-"));
    if let Some(output) = options.value(&["o", "output"]) {
        report.file(call, Access::Write, output, false);
    }
    let decodes = options.has(&["d", "D", "decode"]);
    if let Some(file) = file {
        secrets::read(call, report, file, false);
        report.taint.decoded |= decodes;
    } else if decodes && call.program.ends_with("base64") {
        decode(call, report, |text| String::from_utf8(from_base64(text)?).ok());
    } else if decodes {
        decode(call, report, |_| None);
    } else {
        derive(call, report);
    }
}

/// Decodes base64, with or without padding; blanks are skipped.
#[must_use]
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => continue,
            _ => return None,
        };
        bits = ((bits << 6) | u32::from(value)) & 0xff_ffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from((bits >> held) & 0xff).ok()?);
        }
    }
    Some(out)
}

/// Decodes hexadecimal digits; everything else is skipped.
#[must_use]
pub fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).filter_map(|digit| u8::try_from(digit).ok()).collect();
    digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte * 16 + digit)).collect()
}

pub(crate) fn xxd(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    if let Some(output) = options.operands.get(1) {
        report.file(call, Access::Write, output, false);
    }
    if let Some(file) = options.operands.first().filter(|arg| arg.known() != Some("-")) {
        secrets::read(call, report, file, false);
        report.taint.decoded |= options.has(&["r"]);
    } else if options.has(&["r"]) && options.has(&["p"]) {
        decode(call, report, |text| String::from_utf8(from_hex(text)).ok());
    } else if options.has(&["r"]) {
        decode(call, report, |_| None);
    } else {
        derive(call, report);
    }
}

fn rotated(letter: char) -> char {
    let turn = |base: u8| char::from((letter as u8 - base + 13) % 26 + base);
    match letter {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        other => other,
    }
}

/// The letters of a `tr` set: ranges and escapes, no classes.
fn letters_of(set: &str) -> Option<Vec<char>> {
    let set = match set {
        "[:upper:]" => "A-Z",
        "[:lower:]" => "a-z",
        "[:digit:]" => "0-9",
        "[:space:]" => " \t\n\r\x0b\x0c",
        set if set.contains("[:") || set.contains("[=") => return None,
        set => set,
    };
    let letters: Vec<char> = unescape(set).chars().collect();
    let mut out = Vec::new();
    let mut rest = letters.as_slice();
    loop {
        match rest {
            [from, '-', to, tail @ ..] if from <= to => {
                out.extend(*from..=*to);
                rest = tail;
            }
            [letter, tail @ ..] => {
                out.push(*letter);
                rest = tail;
            }
            [] => return Some(out),
        }
    }
}

pub(crate) fn tr(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let from = letters_of(options.word(0));
    let to = letters_of(options.word(1));
    let deletes = options.has(&["d", "delete"]);
    if options.has(&["c", "C", "s", "complement", "squeeze-repeats"]) {
        // Nothing of interest can be spelt by squeezing blanks.
        return if options.has(&["s"]) && !deletes { pass_on(call, report) } else { derive(call, report) };
    }
    compute(call, report, |text| {
        let from = from.as_ref()?;
        if deletes {
            return Some(text.chars().filter(|letter| !from.contains(letter)).collect());
        }
        let to = to?;
        let last = *to.last()?;
        Some(
            text.chars()
                .map(|letter| match from.iter().rposition(|candidate| *candidate == letter) {
                    Some(at) => to.get(at).copied().unwrap_or(last),
                    None => letter,
                })
                .collect(),
        )
    });
    // `tr '\n' '\0'` only parts the names otherwise.
    if let (Stdin::Names(_), Some(['\n'])) = (call.stdin, from.as_deref()) {
        pass_on(call, report);
    }
}

pub(crate) fn head(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    for file in options.operands.iter().filter(|arg| arg.known() != Some("-")) {
        secrets::read(call, report, file, false);
    }
    if !options.operands.is_empty() {
        return;
    }
    let from_start = call.program.ends_with("head");
    let bytes = options.text(&["c", "bytes"]).map(|n| n.trim_start_matches('+').parse::<usize>());
    let given = options.text(&["n", "lines"]);
    let lines = given;
    let offset = lines.and_then(|n| n.strip_prefix('+')).and_then(|n| n.parse::<usize>().ok());
    let lines = lines.map_or(Some(10), |n| n.parse::<usize>().ok());
    compute(call, report, |text| {
        let count = text.len();
        Some(match (bytes, from_start) {
            (Some(n), true) => text.get(..n.ok()?.min(count))?.to_owned(),
            (Some(n), false) => text.get(count.saturating_sub(n.ok()?)..)?.to_owned(),
            (None, true) => text.split_inclusive('\n').take(lines?).collect(),
            (None, false) => {
                let all: Vec<&str> = text.split_inclusive('\n').collect();
                let skip = match offset {
                    Some(offset) => offset.saturating_sub(1),
                    None => all.len().saturating_sub(lines?),
                };
                all.into_iter().skip(skip).collect()
            }
        })
    });
    // All but a few is still all.
    let nearly_all = offset.is_some() || given.is_some_and(|n| n.starts_with('-'));
    if let Stdin::Names(_) = call.stdin {
        pass_on(call, report);
    }
    if !nearly_all {
        report.names = report.names.iter().map(super::reads::some_of).collect();
    }
}

pub(crate) fn cut(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    for file in &options.operands {
        secrets::read(call, report, file, false);
    }
    if !options.operands.is_empty() {
        return;
    }
    let by_letter = options.text(&["b", "c", "bytes", "characters"]).map(ranges);
    let by_field = options.text(&["f", "fields"]).map(ranges);
    let delimiter = options.text(&["d", "delimiter"]).and_then(|d| d.chars().next()).unwrap_or('\t');
    compute(call, report, |text| {
        let mut out = String::new();
        for line in text.lines() {
            if let Some(ranges) = &by_letter {
                let ranges = ranges.as_ref()?;
                out.extend(line.chars().enumerate().filter(|(at, _)| within(ranges, at + 1)).map(|(_, c)| c));
            } else {
                let ranges = by_field.as_ref()?.as_ref()?;
                let fields: Vec<&str> = line
                    .split(delimiter)
                    .enumerate()
                    .filter(|(at, _)| within(ranges, at + 1))
                    .map(|(_, f)| f)
                    .collect();
                out.push_str(&fields.join(&delimiter.to_string()));
            }
            out.push('\n');
        }
        Some(out)
    });
}

fn ranges(list: &str) -> Option<Vec<(usize, usize)>> {
    list.split(',')
        .map(|part| match part.split_once('-') {
            Some(("", to)) => Some((1, to.parse().ok()?)),
            Some((from, "")) => Some((from.parse().ok()?, usize::MAX)),
            Some((from, to)) => Some((from.parse().ok()?, to.parse().ok()?)),
            None => part.parse().ok().map(|at| (at, at)),
        })
        .collect()
}

fn within(ranges: &[(usize, usize)], at: usize) -> bool {
    ranges.iter().any(|(from, to)| (*from..=*to).contains(&at))
}

pub(crate) fn names(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let Some(path) = options.operands.first().and_then(Arg::known) else { return };
    let path = path.trim_end_matches('/');
    let result = match (call.program, path.rsplit_once('/')) {
        ("basename", Some((_, name))) => {
            name.strip_suffix(options.word(1)).filter(|name| !name.is_empty()).unwrap_or(name)
        }
        ("basename", None) => path,
        (_, Some(("", _))) => "/",
        (_, Some((folder, _))) => folder,
        (_, None) if path.is_empty() => "/",
        (_, None) => ".",
    };
    report.stdout = Some(format!("{result}\n"));
}

pub(crate) fn seq(call: &Call<'_>, report: &mut Report) {
    let numbers: Option<Vec<i64>> = call.args.iter().map(|arg| arg.known()?.parse().ok()).collect();
    let (from, step, to) = match numbers.as_deref() {
        Some([to]) => (1, 1, *to),
        Some([from, to]) => (*from, 1, *to),
        Some([from, step, to]) if *step > 0 => (*from, *step, *to),
        _ => return,
    };
    if to.saturating_sub(from) / step <= 100 {
        let mut text = String::new();
        let mut at = from;
        while at <= to {
            text.push_str(&format!("{at}\n"));
            at = at.saturating_add(step);
        }
        report.stdout = Some(text);
    }
}

/// The taint of a call's input.
pub(crate) fn stdin_taint(call: &Call<'_>) -> Taint {
    match call.stdin {
        Stdin::Unknown(taint) => *taint,
        _ => Taint::default(),
    }
}
