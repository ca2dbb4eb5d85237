//! JSON Pointers (RFC 6901), and the field paths that profiles are written in.
//!
//! A field path is what a kubectl user writes: `status.history[0].chartVersion`,
//! `metadata.annotations['example.com/token']`, `status.listeners[*].conditions`,
//! `status.conditions[type=Ready].message`, `status.racks[*].members` also where `racks` is a map.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::Json;

/// Appends one reference token, escaped.
pub fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// One step of a field path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'p> {
    /// A member of an object.
    Key(&'p str),
    /// An element of an array.
    Index(usize),
    /// Every element of an array, or every value of a map.
    All,
    /// The elements of an array whose member has this value.
    Match(&'p str, &'p str),
}

/// The steps of a field path, read as they are asked for.
#[derive(Debug, Clone)]
pub struct Steps<'p>(&'p str);

/// The steps of `path`.
pub fn steps(path: &str) -> Steps<'_> {
    Steps(path)
}

impl<'p> Iterator for Steps<'p> {
    type Item = Step<'p>;

    fn next(&mut self) -> Option<Step<'p>> {
        let path = self.0;
        if path.is_empty() {
            return None;
        }
        if let Some(rest) = path.strip_prefix('[') {
            if let Some(quoted) = rest.strip_prefix('\'') {
                let (key, after) = quoted.split_once("']").unwrap_or((quoted, ""));
                self.0 = after.strip_prefix('.').unwrap_or(after);
                return Some(Step::Key(key));
            }
            let (inside, after) = rest.split_once(']').unwrap_or((rest, ""));
            self.0 = after.strip_prefix('.').unwrap_or(after);
            if inside == "*" {
                return Some(Step::All);
            }
            if let Some((key, value)) = inside.split_once('=') {
                return Some(Step::Match(key, value));
            }
            return Some(inside.parse().map_or(Step::Key(inside), Step::Index));
        }
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (key, after) = path.split_at(end);
        self.0 = after.strip_prefix('.').unwrap_or(after);
        Some(Step::Key(key))
    }
}

/// What is wrong with a field path as text, if anything.
pub fn problem(path: &str) -> Option<String> {
    if path.is_empty() {
        return Some("a field path must not be empty".to_string());
    }
    if path.starts_with('/') || path.starts_with('.') {
        return Some(format!("`{path}` is not a field path such as `status.phase`"));
    }
    let open = path.matches('[').count();
    if open != path.matches(']').count() {
        return Some(format!("`{path}` has an unclosed bracket"));
    }
    if path.contains("..") {
        return Some(format!("`{path}` has an empty step"));
    }
    None
}

/// The first value at `path`, if there is one. A `null` is no value.
pub fn find<'r, 'a>(root: &'r Json<'a>, path: &str) -> Option<&'r Json<'a>> {
    walk(root, steps(path))
}

fn walk<'r, 'a>(mut value: &'r Json<'a>, mut steps: Steps<'_>) -> Option<&'r Json<'a>> {
    while let Some(step) = steps.next() {
        value = match step {
            Step::Key(key) => value.get(key)?,
            Step::Index(index) => value.items().get(index)?,
            Step::All => {
                let members = value.members().iter().map(|(_, member)| member);
                let mut items = value.items().iter().chain(members);
                return items.find_map(|item| walk(item, steps.clone()));
            }
            Step::Match(key, wanted) => {
                return value
                    .items()
                    .iter()
                    .filter(|item| item.at(key).scalar().is_some_and(|text| text == wanted))
                    .find_map(|item| walk(item, steps.clone()));
            }
        };
    }
    (*value != Json::Null).then_some(value)
}

/// Every value at `path` with its JSON Pointer, in the order of the document.
pub fn find_all<'r, 'a>(root: &'r Json<'a>, path: &str) -> Vec<(String, &'r Json<'a>)> {
    let mut found = Vec::new();
    collect(root, steps(path), String::new(), &mut found);
    found
}

