//! The kinds of which the conventions are known, as the component tells them.

use anstyle::{Effects, Style};

use crate::engine::Profile;
use crate::yaml;

const BOLD: Style = Style::new().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);

/// The profiles of a kind: `Kind`, or `Kind.group` where several groups have it. The case of the
/// letters does not matter; `Kind.` is that of the core group alone.
///
/// # Errors
/// What to ask instead, if there is none.
pub fn find<'a>(known: &'a [Profile], name: &str) -> Result<Vec<&'a Profile>, String> {
    let same = |profile: &&Profile| {
        profile.kind.eq_ignore_ascii_case(name)
            || format!("{}.{}", profile.kind, profile.group).eq_ignore_ascii_case(name)
    };
    let found: Vec<_> = known.iter().filter(same).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let near = |profile: &&Profile| {
        let name = name.to_lowercase();
        strsim::jaro_winkler(&profile.kind.to_lowercase(), &name)
    };
    let best = known.iter().max_by(|left, right| near(left).total_cmp(&near(right)));
    let hint = match best.filter(|profile| near(profile) > 0.8) {
        Some(profile) => format!("did you mean `{}`?", profile.kind),
        None => "`plumb profiles` lists them, `plumb profiles infer` proposes one".to_owned(),
    };
    Err(format!("there is no profile for `{name}`; {hint}"))
}

/// One line for each kind, by group.
pub fn list(profiles: &[&Profile], width: usize) -> String {
    let longest = profiles.iter().map(|profile| profile.kind.chars().count()).max();
    let longest = longest.unwrap_or_default();
    let mut text = String::new();
    let mut group = None;
    for profile in profiles {
        if group != Some(&profile.group) {
            let name = if profile.group.is_empty() { "core" } else { &profile.group };
            let gap = if group.is_some() { "\n" } else { "" };
            text += &format!("{gap}{BOLD}{name}{BOLD:#}\n");
            group = Some(&profile.group);
        }
        let kind = if profile.kind == "*" { "every kind" } else { &profile.kind };
        let origin = if width < longest + 20 { "" } else { &profile.origin };
        text += &format!("  {kind:<longest$}  {DIM}{origin}{DIM:#}\n");
    }
    text
}

/// The profiles themselves, each as an entry of the settings' `profiles`.
pub fn documents(profiles: &[&Profile]) -> String {
    let mut text = String::new();
    for (index, profile) in profiles.iter().enumerate() {
        let gap = if index == 0 { "" } else { "---\n" };
        let (name, origin) = (full_name(profile), &profile.origin);
        text += &format!("{gap}{DIM}# {name}, {origin}{DIM:#}\n{}", document(&profile.document));
    }
    text
}

/// A profile (JSON) as settings to edit.
pub fn settings(profile: &str) -> String {
    let mut text = String::from(
        "# Proposed from samples: read it, mend it, and add the witnesses: which condition's\n\
         # message names which field of the status.\n\
         apiVersion: plumb.dev/v1alpha1\nkind: Settings\nprofiles:\n",
    );
    for (line, number) in document(profile).lines().zip(0..) {
        text += &format!("{} {line}\n", if number == 0 { "-" } else { " " });
    }
    text
}

/// What the component gives is JSON by contract; what is not is shown as it is.
fn document(json: &str) -> String {
    yaml::from_json(json).unwrap_or_else(|_| format!("{json}\n"))
}

fn full_name(profile: &Profile) -> String {
    if profile.group.is_empty() {
        profile.kind.clone()
    } else {
        format!("{}.{}", profile.kind, profile.group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(group: &str, kind: &str) -> Profile {
        Profile {
            group: group.into(),
            kind: kind.into(),
            origin: "built-in".into(),
            document: r#"{"kinds":["A"],"generation":{"absent":true}}"#.into(),
        }
    }

    #[test]
    fn a_kind_is_found_with_and_without_its_group() {
        let known = [profile("a.io", "Widget"), profile("b.io", "Widget"), profile("", "Pod")];
        assert_eq!(find(&known, "widget").unwrap().len(), 2);
        assert_eq!(find(&known, "Widget.b.io").unwrap()[0].group, "b.io");
        assert_eq!(
            find(&known, "Widgets").unwrap_err(),
            "there is no profile for `Widgets`; did you mean `Widget`?"
        );
        assert!(find(&known, "Zebra").unwrap_err().contains("`plumb profiles infer`"));
    }

    #[test]
    fn a_proposal_is_a_settings_document() {
        let settings = settings(r#"{"group":"a.io","kinds":["A"],"generation":{"absent":true}}"#);
        let value: serde_json::Value = serde_saphyr::from_str(&settings).unwrap();
        assert_eq!(value["kind"], "Settings");
        assert_eq!(value["profiles"][0]["generation"]["absent"], true);
        assert_eq!(value["profiles"][0]["kinds"][0], "A");
    }
}
