//! Startup files of shells and git: text that is added to them runs later, in every shell.

use lictor_core::facts::{Access, Command, Effect, GitEffect, Privilege};

use super::{Output, Scene, Walker};
use crate::describe::Trait;
use crate::operand::{Known, Operand};

/// Folders whose files shells read when they start.
const SHELL_FOLDERS: [&str; 4] = ["/.bashrc.d/", "/.zshrc.d/", "/.oh-my-zsh/custom/", "/fish/conf.d/"];
/// Folders in which a shell finds a function by the name of its file.
const FUNCTION_FOLDERS: [&str; 7] = [
    "/fish/functions/",
    "/fish/completions/",
    "/.zfunc/",
    "/.zfunctions/",
    "/.zsh/functions/",
    "/.zsh/completions/",
    "/bash-completion/completions/",
];

/// Whether a path names a file that is run later, or that controls logins.
pub(crate) fn runs_later(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let at_home = path.starts_with(['~', '$']) || path.starts_with("/home/") || path.starts_with("/root/");
    at_home && crate::words::STARTUP_SHELLS.contains(&name)
        || crate::words::STARTUP_RUN_LATER.iter().any(|place| {
            if place.starts_with("/etc")
                || place.starts_with("/usr")
                || place.starts_with("/lib")
                || place.starts_with("/var")
            {
                path.starts_with(place)
            } else {
                path.contains(place)
            }
        })
}

/// Whether a text sets such a variable to a path in a world-writable place.
fn names_hidden_program(text: &str) -> bool {
    text.lines().filter_map(|line| line.split_once('=')).any(|(name, value)| {
        let value = value.trim_start_matches(['"', '\'', '|', '!', ' ']);
        let agent = ["-javaagent:", "-agentpath:"].iter().find_map(|option| value.strip_prefix(option));
        let name = name.trim();
        crate::words::STARTUP_VARIABLES_RUN.iter().any(|part| name.ends_with(part))
            && is_hidden_away(agent.unwrap_or(value))
    })
}

/// Whether a file would make tools point agents, Lictor or git elsewhere, in every session in the project.
#[must_use]
pub fn governs_sessions(path: &str, text: &str) -> bool {
    let takes_variables =
        |name: &&str| path.strip_suffix(*name).is_some_and(|front| front.is_empty() || front.ends_with('/'));
    let named = |name: &str| takes_variables(&name);
    crate::words::STARTUP_ENVIRONMENTS.iter().any(takes_variables) && governs_next_session(text)
        || named(".gitmodules") && text.lines().any(runs_at_update)
        // A task that runs when the folder is opened.
        || named(".vscode/tasks.json") && text.contains("folderOpen")
        || has_hooks_of_its_own(path, text)
}

/// `update = !command` of a submodule.
fn runs_at_update(line: &str) -> bool {
    let setting = line.trim().split_once('=');
    setting.is_some_and(|(name, value)| {
        name.trim().eq_ignore_ascii_case("update")
            && value.trim_start_matches([' ', '\t', '"']).starts_with('!')
    })
}

/// Whether a definition of an agent, a command or a skill contains programs that run beside it.
fn has_hooks_of_its_own(path: &str, text: &str) -> bool {
    let described = path.ends_with(".md")
        && path.split('/').any(lictor_agents::launch::is_agent_directory)
        && ["/agents/", "/commands/", "/skills/"].iter().any(|folder| path.contains(folder));
    let front = || text.strip_prefix("---").and_then(|rest| rest.split_once("\n---")).map(|(front, _)| front);
    described && front().is_some_and(|front| front.lines().any(|line| line.starts_with("hooks:")))
}

/// Whether a file of a person, outside of any project, runs programs whenever some tool starts.
#[must_use]
pub fn runs_at_start(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let tool = crate::words::STARTUP_TOOLS.contains(&name)
        && (name != "config.toml" || path.contains("/.cargo/"))
        && crate::words::STARTUP_TOOL_RUNS.iter().any(|mark| text.contains(mark));
    tool || path.contains("/nushell/") && matches!(name, "env.nu" | "config.nu")
        || path.contains("/site-packages/")
            && (matches!(name, "usercustomize.py" | "sitecustomize.py") || runs_from_path_file(name, text))
}

