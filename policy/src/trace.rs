//! Judges a recorded queue history: `kind: QueueTrace`.

use crate::finding::{Fault, Report};

/// Judges a recorded queue history.
///
/// # Errors
/// [`Fault::Malformed`] names the event.
pub fn trace(_text: &str, _settings: &str) -> Result<Report, Fault> {
    Err(Fault::Unsupported("trace: not known to this version".into()))
}
