//! How much one session, or all sessions of a tenant, may do.

use lictor_core::session::with_accounts;
use lictor_core::text::visible_line;
use lictor_core::{
    Action, ActionKind, Audience, Claim, Context, Guard, Layer, SessionState, Timestamp, Verdict,
};
use serde::{Deserialize, Serialize};

/// The configuration of `budget:`. An absent field is unlimited; 0 allows nothing.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetConfig {
    /// Actions that are not blocked.
    pub max_actions: Option<u64>,
    /// Submitted tasks.
    pub max_tasks: Option<u64>,
    /// Minutes since the session's first event.
    pub max_minutes: Option<u64>,
    /// Tokens of models, as far as they are reported.
    pub max_tokens: Option<u64>,
    /// What models cost, as far as it is reported.
    pub max_cost: Option<f64>,
    /// The fraction from which the agent is warned. Default: 0.8.
    pub warn_at: Option<f64>,
}

impl BudgetConfig {
    /// The most that models may cost, in millionths.
    #[must_use]
    pub fn max_cost_micros(&self) -> Option<u64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "less than nothing is nothing"
        )]
        let micros = |cost: f64| (cost * 1e6).round() as u64;
        self.max_cost.map(micros)
    }
}

/// Blocks actions beyond the limits of the session or of a parent session: a subagent's actions count for its
/// root. A blocked attempt uses nothing.
#[derive(Debug, Clone)]
pub struct Budget {
    config: BudgetConfig,
    name: String,
    audience: Audience,
    of_tenant: bool,
}

impl Budget {
    /// A guard with these limits.
    #[must_use]
    pub fn new(config: BudgetConfig) -> Self {
        Self::scoped(config, "budget", Audience::default())
    }

    /// A guard with these limits over all sessions of a tenant.
    #[must_use]
    pub fn of_tenant(config: BudgetConfig) -> Self {
        Self { of_tenant: true, ..Self::scoped(config, "tenant_budget", Audience::default()) }
    }

    /// A guard with these limits for some agents or tasks only: actions of others do not count.
    #[must_use]
    pub fn scoped(config: BudgetConfig, name: impl Into<String>, audience: Audience) -> Self {
        Self { config, name: name.into(), audience, of_tenant: false }
    }

    /// Its own limits, counted separately from the whole session.
    fn own_claims(&self, action: &Action) -> Vec<Claim> {
        let spend = |what: &str, limit: Option<u64>| {
            limit.map(|limit| Claim::Spend { budget: format!("{} {what}", self.name), amount: 1, limit })
        };
        let tasks = self.config.max_tasks.filter(|_| action.kind == ActionKind::SubmitTask);
        spend("actions", self.config.max_actions).into_iter().chain(spend("tasks", tasks)).collect()
    }

    /// Claims the limits, so that they are checked again when the judgement is recorded: two concurrent actions
    /// cannot both use the last unit.
    fn claim(&self, action: &Action, context: &mut Context<'_>) {
        if !self.audience.is_everybody() {
            for claim in self.own_claims(action) {
                context.claim(claim);
            }
            return;
        }
        let tasks = self.config.max_tasks.filter(|_| action.kind == ActionKind::SubmitTask);
        let claims = [
            self.config.max_actions.map(|at_most| Claim::Actions { at_most }),
            tasks.map(|at_most| Claim::Tasks { at_most }),
        ];
        for claim in claims.into_iter().flatten() {
            context.claim(if self.of_tenant { Claim::Tenant(Box::new(claim)) } else { claim });
        }
        if self.of_tenant {
            // A claim creates the account of the tenant, which then counts what is reported.
            let reported = [
                self.config.max_tokens.map(|at_most| Claim::Tokens { at_most }),
                self.config.max_cost_micros().map(|at_most| Claim::Cost { at_most }),
            ];
            for claim in reported.into_iter().flatten() {
                context.claim(Claim::Tenant(Box::new(claim)));
            }
        }
    }