/// Python runs lines with this prefix in `*.pth` files whenever it starts; other lines are directories.
fn runs_from_path_file(name: &str, text: &str) -> bool {
    name.ends_with(".pth")
        && text.lines().any(|line| line.starts_with("import ") || line.starts_with("import\t"))
}

impl Walker<'_> {
    /// Text is added to a startup file. Variables, aliases and common setups are normal; anything else runs
    /// unseen in the next shell.
    pub(crate) fn adds_to_startup(
        &mut self,
        target: &Operand,
        access: Access,
        added: Option<&str>,
        by: Option<u32>,
    ) {
        let adds = matches!(access, Access::Append | Access::Write);
        // What a link of the line leads to is changed.
        let write = Effect::File { access, target: target.clone(), recursive: false, by };
        if let Some(Effect::File { target: real, .. }) = adds.then(|| self.behind_link(&write)).flatten() {
            return self.adds_to_startup(&real, access, added, by);
        }
        if let Known::Partly { suffix, .. } = &target.arg.value
            && adds
            && runs_later(suffix)
        {
            return self.persists();
        }
        let Some(path) = target.arg.known().filter(|_| adds) else { return };
        let key = crate::paths::key(&target.cwd, path);
        // A function of fish has the name of its file.
        let function = key.rsplit_once("/fish/functions/").and_then(|(_, file)| file.strip_suffix(".fish"));
        if added.is_some_and(|text| governs_sessions(&key, text)) || function.is_some_and(is_governed) {
            return self.persists();
        }
        // Everything below `/etc` belongs to the system; other startup files are among programs.
        if key.starts_with("/usr/") && runs_later(&key) {
            return self.persists();
        }
        let home = self.outside().variable("HOME").filter(|home| !home.is_empty());
        let at_home = home.is_some_and(|home| key.starts_with(&home));
        if !at_home && !["~", "/home/", "/root/", "/Users/"].iter().any(|home| key.starts_with(home)) {
            return;
        }
        let name = key.rsplit('/').next().unwrap_or_default();
        let runs = if let Some(folder) = FUNCTION_FOLDERS.iter().find(|folder| key.contains(*folder)) {
            match added {
                Some(text) if folder.starts_with("/fish/") => {
                    self.is_more_than_setup(&crate::dialect::fish::translated(text))
                }
                // The file is the body.
                Some(text) => self.is_more_than_setup(&format!("f() {{ :\n{text}\n}}")),
                // What completes words is often fetched, or printed by the program itself.
                None => folder.contains("func") && self.is_fetched(by),
            }
        } else if crate::words::STARTUP_SHELLS.contains(&name)
            || SHELL_FOLDERS.iter().any(|folder| key.contains(folder))
        {
            match added {
                Some(text) if name == "config.fish" || key.contains("/fish/") => {
                    self.is_more_than_setup(&crate::dialect::fish::translated(text))
                }
                // In zsh a brace ends the command before it.
                Some(text) if name.starts_with(".z") && text.contains("() {") => {
                    self.is_more_than_setup(&text.replace(" }", " ;}"))
                }
                Some(text) => self.is_more_than_setup(text),
                None => !self.prints_setup(by),
            }
        } else if matches!(name, ".gitconfig" | "config")
            && (name == ".gitconfig" || key.ends_with("/git/config"))
        {
            added.is_none_or(|text| {
                let lower = text.to_ascii_lowercase();
                crate::words::STARTUP_GIT_RUNS.iter().any(|setting| lower.contains(setting))
                    || sets_hidden_program(&lower)
            })
        } else if crate::words::STARTUP_TRUSTS.contains(&name) {
            added.is_some_and(|text| {
                crate::words::STARTUP_TRUSTS_MORE.iter().any(|mark| text.contains(mark))
                    && !text.contains("localhost")
            })
        } else if super::moved::is_everyday(&key, added.is_some()) {
            true
        } else if crate::words::STARTUP_TOOLS.contains(&name)
            && (name != "config.toml" || key.contains("/.cargo/"))
            || key.contains("/.ipython/") && key.contains("/startup/")
            || crate::words::STARTUP_DESKTOPS.iter().any(|file| key.ends_with(file))
        {
            added.is_some_and(|text| crate::words::STARTUP_TOOL_RUNS.iter().any(|mark| text.contains(mark)))
        } else {
            added.is_some_and(|text| runs_at_start(&key, text))
        };
        if runs {
            self.persists();
        }
    }

    /// Analyses the text as the shell will run it, and returns whether it does more than setup.
    fn is_more_than_setup(&mut self, text: &str) -> bool {
        let effects = self.reading.effects.len();
        let opaque = self.reading.opaque.len();
        let mark = self.state.mark();
        let functions = self.functions.len();
        let aliases = std::mem::take(&mut self.aliased);
        let scene = Scene { certain: false, attributable: false, capture: false };
        self.through("startup file", |this| this.text(text, scene));
        let unclear = self.reading.opaque.len() > opaque;
        // Alias bodies run when the names are used.
        let aliased = std::mem::replace(&mut self.aliased, aliases);
        let set_up = self.reading.effects.len();
        let mut destroys = false;
        for text in aliased.iter().take(16) {
            self.through("startup file", |this| this.text(text, scene));
            // `alias ls="rm -rf"`: what follows the everyday name goes.
            let mut words = text.split_whitespace().skip_while(|word| *word == "sudo");
            let program = words.next().unwrap_or_default();
            destroys |= crate::programs::is(program, Trait::LosesFiles)
                && (program != "rm" || words.next().is_some_and(|option| option.contains(['r', 'f'])))
                && !text.contains(" -i")
                && !text.contains(" -I");
            // `alias python="python /tmp/.w.py"`: something else runs under the everyday name.
            destroys |= text.split_whitespace().any(|word| is_hidden_away(word.trim_matches(['"', '\''])));
        }
        for (function, _) in self.functions.get(functions..).unwrap_or_default().to_vec() {
            self.through("startup file", |this| this.node(&function.body, scene));
        }
        let harmful = self.reading.effects.split_off(set_up);
        let harmful = harmful.iter().any(|effect| match effect {
            Effect::Run(_) | Effect::Delegate { .. } | Effect::Code { .. } => false,
            Effect::Reach(reach) => reach.sends,
            Effect::File { access, target, .. } => {
                matches!(access, Access::Delete | Access::Destroy | Access::Empty)
                    || *access == Access::Write && crate::programs::is_secret(&target.arg)
                    || *access == Access::Read && crate::programs::is_secret(&target.arg)
            }
            Effect::Git { effect, .. } => {
                !matches!(effect, GitEffect::Push | GitEffect::Commit | GitEffect::Configure)
            }
            Effect::Privilege(privilege) => *privilege != Privilege::BecomeRoot,
            _ => true,
        });
        self.state.leave(mark);
        if harmful || destroys {
            return true;
        }
        self.reading.opaque.truncate(opaque + usize::from(unclear));
        let path = text.split("PATH=").nth(1).unwrap_or_default().trim_start_matches(['"', '\'']);
        crate::words::STARTUP_HOOKS.iter().any(|hook| text.contains(hook))
            || names_hidden_program(text)
            || governs_next_session(text)
            || path.starts_with("/tmp")
            || path.starts_with('.')
            || unclear
            || self.reading.effects.iter().skip(effects).any(|effect| match effect {
                Effect::Run(command) => !sets_up(command),
                Effect::File { access, .. } => !access.is_read_only(),
                _ => true,
            })
    }

    /// Whether the command that writes it gets it from another machine.
    fn is_fetched(&self, by: Option<u32>) -> bool {
        let mut runs = 0;
        let mut own = self.reading.effects.iter().skip_while(|effect| {
            let is_run = matches!(effect, Effect::Run(_));
            runs += u32::from(is_run);
            !(is_run && by.is_some_and(|by| runs > by))
        });
        own.next();
        own.take_while(|effect| !matches!(effect, Effect::Run(_)))
            .any(|effect| matches!(effect, Effect::Reach(_)))
    }

    /// Whether the command that printed it is one that prints setups (`kubectl completion bash`).
    fn prints_setup(&self, by: Option<u32>) -> bool {
        let commands = self.reading.effects.iter().filter_map(|effect| match effect {
            Effect::Run(command) => Some(command),
            _ => None,
        });
        let printed = by.and_then(|by| commands.clone().nth(usize::try_from(by).ok()?));
        printed.is_some_and(|command| {
            let words = command.args.iter().flatten().map(String::as_str);
            crate::harmless::is_setup_command(&command.program, words)
        })
    }

    /// The output of a command, if it is text.
    pub(crate) fn printed_text(output: Option<&Output>) -> Option<String> {
        match output {
            Some(Output::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }
}

/// Whether one of git's settings has a value in a world-writable place.
fn sets_hidden_program(text: &str) -> bool {
    let values = text.lines().filter_map(|line| line.split_once('='));
    values.map(|(_, value)| value.trim_start_matches([' ', '\t', '"'])).any(is_hidden_away)
}

/// A place where setups are not installed.
fn is_hidden_away(path: &str) -> bool {
    crate::paths::is_temporary(path) || path.contains("/.cache/")
}

/// Whether a program is Lictor's, git or an agent's.
fn is_governed(program: &str) -> bool {
    matches!(program, "lictor" | "git") || lictor_agents::launch::agent_of(program).is_some()
}

/// Whether a line would point agents, Lictor or git at other settings from the next session on, or put something else in
/// their place.
fn governs_next_session(text: &str) -> bool {
    let named = |word: &str| is_governed(word.trim_start_matches("alias ").trim());
    const FOR_PEOPLE: [&str; 5] =
        ["lictor approve", "lictor trust", "lictor allow", "lictor deny", "lictor uninstall"];
    if FOR_PEOPLE.iter().any(|command| text.contains(command)) {
        return true;
    }
    let moving = lictor_agents::launch::moving().filter(|name| *name != "HOME");
    crate::words::SETTINGS_VARIABLES.iter().copied().chain(moving).any(|name| text.contains(name))
        || text.lines().flat_map(|line| line.split(';')).any(|line| {
            let line = line.trim();
            let line = line.strip_prefix("export ").unwrap_or(line);
            let alias =
                line.strip_prefix("alias ").map(|rest| rest.split(['=', ' ']).next().unwrap_or_default());
            let hashed = line.strip_prefix("hash -p").and_then(|rest| rest.split_whitespace().nth(1));
            let function = line.strip_prefix("function ").unwrap_or(line);
            let function =
                function.split_once('(').filter(|_| line.contains("()")).map(|(name, _)| name.trim());
            line.starts_with("HOME=") || [alias, function, hashed].into_iter().flatten().any(named)
        })
}

fn sets_up(command: &Command) -> bool {
    if command.program == "alias" {
        return command.args.iter().flatten().all(|alias| match alias.split_once('=') {
            Some((name, value)) => {
                let first = value.split_whitespace().next().unwrap_or_default();
                let known = name != first && crate::programs::is_known(name);
                first == name
                    || !(crate::words::TRUSTED_NAMES.contains(&name)
                        || known && crate::programs::is(first, Trait::LosesFiles))
            }
            None => true,
        });
    }
    let words: Vec<&str> = command.args.iter().flatten().map(String::as_str).collect();
    // World-writable files.
    if command.program == "umask" && words.first().is_some_and(|mask| mask.trim_matches('0').is_empty()) {
        return false;
    }
    if matches!(command.program.as_str(), "source" | ".") {
        return words.first().is_none_or(|path| !is_hidden_away(path));
    }
    crate::words::STARTUP_SETS_UP.contains(&command.program.as_str())
        || crate::harmless::is_setup_command(&command.program, words.iter().copied())
}
