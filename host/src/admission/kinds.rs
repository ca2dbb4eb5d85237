//! The kinds that are chosen, and the plural names by which the API server knows them.

use std::collections::BTreeMap;

use super::profile::Profile;
use crate::engine;

/// A kind, with its profile.
#[derive(Debug, Clone)]
pub struct Kind {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// The name of its collection: `gitrepositories`.
    pub plural: String,
    /// What is known about it.
    pub profile: Profile,
}

/// Which kinds are meant.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// `Kind`, or `Kind.group`; `*` at the end stands for any text. All if empty.
    pub kinds: Vec<String>,
    /// Groups; `*` at the end stands for any text. All if empty.
    pub groups: Vec<String>,
    /// Plural names by `Kind.group`, where English does not give them.
    pub plurals: BTreeMap<String, String>,
}

impl Choice {
    /// The chosen ones of the known kinds, in their order. Without a choice, those of which plumb
    /// can hold something: a condition that must be True, with a text that repeats a field.
    ///
    /// # Errors
    /// A choice that fits no kind; a profile that cannot be read.
    pub fn pick(&self, known: &[engine::Profile]) -> Result<Vec<Kind>, String> {
        let mut kinds = Vec::new();
        for one in known.iter().filter(|one| is_single(one)) {
            let name = format!("{}.{}", one.kind, one.group);
            let profile: Profile = serde_json::from_str(&one.document)
                .map_err(|error| format!("failed to read the profile of {name}: {error}"))?;
            let is_meant = if self.kinds.is_empty() && self.groups.is_empty() {
                profile.can_be_held()
            } else {
                fits(&self.groups, &[&one.group]) && fits(&self.kinds, &[&one.kind, &name])
            };
            if is_meant {
                let plural = self.plurals.get(&name).cloned();
                kinds.push(Kind {
                    group: one.group.clone(),
                    kind: one.kind.clone(),
                    plural: plural.unwrap_or_else(|| plural_of(&one.kind)),
                    profile,
                });
            }
        }
        if let Some(pattern) = self.kinds.iter().find(|pattern| {
            let name = |kind: &Kind| format!("{}.{}", kind.kind, kind.group);
            !kinds.iter().any(|kind| matches(pattern, &kind.kind) || matches(pattern, &name(kind)))
        }) {
            return Err(format!(
                "there is no profile for `{pattern}`; `plumb profiles` lists them"
            ));
        }
        if kinds.is_empty() {
            return Err("no kind that has a profile is chosen".to_owned());
        }
        Ok(kinds)
    }
}

impl Profile {
    /// Whether a condition that must be True has a text that repeats a field.
    pub fn can_be_held(&self) -> bool {
        self.witnesses.iter().any(|witness| self.holds(witness))
    }

    /// Whether a witness speaks of a condition that must be True.
    pub fn holds(&self, witness: &super::profile::Witness) -> bool {
        !witness.condition.is_empty() && self.happy.contains(&witness.condition)
    }
}

/// Whether a profile names one kind of one group.
fn is_single(profile: &engine::Profile) -> bool {
    !profile.group.contains('*') && !profile.kind.contains('*')
}

fn fits(patterns: &[String], names: &[&str]) -> bool {
    patterns.is_empty()
        || patterns.iter().any(|pattern| names.iter().any(|name| matches(pattern, name)))
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => {
            name.len() >= prefix.len()
                && name.is_char_boundary(prefix.len())
                && name[..prefix.len()].eq_ignore_ascii_case(prefix)
        }
        None => pattern.eq_ignore_ascii_case(name),
    }
}

/// The plural of a kind in lower case, as code generators make it.
fn plural_of(kind: &str) -> String {
    let name = kind.to_lowercase();
    let vowel = |c: char| "aeiou".contains(c);
    if name.ends_with("endpoints") || name.ends_with("metadata") {
        return name;
    }
    if ["s", "x", "z", "ch", "sh"].iter().any(|end| name.ends_with(end)) {
        return name + "es";
    }
    match name.strip_suffix('y') {
        Some(stem) if !stem.ends_with(vowel) => format!("{stem}ies"),
        _ => name + "s",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_those_of_code_generators() {
        for (kind, plural) in [
            ("Widget", "widgets"),
            ("GitRepository", "gitrepositories"),
            ("Gateway", "gateways"),
            ("Ingress", "ingresses"),
            ("Sandbox", "sandboxes"),
            ("Endpoints", "endpoints"),
            ("HelmRelease", "helmreleases"),
        ] {
            assert_eq!(plural_of(kind), plural);
        }
    }
}
