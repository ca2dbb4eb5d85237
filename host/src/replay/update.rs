//! Writes what a replay found into its file, as the header's expectations. Whatever else is in the
//! file stays as it is, byte for byte.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::result::Judged;
use crate::engine::{Coherence, Scope, Severity};
use crate::input::{Document, Documents, ItemKind, Locator, Syntax};

/// The results of one evaluation.
#[derive(Debug)]
pub(super) struct Group {
    /// 1-based, not counting the header.
    document: usize,
    kind: String,
    namespace: String,
    name: String,
    resource_version: String,
    /// Scope, and what is worth expecting of it.
    entries: Vec<(Scope, Map<String, Value>)>,
}

impl Group {
    pub(super) fn new(document: usize, results: &[Judged]) -> Self {
        let first = &results[0];
        Self {
            document,
            kind: first.kind.clone(),
            namespace: first.namespace.clone(),
            name: first.name.clone(),
            resource_version: first.resource_version.clone(),
            entries: results
                .iter()
                .map(|result| (result.scope, expectation(result)))
                .filter(|(_, entry)| !entry.is_empty())
                .collect(),
        }
    }
}

/// What is worth expecting of a result.
fn expectation(result: &Judged) -> Map<String, Value> {
    let mut entry = Map::new();
    let findings: Vec<Value> = result
        .findings
        .iter()
        .filter(|finding| finding.severity != Severity::Info)
        .map(|finding| {
            json!({"rule": finding.rule, "path": finding.path, "severity": finding.severity})
        })
        .collect();
    // A new object's status is stale by nature; that alone is not worth a line.
    let torn = result.coherence == Coherence::Incoherent
        || (result.coherence == Coherence::Stale && !findings.is_empty());
    if torn && result.scope == Scope::State {
        entry.insert("coherence".to_owned(), json!(result.coherence));
    }
    if !findings.is_empty() {
        entry.insert("findings".to_owned(), findings.into());
    }
    if let Some(decision) = &result.decision {
        let mut expected = Map::new();
        expected.insert("action".to_owned(), json!(decision.action));
        if let Some(delay) = decision.delay {
            expected.insert("delay".to_owned(), json!(delay));
        }
        expected.insert("reason".to_owned(), json!(decision.reason));
        entry.insert("decision".to_owned(), expected.into());
    }
    if let Some(end) = &result.end {
        let mut expected = Map::new();
        expected.insert("state".to_owned(), json!(end.state));
        if let Some(until) = &end.until {
            expected.insert("until".to_owned(), json!(until));
        }
        if let Some(lost_at) = end.lost_at {
            expected.insert("lostAt".to_owned(), json!(lost_at));
        }
        entry.insert("end".to_owned(), expected.into());
    }
    entry
}

/// Writes the expectations into the file; whether that changed it.
pub(super) fn write(path: &Path, groups: &[Group]) -> Result<bool, String> {
    let told = |error: std::io::Error| format!("failed to update: {error}");
    let text = fs::read_to_string(path).map_err(told)?;
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
    let updated = updated(&text, &stem, &entries(groups))?;
    if updated == text {
        return Ok(false);
    }
    // Written beside it first: the file is never half of what it was.
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    let beside = path.with_file_name(format!(".{name}.update"));
    fs::write(&beside, updated).map_err(told)?;
    fs::rename(&beside, path).map_err(told)?;
    Ok(true)
}

/// The entries of the header, each with selectors that choose it alone.
fn entries(groups: &[Group]) -> Vec<Value> {
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    let mut documents: BTreeMap<usize, usize> = BTreeMap::new();
    for group in groups {
        *versions.entry(&group.resource_version).or_default() += 1;
        *documents.entry(group.document).or_default() += 1;
    }
    let mut entries = Vec::new();
    for group in groups {
        let mut selectors = Map::new();
        let version = group.resource_version.as_str();
        if !version.is_empty() && versions[version] == 1 {
            selectors.insert("resourceVersion".to_owned(), json!(version));
        } else {
            selectors.insert("document".to_owned(), json!(group.document));
            if documents[&group.document] > 1 {
                for (key, value) in [
                    ("kind", &group.kind),
                    ("namespace", &group.namespace),
                    ("name", &group.name),
                    ("resourceVersion", &group.resource_version),
                ] {
                    if !value.is_empty() {
                        selectors.insert(key.to_owned(), json!(value));
                    }
                }
            }
        }
        for (scope, expected) in &group.entries {
            let mut entry = selectors.clone();
            if *scope != Scope::State {
                entry.insert("scope".to_owned(), json!(scope));
            }
            entry.extend(expected.clone());
            entries.push(Value::Object(entry));
        }
    }
    entries
}

