//! `tools:`.

use lictor_agents::Agent;
use lictor_core::history::{History, Pattern, What};
use lictor_core::tools::{Except, Need, ReadBeforeWrite, RequireFirst, Sequence};
use lictor_core::{Action, Audience, Context, Guard, Layer, Verdict};
use lictor_guards::RuleException;
use serde::{Deserialize, Serialize};

use super::audience;
use super::section::{BuiltIn, Section, share};
use crate::diagnostic::{Span, closest, suggest};
use crate::graph::BuildError;
use crate::history;
use crate::reader::{Fields, Reader};
use crate::table::{ACTIONS, Key, Shape, TEXTS, Table};
use crate::yaml::Tree;

pub(crate) static SECTION: Section = Section {
    keys: &[Key::new(
        "tools",
        Shape::OneOf(&[Shape::Fields(&TABLE), Shape::List(&Shape::Fields(&TABLE))]),
        "{read_before_write: true}",
        "What must have happened before. Guard `tools`. A list has several, each `for` somebody.",
    )],
    read: |r, file, said| {
        let described = said.known_tools.as_ref().map(|tools| tools.known.clone()).unwrap_or_default();
        if let Some(tree) = file.get("tools") {
            (said.tools, said.scoped_tools) =
                audience::each(r, tree, "`tools`", |r, tree| read(r, tree, &described));
        }
    },
    guards: &[BuiltIn {
        name: "tools",
        section: "tools",
        layer: Layer::Intent,
        configured: |said| said.tools.is_some(),
        build: |layer| {
            let Some(section) = &layer.sections.tools else { return Ok(None) };
            let name = format!("{}tools", layer.origin.prefix());
            share(Some(ToolsGuard::new(name, section, &layer.sections.exceptions, layer.history)?))
        },
        last: false,
    }],
};

pub(crate) static TABLE: Table = Table {
    name: "tools",
    about: "What must have happened before. Actions are named by kind or tool (`write`), by what they do (`delete \
            file`), or by command (`bash(\"cargo test\")`: some simple command that starts with these words). Only \
            success counts.",
    keys: &[
        Key::new(
            "require_first",
            Shape::ByActions(&ACTIONS),
            "{deploy: [test, lint], bash(\"git push\"): [bash(\"cargo test\")]}",
            "Before what stands on the left, everything on the right must have succeeded in this session. With a \
             variable, `write_table(table: $t): [read_table(table: $t)]`, for the same value of that field.",
        ),
        Key::new(
            "read_before_write",
            Shape::Bool,
            "true",
            "An existing file must have been read, as it is now, before it is changed.",
        ),
        Key::new(
            "invalidate",
            Shape::ByActions(&ACTIONS),
            "{write: [test]}",
            "What stands on the left makes an earlier success of what stands on the right not count any more.",
        ),
        Key::new(
            "expire",
            Shape::ByActions(&Shape::Duration),
            "{test: 30m}",
            "How long a success counts. As long as the session when it is not said.",
        ),
        Key::new(
            "unreported",
            Shape::Word(&["ran", "never"]),
            "ran",
            "What a command counts as on agents that do not report how commands end (`exit_codes` in `lictor agents \
             --json`): `ran` takes its having run for its success. `never` when it is not said.",
        )
        .trusted(),
        audience::FOR,
        Key::new(
            "scopes",
            Shape::Names(&TEXTS),
            "{grant_permission: [admin.write]}",
            "Which scopes of the person a tool needs, by glob. Guard `access`.",
        ),
        Key::new(
            "same_line",
            Shape::Bool,
            "true",
            "Whether `cargo test && git push` counts: the first then runs before the second or not at all. `false` \
             when it is not said.",
        ),
    ],
};

/// Preconditions of tool calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolsSection {
    /// Sequencing rules.
    pub require_first: Vec<RequireFirst>,
    /// Whether files must be read before they are changed.
    pub read_before_write: bool,
    /// Whether a command without a reported exit status counts as a success.
    pub unreported: bool,
}

/// An action pattern with its place.
struct Named {
    pattern: Pattern,
    text: String,
    span: Span,
}

/// Names that cause no warning: the kinds of actions, agents' tool names, and common names of project tasks. Any
/// other name may be a tool too, so an unknown name is only a warning.
const CUSTOMARY: &str = "\
    read write bash execute_code submit_task fetch tool delegate \
    Bash Read Write Edit MultiEdit NotebookEdit Glob Grep WebFetch WebSearch Task TodoWrite apply_patch shell \
    exec_command read_file write_file edit_file create_file replace delete_file list_dir grep_search run_shell_command \
    run_terminal_cmd run_in_terminal run_command Execute Shell str_replace view create edit patch web_search web_fetch \
    test tests lint build check format fmt typecheck review plan approve commit push merge deploy release publish \
    rollback migrate backup restore scan audit e2e install clean docs bench coverage verify";

