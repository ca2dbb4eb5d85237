//! Which objects are judged, and which findings are told.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::scan::Facts;

/// Patterns that a user gave; an empty list lets everything through.
#[derive(Debug, Default)]
pub(super) struct Filter {
    rules: Option<GlobSet>,
    kinds: Option<GlobSet>,
    namespaces: Option<GlobSet>,
}

impl Filter {
    pub(super) fn new(
        rules: &[String],
        kinds: &[String],
        namespaces: &[String],
    ) -> Result<Self, globset::Error> {
        Ok(Self {
            rules: set(rules, false)?,
            kinds: set(kinds, true)?,
            namespaces: set(namespaces, false)?,
        })
    }

    /// Whether findings of the rule are told.
    pub(super) fn rule(&self, id: &str) -> bool {
        self.rules.as_ref().is_none_or(|rules| rules.is_match(id))
    }

    /// Whether the object is judged. A kind may be given with its group: `Kustomization.kustomize.*`.
    pub(super) fn object(&self, facts: &Facts) -> bool {
        let kind = self.kinds.as_ref().is_none_or(|kinds| {
            kinds.is_match(&facts.kind)
                || kinds.is_match(format!("{}.{}", facts.kind, facts.group()))
        });
        kind && self.namespaces.as_ref().is_none_or(|names| names.is_match(&facts.namespace))
    }

    /// Whether some objects may not be judged.
    pub(super) fn leaves_out_objects(&self) -> bool {
        self.kinds.is_some() || self.namespaces.is_some()
    }
}

fn set(patterns: &[String], any_case: bool) -> Result<Option<GlobSet>, globset::Error> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob: Glob = GlobBuilder::new(pattern).case_insensitive(any_case).build()?;
        set.add(glob);
    }
    set.build().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_choose_rules_and_objects() {
        let list = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect::<Vec<_>>();
        let filter = Filter::new(
            &list(&["ready-*", "lost-wake-up"]),
            &list(&["gitrepository", "Kustomization.kustomize.*"]),
            &list(&["flux-*"]),
        )
        .unwrap();
        assert!(filter.rule("ready-with-stale-generation") && filter.rule("lost-wake-up"));
        assert!(!filter.rule("message-revision-differs-from-field"));
        let object = |api_version: &str, kind: &str, namespace: &str| Facts {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            ..Facts::default()
        };
        let kustomize = "kustomize.toolkit.fluxcd.io/v1";
        assert!(filter.object(&object("source.toolkit.fluxcd.io/v1", "GitRepository", "flux-a")));
        assert!(filter.object(&object(kustomize, "Kustomization", "flux-a")));
        assert!(!filter.object(&object(kustomize, "Kustomization", "default")));
        assert!(!filter.object(&object("other.io/v1", "Kustomization", "flux-a")));
        assert!(Filter::default().object(&object("v1", "Pod", "")) && Filter::default().rule(""));
        assert!(Filter::new(&list(&["["]), &[], &[]).is_err());
    }
}
