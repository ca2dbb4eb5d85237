//! Witness templates: `stored artifact for revision '{status.artifact.revision}'`.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::Json;
use crate::{pointer, revision};

/// One piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Fixed text.
    Fixed(&'t str),
    /// The value at a field path, by a filter.
    Field(&'t str, Filter),
    /// `{*}`: a word without white space or quotes.
    Word,
    /// `{**}`: any text, also none.
    Any,
}

/// What a placeholder takes of a field's value, and how it compares; see `Witness`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// All of it.
    Whole,
    /// What follows its last `:`, else its last `/`, else all of it.
    Hash,
    /// All of it in lower case.
    Lower,
    /// The number of a list's elements.
    Count,
    /// A revision, in any of the forms that it had over time.
    Revision,
    /// A version whose build metadata does not count.
    Version,
}

impl Filter {
    /// The filter of this name.
    pub fn named(name: &str) -> Option<Filter> {
        Some(match name {
            "" => Filter::Whole,
            "hash" => Filter::Hash,
            "lower" => Filter::Lower,
            "count" => Filter::Count,
            "revision" => Filter::Revision,
            "version" => Filter::Version,
            _ => return None,
        })
    }

    /// What the field holds; nothing if it is missing.
    pub fn read<'r>(self, field: Option<&'r Json<'_>>) -> Option<Cow<'r, str>> {
        let field = field?;
        match self {
            Filter::Count => Some(Cow::Owned(match field {
                Json::Array(items) => items.len().to_string(),
                Json::Object(members) => members.len().to_string(),
                _ => return None,
            })),
            Filter::Whole | Filter::Revision | Filter::Version => field.scalar(),
            Filter::Hash => field.scalar().map(|value| match value {
                Cow::Borrowed(text) => Cow::Borrowed(hash(text)),
                Cow::Owned(text) => Cow::Owned(hash(&text).into()),
            }),
            Filter::Lower => field.scalar().map(|value| Cow::Owned(value.to_lowercase())),
        }
    }

    /// Whether what a text says is what the field holds.
    fn agrees(self, said: &str, held: Option<&str>) -> bool {
        match (self, held) {
            (Filter::Count, None) => said == "0",
            (_, None) => false,
            (Filter::Revision, Some(held)) => revision::same(said, held),
            (Filter::Version, Some(held)) => without_build(said) == without_build(held),
            (Filter::Whole | Filter::Hash | Filter::Lower | Filter::Count, Some(held)) => {
                said == held
            }
        }
    }
}

fn hash(text: &str) -> &str {
    let at = text.rfind(':').or_else(|| text.rfind('/'));
    at.map_or(text, |at| &text[at + 1..])
}

fn without_build(version: &str) -> &str {
    version.split_once('+').map_or(version, |(version, _)| version)
}

/// What a text says where a template speaks of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The field path.
    pub field: String,
    /// What the text says.
    pub said: String,
    /// What the field holds by the placeholder's filter; nothing if the field is missing.
    pub held: Option<String>,
}

/// How a text compares with a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// The text does not have the template's shape: it says nothing.
    Silent,
    /// The text has the shape, and says what the fields hold.
    Agrees,
    /// The text has the shape, and says something else at these fields.
    Differs(Vec<Mismatch>),
}

/// The pieces of a template.
pub fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        if !before.is_empty() {
            pieces.push(Piece::Fixed(before));
        }
        let (inside, tail) = after.split_once('}').unwrap_or((after, ""));
        let (path, filter) = inside.split_once('|').unwrap_or((inside, ""));
        pieces.push(match (path.trim(), filter.trim()) {
            ("*", _) => Piece::Word,
            ("**", _) => Piece::Any,
            (path, filter) => Piece::Field(path, Filter::named(filter).unwrap_or(Filter::Whole)),
        });
        rest = tail;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Fixed(rest));
    }
    pieces
}

