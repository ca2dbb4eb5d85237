//! Proposes a profile for an unknown kind from samples of it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::finding::Fault;
use crate::json::Json;
use crate::object;
use crate::profile::{Generation, Profile, Text};

/// The proposed profile, JSON.
///
/// # Errors
/// [`Fault::Malformed`] if a sample is no object, or if the samples are not of one kind.
pub fn infer(samples: &[&str]) -> Result<String, Fault> {
    let mut roots = Vec::new();
    for (index, text) in samples.iter().enumerate() {
        let root = Json::parse(text)
            .map_err(|error| Fault::Malformed(format!("samples/{index}: {error}")))?;
        roots.push(root);
    }
    let Some(first) = roots.first() else {
        return Err(Fault::Malformed("samples: at least one object is needed".into()));
    };
    let group = object::group(first.at("apiVersion").str().unwrap_or(""));
    let kind = first.at("kind").str().unwrap_or("");
    let mut happy = Vec::new();
    for root in &roots {
        let this =
            (object::group(root.at("apiVersion").str().unwrap_or("")), root.at("kind").str());
        if this != (group, Some(kind)) {
            return Err(Fault::Malformed(format!("samples: all must be `{kind}` of `{group}`")));
        }
        let conditions = root.at("status").at("conditions").items();
        for type_ in ["Ready", "Available", "Succeeded", "Healthy"] {
            let named =
                conditions.iter().any(|condition| condition.at("type").str() == Some(type_));
            if named && happy.is_empty() {
                happy.push(Text(type_.into()));
            }
        }
    }
    let profile = Profile {
        group: Text(group.into()),
        kinds: alloc::vec![Text(kind.into())],
        happy,
        generation: Generation {
            absent: roots.iter().all(|root| root.at("status").get("observedGeneration").is_none()),
            ..Generation::default()
        },
        ..Profile::default()
    };
    serde_json::to_string(&profile).map_err(|error| Fault::Internal(format!("{error}")))
}
