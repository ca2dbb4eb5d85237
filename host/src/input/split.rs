//! Splits a stream of bytes into documents, each as soon as it is complete.
//!
//! ```text
//! bytes ─▶ line at column 0 ─┬─ `---`, `...`   ends a document
//!                            ├─ `{"…`, `[…`    begins a JSON value, which ends with its bracket
//!                            └─ anything else  belongs to a YAML document
//! ```
//!
//! A line that begins with `---` in column 0 separates documents wherever it stands: YAML forbids
//! it inside a document, in block and quoted scalars alike (YAML 1.2.2, `c-forbidden`), and block
//! scalars are indented. So no parser is needed to split, and a broken document cannot swallow
//! its successors.

mod json;

use std::io::{self, Read};

use json::{JsonScan, Progress};

/// A document larger than this is refused: 256 MiB, several times the largest `kubectl get -A`
/// of a big cluster.
const MAX_DOCUMENT_BYTES: usize = 256 * 1024 * 1024;

/// Bytes asked of the reader at a time.
const CHUNK_BYTES: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One document as it stands in the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// 1-based line of the input at which it begins.
    pub(super) line: usize,
    /// What it looks like.
    pub(super) shape: Shape,
}

/// What a document looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A JSON object or array whose brackets are balanced.
    Json,
    /// Begins like JSON; a bracket, a string or the end is wrong.
    BrokenJson,
    /// YAML.
    Yaml,
    /// Text after a JSON value that begins nothing.
    Garbage,
    /// Larger than the limit; `bytes` is empty.
    TooLarge,
}

/// Reads documents from `reader`.
pub(super) struct Splitter<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Where the next document begins in `buffer`.
    start: usize,
    /// Line of the input at `start`.
    line: usize,
    ended: bool,
    /// The last document was JSON, and `start` may stand within its line.
    after_json: bool,
}

/// What stands at the start of a document.
enum Begin {
    End,
    Json,
    Yaml { flow: bool },
    Garbage,
}