pub(crate) fn read(
    r: &mut Reader<'_>,
    tree: &Tree,
    described: &[String],
) -> Option<(Audience, ToolsSection)> {
    let f = r.fields(tree, &TABLE)?;
    let audience = audience::of(r, &f);
    let same_line = r.field(&f, "same_line", Reader::boolean).unwrap_or_default();
    let gates = by_actions(r, &f, "require_first");
    let undoing = by_actions(r, &f, "invalidate");
    let expiring = expiring(r, &f);
    let needed: Vec<&Named> = gates.iter().flat_map(|(_, needs)| needs).collect();
    for (by, undone) in &undoing {
        for target in undone {
            unused(r, &needed, target, "nothing requires it first, so there is nothing to invalidate");
            if by.pattern.covers(&target.pattern) {
                r.error(
                    target.span,
                    format!("`{}` would undo itself, so it could never count", target.text),
                    "leave it out",
                );
            }
        }
    }
    for (target, _) in &expiring {
        unused(r, &needed, target, "nothing requires it first, so there is nothing to expire");
    }
    for (gated, needs) in &gates {
        for need in needs {
            if gated.pattern == need.pattern {
                let message = format!("`{}` requires itself first, so it could never run", need.text);
                r.error(need.span, message, "leave it out");
            } else if gated.pattern.covers(&need.pattern) {
                let message = format!(
                    "`{}` is a `{}` too, so it would require itself first and could never run",
                    need.text, gated.text
                );
                r.error(need.span, message, "say more exactly what stands on the left");
            }
        }
    }
    circle(r, &gates);
    unbound(r, &gates, &undoing);
    for need in &needed {
        strange(r, need, &gates, described);
    }
    let require_first = gates
        .iter()
        .map(|(gated, needs)| RequireFirst {
            gated: gated.pattern.clone(),
            needs: needs.iter().map(|need| whole_need(need, &undoing, &expiring)).collect(),
            same_line,
        })
        .filter(|rule| !rule.needs.is_empty())
        .collect();
    let read_before_write = r.field(&f, "read_before_write", Reader::boolean).unwrap_or_default();
    let words = [("ran", true), ("never", false)];
    let unreported =
        r.field(&f, "unreported", |r, tree, what| r.choice(tree, what, &words)).unwrap_or_default();
    if !unreported {
        unmeetable(r, &audience, &needed);
    }
    Some((audience, ToolsSection { require_first, read_before_write, unreported }))
}

/// A command's success cannot be required of agents that do not report exit statuses.
fn unmeetable(r: &mut Reader<'_>, audience: &Audience, needed: &[&Named]) {
    let silent = |name: &String| name.parse::<Agent>().is_ok_and(|agent| !agent.capabilities().exit_codes);
    if audience.agent.is_empty() || !audience.agent.iter().all(silent) {
        return;
    }
    let agents = audience.agent.join(", ");
    for need in needed.iter().filter(|need| matches!(need.pattern.what, What::Bash(_))) {
        let message = format!("`{}` can never count: {agents} does not report how commands end", need.text);
        let help = "declare another sign (`unreported: ran`, in the user's or the managed file), or let Lictor run it: a \
                    command guard, or a `command` of `completion`";
        r.error(need.span, message, help);
    }
}

fn whole_need(need: &Named, undoing: &[(Named, Vec<Named>)], expiring: &[(Named, u64)]) -> Need {
    let same = |other: &Named| other.pattern == need.pattern;
    Need {
        what: need.pattern.clone(),
        within: expiring.iter().find(|(target, _)| same(target)).map(|(_, millis)| *millis),
        undone_by: undoing
            .iter()
            .filter(|(_, undone)| undone.iter().any(same))
            .map(|(by, _)| by.pattern.clone())
            .collect(),
    }
}

/// Variables on the right that do not occur on the left: they would have no value.
fn unbound(r: &mut Reader<'_>, gates: &[(Named, Vec<Named>)], undoing: &[(Named, Vec<Named>)]) {
    for (gated, needs) in gates {
        for need in needs {
            let undo =
                undoing.iter().filter(|(_, undone)| undone.iter().any(|one| one.pattern == need.pattern));
            for named in std::iter::once(need).chain(undo.map(|(by, _)| by)) {
                let known = |var: &String| gated.pattern.vars.iter().any(|(_, known)| known == var);
                if let Some((_, var)) = named.pattern.vars.iter().find(|(_, var)| !known(var)) {
                    let message = format!("`${var}` stands for nothing: `{}` does not have it", gated.text);
                    r.error(named.span, message, format!("write `{}` with a field `${var}` too", gated.text));
                }
            }
        }
    }
}

fn unused(r: &mut Reader<'_>, needed: &[&Named], target: &Named, why: &str) {
    if !needed.iter().any(|need| need.pattern == target.pattern) {
        let help = suggest(&target.text, "required are", needed.iter().map(|need| need.text.as_str()));
        r.warning(target.span, format!("`{}`: {why}", target.text), help);
    }
}

