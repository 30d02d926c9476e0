//! Access control: scopes of people, and a table in which the most specific row applies.

use std::collections::BTreeMap;

use lictor_core::{Action, Claim, Context, Decision, Guard, Layer, Tier, Verdict};
use serde::{Deserialize, Serialize};

/// The configuration of `people:`, `roles:`, `access:` and `tools.scopes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessConfig {
    /// The people that this policy knows. Empty: the caller that sets the actor is trusted to know them.
    pub people: BTreeMap<String, Person>,
    /// The scopes that come with a role.
    pub roles: BTreeMap<String, Vec<String>>,
    /// Which scopes a tool needs, by glob.
    pub needs: Vec<(String, Vec<String>)>,
    /// The table.
    pub rows: Vec<AccessRow>,
}

/// A person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The address.
    pub email: Option<String>,
    /// The role.
    pub role: Option<String>,
    /// What the person may do, in addition to the role's scopes.
    pub scopes: Vec<String>,
    /// The person's groups.
    pub groups: Vec<String>,
}

/// One row of the table. An absent field matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessRow {
    /// The person.
    pub user: Option<String>,
    /// For which tools, as a glob.
    pub tool: Option<String>,
    /// How the action came about.
    pub tier: Option<Tier>,
    /// The decision.
    pub decision: Option<Decision>,
    /// How often in any minute, counted over all sessions of the person.
    pub max_per_minute: Option<u64>,
    /// The reason.
    pub reason: Option<String>,
}

impl AccessRow {
    fn fits(&self, user: Option<&str>, tool: &str, tier: Tier) -> bool {
        self.user.as_deref().is_none_or(|named| Some(named) == user)
            && self.tool.as_deref().is_none_or(|glob| fast_glob::glob_match(glob, tool))
            && self.tier.is_none_or(|named| named == tier)
    }

    /// A person and a tool before a tool before a person before neither; a tier breaks ties.
    fn weight(&self) -> (bool, bool, bool) {
        match (&self.user, &self.tool) {
            (Some(_), Some(_)) => (true, true, self.tier.is_some()),
            (None, Some(_)) => (true, false, self.tier.is_some()),
            (Some(_), None) => (false, true, self.tier.is_some()),
            (None, None) => (false, false, self.tier.is_some()),
        }
    }
}

/// Checks actions against people's permissions. A role is not a bypass: it only grants its scopes.
#[derive(Debug, Clone)]
pub struct Access {
    config: AccessConfig,
}

impl Access {
    /// A guard with this table.
    #[must_use]
    pub fn new(config: AccessConfig) -> Self {
        Self { config }
    }

    /// The most specific row with a value; the last of equally specific ones.
    fn row<T>(&self, action: &Action, says: impl Fn(&AccessRow) -> Option<T>) -> Option<(&AccessRow, T)> {
        let (user, tool) = (action.actor.user.as_deref(), tool(action));
        self.config
            .rows
            .iter()
            .filter(|row| row.fits(user, tool, action.effective_tier()))
            .filter_map(|row| Some((row, says(row)?)))
            .max_by_key(|(row, _)| row.weight())
    }

    /// What the person may do, before delegation narrows it.
    fn scopes_of<'a>(&'a self, action: &'a Action) -> Vec<&'a str> {
        let actor = &action.actor;
        let known = actor.user.as_ref().and_then(|user| self.config.people.get(user));
        let mut scopes: Vec<&str> = Vec::new();
        match (&actor.scopes, known) {
            (Some(told), _) => scopes.extend(told.iter().map(String::as_str)),
            (None, Some(person)) => scopes.extend(person.scopes.iter().map(String::as_str)),
            (None, None) => return scopes,
        }
        let role = actor.role.as_ref().or_else(|| known.and_then(|person| person.role.as_ref()));
        let of_role = role.and_then(|role| self.config.roles.get(role));
        scopes.extend(of_role.into_iter().flatten().map(String::as_str));
        scopes
    }

