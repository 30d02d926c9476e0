//! The caller's identity and permissions.

use serde::{Deserialize, Serialize};

/// What a person may do on the server. Machines and services have none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees records, sessions, approvals, findings and the policy.
    Viewer,
    /// Exports and verifies the record too.
    Auditor,
    /// Answers questions.
    Approver,
    /// Checks and tries out policies.
    Author,
    /// Publishes policies.
    Publisher,
    /// Manages people and tokens of the tenant.
    Admin,
}

/// Whose token it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A person's: everything that the person's roles allow.
    Person,
    /// A machine's: judges and ships records; never approves or publishes.
    Machine,
    /// A program's: judges; never approves or publishes.
    Service,
    /// The operator's of the installation: makes tenants and their first people.
    Operator,
}

/// The permission that an endpoint requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Any token of the tenant.
    Use,
    /// A person with this role.
    Role(Role),
    /// The operator.
    Operate,
}

/// The caller of one request, from the token alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The name of the token, for records and limits.
    pub token: String,
    /// The tenant that the token belongs to.
    pub tenant: String,
    /// Whose it is.
    pub kind: Kind,
    /// The person, machine or service.
    pub owner: String,
    /// The person's address.
    pub email: Option<String>,
    /// The person's role in policies.
    pub role: Option<String>,
    /// What the person may do, in the words of policies.
    pub scopes: Vec<String>,
    /// The person's groups.
    pub groups: Vec<String>,
    /// What the person may do here.
    pub roles: Vec<Role>,
}

impl Caller {
    /// Whether the caller may do it.
    #[must_use]
    pub fn may(&self, need: Need) -> bool {
        match (self.kind, need) {
            (Kind::Operator, _) => true,
            (_, Need::Use) => true,
            (Kind::Person, Need::Role(role)) => self.roles.iter().any(|own| includes(*own, role)),
            (Kind::Machine | Kind::Service, Need::Role(_)) | (_, Need::Operate) => false,
        }
    }

    /// A name that is unique among the callers of a tenant. A program may have the name of a person; names cannot
    /// contain `=`.
    #[must_use]
    pub fn unique_name(&self) -> String {
        let kind = match self.kind {
            Kind::Person => return self.owner.clone(),
            Kind::Machine => "machine",
            Kind::Service => "service",
            Kind::Operator => "operator",
        };
        format!("{kind}={}", self.owner)
    }

    /// The person, if the caller is one.
    #[must_use]
    pub fn person(&self) -> Option<&str> {
        (self.kind == Kind::Person).then_some(self.owner.as_str())
    }
}

/// Everyone with a role may look; an auditor sees what a viewer sees, a publisher can do what an author can, an
/// administrator manages but does not approve or publish without those roles.
fn includes(own: Role, asked: Role) -> bool {
    own == asked || asked == Role::Viewer || (own, asked) == (Role::Publisher, Role::Author)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(kind: Kind, roles: &[Role]) -> Caller {
        Caller {
            token: "t".to_owned(),
            tenant: "team".to_owned(),
            kind,
            owner: "ada".to_owned(),
            email: None,
            role: None,
            scopes: Vec::new(),
            groups: Vec::new(),
            roles: roles.to_vec(),
        }
    }

    #[test]
    fn machines_and_services_can_only_use() {
        let every = [Role::Viewer, Role::Auditor, Role::Approver, Role::Author, Role::Publisher, Role::Admin];
        for kind in [Kind::Machine, Kind::Service] {
            let caller = caller(kind, &every);
            assert!(caller.may(Need::Use));
            assert!(every.iter().all(|role| !caller.may(Need::Role(*role))), "{kind:?}");
            assert!(!caller.may(Need::Operate));
        }
    }

    #[test]
    fn roles_do_not_add_up_by_themselves() {
        let admin = caller(Kind::Person, &[Role::Admin]);
        assert!(admin.may(Need::Role(Role::Admin)) && admin.may(Need::Role(Role::Viewer)));
        assert!(!admin.may(Need::Role(Role::Approver)) && !admin.may(Need::Role(Role::Publisher)));
        assert!(caller(Kind::Person, &[Role::Publisher]).may(Need::Role(Role::Author)));
        assert!(!caller(Kind::Person, &[]).may(Need::Role(Role::Viewer)));
        assert!(!admin.may(Need::Operate) && caller(Kind::Operator, &[]).may(Need::Operate));
    }
}
