use crate::fixable::Fixable;

/// Why a graph cannot be built. Each of these is almost certainly a mistake in the policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A combinator without children.
    #[error("`{combinator}` at `{path}` has no children; give it at least one guard, or leave it out")]
    Empty {
        /// `all`, `any`, `threshold`.
        combinator: &'static str,
        /// The path in the graph.
        path: String,
    },
    /// A threshold that nothing or everything meets.
    #[error("threshold at `{path}` wants {at_least} of {of}; use a number from 1 to {of}")]
    Threshold {
        /// The required number.
        at_least: usize,
        /// Of how many.
        of: usize,
        /// The path in the graph.
        path: String,
    },
    /// One guard may not vote twice.
    #[error("guard `{name}` stands twice below the threshold at `{path}`; one reviewer has one vote")]
    VotesTwice {
        /// The guard.
        name: String,
        /// The path in the graph.
        path: String,
    },
    /// A `When` without `otherwise` where its silence would count as a pass.
    #[error(
        "the condition at `{path}` has no `otherwise`; that is only allowed directly below `all` or at the root, \
         because elsewhere it would count as a pass"
    )]
    NoOtherwise {
        /// The path in the graph.
        path: String,
    },
    /// A `When` without `then`.
    #[error("the condition at `{path}` has no `then`")]
    NoThen {
        /// The path in the graph.
        path: String,
    },
    /// Two different guards under one name.
    #[error("two guards are called `{name}` (at `{first}` and `{second}`); rename one of them")]
    DuplicateName {
        /// The name.
        name: String,
        /// The path of the first.
        first: String,
        /// The path of the second.
        second: String,
    },
    /// A guard without a name.
    #[error("the guard at `{path}` has no name")]
    NoName {
        /// The path in the graph.
        path: String,
    },
    /// A `Not` needs its own reason and fix.
    #[error("`not` at `{path}` needs a reason and a fix of its own")]
    NotWithoutWords {
        /// The path in the graph.
        path: String,
    },
    /// An OBSERVE guard inside the tree: its verdict would be ignored although it appears to count.
    #[error("guard `{name}` at `{path}` only observes; add it with `observe` instead")]
    ObserverInTree {
        /// The guard.
        name: String,
        /// The path in the graph.
        path: String,
    },
    /// Deeper than any policy needs.
    #[error("the graph is more than {limit} levels deep at `{path}`")]
    TooDeep {
        /// The limit.
        limit: usize,
        /// The path in the graph.
        path: String,
    },
}

impl GraphError {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Empty { .. } => ("empty", "give the combinator at least one guard, or leave it out"),
            Self::Threshold { .. } => ("threshold", "ask for at least one and at most all of the children"),
            Self::VotesTwice { .. } => ("votes_twice", "name each reviewer once below a threshold"),
            Self::NoOtherwise { .. } => {
                ("no_otherwise", "add `otherwise`, or put the condition directly below `all` or at the root")
            }
            Self::NoThen { .. } => ("no_then", "add `then`"),
            Self::DuplicateName { .. } => ("duplicate_name", "rename one of the guards"),
            Self::NoName { .. } => ("no_name", "give the guard a name"),
            Self::NotWithoutWords { .. } => ("not_without_words", "give `not` a reason and a fix of its own"),
            Self::ObserverInTree { .. } => ("observer_in_tree", "add the guard with `observe`"),
            Self::TooDeep { .. } => ("too_deep", "put parts of the graph side by side"),
        }
    }
}

impl Fixable for GraphError {
    fn kind(&self) -> &'static str {
        self.words().0
    }

    fn fix(&self) -> &'static str {
        self.words().1
    }
}
