use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Something of the caller's that goes through one evaluation beside the action: guards, callbacks, tracers get it
/// back as it was. Lictor does not look at it and does not record it.
#[derive(Clone)]
pub struct Companion(Arc<dyn Any + Send + Sync>);

impl Companion {
    /// That value.
    #[must_use]
    pub fn new(value: impl Any + Send + Sync) -> Self {
        Self(Arc::new(value))
    }

    /// The value, when it is of that type.
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

/// The very same one.
impl PartialEq for Companion {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Companion {}
