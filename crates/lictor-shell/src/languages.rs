//! What inline code in another language does (`python -c`, `node -e`, a here-document into an interpreter).

pub(crate) mod sed;

use crate::call::{Call, Report};

/// Reports what `body`, code in `language`, does when the call runs it.
pub fn judge(language: &str, body: &str, call: &Call<'_>, report: &mut Report) {
    let _ = (language, body, call, report);
}