impl<R: Read> Splitter<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, line: 1, ended: false, after_json: false }
    }

    /// Returns the next document, or nothing at the end of the input.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece>> {
        self.compact();
        match self.begin()? {
            Begin::End => Ok(None),
            Begin::Json => self.json().map(Some),
            Begin::Yaml { flow } => self.yaml(flow).map(Some),
            Begin::Garbage => {
                let end = self.boundary(self.start)?;
                Ok(Some(self.take(end, Shape::Garbage)))
            }
        }
    }

    /// Passes over blank lines and separators and says what comes then.
    fn begin(&mut self) -> io::Result<Begin> {
        if self.after_json && !self.finish_json_line()? {
            return Ok(Begin::Garbage);
        }
        loop {
            let mut at = self.start;
            while matches!(self.byte(at)?, Some(b' ' | b'\t' | b'\r')) {
                at += 1;
            }
            let Some(byte) = self.byte(at)? else {
                self.advance(at);
                return Ok(Begin::End);
            };
            if byte == b'\n' {
                self.advance(at + 1);
                continue;
            }
            if byte == BYTE_ORDER_MARK[0] && self.has(at, BYTE_ORDER_MARK)? {
                self.advance(at + BYTE_ORDER_MARK.len());
                continue;
            }
            if byte == b'{' || byte == b'[' {
                let json = self.is_json(at)?;
                return Ok(if json { Begin::Json } else { Begin::Yaml { flow: true } });
            }
            let end = self.line_end(self.start)?;
            match marker(&self.buffer[self.start..end]) {
                Some(Marker::Separator { bare: true } | Marker::End) => {
                    self.after_json = false;
                    self.advance(end);
                }
                Some(Marker::Separator { bare: false }) => {
                    self.after_json = false;
                    return Ok(Begin::Yaml { flow: true });
                }
                None if self.after_json && byte != b'#' => return Ok(Begin::Garbage),
                None => return Ok(Begin::Yaml { flow: false }),
            }
        }
    }

    /// Whether only another value, or nothing, stands behind the last JSON value in its line.
    fn finish_json_line(&mut self) -> io::Result<bool> {
        let mut at = self.start;
        while matches!(self.byte(at)?, Some(b' ' | b'\t' | b'\r')) {
            at += 1;
        }
        self.advance(at);
        Ok(matches!(self.byte(at)?, None | Some(b'\n' | b'{' | b'[')) || self.at_line_start())
    }

    fn at_line_start(&self) -> bool {
        self.start > 0 && self.buffer[self.start - 1] == b'\n'
    }

    /// Whether the bracket at `at` begins JSON rather than YAML's flow style.
    fn is_json(&mut self, at: usize) -> io::Result<bool> {
        let array = self.buffer[at] == b'[';
        let mut next = at + 1;
        while matches!(self.byte(next)?, Some(b' ' | b'\t' | b'\r' | b'\n')) {
            next += 1;
        }
        Ok(match self.byte(next)? {
            Some(b'"') | None => true,
            Some(b'}') => !array,
            Some(b']' | b'{' | b'[') => array,
            _ => false,
        })
    }

    fn yaml(&mut self, flow: bool) -> io::Result<Piece> {
        self.after_json = false;
        // Before `---` there may be directives, which belong to what follows.
        let mut prologue = true;
        let mut directives = false;
        let mut at = self.start;
        loop {
            if at - self.start > MAX_DOCUMENT_BYTES {
                return self.too_large();
            }
            if self.byte(at)?.is_none() {
                return Ok(self.take(at, Shape::Yaml));
            }
            let end = self.line_end(at)?;
            let line = &self.buffer[at..end];
            if at > self.start || prologue {
                match marker(line) {
                    Some(Marker::End) => {
                        let piece = self.take(at, Shape::Yaml);
                        let end = self.line_end(self.start)?;
                        self.advance(end);
                        return Ok(piece);
                    }
                    Some(Marker::Separator { .. }) if prologue && directives => directives = false,
                    Some(Marker::Separator { .. }) if at > self.start => {
                        return Ok(self.take(at, Shape::Yaml));
                    }
                    None if !flow && at > self.start && begins_json(line) => {
                        return Ok(self.take(at, Shape::Yaml));
                    }
                    Some(Marker::Separator { .. }) | None => {}
                }
            }
            let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
            match first {
                Some(b'%') if prologue => directives = true,
                None | Some(b'#') => {}
                Some(_) => prologue = false,
            }
            at = end;
        }
    }

    fn json(&mut self) -> io::Result<Piece> {
        let mut scan = JsonScan::default();
        let mut at = self.start;
        let end = loop {
            if at - self.start > MAX_DOCUMENT_BYTES {
                return self.too_large();
            }
            if at == self.buffer.len() && !self.fill()? {
                break None;
            }
            match scan.scan(&self.buffer, &mut at) {
                Progress::More => {}
                Progress::Complete => break Some(at),
                Progress::Broken => break None,
            }
        };
        if let Some(end) = end {
            self.after_json = true;
            return Ok(self.take(end, Shape::Json));
        }
        let next_line = self.line_end(self.start)?;
        let end = self.boundary(next_line)?;
        self.after_json = true;
        Ok(self.take(end, Shape::BrokenJson))
    }

    /// Where the next line begins, at or behind `at`, that can begin a document.
    fn boundary(&mut self, mut at: usize) -> io::Result<usize> {
        if at == self.start {
            at = self.line_end(at)?;
        }
        while self.byte(at)?.is_some() {
            let end = self.line_end(at)?;
            let line = &self.buffer[at..end];
            if marker(line).is_some() || begins_json(line) || at - self.start > MAX_DOCUMENT_BYTES {
                break;
            }
            at = end;
        }
        Ok(at)
    }

    /// Drops the rest of a document that is too large.
    fn too_large(&mut self) -> io::Result<Piece> {
        let line = self.line;
        self.after_json = false;
        self.advance(self.buffer.len());
        loop {
            self.compact();
            let end = self.line_end(self.start)?;
            self.advance(end);
            if self.byte(self.start)?.is_none() {
                break;
            }
            let end = self.line_end(self.start)?;
            let line = &self.buffer[self.start..end];
            if marker(line).is_some() || begins_json(line) {
                break;
            }
        }
        Ok(Piece { bytes: Vec::new(), line, shape: Shape::TooLarge })
    }

    fn take(&mut self, end: usize, shape: Shape) -> Piece {
        let piece = Piece { bytes: self.buffer[self.start..end].to_vec(), line: self.line, shape };
        self.advance(end);
        piece
    }

    fn advance(&mut self, to: usize) {
        self.line += count_lines(&self.buffer[self.start..to]);
        self.start = to;
    }

    fn byte(&mut self, at: usize) -> io::Result<Option<u8>> {
        while at >= self.buffer.len() {
            if !self.fill()? {
                return Ok(None);
            }
        }
        Ok(Some(self.buffer[at]))
    }

    fn has(&mut self, at: usize, bytes: &[u8]) -> io::Result<bool> {
        for (offset, byte) in bytes.iter().enumerate() {
            if self.byte(at + offset)? != Some(*byte) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Where the line at `from` ends, its line feed included.
    fn line_end(&mut self, from: usize) -> io::Result<usize> {
        let mut at = from;
        loop {
            if let Some(offset) = self.buffer[at..].iter().position(|byte| *byte == b'\n') {
                return Ok(at + offset + 1);
            }
            at = self.buffer.len();
            if at - from > MAX_DOCUMENT_BYTES || !self.fill()? {
                return Ok(at);
            }
        }
    }

    /// Reads what is there, without waiting for a full buffer. False at the end of the input.
    /// Positions in the buffer stay valid.
    fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let length = self.buffer.len();
        self.buffer.resize(length + CHUNK_BYTES, 0);
        let read = loop {
            match self.reader.read(&mut self.buffer[length..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(length + *read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        Ok(!self.ended)
    }

    /// Frees what was taken. Positions other than `start` are void afterwards.
    fn compact(&mut self) {
        // Moving the rest is paid for by at least as many bytes taken.
        if self.start >= self.buffer.len() - self.start {
            // The byte before `start` tells whether a line begins there.
            let keep = self.start.saturating_sub(1);
            self.buffer.drain(..keep);
            self.start -= keep;
        }
    }
}

#[expect(clippy::naive_bytecount, reason = "the compiler makes vectors of it")]
pub(super) fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

enum Marker {
    /// `---`; bare if nothing but a comment follows in its line.
    Separator { bare: bool },
    /// `...`
    End,
}

fn marker(line: &[u8]) -> Option<Marker> {
    let (head, rest) = line.split_at_checked(3)?;
    if rest.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
        return None;
    }
    match head {
        b"---" => {
            let first = rest.iter().find(|byte| !byte.is_ascii_whitespace());
            Some(Marker::Separator { bare: matches!(first, None | Some(b'#')) })
        }
        b"..." => Some(Marker::End),
        _ => None,
    }
}

/// Whether a line can only begin a JSON object, not go on with a YAML document.
fn begins_json(line: &[u8]) -> bool {
    let mut bytes = line.iter();
    bytes.next() == Some(&b'{')
        && matches!(bytes.find(|byte| !byte.is_ascii_whitespace()), None | Some(b'"'))
}

#[cfg(test)]
mod tests;
