//! A typed, lossy view of a Kubernetes object. A missing field is `None`, never a fault.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Json, NULL};
use crate::pointer;
use crate::profile::Profile;
use crate::time::Time;

/// One object in one state.
#[derive(Debug)]
pub struct Object<'a> {
    /// The whole object.
    pub root: &'a Json<'a>,
    /// `apiVersion`.
    pub api_version: &'a str,
    /// `kind`.
    pub kind: &'a str,
    /// `metadata.namespace`.
    pub namespace: &'a str,
    /// `metadata.name`.
    pub name: &'a str,
    /// `metadata.uid`.
    pub uid: &'a str,
    /// `metadata.resourceVersion`.
    pub resource_version: &'a str,
    /// `metadata.generation`.
    pub generation: Option<i64>,
    /// Whether `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// The condition lists that the profile names, the main one first.
    pub lists: Vec<ConditionList<'a>>,
    /// The present, if known.
    pub now: Option<Time>,
}

/// One list of conditions.
#[derive(Debug)]
pub struct ConditionList<'a> {
    /// JSON Pointer of the list.
    pub pointer: String,
    /// In the order of the object.
    pub conditions: Vec<Condition<'a>>,
}

/// One condition.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'a> {
    /// Its place in the list.
    pub index: usize,
    /// `type`; empty if missing.
    pub type_: &'a str,
    /// `status`.
    pub status: Status<'a>,
    /// `reason`; empty if missing.
    pub reason: &'a str,
    /// `message`; empty if missing.
    pub message: &'a str,
    /// `observedGeneration`, if it is an integer.
    pub observed_generation: Option<i64>,
    /// `lastTransitionTime`, as written.
    pub last_transition_time: Option<&'a str>,
    /// All of it.
    pub json: &'a Json<'a>,
}

/// `status` of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status<'a> {
    /// `True` (or the boolean, which YAML makes of an unquoted word).
    True,
    /// `False` (or the boolean).
    False,
    /// `Unknown`.
    Unknown,
    /// Anything else; no condition in the sense of the API conventions.
    Other(&'a str),
    /// There is none.
    Missing,
}

impl Status<'_> {
    /// As a user writes it.
    pub fn text(&self) -> &str {
        match self {
            Status::True => "True",
            Status::False => "False",
            Status::Unknown => "Unknown",
            Status::Other(text) => text,
            Status::Missing => "",
        }
    }
}

impl<'a> Status<'a> {
    /// As [`Status::text`], for as long as the object lives.
    pub fn name(self) -> &'a str {
        match self {
            Status::True => "True",
            Status::False => "False",
            Status::Unknown => "Unknown",
            Status::Other(text) => text,
            Status::Missing => "",
        }
    }
}

impl<'a> Condition<'a> {
    /// The view of one element of a list.
    pub fn read(index: usize, json: &'a Json<'a>) -> Self {
        let text = |key| json.at(key).str().unwrap_or("");
        let status = match json.at("status") {
            Json::Bool(true) => Status::True,
            Json::Bool(false) => Status::False,
            Json::String(text) => match text.as_ref() {
                "True" => Status::True,
                "False" => Status::False,
                "Unknown" => Status::Unknown,
                other => Status::Other(other),
            },
            Json::Null => Status::Missing,
            _ => Status::Other("not a string"),
        };
        Condition {
            index,
            type_: text("type"),
            status,
            reason: text("reason"),
            message: text("message"),
            observed_generation: json.at("observedGeneration").integer(),
            last_transition_time: json.at("lastTransitionTime").str(),
            json,
        }
    }

    /// `status: "True"`.
    pub fn is_true(&self) -> bool {
        self.status == Status::True
    }

    /// `status: "False"`.
    pub fn is_false(&self) -> bool {
        self.status == Status::False
    }

    /// `lastTransitionTime`.
    pub fn transition(&self) -> Option<Time> {
        Time::parse(self.last_transition_time?)
    }
}

impl<'a> ConditionList<'a> {
    /// The last condition of this type.
    pub fn get(&self, type_: &str) -> Option<&Condition<'a>> {
        self.conditions.iter().rev().find(|condition| condition.type_ == type_)
    }

    /// JSON Pointer of a condition's field, or of the condition for an empty `field`.
    pub fn place(&self, condition: &Condition<'_>, field: &str) -> String {
        let list = &self.pointer;
        let index = condition.index;
        if field.is_empty() { format!("{list}/{index}") } else { format!("{list}/{index}/{field}") }
    }
}

impl<'a> Object<'a> {
    /// The view of `root` by its kind's conventions.
    pub fn read(root: &'a Json<'a>, profile: &Profile<'_>) -> Self {
        let metadata = root.at("metadata");
        let text = |json: &'a Json<'a>| json.str().unwrap_or("");
        let mut lists = Vec::new();
        if profile.conditions.is_empty() {
            lists.extend(list("/status/conditions".into(), root.at("status").at("conditions")));
        }
        for path in &profile.conditions {
            let found = pointer::find_all(root, path);
            lists.extend(found.into_iter().filter_map(|(pointer, json)| list(pointer, json)));
        }
        Object {
            root,
            api_version: text(root.at("apiVersion")),
            kind: text(root.at("kind")),
            namespace: text(metadata.at("namespace")),
            name: text(metadata.at("name")),
            uid: text(metadata.at("uid")),
            resource_version: text(metadata.at("resourceVersion")),
            generation: metadata.at("generation").integer(),
            deleting: !metadata.at("deletionTimestamp").is_empty(),
            lists,
            now: None,
        }
    }

    /// The same at a time.
    #[must_use]
    pub fn at(self, now: Option<Time>) -> Self {
        Object { now, ..self }
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &'a str {
        group(self.api_version)
    }

    /// `status`.
    pub fn status(&self) -> &'a Json<'a> {
        self.root.get("status").unwrap_or(&NULL)
    }

    /// The condition of this type in the main list.
    pub fn condition(&self, type_: &str) -> Option<&Condition<'a>> {
        self.lists.first()?.get(type_)
    }

    /// The main list's conditions.
    pub fn conditions(&self) -> &[Condition<'a>] {
        self.lists.first().map_or(&[], |list| &list.conditions)
    }

    /// JSON Pointer of a field of a condition of the main list.
    pub fn place(&self, condition: &Condition<'_>, field: &str) -> String {
        self.lists.first().map_or_else(String::new, |list| list.place(condition, field))
    }

    /// The first value at a field path.
    pub fn field(&self, path: &str) -> Option<&'a Json<'a>> {
        pointer::find(self.root, path)
    }

    /// `Kind/namespace/name`, as Flux writes it.
    pub fn title(&self) -> String {
        if self.namespace.is_empty() {
            format!("{}/{}", self.kind, self.name)
        } else {
            format!("{}/{}/{}", self.kind, self.namespace, self.name)
        }
    }

    /// An annotation's value.
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        self.root.at("metadata").at("annotations").get(key)?.str()
    }
}

/// The group of an `apiVersion`; empty for the core group.
pub fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

fn list<'a>(pointer: String, json: &'a Json<'a>) -> Option<ConditionList<'a>> {
    let Json::Array(items) = json else { return None };
    let conditions =
        items.iter().enumerate().map(|(index, item)| Condition::read(index, item)).collect();
    Some(ConditionList { pointer, conditions })
}
