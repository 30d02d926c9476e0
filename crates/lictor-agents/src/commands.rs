//! Which of Lictor's own commands are for agents and which for people. The command's help, and the analysis of
//! `lictor …` on an agent's command line, use this table; a command that is not in it is refused to agents.

/// Whom a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// For everyone, including agents: it reads, or adds records that anyone may add.
    Agents,
    /// For people: it decides, grants, lowers, configures or switches off.
    People,
    /// Run by agents' settings and git hooks, never by hand.
    Internal,
}

/// Every command that can be run, by its words.
pub const COMMANDS: &[(&str, Audience)] = &[
    ("agents", Audience::Agents),
    ("allow", Audience::People),
    ("approvals", Audience::Agents),
    ("approve", Audience::People),
    ("audit anchor", Audience::Agents),
    // Moves records.
    ("audit archive", Audience::People),
    ("audit checkpoint", Audience::People),
    ("audit export", Audience::Agents),
    ("audit query", Audience::Agents),
    ("audit report", Audience::Agents),
    ("audit rotate-key", Audience::People),
    ("audit tail", Audience::Agents),
    ("audit verify", Audience::Agents),
    ("check", Audience::Agents),
    ("completions", Audience::Agents),
    ("council history", Audience::Agents),
    ("council list", Audience::Agents),
    ("council plan", Audience::Agents),
    ("council report", Audience::Agents),
    ("council run", Audience::Agents),
    ("demo", Audience::Agents),
    ("deny", Audience::People),
    ("doctor", Audience::Agents),
    ("eval", Audience::Agents),
    ("explain", Audience::Agents),
    // Signs in a person's name.
    ("export", Audience::People),
    ("graph", Audience::Agents),
    ("help", Audience::Agents),
    ("hook", Audience::Internal),
    ("import", Audience::People),
    ("init", Audience::People),
    ("log", Audience::Agents),
    ("man", Audience::Agents),
    ("mcp become", Audience::Internal),
    ("mcp pins", Audience::People),
    ("mcp run", Audience::Internal),
    ("mcp scan", Audience::Agents),
    // Starts programs, and serves any client.
    ("mcp serve", Audience::People),
    ("replay", Audience::Agents),
    ("report", Audience::Agents),
    // Answers questions, and acts in any session.
    ("rpc", Audience::People),
    ("run", Audience::People),
    ("schema", Audience::Agents),
    ("serve", Audience::People),
    ("session list", Audience::Agents),
    ("session refresh", Audience::People),
    ("session reset", Audience::People),
    ("session show", Audience::Agents),
    ("test", Audience::Agents),
    ("tools", Audience::People),
    ("trust", Audience::People),
    ("ui", Audience::People),
    ("uninstall", Audience::People),
    ("verdict clear", Audience::People),
    ("verdict explain", Audience::Agents),
    ("verdict export", Audience::Agents),
    ("verdict gate", Audience::Agents),
    ("verdict import", Audience::Agents),
    ("verdict lower", Audience::People),
    ("verdict purge", Audience::People),
    ("verdict record", Audience::Agents),
    ("verdict retro", Audience::Agents),
    ("verdict show", Audience::Agents),
    ("verdict waive", Audience::People),
    ("why-not", Audience::Agents),
    ("wrong", Audience::People),
];

/// Options that may precede a subcommand, and whether a value follows.
const GLOBAL: &[(&str, bool)] = &[("--json", false), ("--cwd", true)];
/// Options that only print information about the command.
const ABOUT: &[&str] = &["-h", "--help", "-V", "--version"];

/// The commands that are for people, as they are typed.
pub fn for_people() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter(|(_, audience)| *audience == Audience::People).map(|(words, _)| *words)
}

/// Whether an agent may run `lictor` with these arguments. `None` is an argument that is unknown before it runs.
#[must_use]
pub fn is_for_agents<'a>(args: impl IntoIterator<Item = Option<&'a str>>) -> bool {
    let mut args = args.into_iter();
    let mut path = String::new();
    while let Some(arg) = args.next() {
        let Some(arg) = arg else { return false };
        if ABOUT.contains(&arg) {
            return true;
        }
        let (name, attached) = arg.split_once('=').map_or((arg, false), |(name, _)| (name, true));
        if let Some((_, valued)) = GLOBAL.iter().find(|(option, _)| *option == name) {
            if *valued && !attached && args.next().is_none() {
                return false;
            }
            continue;
        }
        if !path.is_empty() {
            path.push(' ');
        }
        path.push_str(arg);
        if let Some((_, audience)) = COMMANDS.iter().find(|(words, _)| *words == path) {
            return *audience == Audience::Agents;
        }
        // The first word of a group; anything else is no command that agents are known to need.
        if !COMMANDS
            .iter()
            .any(|(words, _)| words.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with(' ')))
        {
            return false;
        }
    }
    // `lictor` alone, or a group alone: prints its help.
    true
}
