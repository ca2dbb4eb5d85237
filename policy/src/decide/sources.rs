//! What the sources of a pass say against what the object did with them.

use alloc::string::{String, ToString};

use crate::json::Json;
use crate::pass::SourceView;
use crate::profile::test;
use crate::reference;
use crate::rule::View;
use crate::time::Time;

/// A source that is at another revision than the object.
pub(super) struct Moved {
    /// `Kind/namespace/name`.
    pub(super) source: String,
    /// The object's revision.
    pub(super) mine: String,
    /// The source's.
    pub(super) theirs: String,
    /// Since when, if the source tells.
    pub(super) since: Option<Time>,
}

/// The first source whose copy is at another revision than the object; `copy` chooses the copy.
pub(super) fn moved<'s>(
    view: &View<'_>,
    sources: &'s [SourceView<'s>],
    copy: fn(&'s SourceView<'s>) -> Option<&'s View<'s>>,
) -> Option<Moved> {
    let object = view.object;
    for reference in &view.profile.references {
        let Some(revision) = &reference.revision else { continue };
        let Some(mine) = object.field(&revision.mine).and_then(Json::str) else { continue };
        for named in reference::named(reference, object) {
            let is_named = |copy: &&View<'_>| {
                let other = copy.object;
                other.name == named.name
                    && (named.kind.is_empty() || other.kind == named.kind)
                    && named.group.is_none_or(|group| group == other.group())
                    && (other.namespace.is_empty() || other.namespace == named.namespace)
            };
            let Some(source) = sources.iter().filter_map(copy).find(is_named) else { continue };
            if source.object.deleting || test::any(&source.profile.suspended, source.object) {
                continue;
            }
            let theirs = source.object.field(&revision.theirs).and_then(Json::str);
            let Some(theirs) = theirs.filter(|theirs| !crate::revision::same(theirs, mine)) else {
                continue;
            };
            let since = source.object.field(&revision.since).and_then(Json::str);
            return Some(Moved {
                source: source.object.title(),
                mine: mine.to_string(),
                theirs: theirs.to_string(),
                since: since.and_then(Time::parse),
            });
        }
    }
    None
}
