//! Judges a recorded queue history: `kind: QueueTrace`.
//!
//! ```text
//!   document.rs ──▶ history.rs ──▶ replay.rs ──▶ story.rs ──▶ rules/trace/*   findings
//!   what may stand    resolved     plumb-queue     what        report.rs      ending and paragraph
//!   in the document                + ledger.rs     became
//!                                  (what is owed)  of each key
//! ```

pub mod document;
pub mod event;
mod foresight;
pub mod history;
mod ledger;
mod replay;
mod report;
pub mod scalar;
pub mod story;
pub(crate) mod words;

use alloc::format;

use crate::finding::{Fault, Report};
use crate::json::Json;
use crate::object::Object;
use crate::registry;
use crate::rule::Check;
use crate::verdict::{Kind, read_settings, sort};

/// Judges a recorded queue history.
///
/// # Errors
/// [`Fault::Malformed`] names the field, or the event that is impossible where it stands.
pub fn trace(text: &str, settings_text: &str) -> Result<Report, Fault> {
    let settings = read_settings(settings_text)?;
    let document: document::Document =
        crate::document::read(text).map_err(|wrong| Fault::Malformed(format!("trace: {wrong}")))?;
    let history = history::History::read(document)?;
    let story = replay::Replay::run(&history)?;

    let mut findings = alloc::vec::Vec::new();
    for rule in registry::RULES {
        if let Check::Trace(check) = rule.check {
            findings.extend(check(&story));
        }
    }
    if !settings.rules.is_empty() || !settings.ignore.is_empty() {
        let root = Json::parse(text).map_err(Fault::Malformed)?;
        let kind = Kind::of(&root, &settings);
        settings.apply(&Object::read(&root, kind.profile()), history.zero, &mut findings);
    }
    sort(&mut findings);
    Ok(report::report(&story, findings))
}
