//! Actions as the engine has them.

use pyo3::prelude::*;

use lictor::{Action, ActionKind, Actor, SessionKey};

use crate::errors::{self, Class};
use crate::json;

/// An action that was checked once and is shared from then on.
#[pyclass(frozen, module = "lictor._lictor")]
pub(crate) struct RawAction(pub(crate) Action);

#[pymethods]
impl RawAction {
    #[new]
    #[pyo3(signature = (kind, payload, *, session_id=None, task_type=None, tool=String::new(), agent=String::new(), user=None,
        tenant=None, chain=Vec::new(), parent_session_id=None, tool_use_id=None, cwd=String::new()))]
    #[expect(clippy::too_many_arguments, reason = "the fields of an action")]
    fn new(
        kind: &str,
        payload: &Bound<'_, PyAny>,
        session_id: Option<String>,
        task_type: Option<String>,
        tool: String,
        agent: String,
        user: Option<String>,
        tenant: Option<String>,
        chain: Vec<String>,
        parent_session_id: Option<String>,
        tool_use_id: Option<String>,
        cwd: String,
    ) -> PyResult<Self> {
        // Guards know kinds by name: an action of a kind that is only misspelt would pass all of them.
        if let Some(near) = lictor::forms::near_kind(kind) {
            let reason = format!("`{kind}` is not a kind of action; did you mean `{near}`?");
            return Err(errors::told(Class::Action, &reason, &format!("write `{near}`"), "kind", Vec::new()));
        }
        let session = |id: String| SessionKey { agent: agent.clone(), id };
        let mut action = Action::new(ActionKind::from_name(kind), json::object(payload, "payload")?);
        action.session = session_id.map(session);
        action.parent_session = parent_session_id.map(session);
        action.task_type = task_type;
        action.tool = tool;
        action.tool_use_id = tool_use_id;
        action.cwd = cwd;
        action.actor = Actor { tenant, user, agent, chain, ..Actor::default() };
        action.validate().map_err(|error| errors::raised(Class::Action, &error))?;
        Ok(Self(action))
    }

    /// The same action in that session.
    fn in_session(&self, id: String) -> PyResult<Self> {
        let mut action = self.0.clone();
        action.session = Some(SessionKey { agent: action.actor.agent.clone(), id });
        action.validate().map_err(|error| errors::raised(Class::Action, &error))?;
        Ok(Self(action))
    }

    /// What grants are bound to.
    #[getter]
    fn digest(&self) -> String {
        self.0.digest().to_string()
    }
}
