//! Says what a document holds, by its content alone.

mod audit;
mod review;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Item, ItemKind};

/// `apiVersion` of plumb's own documents.
const PLUMB_VERSION: &str = "plumb.dev/v1alpha1";

/// Lists, arrays and events inside each other are followed this far.
const MAX_LEVELS: usize = 8;

/// What a document holds.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// In the order of the document.
    pub(super) items: Vec<Item>,
    /// Parts that are not what they should be.
    pub(super) problems: Vec<Problem>,
}

/// A part of a document that is not what it should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// JSON Pointer to the part.
    pub(super) base: String,
    /// What it is and what was expected.
    pub(super) message: String,
}

/// `apiVersion` and `kind` for objects that do not say theirs: elements of a typed list.
#[derive(Clone, Copy)]
struct Defaults<'a> {
    api_version: &'a str,
    kind: &'a str,
}

/// The fields that tell what something is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow)]
    api_version: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    type_: Option<&'a RawValue>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    items: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: Option<String>,
    uid: Option<String>,
}

/// `v1` `Status`, the API server's own answer.
#[derive(Deserialize)]
struct Status {
    message: Option<String>,
    reason: Option<String>,
    code: Option<u16>,
}

/// Returns what a document holds. `json` is valid JSON.
pub(super) fn recognise(json: &str) -> Contents {
    let mut contents = Contents::default();
    contents.value(json, "", None, 0);
    contents
}

impl Contents {
    fn push(&mut self, base: &str, kind: ItemKind) {
        self.items.push(Item { base: base.to_owned(), kind });
    }

    fn skip(&mut self, base: &str, why: impl Into<String>) {
        self.push(base, ItemKind::Skipped(why.into()));
    }

    fn problem(&mut self, base: &str, message: impl Into<String>) {
        self.problems.push(Problem { base: base.to_owned(), message: message.into() });
    }

