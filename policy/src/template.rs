//! Witness templates: `stored artifact for revision '{status.artifact.revision}'`.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Json;
use crate::pointer;

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

/// What a placeholder takes of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// All of it.
    Whole,
    /// What follows its last `:`, or all of it where there is none.
    Hash,
    /// All of it in lower case.
    Lower,
}

impl Filter {
    fn apply(self, value: Cow<'_, str>) -> Cow<'_, str> {
        match self {
            Filter::Whole => value,
            Filter::Hash => match value.rfind(':') {
                Some(at) => match value {
                    Cow::Borrowed(text) => Cow::Borrowed(&text[at + 1..]),
                    Cow::Owned(text) => Cow::Owned(text[at + 1..].into()),
                },
                None => value,
            },
            Filter::Lower => Cow::Owned(value.to_lowercase()),
        }
    }
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
            (path, "hash") => Piece::Field(path, Filter::Hash),
            (path, "lower") => Piece::Field(path, Filter::Lower),
            (path, _) => Piece::Field(path, Filter::Whole),
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
            Piece::Field(path, filter) => {
                pointer::find(root, path)?.scalar().map(|value| filter.apply(value))
            }
            _ => None,
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
        let Piece::Field(path, _) = piece else { continue };
        let Some(&(_, word)) = said.iter().find(|(at, _)| *at == place) else { continue };
        if values[place].as_deref() != Some(word) {
            differs.push(Mismatch {
                field: (*path).into(),
                said: word.into(),
                held: values[place].as_deref().map(Into::into),
            });
        }
    }
    if differs.is_empty() { Comparison::Agrees } else { Comparison::Differs(differs) }
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
    fn filters_take_a_part() {
        let json = r#"{"kind":"GitRepository","r":"main@sha1:abc","n":"x"}"#;
        let template = "{kind|lower}/{n}/{r|hash}.tar.gz";
        assert_eq!(over(json, template, "gitrepository/x/abc.tar.gz"), Comparison::Agrees);
        assert!(matches!(
            over(json, template, "gitrepository/x/abd.tar.gz"),
            Comparison::Differs(_)
        ));
    }
}
