//! Positions in YAML.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_saphyr::granit_parser::{Event, Parser};

use super::{Content, Entry, Node};

/// A collection that is not closed yet.
struct Open {
    node: usize,
    /// The key that waits for its value, in a mapping.
    key: Option<(String, Range<usize>)>,
}

pub(super) fn read(text: &str, nodes: &mut Vec<Node>) -> Option<usize> {
    let mut open: Vec<Open> = Vec::new();
    let mut anchors = BTreeMap::new();
    let mut root = None;
    for next in Parser::new_from_str(text) {
        let (event, span) = next.ok()?;
        let range = span.byte_range()?;
        let (content, anchor, name) = match event {
            Event::Scalar(value, _, anchor, _) => (Content::Scalar, anchor, value.into_owned()),
            Event::SequenceStart(_, anchor, _) => {
                (Content::Sequence(Vec::new()), anchor, String::new())
            }
            Event::MappingStart(_, anchor, _) => {
                (Content::Mapping(Vec::new()), anchor, String::new())
            }
            Event::Alias(anchor) => (Content::Alias(*anchors.get(&anchor)?), 0, String::new()),
            Event::SequenceEnd | Event::MappingEnd => {
                let closed = open.pop()?.node;
                nodes[closed].range.end = end(nodes, closed, &range);
                continue;
            }
            Event::DocumentEnd => break,
            _ => continue,
        };
        let node = nodes.len();
        let opens = matches!(content, Content::Sequence(_) | Content::Mapping(_));
        nodes.push(Node { range: range.clone(), content });
        if anchor != 0 {
            anchors.insert(anchor, node);
        }
        match open.last_mut() {
            None => root = Some(node),
            Some(parent) => match (&mut nodes[parent.node].content, parent.key.take()) {
                (Content::Sequence(elements), _) => elements.push(node),
                (Content::Mapping(entries), Some((key, range))) => {
                    entries.push(Entry { key, range, value: node });
                }
                (Content::Mapping(_), None) => parent.key = Some((name, range)),
                (Content::Scalar | Content::Alias(_), _) => return None,
            },
        }
        if opens {
            open.push(Open { node, key: None });
        }
    }
    root
}

/// A collection in flow style ends with its bracket; one in block style has no end of its own and
/// ends with its last part.
fn end(nodes: &[Node], node: usize, closing: &Range<usize>) -> usize {
    if !closing.is_empty() {
        return closing.end;
    }
    let last = match &nodes[node].content {
        Content::Sequence(elements) => elements.last().map(|element| nodes[*element].range.end),
        Content::Mapping(entries) => {
            entries.last().map(|entry| nodes[entry.value].range.end.max(entry.range.end))
        }
        Content::Scalar | Content::Alias(_) => None,
    };
    last.unwrap_or(closing.end)
}
