//! One finding with the lines that disagree, underlined side by side.
//!
//! Shown of a document: the lines that the finding and its notes point to, the keys above them,
//! and what names a list's entry. All else is folded. Parts of one object share one excerpt;
//! an older state or another object gets its own.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, Title};

use super::place::{self, Locators, Target};
use super::words::{self, PROSE_WIDTH};
use crate::engine::{Finding, Severity};
use crate::input::{Document, Locator, Syntax};
use crate::replay::result::Judged;

/// Keys that tell one entry of a list from the others, or say what it claims.
const TELLING_KEYS: [&str; 6] = ["type", "status", "reason", "kind", "name", "namespace"];

/// annotate-snippets ends a heading with line and column of the excerpt it was given. The true
/// ones stand in the heading already, so that what follows this character is cut off.
const CUT: char = '\u{e000}';

/// Characters kept on both sides of what is underlined in a line that is too long.
const MARGIN: usize = 20;

/// A place to underline.
struct Mark<'a> {
    origin: &'a str,
    target: Target,
    label: Option<String>,
}

/// Renders one finding. `why` is what its rule says of the harm.
pub(super) fn render(
    locators: &mut Locators,
    judged: &Judged,
    finding: &Finding,
    why: Option<&str>,
    width: usize,
) -> String {
    let (marks, homeless) = marks(locators, judged, finding);
    let mut group = Group::with_title(title(finding));
    if marks.is_empty() {
        let field = words::field(&finding.path);
        let at = if field.is_empty() { String::new() } else { format!(": {field}") };
        let text = format!("in {}, {}{at}", judged.input, words::state(judged));
        group = group.element(Level::NOTE.with_name("where").message(words::clean(&text)));
    }
    for marks in by_object(marks) {
        // A document in which something was found can be located.
        let Some(locator) = locators.of(&marks[0].target.document) else { continue };
        let width = width.saturating_sub(8).max(40);
        group = group.element(Excerpt::of(judged, finding, &marks, &locator, width).snippet());
    }
    for note in homeless {
        group = group.element(Level::NOTE.message(note));
    }
    let indent = "      = help: ".len();
    let paragraph = |text: &str| {
        let columns = width.min(PROSE_WIDTH).saturating_sub(indent).max(40);
        let lines = words::wrap(&words::clean(text), columns);
        lines.join("\n")
    };
    if let Some(why) = why {
        group = group.element(Level::NOTE.with_name("why").message(paragraph(why)));
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(paragraph(help)));
    }
    // The excerpts fit the width already.
    cut(&Renderer::styled().term_width(100_000).render(&[group]))
}

/// One finding without its lines, for those who have seen them.
pub(super) fn brief(locators: &mut Locators, judged: &Judged, finding: &Finding) -> String {
    let at = match locators.target(judged, "object", &finding.path).map(|target| target.region()) {
        Some(region) => format!("{}:{}:{}", region.input, region.line, region.column),
        None => judged.input.clone(),
    };
    let heading = words::clean(&format!("{at} · {}, as above", words::state(judged)));
    Renderer::styled().render(&[title(finding).element(Origin::path(heading))])
}

fn title(finding: &Finding) -> Title<'_> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    level.primary_title(&finding.message).id(finding.rule.as_str())
}

/// What to underline, and the notes that have no place.
fn marks<'a>(
    locators: &mut Locators,
    judged: &Judged,
    finding: &'a Finding,
) -> (Vec<Mark<'a>>, Vec<String>) {
    let mut marks = Vec::new();
    let mut homeless = Vec::new();
    marks.extend(locators.target(judged, "object", &finding.path).map(|target| {
        let label = target.absent.as_ref().map(|field| format!("`{field}` is not here"));
        Mark { origin: "object", target, label }
    }));
    for note in &finding.related {
        let Some(target) = locators.target(judged, &note.origin, &note.path) else {
            homeless.push(words::clean(&format!("{}: {}", words::field(&note.path), note.message)));
            continue;
        };
        let same = |mark: &&mut Mark<'_>| {
            Arc::ptr_eq(&mark.target.document, &target.document) && mark.target.span == target.span
        };
        if let Some(mark) = marks.iter_mut().find(same) {
            mark.label = Some(match mark.label.take() {
                Some(label) => format!("{label}; {}", note.message),
                None => note.message.clone(),
            });
            continue;
        }
        let label = Some(match &target.absent {
            Some(field) => format!("`{field}` is not here: {}", note.message),
            None => note.message.clone(),
        });
        marks.push(Mark { origin: &note.origin, target, label });
    }
    // Where no note speaks of the finding's own place, it is named.
    if let Some(own) = marks.first_mut().filter(|mark| mark.label.is_none()) {
        own.label = Some(words::field(&finding.path)).filter(|field| !field.is_empty());
    }
    (marks, homeless)
}