/// Compares `text` with the template over `root`.
///
/// The text is first read as if the fields hold what it says, so that a value which contains the
/// template's own fixed text cannot be cut in the wrong place; only if that fails are the
/// placeholders taken to be words of the text.
pub fn compare(template: &str, text: &str, root: &Json<'_>) -> Comparison {
    let pieces = pieces(template);
    let values: Vec<Option<Cow<'_, str>>> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Field(path, filter) => filter.read(pointer::find(root, path)),
            Piece::Fixed(_) | Piece::Word | Piece::Any => None,
        })
        .collect();
    if matches(&pieces, &values, text) {
        return Comparison::Agrees;
    }
    let mut said = Vec::new();
    if !capture(&pieces, &values, text, &mut said) {
        return Comparison::Silent;
    }
    let mut differs = Vec::new();
    for (place, piece) in pieces.iter().enumerate() {
        let Piece::Field(path, filter) = piece else { continue };
        let Some(&(_, word)) = said.iter().find(|(at, _)| *at == place) else { continue };
        if !filter.agrees(word, values[place].as_deref()) {
            differs.push(Mismatch {
                field: (*path).into(),
                said: word.into(),
                held: values[place].as_deref().map(Into::into),
            });
        }
    }
    if differs.is_empty() { Comparison::Agrees } else { Comparison::Differs(differs) }
}

/// The filters of a template that are not known.
pub fn unknown_filters(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|rest| {
        let (inside, _) = rest.split_once('}')?;
        let (_, filter) = inside.split_once('|')?;
        Filter::named(filter.trim()).is_none().then_some(filter)
    })
}

/// The template with the fields' values in place; `nothing` for a missing field.
pub fn render(template: &str, root: &Json<'_>) -> String {
    let mut text = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Fixed(fixed) => text.push_str(fixed),
            Piece::Field(path, filter) => {
                text.push_str(&filter.read(pointer::find(root, path)).unwrap_or("nothing".into()));
            }
            Piece::Word => text.push_str("{*}"),
            Piece::Any => text.push_str("{**}"),
        }
    }
    text
}

/// Whether `text` is the template with the fields' values in place.
fn matches(pieces: &[Piece<'_>], values: &[Option<Cow<'_, str>>], text: &str) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return text.is_empty() };
    let later = &values[1..];
    match piece {
        Piece::Fixed(fixed) => {
            text.strip_prefix(fixed).is_some_and(|text| matches(rest, later, text))
        }
        Piece::Field(..) => match &values[0] {
            Some(value) if !value.is_empty() => {
                text.strip_prefix(value.as_ref()).is_some_and(|text| matches(rest, later, text))
            }
            _ => false,
        },
        Piece::Word => ends(text, true).any(|at| matches(rest, later, &text[at..])),
        Piece::Any if rest.is_empty() => true,
        Piece::Any => ends(text, false).any(|at| matches(rest, later, &text[at..])),
    }
}

