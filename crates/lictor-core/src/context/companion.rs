use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A value of the caller that is passed through one evaluation beside the action. Guards, callbacks and tracers
/// can read it. Lictor neither inspects nor records it.
#[derive(Clone)]
pub struct Companion(Arc<dyn Any + Send + Sync>);

impl Companion {
    /// Wraps this value.
    #[must_use]
    pub fn new(value: impl Any + Send + Sync) -> Self {
        Self(Arc::new(value))
    }

    /// The value, if it has this type.
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Companion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Companion(…)")
    }
}

/// Equal only if it is the same allocation.
impl PartialEq for Companion {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Companion {}
