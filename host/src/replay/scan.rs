//! What replay needs to know of an object, read in one pass over its JSON: who it is, whom it
//! names, and the newest time in it.

use std::fmt::{self, Formatter};

use jiff::Timestamp;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Fields of metadata and status that say when something happened. Times of other names may lie
/// in the future: when a certificate ends, when a pod will be killed.
const PAST_TIMES: &[&str] = &[
    "acquireTime",
    "completionTime",
    "creationTimestamp",
    "eventTime",
    "finishedAt",
    "firstTimestamp",
    "lastHeartbeatTime",
    "lastProbeTime",
    "lastScheduleTime",
    "lastSuccessfulTime",
    "lastTimestamp",
    "lastTransitionTime",
    "lastUpdateTime",
    "reconciledAt",
    "renewTime",
    "startTime",
    "startedAt",
    "time",
];

/// What is known of an object.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) resource_version: String,
    /// The objects that it names.
    pub(super) references: Vec<Reference>,
    /// The newest time that it tells of.
    pub(super) newest: Option<Timestamp>,
}

/// The name of another object.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// Empty where the field's name implies it.
    pub(super) kind: String,
    pub(super) name: String,
    /// Empty for the namespace of the object that names it.
    pub(super) namespace: String,
}

impl Facts {
    /// Reads an object's JSON.
    pub(super) fn read(json: &str) -> Result<Self, serde_json::Error> {
        let mut facts = Self::default();
        let mut deserializer = serde_json::Deserializer::from_str(json);
        Root(&mut facts).deserialize(&mut deserializer)?;
        facts.references.sort_by(|a, b| a.key().cmp(&b.key()));
        facts.references.dedup();
        Ok(facts)
    }

    /// The API group; empty for the core group.
    pub(super) fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    fn saw(&mut self, time: &str) {
        let time = time.parse::<Timestamp>().ok();
        self.newest = self.newest.max(time);
    }
}

impl Reference {
    fn key(&self) -> (&str, &str, &str) {
        (&self.kind, &self.namespace, &self.name)
    }
}

macro_rules! any_seed {
    ($type:ident -> $value:ty) => {
        impl<'de> DeserializeSeed<'de> for $type<'_> {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<$value, D::Error> {
                deserializer.deserialize_any(self)
            }
        }
    };
}

/// What any scalar leaves: nothing.
macro_rules! ignore_scalars {
    () => {
        fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
            formatter.write_str("JSON")
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
}

/// The object itself.
struct Root<'a>(&'a mut Facts);

impl<'de> DeserializeSeed<'de> for Root<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Root<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a Kubernetes object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let facts = self.0;
        while let Some(key) = map.next_key_seed(KeySeed)? {
            match key {
                Key::ApiVersion => facts.api_version = map.next_value_seed(Text)?,
                Key::Kind => facts.kind = map.next_value_seed(Text)?,
                Key::Metadata => map.next_value_seed(Metadata(facts))?,
                Key::Status => {
                    map.next_value_seed(Walk { facts, times: true, reference: false })?;
                }
                key => {
                    let reference = key == Key::Reference;
                    map.next_value_seed(Walk { facts, times: false, reference })?;
                }
            }
        }
        Ok(())
    }
}

/// `metadata`.
struct Metadata<'a>(&'a mut Facts);
any_seed!(Metadata -> ());

