//! Positions in JSON.

use super::{Content, Entry, Node};

/// Deeper nesting than the reader lets through is not located.
const MAX_DEPTH: usize = 1_000;

pub(super) fn read(text: &str, nodes: &mut Vec<Node>) -> Option<usize> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, nodes };
    reader.value(0)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    nodes: &'a mut Vec<Node>,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<usize> {
        if depth > MAX_DEPTH {
            return None;
        }
        let start = self.skip_blank()?;
        let content = match self.bytes[start] {
            b'{' => Content::Mapping(self.entries(depth)?),
            b'[' => Content::Sequence(self.elements(depth)?),
            b'"' => {
                self.string()?;
                Content::Scalar
            }
            _ => {
                let rest = &self.bytes[start..];
                let length = rest
                    .iter()
                    .position(|byte| byte.is_ascii_whitespace() || b",]}:".contains(byte))
                    .unwrap_or(rest.len());
                self.at += length;
                Content::Scalar
            }
        };
        self.nodes.push(Node { range: start..self.at, content });
        Some(self.nodes.len() - 1)
    }

    fn entries(&mut self, depth: usize) -> Option<Vec<Entry>> {
        let mut entries = Vec::new();
        self.at += 1;
        loop {
            let start = self.skip_blank()?;
            match self.bytes[start] {
                b'}' => {
                    self.at += 1;
                    return Some(entries);
                }
                b',' => self.at += 1,
                b'"' => {
                    self.string()?;
                    let range = start..self.at;
                    let key = serde_json::from_str(&self.text[range.clone()]).ok()?;
                    let colon = self.skip_blank()?;
                    if self.bytes[colon] != b':' {
                        return None;
                    }
                    self.at += 1;
                    let value = self.value(depth + 1)?;
                    entries.push(Entry { key, range, value });
                }
                _ => return None,
            }
        }
    }

    fn elements(&mut self, depth: usize) -> Option<Vec<usize>> {
        let mut elements = Vec::new();
        self.at += 1;
        loop {
            let start = self.skip_blank()?;
            match self.bytes[start] {
                b']' => {
                    self.at += 1;
                    return Some(elements);
                }
                b',' => self.at += 1,
                b'}' | b':' => return None,
                _ => elements.push(self.value(depth + 1)?),
            }
        }
    }

    /// Passes over a string; stands at its opening quote.
    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }

    fn skip_blank(&mut self) -> Option<usize> {
        while self.bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        Some(self.at)
    }
}