/// Returns the text of a file with other expectations.
fn updated(text: &str, name: &str, entries: &[Value]) -> Result<String, String> {
    let first = Documents::new("", Cursor::new(text.to_owned())).next();
    let first = match first {
        Some(Ok(document)) => document,
        Some(Err(error)) => return Err(format!("failed to update: {}", error.message)),
        None => return Err("failed to update: the file is empty".to_owned()),
    };
    let header = first.items.iter().find_map(|item| match &item.kind {
        ItemKind::Fixture(json) => Some(json),
        _ => None,
    });
    let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    match (header, first.syntax) {
        (Some(header), Syntax::Json) => {
            let mut header: Value = serde_json::from_str(header)
                .map_err(|error| format!("failed to update: {error}"))?;
            header["spec"]["expect"] = entries.into();
            let start = text.find(&*first.text).unwrap_or(mark);
            let end = start + first.text.len();
            Ok(format!("{}{header}{}", &text[..start], &text[end..]))
        }
        (Some(_), Syntax::Yaml) => {
            let start = text.find(&*first.text).unwrap_or(mark);
            let (range, replacement) = edit(&first, entries)?;
            let replacement = replacement.replace('\n', line);
            let (from, to) = (start + range.start, start + range.end);
            Ok(format!("{}{replacement}{}", &text[..from], &text[to..]))
        }
        (None, Syntax::Json) => {
            let header = json!({
                "apiVersion": "plumb.dev/v1alpha1",
                "kind": "Fixture",
                "metadata": {"name": name},
                "spec": {"expect": entries},
            });
            Ok(format!("{}{header}{line}{}", &text[..mark], &text[mark..]))
        }
        (None, Syntax::Yaml) => {
            let mut header = String::from("apiVersion: plumb.dev/v1alpha1\nkind: Fixture\n");
            append(&mut header, format_args!("metadata: {{name: {}}}\nspec:\n", scalar(name)));
            header.push_str(&block(entries, 2));
            if !text[mark..].starts_with("---") {
                header.push_str("---\n");
            }
            Ok(format!("{}{}{}", &text[..mark], header.replace('\n', line), &text[mark..]))
        }
    }
}

/// Which bytes of a header's text to replace, and by what.
fn edit(header: &Document, entries: &[Value]) -> Result<(std::ops::Range<usize>, String), String> {
    let flow = || "failed to update: the header's spec is in flow style".to_owned();
    let text = &*header.text;
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |offset| at + offset + 1);
    let location = Locator::new(header)
        .and_then(|locator| locator.locate("/spec/expect"))
        .ok_or_else(|| "failed to update: the header cannot be located".to_owned())?;
    if location.exact {
        let key = location.key.ok_or_else(flow)?;
        let start = line_start(key.start);
        let indent = key.start - start;
        if !text[start..key.start].trim().is_empty() {
            return Err(flow());
        }
        let end = line_end(location.value.end.max(key.end));
        return Ok((start..end, block(entries, indent)));
    }
    let (at, indent, before) = match location.key {
        // `spec:` without anything.
        Some(key) if key == location.value => (line_end(key.end), 2, ""),
        Some(_) if text[location.value.clone()].starts_with('{') => return Err(flow()),
        Some(_) => {
            let indent = location.value.start - line_start(location.value.start);
            (line_end(location.value.end), indent, "")
        }
        None => (line_end(location.value.end), 2, "spec:\n"),
    };
    let newline = if text[..at].ends_with('\n') { "" } else { "\n" };
    Ok((at..at, format!("{newline}{before}{}", block(entries, indent))))
}

/// `expect` and its entries in YAML.
fn block(entries: &[Value], indent: usize) -> String {
    let margin = " ".repeat(indent);
    if entries.is_empty() {
        return format!("{margin}expect: []\n");
    }
    let mut text = format!("{margin}expect:\n");
    for entry in entries {
        let mut bullet = "- ";
        for key in [
            "document",
            "kind",
            "namespace",
            "name",
            "resourceVersion",
            "scope",
            "coherence",
            "decision",
            "end",
            "findings",
        ] {
            let Some(value) = entry.get(key) else { continue };
            match value {
                Value::Array(elements) => {
                    append(&mut text, format_args!("{margin}{bullet}{key}:\n"));
                    for element in elements {
                        append(&mut text, format_args!("{margin}  - {}\n", inline(element)));
                    }
                }
                value => {
                    append(&mut text, format_args!("{margin}{bullet}{key}: {}\n", inline(value)));
                }
            }
            bullet = "  ";
        }
    }
    text
}

/// A value in one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            // The order that a reader expects, not that of the alphabet.
            let first = ["rule", "action", "state", "path"];
            let (lead, rest): (Vec<_>, Vec<_>) =
                fields.iter().partition(|(key, _)| first.contains(&key.as_str()));
            let mut lead = lead;
            lead.sort_by_key(|(key, _)| first.iter().position(|name| name == key));
            let fields: Vec<_> = lead
                .into_iter()
                .chain(rest)
                .map(|(key, value)| format!("{key}: {}", inline(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::String(text) => scalar(text),
        value => value.to_string(),
    }
}

/// A string, quoted unless it can only be read as one.
fn scalar(text: &str) -> String {
    const WORDS: &[&str] = &["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && text.chars().all(|char| char.is_ascii_alphanumeric() || "-_./~".contains(char))
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}

fn append(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests;