fn collect<'r, 'a>(
    value: &'r Json<'a>,
    mut rest: Steps<'_>,
    mut pointer: String,
    found: &mut Vec<(String, &'r Json<'a>)>,
) {
    match rest.next() {
        None => {
            if *value != Json::Null {
                found.push((pointer, value));
            }
        }
        Some(Step::Key(key)) => {
            if let Some(member) = value.get(key) {
                push(&mut pointer, key);
                collect(member, rest, pointer, found);
            }
        }
        Some(Step::Index(index)) => {
            if let Some(item) = value.items().get(index) {
                collect(item, rest, format!("{pointer}/{index}"), found);
            }
        }
        Some(Step::All) => {
            for (index, item) in value.items().iter().enumerate() {
                collect(item, rest.clone(), format!("{pointer}/{index}"), found);
            }
            for (key, member) in value.members() {
                let mut pointer = pointer.clone();
                push(&mut pointer, key);
                collect(member, rest.clone(), pointer, found);
            }
        }
        Some(Step::Match(key, wanted)) => {
            for (index, item) in value.items().iter().enumerate() {
                if item.at(key).scalar().is_some_and(|text| text == wanted) {
                    collect(item, rest.clone(), format!("{pointer}/{index}"), found);
                }
            }
        }
    }
}

/// The value at a JSON Pointer.
pub fn resolve<'r, 'a>(root: &'r Json<'a>, pointer: &str) -> Option<&'r Json<'a>> {
    pointer.split('/').skip(1).try_fold(root, |value, token| match value {
        Json::Array(items) => items.get(token.parse::<usize>().ok()?),
        _ if token.contains('~') => value.get(&token.replace("~1", "/").replace("~0", "~")),
        _ => value.get(token),
    })
}

/// The JSON Pointer of `path` in `root`; where the field is missing, the pointer it would have,
/// as far as the path names single places.
pub fn locate(root: &Json<'_>, path: &str) -> String {
    if let Some((pointer, _)) = find_all(root, path).into_iter().next() {
        return pointer;
    }
    let mut pointer = String::new();
    for step in steps(path) {
        match step {
            Step::Key(key) => push(&mut pointer, key),
            Step::Index(index) => pointer.push_str(&format!("/{index}")),
            Step::All | Step::Match(..) => break,
        }
    }
    pointer
}

/// A JSON Pointer as kubectl users write it: `/status/conditions/0/reason` is
/// `status.conditions[0].reason`.
pub fn readable(pointer: &str) -> String {
    let mut text = String::new();
    for token in pointer.split('/').skip(1) {
        if token.bytes().all(|byte| byte.is_ascii_digit()) && !token.is_empty() {
            text.push_str(&format!("[{token}]"));
        } else if token.contains(['.', '~']) {
            let token = token.replace("~1", "/").replace("~0", "~");
            text.push_str(&format!("['{token}']"));
        } else {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(token);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_as_kubectl_users_write_them() {
        let path = "metadata.annotations['a.b/c'].x[2].y[*].z[type=Ready].message";
        let read: Vec<_> = steps(path).collect();
        assert_eq!(
            read,
            [
                Step::Key("metadata"),
                Step::Key("annotations"),
                Step::Key("a.b/c"),
                Step::Key("x"),
                Step::Index(2),
                Step::Key("y"),
                Step::All,
                Step::Key("z"),
                Step::Match("type", "Ready"),
                Step::Key("message"),
            ]
        );
    }

    #[test]
    fn pointers_are_escaped_and_read_back() {
        let root = Json::parse(r#"{"metadata":{"annotations":{"a.b/c":"1"}},"s":[{"t":"x"}]}"#)
            .expect("valid");
        let (pointer, value) =
            find_all(&root, "metadata.annotations['a.b/c']").pop().expect("found");
        assert_eq!(pointer, "/metadata/annotations/a.b~1c");
        assert_eq!(value.str(), Some("1"));
        assert_eq!(readable(&pointer), "metadata.annotations['a.b/c']");
        assert_eq!(locate(&root, "s[t=x].u"), "/s");
        assert_eq!(locate(&root, "s[0].u"), "/s/0/u");
    }
}
