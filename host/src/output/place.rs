//! From a finding's JSON Pointer to lines and columns of the input.

use std::ops::Range;
use std::sync::Arc;

use crate::input::{Document, Location, Locator};
use crate::replay::result::{Judged, Place};

/// A part of a document that can be underlined.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// The document that holds it.
    pub(super) document: Arc<Document>,
    /// JSON Pointer from the document's root to the object.
    pub(super) base: String,
    /// JSON Pointer from the document's root to what was found.
    pub(super) pointer: String,
    /// Bytes of the document's text.
    pub(super) span: Range<usize>,
    /// The field that is not there; the span is then of the nearest part above it that is.
    pub(super) absent: Option<String>,
}

/// Where a part of a document stands in its input; all 1-based, columns in characters, the end
/// column behind the last character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    /// The input's name.
    pub(super) input: Arc<str>,
    /// First line.
    pub(super) line: usize,
    /// First column.
    pub(super) column: usize,
    /// Last line.
    pub(super) end_line: usize,
    /// Column behind the last.
    pub(super) end_column: usize,
}

impl Target {
    /// Where it stands.
    pub(super) fn region(&self) -> Region {
        let (line, column) = position(&self.document, self.span.start);
        let (end_line, end_column) = position(&self.document, self.span.end);
        Region { input: Arc::clone(&self.document.input), line, column, end_line, end_column }
    }
}

/// The positions of the documents that were asked for last: findings come in the order of the
/// documents, and neighbours share them.
#[derive(Debug, Default)]
pub(super) struct Locators(Vec<(Arc<Document>, Option<Arc<Locator>>)>);

impl Locators {
    /// Enough for an object, its older state and what it names.
    const KEPT: usize = 8;

    pub(super) fn of(&mut self, document: &Arc<Document>) -> Option<Arc<Locator>> {
        if let Some((_, locator)) = self.0.iter().find(|(known, _)| Arc::ptr_eq(known, document)) {
            return locator.clone();
        }
        let locator = Locator::new(document).map(Arc::new);
        self.0.truncate(Self::KEPT - 1);
        self.0.insert(0, (Arc::clone(document), locator.clone()));
        locator
    }

    /// The part that a finding or a note points to: `origin` and `path` as the contract has them.
    pub(super) fn target(&mut self, judged: &Judged, origin: &str, path: &str) -> Option<Target> {
        let (place, inside) = self.place(judged, origin)?;
        let locator = self.of(&place.document)?;
        let pointer = format!("{}{inside}{path}", place.base);
        let location = locator.locate(&pointer)?;
        let absent = (!location.exact).then(|| first_token(&pointer[location.pointer.len()..]));
        Some(Target {
            document: Arc::clone(&place.document),
            base: place.base.clone(),
            span: underline(&place.document, &location),
            pointer: location.pointer,
            absent,
        })
    }

    /// The place that an origin names. An event of a trace has no document of its own: it is
    /// found in the trace's, at the second part.
    fn place<'a>(&mut self, judged: &'a Judged, origin: &str) -> Option<(&'a Place, String)> {
        if let Some(place) = judged.places.iter().find(|place| place.origin == origin) {
            return Some((place, String::new()));
        }
        let event = origin.strip_prefix("event/")?;
        let object = judged.places.iter().find(|place| place.origin == "object")?;
        let locator = self.of(&object.document)?;
        ["/spec/events/", "/events/"].iter().find_map(|list| {
            let inside = format!("{list}{event}");
            let location = locator.locate(&format!("{}{inside}", object.base))?;
            location.exact.then_some((object, inside))
        })
    }

    /// The first line of what was judged, for results that point nowhere.
    pub(super) fn start(&mut self, judged: &Judged) -> Option<Region> {
        let Region { input, line, column, .. } = self.target(judged, "object", "")?.region();
        Some(Region { input, line, column, end_line: line, end_column: column })
    }
}

/// What to underline: a scalar's value; of what spans lines, the key; of what has none, the rest
/// of its first line.
pub(super) fn underline(document: &Document, location: &Location) -> Range<usize> {
    let value = location.value.clone();
    let text = document.text.get(value.clone()).unwrap_or_default();
    match (text.find('\n'), &location.key) {
        (None, _) => value,
        (Some(_), Some(key)) => key.clone(),
        (Some(end), None) => value.start..value.start + end,
    }
}

/// 1-based line of the input and 1-based column, in characters.
pub(super) fn position(document: &Document, offset: usize) -> (usize, usize) {
    let before = document.text.get(..offset).unwrap_or(&document.text);
    let line = before.matches('\n').count();
    let column = before[before.rfind('\n').map_or(0, |at| at + 1)..].chars().count();
    (document.line + line, column + 1)
}

fn first_token(rest: &str) -> String {
    let token = rest.trim_start_matches('/').split('/').next().unwrap_or_default();
    token.replace("~1", "/").replace("~0", "~")
}