/// The marks of each object, in the order in which the objects are first named.
fn by_object(marks: Vec<Mark<'_>>) -> Vec<Vec<Mark<'_>>> {
    let mut groups: Vec<Vec<Mark<'_>>> = Vec::new();
    for mark in marks {
        let same = |group: &&mut Vec<Mark<'_>>| {
            Arc::ptr_eq(&group[0].target.document, &mark.target.document)
                && group[0].target.base == mark.target.base
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(mark),
            None => groups.push(vec![mark]),
        }
    }
    groups
}

/// The part of a document that is shown.
#[derive(Debug, Default)]
struct Excerpt {
    heading: String,
    text: String,
    /// Line number of the first line; none where the text is not as it stands in the input.
    line: Option<usize>,
    /// Bytes of `text` to underline.
    marks: Vec<(Range<usize>, Option<String>)>,
    /// Bytes of `text` on lines to show.
    shown: Vec<usize>,
}

impl Excerpt {
    fn of(
        judged: &Judged,
        finding: &Finding,
        marks: &[Mark<'_>],
        locator: &Locator,
        width: usize,
    ) -> Self {
        let first = &marks[0].target;
        let region = first.region();
        let who = who(judged, marks[0].origin, first, locator);
        let heading = format!("{}:{}:{} · {who}", region.input, region.line, region.column);
        let pieces = |targets: &[Target], locator: &Locator| {
            let spans = targets.iter().zip(marks).map(|(target, mark)| {
                let notes = finding.related.iter().map(|note| &note.message);
                let values = std::iter::once(&finding.message).chain(notes);
                let values = values.flat_map(|message| quoted(message));
                (narrow(&target.document, target.span.clone(), values), mark.label.clone())
            });
            (spans.collect::<Vec<_>>(), lines_to_show(targets, locator))
        };
        let targets: Vec<Target> = marks.iter().map(|mark| mark.target.clone()).collect();
        if let Some((laid_out, locator)) = lay_out(&targets, locator, width) {
            let (spans, shown) = pieces(&laid_out, &locator);
            let text = Arc::clone(&laid_out[0].document.text);
            let heading = format!("{heading} (laid out)");
            return Self { heading, line: None, ..Self::cut(&text, 1, &spans, &shown, width) };
        }
        let (spans, shown) = pieces(&targets, locator);
        let document = &first.document;
        Self { heading, ..Self::cut(&document.text, document.line, &spans, &shown, width) }
    }

    /// Cuts the lines out of `text` from the first that is shown to the last, none of them longer
    /// than `width`.
    fn cut(
        text: &str,
        line: usize,
        spans: &[(Range<usize>, Option<String>)],
        shown: &BTreeSet<usize>,
        width: usize,
    ) -> Self {
        let starts = spans.iter().map(|(span, _)| span.start);
        let offsets: BTreeSet<usize> = starts.chain(shown.iter().copied()).collect();
        let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else {
            return Self::default();
        };
        let from = text[..*first].rfind('\n').map_or(0, |at| at + 1);
        let to = text[*last..].find('\n').map_or(text.len(), |at| last + at);
        let mut excerpt =
            Self { line: Some(line + text[..from].matches('\n').count()), ..Self::default() };
        let mut start = from;
        for source in text[from..to].split('\n') {
            let end = start + source.len();
            if offsets.range(start..=end).next().is_some() {
                excerpt.shown.push(excerpt.text.len());
            }
            let here = spans
                .iter()
                .filter(|(span, _)| (start..=end).contains(&span.start))
                .map(|(span, label)| (span.start - start..span.end.min(end) - start, label.clone()))
                .collect();
            excerpt.push(source, here, width);
            start = end + 1;
        }
        excerpt
    }

    /// Adds one line, shortened around what is underlined.
    fn push(&mut self, line: &str, spans: Vec<(Range<usize>, Option<String>)>, width: usize) {
        let line = line.trim_end_matches('\r');
        let mut kept = Vec::new();
        if line.chars().count() <= width {
            kept.push(0..line.len());
        } else if spans.is_empty() {
            kept.push(0..forward(line, 0, width - 1));
        }
        let longest = width * 2 / 3;
        let mut clamped: Vec<(Range<usize>, Option<String>)> = spans
            .into_iter()
            .map(|(span, label)| {
                (span.start..span.end.min(forward(line, span.start, longest)), label)
            })
            .collect();
        clamped.sort_by_key(|(span, _)| span.start);
        if kept.is_empty() {
            let head = line.find(": ").map_or(0, |colon| colon + 2);
            kept.push(0..if head <= MARGIN * 2 { head } else { 0 });
            for (span, _) in &clamped {
                let wide = backward(line, span.start, MARGIN)..forward(line, span.end, MARGIN);
                match kept.last_mut() {
                    Some(Range { end, .. }) if *end >= wide.start => *end = wide.end.max(*end),
                    _ => kept.push(wide),
                }
            }
            kept.retain(|part| !part.is_empty());
        }
        let mut reached = 0;
        for part in kept {
            if part.start > reached {
                self.text.push('…');
            }
            let shift = self.text.len();
            for (span, label) in &clamped {
                if part.contains(&span.start) || part.end == span.start {
                    let moved = shift + span.start - part.start
                        ..shift + span.end.min(part.end) - part.start;
                    self.marks.push((moved, label.clone()));
                }
            }
            clamped.retain(|(span, _)| span.start > part.end);
            self.text.push_str(&line[part.clone()]);
            reached = part.end;
        }
        if reached < line.len() {
            self.text.push('…');
        }
        self.text.push('\n');
    }

    fn snippet(self) -> Snippet<'static, annotate_snippets::Annotation<'static>> {
        let shown = self.shown.iter().map(|at| AnnotationKind::Visible.span(*at..*at));
        let marks = self
            .marks
            .into_iter()
            .map(|(span, label)| AnnotationKind::Primary.span(span).label(label));
        Snippet::source(self.text)
            .path(format!("{}{CUT}", words::clean(&self.heading)))
            .line_start(self.line.unwrap_or(1))
            .line_numbering(self.line.is_some())
            .annotations(shown.collect::<Vec<_>>())
            .annotations(marks.collect::<Vec<_>>())
    }
}

/// Whose lines these are.
fn who(judged: &Judged, origin: &str, target: &Target, locator: &Locator) -> String {
    let scalar = |pointer| scalar(target, pointer, locator);
    let version = || match scalar("/metadata/resourceVersion") {
        Some(version) => format!(", resourceVersion {version}"),
        None => String::new(),
    };
    match origin.split_once('/') {
        None if origin == "old" => format!("the state before{}", version()),
        Some(("history", _)) => format!("an earlier state{}", version()),
        Some(("event", number)) => format!("event {number}"),
        Some(("related", _)) => {
            let part = |pointer| scalar(pointer).unwrap_or_default();
            let (kind, name) = (part("/kind"), part("/metadata/name"));
            match part("/metadata/namespace").as_str() {
                "" => format!("{kind} {name}{}", version()),
                namespace => format!("{kind} {namespace}/{name}{}", version()),
            }
        }
        _ => words::state(judged),
    }
}

/// A scalar of the target's object, as text without quotes.
fn scalar(target: &Target, pointer: &str, locator: &Locator) -> Option<String> {
    let location = locator.locate(&format!("{}{pointer}", target.base))?;
    let text = target.document.text.get(location.value)?.trim();
    location.exact.then(|| text.trim_matches(['"', '\'']).to_owned())
}

/// Offsets on the lines that give the marks their context.
fn lines_to_show(targets: &[Target], locator: &Locator) -> BTreeSet<usize> {
    let mut offsets = BTreeSet::new();
    for target in targets {
        let mut show = |pointer: &str| {
            let location = locator.locate(pointer).filter(|location| location.exact);
            let start = location.map(|at| at.key.map_or(at.value.start, |key| key.start));
            offsets.extend(start);
        };
        let ends = target.pointer.match_indices('/').map(|(at, _)| at).skip(1);
        for end in ends.chain([target.pointer.len()]).filter(|end| *end > target.base.len()) {
            let above = &target.pointer[..end];
            show(above);
            let token = &above[above.rfind('/').map_or(0, |at| at + 1)..];
            if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) {
                for key in TELLING_KEYS {
                    show(&format!("{above}/{key}"));
                }
            }
        }
    }
    offsets
}