/// A need with an unknown name: it may be misspelt, and then nothing could ever satisfy it.
fn strange(r: &mut Reader<'_>, need: &Named, gates: &[(Named, Vec<Named>)], described: &[String]) {
    let What::Name(name) = &need.pattern.what else { return };
    let mut customary = CUSTOMARY.split_ascii_whitespace();
    let known = customary.any(|word| word == name)
        || name.starts_with("mcp__")
        || gates.iter().any(|(gated, _)| gated.pattern.what == need.pattern.what)
        || described.iter().any(|glob| fast_glob::glob_match(glob, name));
    if !known {
        let help = match closest(name, CUSTOMARY.split_ascii_whitespace()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "for a command write `bash(\"{name}\")`; if it is a tool, add it to `known_tools.known`"
            ),
        };
        r.warning(need.span, format!("no tool or kind of action is known by the name `{name}`"), help);
    }
}

/// Actions that require each other.
fn circle(r: &mut Reader<'_>, gates: &[(Named, Vec<Named>)]) {
    let needs_of = |what: &Pattern| {
        let gates = gates.iter().filter(|(gated, _)| gated.pattern.covers(what));
        gates.flat_map(|(_, needs)| needs).map(|need| &need.pattern).collect::<Vec<_>>()
    };
    for (start, _) in gates {
        let mut seen: Vec<&Pattern> = Vec::new();
        let mut open: Vec<Vec<&Pattern>> =
            needs_of(&start.pattern).into_iter().map(|need| vec![need]).collect();
        while let Some(chain) = open.pop() {
            let Some(last) = chain.last().copied() else { continue };
            let back = start.pattern.covers(last);
            if back && chain.len() == 1 {
                continue;
            }
            if back {
                let shown: Vec<String> = chain.iter().map(ToString::to_string).collect();
                r.error(
                    start.span,
                    format!("`{}` requires itself by a detour: {}", start.text, shown.join(" → ")),
                    "take one of the requirements away",
                );
                return;
            }
            if !seen.contains(&last) {
                seen.push(last);
                open.extend(needs_of(last).into_iter().map(|need| {
                    let mut longer = chain.clone();
                    longer.push(need);
                    longer
                }));
            }
        }
    }
}

fn by_actions(r: &mut Reader<'_>, f: &Fields<'_>, key: &str) -> Vec<(Named, Vec<Named>)> {
    let Some(tree) = f.get(key) else { return Vec::new() };
    let label = f.label(key);
    let Some(entries) = r.map(tree, &label) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, value) in entries {
        let gated = named(r, &name.as_tree(), &label);
        let items = r.list(value, &label);
        if items.is_empty() {
            let message = format!("nothing stands to the right of `{}`", name.text);
            r.warning(name.span, message, "leave it out");
        }
        let needs = items.into_iter().filter_map(|item| named(r, item, &label)).collect();
        found.extend(gated.map(|gated| (gated, needs)));
    }
    found
}

fn expiring(r: &mut Reader<'_>, f: &Fields<'_>) -> Vec<(Named, u64)> {
    let Some(tree) = f.get("expire") else { return Vec::new() };
    let label = f.label("expire");
    let Some(entries) = r.map(tree, &label) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, value) in entries {
        let target = named(r, &name.as_tree(), &label);
        let time = r.duration(value, &label);
        found.extend(target.zip(time));
    }
    found
}

/// A pattern that some action can match.
fn named(r: &mut Reader<'_>, tree: &Tree, what: &str) -> Option<Named> {
    let pattern = r.actions(tree, what)?;
    // As the author wrote it, even if it was parsed in another spelling.
    let text = r.text(tree, what)?.replace(" :$", ": $");
    if pattern.outcome.is_some_and(|outcome| outcome != lictor_expr::Outcome::Ok) {
        r.error(tree.span, "only success counts here", "leave `failed(…)` and `blocked(…)` out");
        return None;
    }
    Some(Named { pattern: history::pattern(&pattern), text, span: tree.span })
}

/// Both tool policies under one name.
pub(crate) struct ToolsGuard {
    name: String,
    sequence: Sequence,
    reading: Option<ReadBeforeWrite>,
}

impl ToolsGuard {
    pub(crate) fn new(
        name: String,
        section: &ToolsSection,
        exceptions: &[RuleException],
        history: &mut History,
    ) -> Result<Self, BuildError> {
        let except: Vec<Except> = exceptions.iter().filter_map(RuleException::of_tools).collect();
        let sequence = Sequence::new(name.as_str(), section.require_first.clone(), history)
            .map_err(BuildError::Sequence)?
            .except(except.clone());
        let reading = section.read_before_write.then(|| ReadBeforeWrite::new(name.as_str()).except(except));
        Ok(Self { name, sequence, reading })
    }
}

impl Guard for ToolsGuard {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let order = self.sequence.check(action, context);
        let Some(reading) = &self.reading else { return order };
        let read = reading.check(action, context);
        if order.passed() {
            return read;
        }
        if !read.passed() {
            context.also(read);
        }
        order
    }

    fn layer(&self) -> Layer {
        Layer::Intent
    }
}
