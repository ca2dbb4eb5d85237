//! The catalogue of rules, as the component tells it.

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Effects, Style};

use crate::engine::{Rule, Severity};

const BOLD: Style = Style::new().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);

/// One line for each rule, by family.
pub fn list(rules: &[&Rule], width: usize) -> String {
    let longest = rules.iter().map(|rule| rule.id.chars().count()).max().unwrap_or_default();
    let mut families: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
    for rule in rules {
        families.entry(&rule.family).or_default().push(rule);
    }
    let mut text = String::new();
    for (family, rules) in families {
        text += &format!("{BOLD}{family}{BOLD:#}\n");
        for Rule { id, severity, scope, summary, .. } in rules {
            let style = style(*severity);
            let head =
                format!("  {id:<longest$}  {style}{severity:<7}{style:#}  {DIM}{scope:<10}{DIM:#}");
            // Below where it does not fit beside.
            let beside = 2 + longest + 2 + 7 + 2 + 10 + 2 + summary.chars().count() <= width;
            text += &head;
            text += if beside { "  " } else { "\n      " };
            text += &format!("{summary}\n");
        }
        text.push('\n');
    }
    text += &format!("{DIM}plumb rules RULE explains one{DIM:#}\n");
    text
}

/// One rule in full.
pub fn manual(rule: &Rule) -> String {
    let Rule { id, family, scope, severity, since, summary, manual } = rule;
    let style = style(*severity);
    let mut text = format!(
        "{BOLD}{id}{BOLD:#}: {summary}\n{style}{severity}{style:#} {DIM}· family {family} · needs \
         a {scope} · since {since}{DIM:#}\n\n"
    );
    let mut in_code = false;
    for line in manual.trim_end().lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            text += &format!("    {line}\n");
        } else if let Some(heading) = line.strip_prefix("## ") {
            text += &format!("{BOLD}{heading}{BOLD:#}\n");
        } else {
            text += &format!("{line}\n");
        }
    }
    text
}

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Error => AnsiColor::BrightRed.on_default(),
        Severity::Warning => AnsiColor::Yellow.on_default(),
        Severity::Info => AnsiColor::BrightBlue.on_default(),
    }
}

/// What a rule's manual says of the harm: the first paragraph under "Why is this bad?", as plain
/// text on one line.
pub fn harm(manual: &str) -> Option<String> {
    let mut lines = manual.lines().map(str::trim);
    lines.find(|line| line.starts_with('#') && line.ends_with("Why is this bad?"))?;
    let text = lines
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("```"))
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
        let manual = "## What it does\nx\n\n## Why is this bad?\n\nA consumer that sees\n`this`, \
                      [that](https://e) waits [for] ever.\n\nMore.\n\n## Example\n";
        assert_eq!(
            harm(manual).as_deref(),
            Some("A consumer that sees `this`, that waits [for] ever.")
        );
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
