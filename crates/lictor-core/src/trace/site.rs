use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::guard::Layer;

/// The position of a node in a graph. One per node, shared by all its verdicts: a verdict holds one reference and
/// copies no text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Site {
    /// Of the guard or of the combinator.
    #[serde(rename = "guard")]
    pub(crate) name: Arc<str>,
    pub(crate) path: Arc<str>,
    pub(crate) layer: Layer,
}
