//! The catalogue of rules, as the component tells it.

use crate::engine::Rule;

/// What a rule's manual says of the harm: the first paragraph under "Why is this bad?", as plain
/// text on one line.
pub fn harm(manual: &str) -> Option<String> {
    let mut lines = manual.lines().map(str::trim);
    lines.find(|line| line.starts_with('#') && line.ends_with("Why is this bad?"))?;
    let text = lines
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty() && !line.starts_with(['#', '`']))
        .collect::<Vec<_>>()
        .join(" ");
    (!text.is_empty()).then(|| plain(&text))
}

/// Markdown links as their text.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = rest[open + 1..].split_once("](").and_then(|(label, tail)| {
            let (_, after) = tail.split_once(')')?;
            (!label.contains(['[', ']'])).then_some((label, after))
        });
        let Some((label, after)) = link else {
            plain.push_str(&rest[..=open]);
            rest = &rest[open + 1..];
            continue;
        };
        plain.push_str(&rest[..open]);
        plain.push_str(label);
        rest = after;
    }
    plain + rest
}

/// The rule of this id, or the id that was probably meant.
///
/// # Errors
/// The nearest id, if one is near.
pub fn find<'a>(rules: &'a [Rule], id: &str) -> Result<&'a Rule, Option<&'a str>> {
    if let Some(rule) = rules.iter().find(|rule| rule.id == id) {
        return Ok(rule);
    }
    let near = |rule: &&Rule| strsim::jaro_winkler(&rule.id, id);
    let best = rules.iter().max_by(|left, right| near(left).total_cmp(&near(right)));
    Err(best.filter(|rule| near(rule) > 0.7).map(|rule| rule.id.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Scope, Severity};

    fn rule(id: &str) -> Rule {
        Rule {
            id: id.into(),
            family: "witness".into(),
            scope: Scope::State,
            severity: Severity::Error,
            since: "0.1.0".into(),
            summary: String::new(),
            manual: String::new(),
        }
    }

    #[test]
    fn the_harm_is_the_first_paragraph_under_its_heading() {
        let manual = "## What it does\nx\n\n## Why is this bad?\n\nA consumer that\nsees \
                      [this](https://e) waits [for] ever.\n\nMore.\n\n## Example\n";
        assert_eq!(harm(manual).as_deref(), Some("A consumer that sees this waits [for] ever."));
        assert_eq!(harm("## What it does\nx"), None);
        assert_eq!(harm("## Why is this bad?\n## Example\n"), None);
    }

    #[test]
    fn an_unknown_id_suggests_the_nearest() {
        let rules = [rule("ready-with-stale-generation"), rule("lost-wake-up")];
        assert_eq!(find(&rules, "lost-wake-up").unwrap().id, "lost-wake-up");
        assert_eq!(find(&rules, "lost-wakeup").unwrap_err(), Some("lost-wake-up"));
        assert_eq!(find(&rules, "zzz").unwrap_err(), None);
    }
}