    fn value(&mut self, json: &str, base: &str, defaults: Option<Defaults<'_>>, level: usize) {
        let json = json.trim();
        if level > MAX_LEVELS {
            return self.problem(base, "lists are nested too deep; expected an object");
        }
        match json.as_bytes().first() {
            Some(b'{') => {}
            Some(b'[') => return self.elements(json, base, defaults, level),
            _ => {
                let found = type_name(json);
                return self.problem(base, format!("expected a Kubernetes object, found {found}"));
            }
        }
        let envelope: Envelope<'_> = match serde_json::from_str(json) {
            Ok(envelope) => envelope,
            Err(error) => return self.problem(base, without_position(&error.to_string())),
        };
        let api_version = match field(envelope.api_version, "apiVersion") {
            Ok(api_version) => api_version,
            Err(message) => return self.problem(base, message),
        };
        let kind = match field(envelope.kind, "kind") {
            Ok(kind) => kind,
            Err(message) => return self.problem(base, message),
        };
        match (api_version.as_deref(), kind.as_deref()) {
            (Some(api_version), Some(kind)) => {
                self.typed(json, base, &envelope, Defaults { api_version, kind }, level);
            }
            (None, None) if envelope.object.is_some() && envelope.metadata.is_none() => {
                self.event(base, &envelope, level);
            }
            (None, None) => match defaults {
                Some(is) => {
                    let json = add_type(json, is.api_version, is.kind);
                    self.typed(&json, base, &envelope, is, level);
                }
                // An object of which only a part was kept; an earlier one tells its kind.
                None if is_object(envelope.metadata) => {
                    self.push(base, ItemKind::Object(json.to_owned()));
                }
                None if is_log(json) => self.push(base, ItemKind::Log(json.to_owned())),
                None => {
                    let keys = keys(json);
                    self.problem(
                        base,
                        format!(
                            "expected apiVersion and kind of a Kubernetes object, found {keys}"
                        ),
                    );
                }
            },
            (Some(_), None) => self.problem(base, "kind is missing; expected apiVersion and kind"),
            (None, Some(kind)) => self.problem(
                base,
                format!("apiVersion is missing beside kind {kind}; expected apiVersion and kind"),
            ),
        }
    }

    fn elements(&mut self, json: &str, base: &str, defaults: Option<Defaults<'_>>, level: usize) {
        match serde_json::from_str::<Vec<&RawValue>>(json) {
            Ok(elements) => {
                for (index, element) in elements.into_iter().enumerate() {
                    self.value(element.get(), &format!("{base}/{index}"), defaults, level + 1);
                }
            }
            Err(error) => self.problem(base, without_position(&error.to_string())),
        }
    }

    fn typed(
        &mut self,
        json: &str,
        base: &str,
        envelope: &Envelope<'_>,
        is: Defaults<'_>,
        level: usize,
    ) {
        let Defaults { api_version, kind } = is;
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        if group == "plumb.dev" {
            return self.own(json, base, is);
        }
        match (group, kind) {
            ("admission.k8s.io", "AdmissionReview") => return review::read(self, json, base),
            ("audit.k8s.io", "Event") => return audit::read(self, json, base),
            ("", "Status") => {
                let message = status_message(json);
                return self.push(base, ItemKind::WatchError(message));
            }
            ("meta.k8s.io", "Table") => {
                return self.problem(
                    base,
                    "a Table holds printed columns, not objects; expected -o yaml or -o json",
                );
            }
            ("meta.k8s.io", "PartialObjectMetadata" | "PartialObjectMetadataList") => {
                return self.skip(base, format!("a {kind} has no status"));
            }
            _ => {}
        }
        let listed = kind.strip_suffix("List");
        if let (Some(element), Some(items)) = (listed, envelope.items) {
            let defaults = (!element.is_empty()).then_some(Defaults { api_version, kind: element });
            return match type_name(items.get()) {
                "a sequence" => {
                    self.elements(items.get(), &format!("{base}/items"), defaults, level);
                }
                found => self.problem(
                    &format!("{base}/items"),
                    format!("expected a sequence of objects, found {found}"),
                ),
            };
        }
        match envelope.metadata {
            metadata if is_object(metadata) && !(listed.is_some() && name(metadata).is_none()) => {
                self.push(base, ItemKind::Object(json.to_owned()));
            }
            _ if listed.is_some() => self.skip(base, format!("the {kind} is empty")),
            None => self.skip(base, format!("{api_version} {kind} has no metadata, so no status")),
            Some(metadata) => {
                let found = type_name(metadata.get());
                self.problem(
                    &format!("{base}/metadata"),
                    format!("expected the metadata of a {kind}, found {found}"),
                );
            }
        }
    }

    /// plumb's own documents.
    fn own(&mut self, json: &str, base: &str, is: Defaults<'_>) {
        if is.api_version != PLUMB_VERSION {
            return self.problem(
                base,
                format!("expected apiVersion {PLUMB_VERSION}, found {}", is.api_version),
            );
        }
        let json = json.to_owned();
        let kind = match is.kind {
            "Fixture" => ItemKind::Fixture(json),
            "Reconcile" => ItemKind::Pass(json),
            "QueueTrace" => ItemKind::Trace(json),
            "Scenario" => ItemKind::Scenario(json),
            "Settings" => ItemKind::Settings(json),
            kind => {
                return self.problem(
                    base,
                    format!(
                        "expected kind Fixture, Reconcile, QueueTrace, Scenario or Settings of \
                         {PLUMB_VERSION}, found {kind}"
                    ),
                );
            }
        };
        self.push(base, kind);
    }

    /// One event of a watch: `{"type": …, "object": …}`.
    fn event(&mut self, base: &str, envelope: &Envelope<'_>, level: usize) {
        let type_ = match field(envelope.type_, "type") {
            Ok(type_) => type_,
            Err(message) => return self.problem(base, message),
        };
        let object = envelope.object.map_or("null", RawValue::get);
        let place = format!("{base}/object");
        match type_.as_deref() {
            Some("ADDED" | "MODIFIED") => self.value(object, &place, None, level + 1),
            Some("DELETED") => {
                let first = self.items.len();
                self.value(object, &place, None, level + 1);
                for item in &mut self.items[first..] {
                    if let ItemKind::Object(object) = &mut item.kind {
                        item.kind = ItemKind::Deleted(std::mem::take(object));
                    }
                }
            }
            Some("BOOKMARK") => self.push(&place, ItemKind::Bookmark),
            Some("ERROR") => self.push(&place, ItemKind::WatchError(status_message(object))),
            found => {
                let found = found.unwrap_or("nothing");
                self.problem(
                    base,
                    format!(
                        "expected type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR of a watch \
                         event, found {found}"
                    ),
                );
            }
        }
    }
}