impl<'de> Visitor<'de> for Metadata<'_> {
    type Value = ();
    ignore_scalars!();

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let facts = self.0;
        while let Some(key) = map.next_key_seed(KeySeed)? {
            match key {
                Key::Name => facts.name = map.next_value_seed(Text)?,
                Key::Namespace => facts.namespace = map.next_value_seed(Text)?,
                Key::Uid => facts.uid = map.next_value_seed(Text)?,
                Key::ResourceVersion => facts.resource_version = map.next_value_seed(Text)?,
                Key::Time => {
                    let time = map.next_value_seed(Text)?;
                    facts.saw(&time);
                }
                Key::Owners => {
                    map.next_value_seed(Walk { facts, times: false, reference: false })?;
                }
                Key::ManagedFields => {
                    map.next_value_seed(ManagedFields(facts))?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// `managedFields`: its times are of interest, its trees of fields are not.
struct ManagedFields<'a>(&'a mut Facts);
any_seed!(ManagedFields -> ());

impl<'de> Visitor<'de> for ManagedFields<'_> {
    type Value = ();
    ignore_scalars!();

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while sequence.next_element_seed(ManagedFields(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(KeySeed)? {
            if key == Key::Time {
                let time = map.next_value_seed(Text)?;
                self.0.saw(&time);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Anything below, in search of names and times.
struct Walk<'a> {
    facts: &'a mut Facts,
    /// Whether times tell of the past here: `spec` may hold plans.
    times: bool,
    /// Whether a name without a kind names an object here.
    reference: bool,
}
any_seed!(Walk -> ());

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();
    ignore_scalars!();

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        // What a plan names need not exist; a status names what was found or made.
        if self.times {
            let (namespace, name) = match value.split_once('/') {
                None if self.reference => ("", value),
                Some((namespace, name)) => (namespace, name),
                None => return Ok(()),
            };
            if is_name(name) && (namespace.is_empty() || is_name(namespace)) {
                let (name, namespace) = (name.to_owned(), namespace.to_owned());
                self.facts.references.push(Reference { kind: String::new(), name, namespace });
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let Self { facts, times, reference } = self;
        while sequence.next_element_seed(Walk { facts: &mut *facts, times, reference })?.is_some() {
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { facts, times, reference } = self;
        let mut found = Reference::default();
        while let Some(key) = map.next_key_seed(KeySeed)? {
            match key {
                Key::Kind => found.kind = map.next_value_seed(Text)?,
                Key::Name => found.name = map.next_value_seed(Text)?,
                Key::Namespace => found.namespace = map.next_value_seed(Text)?,
                Key::Time if times => {
                    let time = map.next_value_seed(Text)?;
                    facts.saw(&time);
                }
                key => {
                    let reference = key == Key::Reference;
                    map.next_value_seed(Walk { facts: &mut *facts, times, reference })?;
                }
            }
        }
        if !found.name.is_empty() && (reference || !found.kind.is_empty()) {
            facts.references.push(found);
        }
        Ok(())
    }
}

/// Whether this may be the name of an object or of a namespace.
fn is_name(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=253).contains(&text.len())
        && text.bytes().all(|byte| word(byte) || matches!(byte, b'-' | b'.'))
        && text.bytes().next().is_some_and(word)
}

/// A string; empty for anything else.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = String;
    ignore_scalars!();

    fn visit_str<E>(self, value: &str) -> Result<String, E> {
        Ok(value.to_owned())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<String, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(String::new())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(String::new())
    }
}

#[derive(PartialEq, Eq)]
enum Key {
    ApiVersion,
    Kind,
    Metadata,
    Status,
    Name,
    Namespace,
    Uid,
    ResourceVersion,
    Owners,
    ManagedFields,
    Time,
    /// Holds names of objects, perhaps without their kind: `secretRef`, `parentRefs`,
    /// `dependsOn`, `jobName`.
    Reference,
    Other,
}

struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(match key {
            "apiVersion" => Key::ApiVersion,
            "kind" => Key::Kind,
            "metadata" => Key::Metadata,
            "status" => Key::Status,
            "name" => Key::Name,
            "namespace" => Key::Namespace,
            "uid" => Key::Uid,
            "resourceVersion" => Key::ResourceVersion,
            "ownerReferences" => Key::Owners,
            "managedFields" => Key::ManagedFields,
            "dependsOn" => Key::Reference,
            _ if ["Ref", "Refs", "Name"].iter().any(|end| key.ends_with(end)) => Key::Reference,
            _ if PAST_TIMES.binary_search(&key).is_ok() => Key::Time,
            _ => Key::Other,
        })
    }
}

#[cfg(test)]
mod tests;
