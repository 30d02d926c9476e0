//! `xargs` and `parallel`: one command for each of many inputs.

use lictor_core::facts::{Access, OpaqueWhat};

use super::find::substitute;
use super::report::{templated, written};
use crate::call::{Call, Next, Report, Stdin};
use crate::describe::Trait;
use crate::operand::Arg;

/// How many inputs are tracked; more count as one unknown.
const INPUTS: usize = 64;

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    super::is_shell(name)
}

/// Whether the input becomes the code of a shell: `xargs sh -c`, `xargs -I{} sh -c {}`.
fn input_is_code(argv: &[Arg], placeholder: Option<&str>) -> bool {
    let Some(at) = argv.iter().position(|arg| arg.known().is_some_and(is_shell)) else { return false };
    let mut words = argv
        .iter()
        .skip(at + 1)
        .skip_while(|arg| arg.known().is_some_and(|word| word.starts_with('-') && !word.contains('c')));
    let takes_code =
        words.next().and_then(Arg::known).is_some_and(|word| word.starts_with('-') && word.contains('c'));
    let code = words.next();
    let input_among_options = argv
        .iter()
        .skip(at + 1)
        .take_while(|arg| arg.known().is_none_or(|word| !(word.starts_with('-') && word.contains('c'))))
        .any(|arg| placeholder.is_some_and(|placeholder| arg.known() == Some(placeholder)));
    match (takes_code, code, placeholder) {
        (true, None, _) => true,
        (true, Some(code), Some(placeholder)) => code.known() == Some(placeholder),
        _ => input_among_options,
    }
}

/// The inputs on standard input: words when they are known.
fn inputs(stdin: &Stdin, by_line: bool, separator: Option<char>) -> Option<Vec<Arg>> {
    match stdin {
        Stdin::Text(text) => {
            let words: Vec<Arg> = match separator {
                Some(separator) => text
                    .split(separator)
                    .filter(|word| !word.is_empty())
                    .map(Arg::literal)
                    .take(INPUTS + 1)
                    .collect(),
                None if by_line => text
                    .lines()
                    .filter(|line| !line.is_empty())
                    .map(|line| Arg::literal(line.trim()))
                    .take(INPUTS + 1)
                    .collect(),
                None => text
                    .split_whitespace()
                    .map(|word| Arg::literal(word.trim_matches(['"', '\''])))
                    .take(INPUTS + 1)
                    .collect(),
            };
            (words.len() <= INPUTS).then_some(words)
        }
        Stdin::Names(names) if names.len() <= INPUTS => Some(names.clone()),
        _ => None,
    }
}

pub(crate) fn xargs(call: &Call<'_>, report: &mut Report) {
    let options = super::parsed(call);
    let argv = options.operands.as_slice();
    report.lists.extend(options.value(&["a", "arg-file"]).or(call.source).cloned());
    if let Some(file) = options.value(&["a", "arg-file"]) {
        report.file(call, Access::Read, file, false);
    }
    if argv.is_empty() {
        return super::text::pass_on(call, report);
    }
    let placeholder: Option<String> = if options.has(&["I", "J", "i", "replace"]) {
        let given = options.text(&["I", "J", "i", "replace"]).filter(|text| !text.is_empty());
        Some(given.unwrap_or("{}").to_owned())
    } else {
        None
    };
    let separator = if options.has(&["0", "null"]) {
        Some('\0')
    } else {
        options.text(&["d", "delimiter"]).and_then(|text| super::text::unescape(text).chars().next())
    };
    let separator = separator.filter(|_| !matches!(call.stdin, Stdin::Names(_)));
    let from_file = options.has(&["a", "arg-file"]);
    let listed = options.text(&["a", "arg-file"]).and_then(|path| call.env.written(path));
    let known = match listed {
        Some(text) => inputs(&Stdin::Text(text), placeholder.is_some(), separator),
        None if from_file => None,
        None => inputs(call.stdin, placeholder.is_some(), separator),
    };
    // A directory among the results of a search includes its contents.
    let sends = argv.first().and_then(Arg::known).is_some_and(|name| super::is(name, Trait::SendsFiles));
    let whole = |word: Arg| if word.glob { word } else { super::report::below(&word, "**/*") };
    let known = match call.stdin {
        Stdin::Names(_) if sends => known.map(|words| words.into_iter().map(whole).collect()),
        _ => known,
    };
    if input_is_code(argv, placeholder.as_deref()) {
        report.unknown_code(super::text::stdin_taint(call), &written(call));
    }
    let holds =
        |placeholder: &str| argv.iter().any(|arg| arg.known().is_some_and(|word| word.contains(placeholder)));
    match (&placeholder, known) {
        (Some(placeholder), Some(words)) if holds(placeholder) => {
            for word in &words {
                push(report, substitute(argv, placeholder, std::slice::from_ref(word)), false, "xargs");
            }
        }
        (Some(placeholder), None) if holds(placeholder) => {
            let mut word = Arg::unknown("input of xargs");
            word.splits = false;
            word.taint = super::text::stdin_taint(call);
            push(report, substitute(argv, placeholder, std::slice::from_ref(&word)), false, "xargs");
        }
        (None, Some(words)) => {
            let all = argv.iter().chain(&words).cloned().collect();
            push(report, all, false, "xargs");
        }
        _ => push(report, argv.to_vec(), true, "xargs"),
    }
}

