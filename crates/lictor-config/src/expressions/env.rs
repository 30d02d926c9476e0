//! An action and its context as the environment of an expression, read in place.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use lictor_core::facts::{Access, Cardinality, Command, Deed, Effect, Existence, Facts, Place, Zone};
use lictor_core::policy::{Call, CallContext};
use lictor_core::{Action, Actor, Context, Risk, SessionState, Timestamp};
use lictor_expr::{Env, HistoryValue, Object, Value};
use serde_json::Value as Json;

use crate::history::Question;

/// The inputs of an expression.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) action: &'a Action,
    pub(crate) facts: &'a Facts,
    pub(crate) session: &'a SessionState,
    pub(crate) now: Timestamp,
    pub(crate) risk: Risk,
    pub(crate) annotations: &'a BTreeMap<String, Json>,
}

impl<'a> Seen<'a> {
    /// The inputs in a guard.
    pub(crate) fn in_graph(action: &'a Action, context: &'a Context<'_>) -> Self {
        Self {
            action,
            facts: context.facts(),
            session: context.session(),
            now: context.now(),
            risk: context.risk(),
            annotations: context.annotations(),
        }
    }

    /// The inputs in a callback.
    pub(crate) fn in_call(call: &Call<'a>) -> Self {
        let CallContext { action, session, now, risk, annotations, .. } = *call.context;
        Self { action, facts: call.facts, session, now, risk, annotations }
    }
}

/// The environment of one expression for one action.
pub(crate) struct ActionEnv<'a> {
    questions: &'a [Question],
    risk: Risk,
    action: ActionView<'a>,
    user: UserView<'a>,
    facts: FactsView<'a>,
    session: SessionView<'a>,
    notes: Notes<'a>,
}

impl<'a> ActionEnv<'a> {
    pub(crate) fn new(questions: &'a [Question], seen: Seen<'a>) -> Self {
        Self {
            questions,
            risk: seen.risk,
            action: ActionView(seen.action),
            user: UserView(&seen.action.actor),
            facts: FactsView::new(seen.facts),
            session: SessionView { state: seen.session, streaks: Streaks(seen.session), now: seen.now },
            notes: Notes(seen.annotations),
        }
    }
}

impl Env for ActionEnv<'_> {
    fn root(&self, name: &str) -> Option<Value<'_>> {
        Some(match name {
            "action" => Value::object(&self.action),
            "user" => Value::object(&self.user),
            "payload" => Value::object(&self.action.0.payload),
            "facts" => Value::object(&self.facts),
            "session" => Value::object(&self.session),
            "risk" => Value::Double(self.risk.as_fraction()),
            "annotations" => Value::object(&self.notes),
            _ => return None,
        })
    }

    fn history(&self, index: usize) -> Option<HistoryValue> {
        let question = self.questions.get(index)?;
        Some(question.answer(&self.session.state.past, self.session.now))
    }
}

/// The names of those fields that have a value.
fn present<'v>(object: &dyn Object, names: &[&'v str]) -> Vec<&'v str> {
    names.iter().copied().filter(|name| object.get(name).is_some()).collect()
}

struct ActionView<'a>(&'a Action);

impl Object for ActionView<'_> {
    fn get(&self, field: &str) -> Option<Value<'_>> {
        let action = self.0;
        Some(match field {
            "kind" => Value::text(action.kind.as_str()),
            "tool" => Value::text(&action.tool),
            "cwd" => Value::text(&action.cwd),
            "agent" => Value::text(&action.actor.agent),
            "chain" => Value::sequence(&action.actor.chain),
            "task_type" => Value::text(action.task_type.as_deref().unwrap_or_default()),
            "session_id" => Value::text(&action.session.as_ref()?.id),
            "user" => Value::text(action.actor.user.as_deref()?),
            "tenant" => Value::text(action.actor.tenant.as_deref()?),
            "tier" => Value::text(action.effective_tier().as_str()),
            _ => return None,
        })
    }

    fn fields(&self) -> Vec<&str> {
        present(
            self,
            &["kind", "tool", "cwd", "agent", "chain", "task_type", "session_id", "user", "tenant", "tier"],
        )
    }
}

