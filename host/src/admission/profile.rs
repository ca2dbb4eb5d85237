//! The parts of a profile that become CEL; `policy/src/profile/schema.rs` has all of them.

use serde::Deserialize;

/// A profile, as far as it speaks of texts that repeat fields.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// Field paths of the condition lists, the main one first.
    pub conditions: Vec<String>,
    /// Condition types that must all be True for the object to be ready.
    pub happy: Vec<String>,
    /// Texts that repeat the value of a field.
    pub witnesses: Vec<Witness>,
}

/// A text that repeats the value of a field.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Witness {
    /// The condition whose message is the text; empty for the text of a field.
    pub condition: String,
    /// The condition's status; `True` if empty.
    pub status: String,
    /// The condition's reason is one of these; any if empty.
    pub reasons: Vec<String>,
    /// The templates, of which one may match.
    pub text: Vec<String>,
    /// Tests that must all hold for the witness to speak.
    pub when: Vec<Test>,
    /// A field that is missing is fine.
    pub optional: bool,
    /// The text names what the field does not hold so far.
    pub outdated: bool,
}

/// One test.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Test {
    /// A condition type of the main list.
    pub condition: String,
    /// The condition's status is one of these.
    pub status: Vec<String>,
    /// The condition's reason is one of these.
    pub reason: Vec<String>,
    /// A field path.
    pub field: String,
    /// The field's value is one of these, as text.
    #[serde(rename = "in")]
    pub one_of: Vec<String>,
    /// The field is missing, or its value is none of these.
    pub not_in: Vec<String>,
    /// Whether the condition exists.
    pub exists: Option<bool>,
    /// What else the test asks.
    #[serde(flatten)]
    pub more: serde_json::Map<String, serde_json::Value>,
}

/// One piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Fixed text.
    Fixed(&'t str),
    /// The value at a field path, and the name of a filter.
    Field(&'t str, &'t str),
    /// `{*}`: a word without white space or quotes.
    Word,
    /// `{**}`: any text, also none.
    Any,
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
        pieces.push(match path.trim() {
            "*" => Piece::Word,
            "**" => Piece::Any,
            path => Piece::Field(path, filter.trim()),
        });
        rest = tail;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Fixed(rest));
    }
    pieces
}

/// One step of a field path that leads to one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'p> {
    /// A member of an object.
    Key(&'p str),
    /// An element of a list.
    Index(usize),
}

/// The steps of a field path; nothing for a path that leads to many places.
pub fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix("['") {
            let (key, after) = inside.split_once("']")?;
            steps.push(Step::Key(key));
            rest = after;
        } else if let Some(inside) = rest.strip_prefix('[') {
            let (index, after) = inside.split_once(']')?;
            steps.push(Step::Index(index.parse().ok()?));
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            steps.push(Step::Key(key));
            rest = after;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    (!steps.is_empty()).then_some(steps)
}