fn push(report: &mut Report, argv: Vec<Arg>, more: bool, through: &str) {
    report.next.push(Next::Argv {
        argv,
        assignments: Vec::new(),
        cwd: None,
        through: through.to_owned(),
        more,
        elsewhere: false,
    });
}

/// GNU `parallel` and `sem`.
pub(crate) fn parallel(call: &Call<'_>, report: &mut Report) {
    let is_source = |arg: &Arg| matches!(arg.known(), Some(":::" | "::::" | ":::+" | "::::+"));
    let first_source = call.args.iter().position(is_source).unwrap_or(call.args.len());
    let (front, sources) = call.args.split_at_checked(first_source).unwrap_or((call.args, &[]));
    let options = super::spelling(call).parse(front);
    if options.has(&["dry-run", "dryrun"]) {
        return;
    }
    let template = options.operands.as_slice();
    let from_file =
        options.has(&["a", "arg-file"]) || sources.iter().any(|arg| arg.prefix().starts_with("::::"));
    report.lists.extend(options.value(&["a", "arg-file"]).or(call.source).cloned());
    let named = sources.iter().skip_while(|arg| !arg.prefix().starts_with("::::"));
    report.lists.extend(named.filter(|arg| !is_source(arg)).cloned());
    let mut columns: Vec<Vec<Arg>> = Vec::new();
    for arg in sources {
        if is_source(arg) {
            columns.push(Vec::new());
        } else if let Some(column) = columns.last_mut() {
            column.push(arg.clone());
        }
    }
    let known: Option<Vec<Arg>> = if from_file {
        None
    } else if columns.is_empty() {
        match call.stdin {
            Stdin::Inherited => Some(Vec::new()),
            stdin => inputs(stdin, true, None),
        }
    } else {
        Some(columns.iter().flatten().take(INPUTS).cloned().collect())
    };
    if let Some(host) = options.text(&["S", "sshlogin"]) {
        report.reach(super::network::host_of(host), host, false);
    }
    // Without a command the inputs are commands.
    if template.is_empty() {
        match known {
            Some(commands) => {
                for command in &commands {
                    report.then_shell(command, &[], "parallel");
                }
            }
            None => report.unknown_code(super::text::stdin_taint(call), &written(call)),
        }
        return;
    }
    let placeholder = options.text(&["I"]).unwrap_or("{}");
    if input_is_code(template, Some(placeholder))
        && !(columns.is_empty()
            && *call.stdin == Stdin::Inherited
            && !template.iter().any(|arg| arg.known() == Some(placeholder)))
    {
        report.unknown_code(super::text::stdin_taint(call), &written(call));
    } else if shell_reads_input(template) && !columns.is_empty() {
        report.opaque(OpaqueWhat::Code, &written(call));
    }
    let rounds: Vec<Option<Arg>> = match known {
        Some(words) if words.is_empty() => vec![None],
        Some(words) => words.into_iter().map(Some).collect(),
        None => vec![Some(Arg { splits: false, ..Arg::unknown("input of parallel") })],
    };
    for round in &rounds {
        let argv = match round {
            None => template.to_vec(),
            Some(word) => fill(template, placeholder, word, &columns),
        };
        run_round(argv, report);
    }
}

/// One command that parallel makes: a shell reads what is more than words.
fn run_round(argv: Vec<Arg>, report: &mut Report) {
    if let [only] = argv.as_slice()
        && only.known().is_none_or(|text| text.contains(char::is_whitespace))
    {
        return report.then_shell(only, &[], "parallel");
    }
    let text = templated(&argv);
    let runs_shell = argv.first().and_then(Arg::known).is_some_and(is_shell);
    let has_syntax = text.known().is_some_and(|text| text.contains([';', '|', '&', '<', '>', '`']))
        || argv.first().is_some_and(|first| first.prefix().contains(' '));
    push(report, argv, false, "parallel");
    if has_syntax && !runs_shell {
        report.then_shell(&text, &[], "parallel");
    }
}

/// `bash -c 'text' {}`: parallel joins the words, so that bash sees only the first word of the text.
fn shell_reads_input(template: &[Arg]) -> bool {
    template.first().and_then(Arg::known).is_some_and(is_shell)
        && template.len() > 3
        && template.iter().skip(2).any(|arg| arg.known() == Some("{}"))
}

fn fill(template: &[Arg], placeholder: &str, word: &Arg, columns: &[Vec<Arg>]) -> Vec<Arg> {
    let mut argv = substitute(template, placeholder, std::slice::from_ref(word));
    let mut used = template.iter().any(|arg| arg.known().is_some_and(|text| text.contains(placeholder)));
    for form in ["{.}", "{/}", "{//}", "{/.}"] {
        used |= argv.iter().any(|arg| arg.known().is_some_and(|text| text.contains(form)));
        argv = substitute(&argv, form, std::slice::from_ref(word));
    }
    for (at, column) in columns.iter().enumerate().take(9) {
        let form = format!("{{{}}}", at + 1);
        if argv.iter().any(|arg| arg.known().is_some_and(|text| text.contains(&form))) {
            used = true;
            argv = substitute(&argv, &form, column);
        }
    }
    if !used {
        argv.push(word.clone());
    }
    argv
}
