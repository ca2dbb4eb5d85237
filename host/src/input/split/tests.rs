use std::collections::VecDeque;

use super::json::MAX_JSON_DEPTH;
use super::*;

/// Yields one part at each read, as a pipe does.
struct Parts(VecDeque<Vec<u8>>);

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(part) = self.0.pop_front() else { return Ok(0) };
        buffer[..part.len()].copy_from_slice(&part);
        Ok(part.len())
    }
}

fn pieces(reader: impl Read) -> Vec<(usize, Shape, String)> {
    let mut splitter = Splitter::new(reader);
    let mut pieces = Vec::new();
    while let Some(piece) = splitter.next().unwrap() {
        let text = String::from_utf8_lossy(&piece.bytes).into_owned();
        pieces.push((piece.line, piece.shape, text));
    }
    pieces
}

/// The same pieces must come out however the bytes come in.
fn split(text: &str) -> Vec<(usize, Shape, String)> {
    let whole = pieces(text.as_bytes());
    for size in [1, 2, 3, 7] {
        let parts = Parts(text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect());
        assert_eq!(pieces(parts), whole, "in parts of {size}: {text:?}");
    }
    whole
}

fn check(text: &str, expected: &[(usize, Shape, &str)]) {
    let found = split(text);
    let found: Vec<_> = found.iter().map(|(line, shape, text)| (*line, *shape, &**text)).collect();
    assert_eq!(found, expected, "{text:?}");
}

use Shape::{BrokenJson, Garbage, Json, Yaml};

#[test]
fn yaml_documents_end_at_separators() {
    check("", &[]);
    check("\n \n---\n---\n...\n", &[]);
    check("a: 1", &[(1, Yaml, "a: 1")]);
    check("a: 1\n---\nb: 2\n", &[(1, Yaml, "a: 1\n"), (3, Yaml, "b: 2\n")]);
    check("---\na: 1\n--- # more\n\nb: 2\n---", &[(2, Yaml, "a: 1\n"), (5, Yaml, "b: 2\n")]);
    check("a: 1\r\n---\r\nb: 2\r\n", &[(1, Yaml, "a: 1\r\n"), (3, Yaml, "b: 2\r\n")]);
    check("a: 1\n...\nb: 2\n", &[(1, Yaml, "a: 1\n"), (3, Yaml, "b: 2\n")]);
    check("\u{feff}a: 1\n---\n\u{feff}b: 2\n", &[(1, Yaml, "a: 1\n"), (3, Yaml, "b: 2\n")]);
}

#[test]
fn a_document_may_begin_in_the_line_of_its_separator() {
    check(
        "--- {a: 1}\n--- |\n  text\n",
        &[(1, Yaml, "--- {a: 1}\n"), (2, Yaml, "--- |\n  text\n")],
    );
    check(
        "%YAML 1.1\n---\na: 1\n---\nb: 2\n",
        &[(1, Yaml, "%YAML 1.1\n---\na: 1\n"), (5, Yaml, "b: 2\n")],
    );
}

#[test]
fn what_only_looks_like_a_separator_does_not_split() {
    for text in [
        "a: |\n  x\n  ---\n  y\nb: 1\n",
        "a: \"x\n  --- y\"\n",
        "---a: 1\n",
        "----\n",
        "a: 1\n ---\n",
        "a: x\n  ...\n",
        "....\n",
    ] {
        check(text, &[(1, Yaml, text)]);
    }
}

#[test]
fn json_values_end_with_their_bracket() {
    check("{}", &[(1, Json, "{}")]);
    check("{\"a\": \"}\\\"\"}\n[]\n", &[(1, Json, "{\"a\": \"}\\\"\"}"), (2, Json, "[]")]);
    check(
        "{\n  \"a\": [\n{\n}\n]\n}\n{\n  \"b\": 1\n}",
        &[(1, Json, "{\n  \"a\": [\n{\n}\n]\n}"), (7, Json, "{\n  \"b\": 1\n}")],
    );
    check(
        "{\"a\":1}{\"b\":2} \t[{\"c\":3}]\r\n",
        &[(1, Json, "{\"a\":1}"), (1, Json, "{\"b\":2}"), (1, Json, "[{\"c\":3}]")],
    );
}

