//! Reads the documents of one input, each as soon as it is complete.

use std::collections::VecDeque;
use std::fmt::{self, Debug, Formatter};
use std::io::Read;
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::locate::Locator;
use super::recognise::{Contents, recognise, without_position};
use super::split::{Piece, Shape, Splitter, count_lines};
use super::yaml::YamlError;
use super::{Document, Syntax, Unreadable, redact, yaml};

/// The documents of one input, in order, with what could not be read in between.
///
/// Ends at the end of the input or where it cannot be read any further.
pub struct Documents {
    input: Arc<str>,
    splitter: Splitter<Box<dyn Read + Send>>,
    number: usize,
    /// What is known of the document that was read last.
    ready: VecDeque<Result<Document, Unreadable>>,
    ended: bool,
}

impl Documents {
    /// Returns the documents that `reader` yields, under the input's name.
    pub fn new(input: impl Into<Arc<str>>, reader: impl Read + Send + 'static) -> Self {
        Self {
            input: input.into(),
            splitter: Splitter::new(Box::new(reader)),
            number: 0,
            ready: VecDeque::new(),
            ended: false,
        }
    }

    fn read(&mut self, piece: Piece) {
        let Piece { bytes, line, shape } = piece;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                self.number += 1;
                let valid = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                let line = line + count_lines(&bytes[..valid]);
                return self.unreadable(Some(line), not_utf8(&bytes));
            }
        };
        if shape == Shape::Yaml && is_blank(&text) {
            return;
        }
        self.number += 1;
        match parse(text, shape) {
            Ok(None) => self.number -= 1,
            Ok(Some(parsed)) => self.document(parsed, line),
            Err(error) => {
                let line = error.line.map_or(line, |within| line + within - 1);
                self.unreadable(Some(line), error.message);
            }
        }
    }

    fn document(&mut self, parsed: Parsed, line: usize) {
        let Parsed { text, syntax, contents: Contents { items, problems } } = parsed;
        if !problems.is_empty() {
            let locator = Locator::of_text(&text, syntax);
            for problem in problems {
                let place = locator.as_ref().and_then(|locator| locator.locate(&problem.base));
                let within =
                    place.map_or(0, |place| count_lines(&text.as_bytes()[..place.value.start]));
                let message = match problem.base.as_str() {
                    "" => problem.message,
                    base => format!("{base}: {}", problem.message),
                };
                let error = self.error(Some(line + within), message);
                self.ready.push_back(Err(error));
            }
            if items.is_empty() {
                return;
            }
        }
        let document = Document {
            input: Arc::clone(&self.input),
            number: self.number,
            line,
            text: text.into(),
            syntax,
            items,
        };
        self.ready.push_front(Ok(document));
    }

    fn unreadable(&mut self, line: Option<usize>, message: impl Into<String>) {
        let error = self.error(line, message.into());
        self.ready.push_back(Err(error));
    }

    fn error(&self, line: Option<usize>, message: String) -> Unreadable {
        Unreadable { input: Arc::clone(&self.input), document: Some(self.number), line, message }
    }
}

impl Iterator for Documents {
    type Item = Result<Document, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            if self.ended {
                return None;
            }
            match self.splitter.next() {
                Ok(Some(piece)) => self.read(piece),
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(Unreadable {
                        input: Arc::clone(&self.input),
                        document: None,
                        line: None,
                        message: format!("failed to read: {error}"),
                    }));
                }
            }
        }
    }
}

impl Debug for Documents {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Documents")
            .field("input", &self.input)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// A document, its text without secrets.
struct Parsed {
    text: String,
    syntax: Syntax,
    contents: Contents,
}

/// Returns what a document holds; nothing if it is empty.
fn parse(text: String, shape: Shape) -> Result<Option<Parsed>, YamlError> {
    let (syntax, json) = match shape {
        Shape::Garbage => return Err(whole("expected a JSON value or `---` behind the last one")),
        Shape::TooLarge => return Err(whole("a document of more than 256 MiB")),
        Shape::Json | Shape::BrokenJson => match serde_json::from_str::<IgnoredAny>(&text) {
            Ok(IgnoredAny) => (Syntax::Json, None),
            // YAML's flow style may look like JSON at first.
            Err(error) => match yaml::to_json(&text) {
                Ok(json) if json.starts_with(['{', '[']) => (Syntax::Yaml, Some(json)),
                _ => return Err(not_json(&error)),
            },
        },
        Shape::Yaml => match yaml::to_json(&text) {
            Ok(json) => (Syntax::Yaml, Some(json)),
            Err(YamlError { line, message }) => {
                return Err(YamlError { line, message: format!("not YAML: {message}") });
            }
        },
    };
    if json.as_deref() == Some("null") {
        return Ok(None);
    }
    if !redact::suspects(&text) {
        let contents = recognise(json.as_deref().unwrap_or(&text));
        return Ok(Some(Parsed { text, syntax, contents }));
    }
    let json = json.unwrap_or_else(|| text.clone());
    let text = redact::redact(text, &json, syntax)
        .ok_or_else(|| whole("holds a Secret whose data cannot be left out"))?;
    let contents = match syntax {
        Syntax::Json => recognise(&text),
        Syntax::Yaml => recognise(&yaml::to_json(&text)?),
    };
    Ok(Some(Parsed { text, syntax, contents }))
}

fn whole(message: &str) -> YamlError {
    YamlError { line: None, message: message.to_owned() }
}

fn not_json(error: &serde_json::Error) -> YamlError {
    let message = error.to_string();
    let message = without_position(&message);
    let message = if error.is_eof() {
        format!("the JSON value is cut off: {message}")
    } else {
        format!("not JSON: {message}")
    };
    YamlError { line: Some(error.line().max(1)), message }
}

/// Whether a YAML document holds nothing but comments and markers.
fn is_blank(text: &str) -> bool {
    text.lines().all(|line| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with(['#', '%'])
    })
}

fn not_utf8(bytes: &[u8]) -> &'static str {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            "not UTF-8 but UTF-16; expected YAML or JSON in UTF-8"
        }
        [0x1f, 0x8b, ..] => "compressed by gzip; expected YAML or JSON",
        _ => "not UTF-8; expected YAML or JSON",
    }
}

#[cfg(test)]
mod tests;