    fn stranger(&self, action: &Action) -> Option<Verdict> {
        let actor = &action.actor;
        let fix = "say who it is for: a token of a person, or `user`";
        match &actor.user {
            _ if self.config.people.is_empty() => None,
            None => Some(Verdict::block("this policy is about people, and the action is for nobody", fix)),
            Some(user) if user.is_empty() => Some(Verdict::block("the action is for nobody", fix)),
            Some(user) if actor.scopes.is_none() && !self.config.people.contains_key(user) => {
                Some(Verdict::block(
                    format!("`{user}` is not among the people of this policy"),
                    "add them to `people`",
                ))
            }
            Some(_) => None,
        }
    }

    fn missing_scope(&self, action: &Action, context: &Context<'_>) -> Option<Verdict> {
        let tool = tool(action);
        let needs = self.config.needs.iter().filter(|(glob, _)| fast_glob::glob_match(glob, tool));
        let have = self.scopes_of(action);
        for scope in needs.flat_map(|(_, scopes)| scopes) {
            let who = action.actor.user.as_deref().unwrap_or("nobody");
            if !have.contains(&scope.as_str()) {
                let reason = format!("`{tool}` needs the scope `{scope}`, and `{who}` does not have it");
                return Some(
                    Verdict::block(reason, "ask an administrator for the scope").by_rule("access.scope"),
                );
            }
            if !context.session().scope.passes_on(scope) {
                let reason =
                    format!("`{tool}` needs the scope `{scope}`, which was not passed on to this agent");
                let fix = "let the agent that has the scope do it, or delegate again with it";
                return Some(Verdict::block(reason, fix).by_rule("access.delegation"));
            }
        }
        None
    }

    fn too_fast(&self, action: &Action, context: &mut Context<'_>) -> Option<Verdict> {
        let (_, max) = self.row(action, |row| row.max_per_minute)?;
        if action.session.is_none() {
            let reason = "a rate counts per session and account, and the action has neither";
            return Some(Verdict::error(reason, "set `session_id`"));
        }
        let now = context.now();
        let recent = context.lineage().map(|session| session.allowed_in_last_minute(now)).max().unwrap_or(0);
        if context.claim(Claim::Pace { per_minute: max }) {
            return None;
        }
        let reason = format!("{recent} actions were allowed in the last minute, and {max} may be");
        Some(Verdict::block(reason, "wait a minute, then go on").by_rule("access.rate"))
    }
}

/// The name of an action in tables and scopes: its tool, or its kind when it has none.
fn tool(action: &Action) -> &str {
    if action.tool.is_empty() { action.kind.as_str() } else { &action.tool }
}

impl Guard for Access {
    fn name(&self) -> &str {
        "access"
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        if let Some(verdict) = self.stranger(action) {
            return verdict.by_rule("access.stranger");
        }
        if let Some(verdict) = self.missing_scope(action, context) {
            return verdict;
        }
        let said = self.row(action, |row| row.decision);
        let verdict = match said {
            None | Some((_, Decision::Pass)) => None,
            Some((row, decision)) => {
                let reason = row.reason.clone().unwrap_or_else(|| denied(action, row));
                let fix = "do it another way, or let an administrator change the `access` table";
                Some(Verdict::of(decision.into(), reason, fix).by_rule("access.table"))
            }
        };
        match verdict {
            Some(verdict) if said.is_some_and(|(_, decision)| decision > Decision::Warn) => verdict,
            // An action with only a remark still counts for the rate.
            remark => self.too_fast(action, context).or(remark).unwrap_or_else(Verdict::pass),
        }
    }

    fn layer(&self) -> Layer {
        Layer::Boundary
    }
}

fn denied(action: &Action, row: &AccessRow) -> String {
    let mut text = format!("`{}`", tool(action));
    if let Some(user) = &row.user {
        text += &format!(" by `{user}`");
    }
    if let Some(tier) = row.tier {
        text += &format!(" in the tier `{}`", tier.as_str());
    }
    text + " is not free by the `access` table"
}

#[cfg(test)]
mod tests;