static NONE: Vec<String> = Vec::new();

struct UserView<'a>(&'a Actor);

impl Object for UserView<'_> {
    fn get(&self, field: &str) -> Option<Value<'_>> {
        let actor = self.0;
        Some(match field {
            "id" => Value::text(actor.user.as_deref().unwrap_or_default()),
            "email" => Value::text(actor.email.as_deref().unwrap_or_default()),
            "role" => Value::text(actor.role.as_deref().unwrap_or_default()),
            "scopes" => Value::sequence(actor.scopes.as_ref().unwrap_or(&NONE)),
            "groups" => Value::sequence(&actor.groups),
            _ => return None,
        })
    }

    fn fields(&self) -> Vec<&str> {
        vec!["id", "email", "role", "scopes", "groups"]
    }
}

struct FactsView<'a> {
    facts: &'a Facts,
    files: OnceCell<Vec<FileView<'a>>>,
    commands: OnceCell<Vec<CommandView<'a>>>,
    programs: OnceCell<Vec<&'a str>>,
    hosts: OnceCell<Vec<&'a str>>,
    deeds: OnceCell<Vec<DeedView>>,
}

impl<'a> FactsView<'a> {
    fn new(facts: &'a Facts) -> Self {
        Self {
            facts,
            files: OnceCell::new(),
            commands: OnceCell::new(),
            programs: OnceCell::new(),
            hosts: OnceCell::new(),
            deeds: OnceCell::new(),
        }
    }
}

impl Object for FactsView<'_> {
    fn get(&self, field: &str) -> Option<Value<'_>> {
        let facts = self.facts;
        Some(match field {
            "files" => Value::sequence(self.files.get_or_init(|| files(facts))),
            "commands" => {
                Value::sequence(self.commands.get_or_init(|| facts.commands().map(CommandView).collect()))
            }
            "programs" => Value::sequence(
                self.programs.get_or_init(|| facts.commands().map(|command| &*command.program).collect()),
            ),
            "hosts" => Value::sequence(
                self.hosts.get_or_init(|| facts.hosts().filter_map(|reach| reach.host.as_deref()).collect()),
            ),
            "deeds" => {
                Value::sequence(self.deeds.get_or_init(|| facts.deeds().into_iter().map(DeedView).collect()))
            }
            "opaque" => Value::Bool(!facts.understood()),
            _ => return None,
        })
    }

    fn fields(&self) -> Vec<&str> {
        vec!["files", "programs", "commands", "hosts", "deeds", "opaque"]
    }
}

fn files(facts: &Facts) -> Vec<FileView<'_>> {
    facts
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::File { access, target, recursive, .. } => {
                Some(FileView { access: *access, place: target, recursive: *recursive })
            }
            _ => None,
        })
        .collect()
}

struct FileView<'a> {
    access: Access,
    place: &'a Place,
    recursive: bool,
}

impl Object for FileView<'_> {
    fn get(&self, field: &str) -> Option<Value<'_>> {
        let place = self.place;
        Some(match field {
            "path" => Value::text(&place.path),
            "text" => Value::text(&place.text),
            "access" => Value::text(access_word(self.access)),
            "zone" => Value::text(zone_word(place.zone)),
            "in_project" => Value::text(place.in_project.as_deref()?),
            "exists" => Value::Bool(!matches!(place.existence, Existence::Missing | Existence::Unknown)),
            "secret" => Value::Bool(place.secret),
            "own" => Value::Bool(place.own),
            "glob" => Value::Bool(place.glob),
            "recursive" => Value::Bool(self.recursive),
            _ => return None,
        })
    }

    fn fields(&self) -> Vec<&str> {
        present(
            self,
            &["path", "text", "access", "zone", "in_project", "exists", "secret", "own", "glob", "recursive"],
        )
    }
}

impl<'a> From<&'a FileView<'_>> for Value<'a> {
    fn from(view: &'a FileView<'_>) -> Self {
        Self::object(view)
    }
}

struct CommandView<'a>(&'a Command);

impl Object for CommandView<'_> {
    fn get(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "program" => Value::text(&self.0.program),
            "words" => Value::sequence(&self.0.words),
            "through" => Value::sequence(&self.0.through),
            _ => return None,
        })
    }

    fn fields(&self) -> Vec<&str> {
        vec!["program", "words", "through"]
    }
}