/// Reads what `text` says at each field; the shortest words that fit, those that agree first.
fn capture<'t>(
    pieces: &[Piece<'_>],
    values: &[Option<Cow<'_, str>>],
    text: &'t str,
    said: &mut Vec<(usize, &'t str)>,
) -> bool {
    fn step<'t>(
        place: usize,
        pieces: &[Piece<'_>],
        values: &[Option<Cow<'_, str>>],
        text: &'t str,
        said: &mut Vec<(usize, &'t str)>,
    ) -> bool {
        let Some(piece) = pieces.get(place) else { return text.is_empty() };
        match piece {
            Piece::Fixed(fixed) => text
                .strip_prefix(fixed)
                .is_some_and(|text| step(place + 1, pieces, values, text, said)),
            Piece::Word => {
                ends(text, true).any(|at| step(place + 1, pieces, values, &text[at..], said))
            }
            Piece::Any if place + 1 == pieces.len() => true,
            Piece::Any => {
                ends(text, false).any(|at| step(place + 1, pieces, values, &text[at..], said))
            }
            Piece::Field(..) => {
                let agreeing = values[place]
                    .as_deref()
                    .filter(|value| !value.is_empty() && text.starts_with(*value))
                    .map(str::len);
                for at in agreeing.into_iter().chain(ends(text, true)) {
                    let mark = said.len();
                    said.push((place, &text[..at]));
                    if step(place + 1, pieces, values, &text[at..], said) {
                        return true;
                    }
                    said.truncate(mark);
                }
                false
            }
        }
    }
    step(0, pieces, values, text, said)
}

/// The places at which a placeholder may end, nearest first: for a word, before white space or a
/// quote and after at least one character.
fn ends(text: &str, word: bool) -> impl Iterator<Item = usize> + '_ {
    let limit = if word {
        text.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`'))
            .unwrap_or(text.len())
    } else {
        text.len()
    };
    let first = usize::from(word);
    (first..=limit).filter(|&at| text.is_char_boundary(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELEASE: &str = "Helm {*} succeeded for release {s.ns}/{s.name}.v{s.version} with chart {s.chart}@{s.chartVersion}{**}";

    fn over(json: &str, template: &str, text: &str) -> Comparison {
        compare(template, text, &Json::parse(json).expect("valid"))
    }

    #[test]
    fn a_message_that_names_the_field_agrees() {
        let json = r#"{"status":{"artifact":{"revision":"main@sha1:a"}}}"#;
        let template = "stored artifact for revision '{status.artifact.revision}'";
        assert_eq!(
            over(json, template, "stored artifact for revision 'main@sha1:a'"),
            Comparison::Agrees
        );
        assert_eq!(over(json, template, "artifact is fine"), Comparison::Silent);
        let Comparison::Differs(found) =
            over(json, template, "stored artifact for revision 'main@sha1:b'")
        else {
            panic!("a mismatch")
        };
        assert_eq!(found[0].said, "main@sha1:b");
        assert_eq!(found[0].held.as_deref(), Some("main@sha1:a"));
    }

    #[test]
    fn several_fields_are_told_apart() {
        let json =
            r#"{"s":{"ns":"a","name":"b.v1","version":3,"chart":"c","chartVersion":"1.0.0"}}"#;
        let good = "Helm upgrade succeeded for release a/b.v1.v3 with chart c@1.0.0: 2 hooks";
        assert_eq!(over(json, RELEASE, good), Comparison::Agrees);
        let Comparison::Differs(found) =
            over(json, RELEASE, "Helm install succeeded for release a/b.v1.v4 with chart c@1.0.0")
        else {
            panic!("a mismatch")
        };
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].field.as_str(), found[0].said.as_str()), ("s.version", "4"));
    }

    #[test]
    fn a_count_is_of_elements() {
        let json = r#"{"status":{"inventory":[{"name":"a"},{"name":"b"}]}}"#;
        let template = "generated {status.inventory|count} artifact(s)";
        assert_eq!(over(json, template, "generated 2 artifact(s)"), Comparison::Agrees);
        let Comparison::Differs(found) = over(json, template, "generated 3 artifact(s)") else {
            panic!("a mismatch")
        };
        assert_eq!(found[0].held.as_deref(), Some("2"));
        assert_eq!(over("{}", template, "generated 0 artifact(s)"), Comparison::Agrees);
        assert!(matches!(over("{}", template, "generated 1 artifact(s)"), Comparison::Differs(_)));
    }

    #[test]
    fn versions_are_compared_without_build_metadata() {
        let json = r#"{"v":"1.2.3+4f2e5d8a1c4f"}"#;
        assert_eq!(over(json, "version {v|version}", "version 1.2.3"), Comparison::Agrees);
        assert!(matches!(
            over(json, "version {v|version}", "version 1.2.4"),
            Comparison::Differs(_)
        ));
    }

    #[test]
    fn a_template_is_rendered_with_values() {
        let json = Json::parse(r#"{"a":1}"#).expect("valid");
        assert_eq!(render("{a} is not {b.c}", &json), "1 is not nothing");
    }

    #[test]
    fn filters_take_a_part() {
        let json = r#"{"kind":"GitRepository","r":"main@sha1:abc","n":"x"}"#;
        let template = "{kind|lower}/{n}/{r|hash}.tar.gz";
        assert_eq!(over(json, template, "gitrepository/x/abc.tar.gz"), Comparison::Agrees);
        assert!(matches!(
            over(json, template, "gitrepository/x/abd.tar.gz"),
            Comparison::Differs(_)
        ));
        let legacy = r#"{"kind":"GitRepository","r":"main/abc","n":"x"}"#;
        assert_eq!(over(legacy, template, "gitrepository/x/abc.tar.gz"), Comparison::Agrees);
    }
}
