//! Repositories that other programs and libraries create: one above the project would replace it.

use lictor_core::facts::Access;

use crate::call::{Call, Report};
use crate::operand::Arg;
use crate::programs::options::Grammar;
use crate::programs::report::below;

/// Words that create a repository, and which later operand is its directory.
const MAKES: [(&str, &str, usize); 12] = [
    ("cargo", "init", 0),
    ("cargo", "new", 0),
    ("jj", "init", 0),
    ("jj", "git init", 0),
    ("jj", "git clone", 1),
    ("sl", "init", 0),
    ("sl", "clone", 1),
    ("gix", "init", 0),
    ("gix", "clone", 1),
    ("gh", "repo clone", 1),
    ("hub", "clone", 1),
    ("hub", "init", 0),
];

/// Libraries with the call that makes one, whose first text is its directory.
const LIBRARIES: [(&str, &str); 7] = [
    ("pygit2", "init_repository("),
    ("git", "Repo.init("),
    ("dulwich", "porcelain.init("),
    ("dulwich", "Repo.init("),
    ("isomorphic-git", ".init("),
    ("nodegit", "Repository.init("),
    ("ugged", ".init_at("),
];

/// A call of another program than git.
pub(crate) fn by_program(call: &Call<'_>, report: &mut Report) {
    let says = |words: &str| {
        let first = words.split(' ').next();
        call.args.iter().any(|arg| arg.known() == first)
    };
    if !MAKES.iter().any(|(program, words, _)| *program == call.program && says(words)) {
        return;
    }
    let options =
        Grammar::anywhere("C", "vcs= name= edition= registry= color= config= repo= depth= branch= remote=")
            .parse(call.args);
    // By default, cargo creates a repository if there is none.
    if call.program == "cargo" && options.text(&["vcs"]).is_some_and(|kind| kind != "git") {
        return;
    }
    let here = Arg::literal(".");
    for (program, words, at) in MAKES {
        let count = words.split(' ').count();
        if program != call.program || !words.split(' ').enumerate().all(|(at, word)| options.word(at) == word)
        {
            continue;
        }
        let directory = options.operands.get(count + at).or((at == 0).then_some(&here));
        if let Some(directory) = directory {
            report.file(call, Access::MakeDirectory, &below(directory, ".git"), false);
        }
    }
}

/// Code that makes one through a library.
pub(crate) fn by_code(body: &str, call: &Call<'_>, report: &mut Report) {
    for (library, init) in LIBRARIES {
        let Some((_, behind)) = body.split_once(init).filter(|_| body.contains(library)) else { continue };
        let arguments = behind.split(')').next().unwrap_or_default();
        let mut parts = arguments.split(['\'', '"', '`']);
        if let Some(directory) = parts.nth(1) {
            report.file(call, Access::MakeDirectory, &below(&Arg::literal(directory), ".git"), false);
        }
    }
}