impl<'a> From<&'a CommandView<'_>> for Value<'a> {
    fn from(view: &'a CommandView<'_>) -> Self {
        Self::object(view)
    }
}

struct DeedView(Deed);

impl Object for DeedView {
    fn get(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "verb" => Value::text(&self.0.verb),
            "object" => Value::text(&self.0.object),
            "cardinality" => Value::text(match self.0.cardinality {
                Cardinality::Single => "single",
                Cardinality::Multiple => "multiple",
                Cardinality::Unknown => "unknown",
            }),
            "count" => Value::Int(i64::try_from(self.0.count?).unwrap_or(i64::MAX)),
            "targets" => Value::sequence(&self.0.targets),
            _ => return None,
        })
    }

    fn fields(&self) -> Vec<&str> {
        present(self, &["verb", "object", "cardinality", "count", "targets"])
    }
}

impl<'a> From<&'a DeedView> for Value<'a> {
    fn from(view: &'a DeedView) -> Self {
        Self::object(view)
    }
}

struct SessionView<'a> {
    state: &'a SessionState,
    streaks: Streaks<'a>,
    now: Timestamp,
}

impl Object for SessionView<'_> {
    fn get(&self, field: &str) -> Option<Value<'_>> {
        let state = self.state;
        let count = match field {
            "action_count" => state.action_count,
            "pass_count" => state.pass_count,
            "warn_count" => state.warn_count,
            "ask_count" => state.ask_count,
            "block_count" => state.block_count,
            "escalation_count" => state.escalation_count,
            "task_count" => state.task_count,
            "success_count" => state.success_count,
            "failure_count" => state.failure_count,
            "ungoverned_count" => state.ungoverned_count,
            "bypass_count" => state.bypass_count,
            "minutes" => {
                let millis = state.started.map_or(0, |started| self.now.millis_since(started));
                millis.max(0).unsigned_abs() / 60_000
            }
            "streaks" => return Some(Value::object(&self.streaks)),
            _ => return None,
        };
        Some(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))
    }

    fn fields(&self) -> Vec<&str> {
        super::COUNTERS.iter().copied().chain(["minutes", "streaks"]).collect()
    }
}

/// Tags with the number of consecutive actions that had them.
struct Streaks<'a>(&'a SessionState);

impl Object for Streaks<'_> {
    fn get(&self, field: &str) -> Option<Value<'_>> {
        self.0.streaks.get(field).map(|count| Value::Int(i64::from(*count)))
    }

    fn fields(&self) -> Vec<&str> {
        self.0.streaks.keys().map(String::as_str).collect()
    }
}

struct Notes<'a>(&'a BTreeMap<String, Json>);

impl Object for Notes<'_> {
    fn get(&self, field: &str) -> Option<Value<'_>> {
        self.0.get(field).map(Value::from)
    }

    fn fields(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

/// The name of a kind of file access, as in the log.
pub(crate) fn access_word(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::List => "list",
        Access::Write => "write",
        Access::Empty => "empty",
        Access::Append => "append",
        Access::Modify => "modify",
        Access::Restore => "restore",
        Access::Delete => "delete",
        Access::MoveAway => "move_away",
        Access::MakeDirectory => "make_directory",
        Access::Link => "link",
        Access::ChangeMode => "change_mode",
        Access::ChangeOwner => "change_owner",
        Access::Execute => "execute",
        Access::Destroy => "destroy",
    }
}

/// The name of a zone, as in the log.
pub(crate) fn zone_word(zone: Zone) -> &'static str {
    match zone {
        Zone::ProjectRoot => "project_root",
        Zone::GitDir => "git_dir",
        Zone::Project => "project",
        Zone::Temp => "temp",
        Zone::TempRoot => "temp_root",
        Zone::HomeRoot => "home_root",
        Zone::Home => "home",
        Zone::Root => "root",
        Zone::System => "system",
        Zone::Device => "device",
        Zone::HarmlessDevice => "harmless_device",
        Zone::Outside => "outside",
        Zone::Unknown => "unknown",
    }
}