/// The same targets in the object written over many lines, where it stands on one long line.
fn lay_out(targets: &[Target], locator: &Locator, width: usize) -> Option<(Vec<Target>, Locator)> {
    let Target { document, base, span, .. } = &targets[0];
    let before = document.text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let after =
        document.text[span.end..].find('\n').map_or(document.text.len(), |at| span.end + at);
    if document.syntax != Syntax::Json || after - before <= width * 2 {
        return None;
    }
    let object = document.text.get(locator.locate(base)?.value)?;
    let value: serde_json::Value = serde_json::from_str(object).ok()?;
    let text: Arc<str> = serde_json::to_string_pretty(&value).ok()?.into();
    let items = Vec::new();
    let document = Arc::new(Document { text, line: 1, items, ..Document::clone(document) });
    let locator = Locator::new(&document)?;
    let targets = targets
        .iter()
        .map(|target| {
            let pointer = target.pointer.strip_prefix(base.as_str())?.to_owned();
            let span = place::underline(&document, &locator.locate(&pointer)?);
            let (document, absent) = (Arc::clone(&document), target.absent.clone());
            Some(Target { document, base: String::new(), pointer, span, absent })
        })
        .collect::<Option<_>>()?;
    Some((targets, locator))
}

/// The quoted values in a message; an apostrophe within a word is no quote.
fn quoted(message: &str) -> Vec<&str> {
    let word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    let mut values = Vec::new();
    let mut rest = message;
    while let Some(start) = rest.find(['\'', '"', '`']) {
        let quote = &rest[start..=start];
        let inside = &rest[start + 1..];
        let opens = !word(rest[..start].chars().next_back());
        let end = inside
            .match_indices(quote)
            .map(|(at, _)| at)
            .find(|at| !word(inside[at + 1..].chars().next()));
        match end {
            Some(end) if opens => {
                values.push(&inside[..end]);
                rest = &inside[end + 1..];
            }
            _ => rest = inside,
        }
    }
    values
}

