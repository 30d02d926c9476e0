use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::guard::Layer;

/// Where something stands in a graph. One for each node, shared by everything that is ever said there: a verdict
/// counts one reference and copies no text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Site {
    /// Of the guard or of the combinator.
    #[serde(rename = "guard")]
    pub(crate) name: Arc<str>,
    pub(crate) path: Arc<str>,
    pub(crate) layer: Layer,
}