    /// Every limit with how much of it is used by a session, by a person or by the tenant.
    fn spent<'a>(
        &self,
        action: &Action,
        (session, whose): (&SessionState, Whose<'a>),
        now: Timestamp,
    ) -> Vec<Spent<'a>> {
        let mut spent = Vec::new();
        let own = !self.audience.is_everybody();
        let counted = |what: &str, all: u64| {
            if own { session.used(&format!("{} {what}", self.name)) } else { all }
        };
        if let Some(max) = self.config.max_actions {
            let used = counted("actions", session.unblocked_count());
            spent.push(Spent { used, max, what: "actions", now: 1, whose });
        }
        if let Some(max) = self.config.max_tasks.filter(|_| action.kind == ActionKind::SubmitTask) {
            spent.push(Spent {
                used: counted("tasks", session.task_count),
                max,
                what: "tasks",
                now: 1,
                whose,
            });
        }
        // An account has no end: its minutes would be those since the person's first action.
        let minutes = match (self.config.max_minutes, session.started) {
            (Some(max), Some(started)) if max == 0 || whose == Whose::Session => {
                Some((now.millis_since(started).max(0).unsigned_abs() / 60_000, max))
            }
            (Some(0), None) => Some((0, 0)),
            _ => None,
        };
        if let Some((used, max)) = minutes {
            spent.push(Spent { used, max, what: "minutes", now: 0, whose });
        }
        if let Some(max) = self.config.max_tokens {
            spent.push(Spent { used: session.usage.tokens, max, what: "tokens", now: 0, whose });
        }
        if let Some(max) = self.config.max_cost_micros() {
            spent.push(Spent { used: session.usage.cost_micros, max, what: COST, now: 0, whose });
        }
        spent
    }
}

/// How much of one limit is used.
struct Spent<'a> {
    used: u64,
    max: u64,
    what: &'static str,
    /// How much the action itself takes.
    now: u64,
    whose: Whose<'a>,
}

/// Who has used it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose<'a> {
    Session,
    Person(&'a str),
    Tenant,
}

impl std::fmt::Display for Whose<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Session => f.write_str("this session"),
            Self::Person(name) => write!(f, "the account of `{}`", visible_line(name)),
            Self::Tenant => f.write_str("the tenant"),
        }
    }
}

/// The unit name of money; its amounts are in millionths.
const COST: &str = "in model costs";

impl Spent<'_> {
    fn used_up(&self) -> Verdict {
        let (max, used, what) = (self.number(self.max), self.number(self.used), self.what);
        let fix = match self.whose {
            Whose::Session => "finish with what is there and report it; a person can start a new session",
            Whose::Person(_) => {
                "finish with what is there and report it; who publishes the policy can raise `budget` in it"
            }
            Whose::Tenant => {
                "finish with what is there and report it; who publishes the policy can raise `tenant.budget` in it"
            }
        };
        let whose = self.whose;
        Verdict::block(format!("{whose} has used its budget of {max} {what} ({used} used)"), fix)
    }

    fn number(&self, amount: u64) -> String {
        if self.what == COST {
            format!("{}.{:02}", amount / 1_000_000, amount % 1_000_000 / 10_000)
        } else {
            amount.to_string()
        }
    }
}

impl Guard for Budget {
    fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, action: &Action, context: &mut Context<'_>) -> Verdict {
        let session = context.session();
        if !self.audience.includes(action, session) {
            return Verdict::pass();
        }
        if action.session.is_none() {
            return Verdict::error(
                "a budget counts per session, and the action has none",
                "set `session_id`",
            );
        }
        if session.latest.is_some_and(|latest| context.now().millis_since(latest) < -60_000) {
            return Verdict::error(
                "the clock went back since the session's last event",
                "set the machine's clock",
            );
        }
        let now = context.now();
        let (own, claimed) = (action.session.as_ref(), action.parent_session.as_ref());
        let lineage = with_accounts(own, claimed, context.lineage())
            .map(|(session, account)| (session, account.map_or(Whose::Session, Whose::Person)));
        let tenant = context.tenant().filter(|_| self.of_tenant).map(|account| (account, Whose::Tenant));
        let all = tenant.into_iter().chain(lineage);
        let spent: Vec<_> = all.flat_map(|one| self.spent(action, one, now)).collect();
        if let Some(spent) = spent.iter().find(|spent| spent.used >= spent.max) {
            return spent.used_up();
        }
        self.claim(action, context);
        let warn_at = self.config.warn_at.unwrap_or(0.8);
        #[expect(clippy::cast_precision_loss, reason = "a warning may be one action early or late")]
        let near =
            spent.iter().find(|spent| (spent.used + spent.now.max(1)) as f64 >= spent.max as f64 * warn_at);
        match near {
            Some(spent) => {
                let (used, max) = (spent.number(spent.used + spent.now), spent.number(spent.max));
                let (with, what) = (if spent.now > 0 { "with this one, " } else { "" }, spent.what);
                let whose = match spent.whose {
                    Whose::Session => "this session",
                    Whose::Person(_) => "the account",
                    Whose::Tenant => "the tenant",
                };
                Verdict::warn(format!("{with}{used} of {max} {what} of {whose}'s budget are used"))
            }
            None => Verdict::pass(),
        }
    }

    fn layer(&self) -> Layer {
        Layer::Resource
    }
}

#[cfg(test)]
mod tests;