/// The one part of a span that is such a value; the whole span if there is none.
fn narrow<'a>(
    document: &Document,
    span: Range<usize>,
    values: impl Iterator<Item = &'a str>,
) -> Range<usize> {
    let text = &document.text[span.clone()];
    let found = values
        .filter(|value| value.len() > 2 && text.matches(value).count() == 1)
        .max_by_key(|value| value.len());
    found
        .and_then(|value| text.find(value).map(|at| (at, value.len())))
        .map_or(span.clone(), |(at, length)| span.start + at..span.start + at + length)
}

/// The offset `characters` further on, or the line's end.
fn forward(line: &str, from: usize, characters: usize) -> usize {
    line[from..].char_indices().nth(characters).map_or(line.len(), |(at, _)| from + at)
}

/// The offset `characters` further back, or the line's begin.
fn backward(line: &str, from: usize, characters: usize) -> usize {
    line[..from].char_indices().rev().nth(characters.saturating_sub(1)).map_or(0, |(at, _)| at)
}

/// Removes what annotate-snippets adds behind [`CUT`].
fn cut(text: &str) -> String {
    let mut parts = text.split(CUT);
    let mut cut = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        cut += part.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_values_are_found_and_apostrophes_are_not() {
        assert_eq!(quoted("Ready says 'a b' and status's is `c`, \"d\""), ["a b", "c", "d"]);
        assert_eq!(quoted("the object's field isn't there"), [""; 0]);
        assert_eq!(quoted("'never closed"), [""; 0]);
    }

    #[test]
    fn a_long_line_keeps_what_is_underlined() {
        let line = format!("message: {}NEEDLE{}", "é".repeat(300), "x".repeat(300));
        let at = line.find("NEEDLE").unwrap();
        let mut excerpt = Excerpt::default();
        excerpt.push(&line, vec![(at..at + 6, None)], 60);
        let (span, _) = &excerpt.marks[0];
        assert_eq!(&excerpt.text[span.clone()], "NEEDLE");
        assert!(
            excerpt.text.starts_with("message: …") && excerpt.text.ends_with("…\n"),
            "{}",
            excerpt.text
        );
        assert!(excerpt.text.chars().count() <= 60);
    }

    #[test]
    fn two_far_parts_of_a_long_line_are_both_kept() {
        let line = format!("a{}b{}c", "x".repeat(300), "y".repeat(300));
        let mut excerpt = Excerpt::default();
        excerpt.push(&line, vec![(0..1, None), (301..302, None)], 60);
        let parts: Vec<_> =
            excerpt.marks.iter().map(|(span, _)| &excerpt.text[span.clone()]).collect();
        assert_eq!(parts, ["a", "b"]);
        assert_eq!(excerpt.text.matches('…').count(), 2);
    }

    #[test]
    fn an_excerpts_own_position_is_cut_off() {
        assert_eq!(cut(&format!("--> f:3:4{CUT}:1:1\nx")), "--> f:3:4\nx");
    }
}