#[test]
fn json_and_yaml_may_follow_each_other() {
    check(
        "a: 1\n---\n{\"b\": 2}\n---\nc: 3\n",
        &[(1, Yaml, "a: 1\n"), (3, Json, "{\"b\": 2}"), (5, Yaml, "c: 3\n")],
    );
    check("# comment\n{\"a\": 1}\n", &[(1, Yaml, "# comment\n"), (2, Json, "{\"a\": 1}")]);
    check("Warning: old\n{\"a\": 1}\n", &[(1, Yaml, "Warning: old\n"), (2, Json, "{\"a\": 1}")]);
}

#[test]
fn flow_style_is_yaml() {
    for text in ["{a: 1,\nb: {\n\"c\": 2}}\n", "[a, b]\n", "{ a: '}' }\n"] {
        check(text, &[(1, Yaml, text)]);
    }
}

#[test]
fn broken_json_does_not_swallow_what_follows() {
    // Cut off within a string, within an object, after a comma; at the end.
    for broken in
        ["{\"a\":\"b\n", "{\"a\":{\"b\":1\n", "{\"a\":{\"b\":1,\n", "{\"a\":[1}\n", "{\"a\":\n"]
    {
        let text = format!("{{\"x\":1}}\n{broken}{{\"y\":2}}\n{{\"z\":3}}\n");
        check(
            &text,
            &[
                (1, Json, "{\"x\":1}"),
                (2, BrokenJson, broken),
                (3, Json, "{\"y\":2}"),
                (4, Json, "{\"z\":3}"),
            ],
        );
    }
    check("{\"x\":1}\n{\"a\":{\"b", &[(1, Json, "{\"x\":1}"), (2, BrokenJson, "{\"a\":{\"b")]);
    check("{\"a\":{\n---\nb: 1\n", &[(1, BrokenJson, "{\"a\":{\n"), (3, Yaml, "b: 1\n")]);
}

#[test]
fn garbage_behind_json_is_one_piece() {
    check(
        "{\"a\":1} x\n{\"b\":2}\n",
        &[(1, Json, "{\"a\":1}"), (1, Garbage, "x\n"), (2, Json, "{\"b\":2}")],
    );
    check(
        "{\"a\":1}\nE0527 cut\noff\n{\"b\":2}\n---\nc: 1\n",
        &[
            (1, Json, "{\"a\":1}"),
            (2, Garbage, "E0527 cut\noff\n"),
            (4, Json, "{\"b\":2}"),
            (6, Yaml, "c: 1\n"),
        ],
    );
}

#[test]
fn nesting_has_a_limit() {
    let deep = "[".repeat(MAX_JSON_DEPTH + 1);
    assert_eq!(split(&deep), [(1, BrokenJson, deep.clone())]);
}

/// Fails the test if it is read from before the documents it yielded were taken.
struct Live {
    parts: VecDeque<&'static str>,
    read: std::rc::Rc<std::cell::Cell<usize>>,
}

impl Read for Live {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read.set(self.read.get() + 1);
        let Some(part) = self.parts.pop_front() else { return Ok(0) };
        buffer[..part.len()].copy_from_slice(part.as_bytes());
        Ok(part.len())
    }
}

#[test]
fn documents_are_complete_as_soon_as_they_can_be() {
    let read = std::rc::Rc::default();
    let parts = ["{\"a\":1}\n", "{\"b\":", "2}", "\n---\nc: 1\n", "---\nd: 2\n"];
    let live = Live { parts: parts.into(), read: std::rc::Rc::clone(&read) };
    let mut splitter = Splitter::new(live);
    let mut next = || (splitter.next().unwrap().map(|piece| piece.bytes), read.get());
    assert_eq!(next(), (Some(b"{\"a\":1}".to_vec()), 1));
    assert_eq!(next(), (Some(b"{\"b\":2}".to_vec()), 3));
    assert_eq!(next(), (Some(b"c: 1\n".to_vec()), 5));
    assert_eq!(next().0, Some(b"d: 2\n".to_vec()));
    assert_eq!(next().0, None);
}