/// Subresources whose body is the object itself; others have bodies of their own kind.
fn is_whole(subresource: Option<&str>) -> bool {
    matches!(
        subresource,
        None | Some("" | "status" | "finalize" | "approval" | "ephemeralcontainers" | "resize")
    )
}

fn field(value: Option<&RawValue>, name: &str) -> Result<Option<String>, String> {
    let Some(value) = value else { return Ok(None) };
    serde_json::from_str(value.get())
        .map(Some)
        .map_err(|_| format!("expected a string as {name}, found {}", type_name(value.get())))
}

/// Whether this is a line of a controller's log, as zap writes it.
fn is_log(json: &str) -> bool {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        level: Option<&'a RawValue>,
        #[serde(borrow, alias = "time")]
        ts: Option<&'a RawValue>,
        msg: Option<String>,
    }
    serde_json::from_str::<Line<'_>>(json)
        .is_ok_and(|line| line.level.is_some() && line.ts.is_some() && line.msg.is_some())
}

fn is_object(value: Option<&RawValue>) -> bool {
    value.is_some_and(|value| value.get().starts_with('{'))
}

fn name(metadata: Option<&RawValue>) -> Option<String> {
    serde_json::from_str::<Metadata>(metadata?.get()).ok()?.name
}

fn status_message(json: &str) -> String {
    let Ok(status) = serde_json::from_str::<Status>(json) else {
        return "an error without a Status".to_owned();
    };
    let message = status.message.or(status.reason).unwrap_or_else(|| "no message".to_owned());
    match status.code {
        Some(code) => format!("{message} (code {code})"),
        None => message,
    }
}

/// Returns the object `json`, which says neither, with `apiVersion` and `kind`.
pub(crate) fn add_type(json: &str, api_version: &str, kind: &str) -> String {
    let rest = json.trim_start().strip_prefix('{').unwrap_or(json).trim_start();
    let separator = if rest.starts_with('}') { "" } else { "," };
    let api_version = serde_json::Value::from(api_version);
    let kind = serde_json::Value::from(kind);
    format!("{{\"apiVersion\":{api_version},\"kind\":{kind}{separator}{rest}")
}

fn type_name(json: &str) -> &'static str {
    match json.trim_start().as_bytes().first() {
        Some(b'{') => "a mapping",
        Some(b'[') => "a sequence",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') | None => "nothing",
        Some(_) => "a number",
    }
}

/// The first keys of an object, for a message.
fn keys(json: &str) -> String {
    const SHOWN: usize = 4;
    struct Keys(Vec<String>);
    impl<'de> Deserialize<'de> for Keys {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Keys;

                fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    formatter.write_str("an object")
                }

                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<Keys, A::Error> {
                    let mut keys = Vec::new();
                    while let Some((key, serde::de::IgnoredAny)) = map.next_entry()? {
                        keys.push(key);
                    }
                    Ok(Keys(keys))
                }
            }
            deserializer.deserialize_map(Visitor)
        }
    }
    match serde_json::from_str::<Keys>(json) {
        Ok(Keys(keys)) if keys.is_empty() => "an empty mapping".to_owned(),
        Ok(Keys(keys)) => {
            let more = if keys.len() > SHOWN { ", …" } else { "" };
            let keys = keys.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
            format!("a mapping of {keys}{more}")
        }
        Err(_) => "a mapping".to_owned(),
    }
}

/// Positions count within a part of the document here; the pointer tells the place.
pub(super) fn without_position(message: &str) -> &str {
    message.rfind(" at line ").map_or(message, |at| &message[..at])
}

#[cfg(test)]
mod tests;
