//! Finds where a JSON Pointer leads in the text of a document.
//!
//! Findings carry pointers, never positions. Only documents with findings are read again here,
//! this time as a tree of byte ranges.

mod json;
mod yaml;

use std::ops::Range;

use super::{Document, Syntax};

/// Where a pointer leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Bytes of the key in the document's text, quotes included; none for an element of a
    /// sequence and for the root.
    pub key: Option<Range<usize>>,
    /// Bytes of the value. Those of the key where the value is empty (`key:`). Of an alias, those
    /// of what it stands for.
    pub value: Range<usize>,
    /// The pointer that is located: the one asked for, or its nearest ancestor that exists.
    pub pointer: String,
    /// Whether `pointer` is the one asked for.
    pub exact: bool,
}

/// Returns where `pointer` leads in `document`, counted from the document's root: an item's base
/// followed by the path of the finding. Nothing if the text is not what it says it is.
///
/// Reads the whole document; for more than one pointer make a [`Locator`].
pub fn locate(document: &Document, pointer: &str) -> Option<Location> {
    Locator::new(document)?.locate(pointer)
}

/// The positions of everything in one document.
#[derive(Debug)]
pub struct Locator {
    nodes: Vec<Node>,
    root: usize,
}

#[derive(Debug)]
struct Node {
    range: Range<usize>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Scalar,
    Sequence(Vec<usize>),
    Mapping(Vec<Entry>),
    Alias(usize),
}

#[derive(Debug)]
struct Entry {
    key: String,
    range: Range<usize>,
    value: usize,
}

/// Aliases that lead to aliases are followed this far.
const MAX_ALIASES: usize = 16;

impl Locator {
    /// Reads the positions of `document`; nothing if its text is not what it says it is.
    pub fn new(document: &Document) -> Option<Self> {
        Self::of_text(&document.text, document.syntax)
    }

    pub(super) fn of_text(text: &str, syntax: Syntax) -> Option<Self> {
        let mut nodes = Vec::new();
        let root = match syntax {
            Syntax::Json => json::read(text, &mut nodes)?,
            Syntax::Yaml => yaml::read(text, &mut nodes)?,
        };
        for node in &mut nodes {
            let trimmed = text[node.range.clone()].trim_end().len();
            node.range.end = node.range.start + trimmed;
        }
        Some(Self { nodes, root })
    }

    /// Returns where `pointer` leads, counted from the document's root.
    pub fn locate(&self, pointer: &str) -> Option<Location> {
        let mut node = self.follow(self.root);
        let mut location = Location {
            key: None,
            value: self.nodes[node].range.clone(),
            pointer: String::new(),
            exact: pointer.is_empty(),
        };
        let tokens = pointer.strip_prefix('/').map(|tokens| tokens.split('/'));
        for token in tokens.into_iter().flatten() {
            let name = token.replace("~1", "/").replace("~0", "~");
            let Some((key, value)) = self.child(node, &name) else {
                location.exact = false;
                return Some(location);
            };
            node = self.follow(value);
            let range = &self.nodes[node].range;
            location.value = match &key {
                Some(key) if range.is_empty() => key.clone(),
                _ => range.clone(),
            };
            location.key = key;
            location.pointer.push('/');
            location.pointer.push_str(token);
            location.exact = true;
        }
        Some(location)
    }

    fn child(&self, node: usize, name: &str) -> Option<(Option<Range<usize>>, usize)> {
        match &self.nodes[node].content {
            Content::Scalar | Content::Alias(_) => None,
            Content::Sequence(elements) => {
                let element = elements.get(name.parse::<usize>().ok()?)?;
                Some((None, *element))
            }
            Content::Mapping(entries) => {
                // The last one wins where JSON repeats a key.
                let own = entries.iter().rev().find(|entry| entry.key == name);
                if let Some(entry) = own {
                    return Some((Some(entry.range.clone()), entry.value));
                }
                let merged = entries.iter().find(|entry| entry.key == "<<")?;
                self.merged(self.follow(merged.value), name)
            }
        }
    }

    /// What `<<` brings in: a mapping, or the first of several that has the key.
    fn merged(&self, node: usize, name: &str) -> Option<(Option<Range<usize>>, usize)> {
        match &self.nodes[node].content {
            Content::Sequence(elements) => elements
                .iter()
                .map(|element| self.follow(*element))
                .filter(|element| matches!(self.nodes[*element].content, Content::Mapping(_)))
                .find_map(|element| self.child(element, name)),
            Content::Mapping(_) => self.child(node, name),
            Content::Scalar | Content::Alias(_) => None,
        }
    }

    fn follow(&self, mut node: usize) -> usize {
        for _ in 0..MAX_ALIASES {
            match self.nodes[node].content {
                Content::Alias(target) => node = target,
                _ => break,
            }
        }
        node
    }
}

#[cfg(test)]
mod tests;
