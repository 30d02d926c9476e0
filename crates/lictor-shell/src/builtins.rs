//! Shell builtins that change the meaning of later commands.
//!
//! Builtins that only print or test (`echo`, `test`, `kill`) are in the tables of programs like any other.

mod directory;
mod evaluate;
mod variables;

use lictor_core::facts::Command;

use crate::expand::fields::Expanded;
use crate::operand::{Arg, Known, Taint};
use crate::walk::simple::Argv;
use crate::walk::{Output, Scene, Walker};

pub(crate) use directory::names_directory;
pub(crate) use evaluate::Trap;
pub(crate) use variables::is_declaration;

/// The result of a builtin.
#[expect(
    clippy::large_enum_variant,
    reason = "most commands are no builtins: moving one costs less than a box for it"
)]
pub(crate) enum Outcome {
    Done(Output),
    /// Not one of these builtins.
    Program(Argv),
}

impl Walker<'_> {
    pub(crate) fn builtin(&mut self, name: &str, argv: Argv) -> Outcome {
        match name {
            "eval" => return Outcome::Done(self.eval(argv)),
            "source" | "." => return Outcome::Done(self.source_builtin(argv)),
            "trap" => return Outcome::Done(self.trap(argv)),
            "command" | "builtin" => return self.same_shell(argv),
            "exec" => return Outcome::Done(self.exec(argv)),
            "printf" if argv.words.get(1).is_some_and(|word| word.arg.prefix().starts_with("-v")) => {
                return Outcome::Done(self.print_into(argv));
            }
            _ => {}
        }
        let args = argv.words.get(1..).unwrap_or_default();
        let stdin = argv.plumbing.stdin.clone();
        let source = argv.plumbing.source.clone();
        self.evaluated_names(name, args);
        match name {
            "cd" | "chdir" => {
                let searched = argv.assignments.iter().find(|(name, _)| name == "CDPATH");
                self.change_directory(args, searched.and_then(|(_, value)| value.known()));
            }
            "pushd" => self.push_directory(args),
            "popd" => self.pop_directory(args),
            "dirs" => {
                let output = self.print_directories(args);
                return Outcome::Done(self.done(name, argv, output));
            }
            "pwd" => {
                let output =
                    self.working_directory().map_or_else(Output::unknown, |path| Output::Text(path + "\n"));
                return Outcome::Done(self.done(name, argv, output));
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(name, args),
            "set" => self.set(args),
            "shift" => self.shift(args),
            "unset" => {
                self.unset(args);
                return Outcome::Program(argv);
            }
            "alias" => self.set_aliases(args),
            "unalias" | ":" => {}
            "read" => {
                self.reads_names(source.as_ref());
                let by = argv.assignments.iter().find(|(name, _)| name == "IFS");
                let by = by.and_then(|(_, value)| value.known());
                self.with_stdin(stdin, |this| this.read_line(args, by));
            }
            "mapfile" | "readarray" | "getopts" | "let" => {
                if matches!(name, "mapfile" | "readarray") {
                    self.reads_names(source.as_ref());
                }
                let lines = matches!(name, "mapfile" | "readarray");
                self.with_stdin(stdin, |this| {
                    this.unsettle_names(args);
                    if lines {
                        this.map_lines(args);
                    }
                });
            }
            "exit" | "return" => self.end(args, argv.scene.certain),
            _ => return Outcome::Program(argv),
        }
        let lists = match argv.words.get(1..).unwrap_or_default() {
            [] => matches!(name, "set" | "export" | "declare" | "typeset"),
            [only] => matches!(
                (name, only.arg.known()),
                ("export" | "declare" | "typeset", Some("-p" | "-x" | "-px"))
            ),
            _ => false,
        };
        // `declare -p NAME` prints its value.
        let shows = matches!(name, "declare" | "typeset" | "export" | "readonly")
            && argv.words.get(1).is_some_and(|word| word.arg.known() == Some("-p"))
            && argv
                .words
                .iter()
                .skip(2)
                .filter_map(|word| word.arg.known())
                .any(|name| self.state.is_secret(name));
        if shows && !argv.scene.capture && !argv.plumbing.takes_output_away() {
            self.reveal();
        }
        // All variables, the secret ones among them.
        let output = if lists || shows {
            Output::Unknown(Taint { secret: true, ..Taint::default() })
        } else {
            Output::silent()
        };
        Outcome::Done(self.done(name, argv, output))
    }

    /// Builtins that take names, numbers or commands as words evaluate code inside them.
    fn evaluated_names(&mut self, name: &str, args: &[Expanded]) {
        let scene = Scene { certain: false, attributable: false, capture: false };
        match name {
            "test" | "[" => self.tested(args.iter().filter_map(|word| word.arg.known())),
            "read" | "unset" | "wait" | "let" | "mapfile" | "readarray" | "getopts" => {
                for word in args.iter().filter_map(|word| word.arg.known()).filter(|word| word.contains('['))
                {
                    self.subscript(word);
                }
                let mut calls_back = args.windows(2).filter_map(|pair| match pair {
                    [option, command] if option.arg.known() == Some("-C") => command.arg.known(),
                    _ => None,
                });
                if let (Some(command), "mapfile" | "readarray") = (calls_back.next(), name) {
                    let text = command.to_owned();
                    self.through(name, |this| this.text(&text, scene));
                }
            }
            "hash" => {
                // `hash -p PATH NAME`: the name now refers to another program.
                if let [option, path, named] = args
                    && option.arg.known() == Some("-p")
                    && let (Some(path), Some(named)) = (path.arg.known(), named.arg.known())
                {
                    self.state.set_alias(named, path);
                }
            }
            "bind" => {
                // `bind -x '"\C-l": command'`.
                let bound = args.iter().skip_while(|word| word.arg.known() != Some("-x")).nth(1);
                if let Some((_, command)) = bound.and_then(|word| word.arg.known()?.split_once("\":")) {
                    let text = command.to_owned();
                    self.through(name, |this| this.text(&text, scene));
                }
            }
            _ => {}
        }
    }

    /// Reports a builtin as a command and sends its output on its way.
    fn done(&mut self, name: &str, argv: Argv, output: Output) -> Output {
        let by = self.ran(name, &argv);
        self.report_plumbing(argv.plumbing, Some(by), Some(output))
    }

    /// Reports a builtin as a command.
    fn ran(&mut self, name: &str, argv: &Argv) -> u32 {
        let args: Vec<Option<String>> =
            argv.words.iter().skip(1).map(|word| word.arg.known().map(str::to_owned)).collect();
        let words = std::iter::once(name.to_owned()).chain(args.iter().map_while(Clone::clone)).collect();
        self.run(Command {
            directory: None,
            program: name.to_owned(),
            args,
            through: self.wrappers(),
            attributable: argv.scene.attributable,
            certain: argv.scene.certain,
            words,
        })
    }

    /// The line may or does end here.
    fn end(&mut self, args: &[Expanded], certain: bool) {
        let mut flags = self.state.flags();
        let fails = args.first().and_then(|word| word.arg.known()).is_some_and(|status| status != "0");
        if certain {
            flags.ended = true;
        }
        flags.may_have_ended |= !fails;
        self.state.set_flags(flags);
    }
}

/// All arguments as one text, with gaps, and whether any of it is known.
pub(crate) fn joined(words: &[Expanded]) -> Option<String> {
    let mut text = String::new();
    let mut known = false;
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        match (word.arg.known(), &word.template) {
            (Some(part), _) => text.push_str(part),
            (None, Some(template)) => text.push_str(template),
            (None, None) => return None,
        }
        known |= word.arg.value != Known::Nothing;
    }
    known.then_some(text)
}

/// As written, for messages.
pub(crate) fn written(args: &[Expanded]) -> String {
    let texts: Vec<&str> = args.iter().map(|word| &*word.arg.text).collect();
    texts.join(" ")
}

/// Arguments that are no options.
fn operands(args: &[Expanded]) -> impl Iterator<Item = &Arg> {
    args.iter().map(|word| &word.arg).filter(|arg| !arg.prefix().starts_with('-'))
}
