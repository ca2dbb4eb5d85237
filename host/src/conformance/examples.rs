//! The examples that stand in the rules' manuals, judged by the policy itself.

use std::io::Cursor;

use jiff::Timestamp;
use serde_json::Value;

use super::{Check, Outcome};
use crate::engine::{Observation, Policy, Rule, Severity};
use crate::input::{Documents, ItemKind};

/// One check for each rule: what stands under `Example` raises it, what stands under `Instead`
/// does not. A manual without these parts is skipped.
pub(super) fn run(policy: &Policy, rules: &[Rule]) -> Vec<Check> {
    rules.iter().map(|rule| ask(policy, rule)).collect()
}

fn ask(policy: &Policy, rule: &Rule) -> Check {
    let name = format!("{}: its example raises it, and its remedy does not", rule.id);
    let parts = [("Example", true), ("Instead", false)];
    let examples: Vec<(&str, bool, Example<'_>)> = parts
        .into_iter()
        .filter_map(|(part, raises)| Some((part, raises, Example::read(&rule.manual, part)?)))
        .collect();
    if examples.is_empty() {
        let details = vec!["the manual has no example in YAML".to_owned()];
        return Check { name, outcome: Outcome::Skipped, details };
    }
    let mut details = Vec::new();
    for (part, raises, example) in examples {
        match example.found(policy, rule) {
            Ok(found) if found == raises => {}
            Ok(true) => details.push(format!("{part}: it is raised")),
            Ok(false) => details.push(format!("{part}: it is not raised")),
            Err(message) => details.push(format!("{part}: {message}")),
        }
    }
    let outcome = if details.is_empty() { Outcome::Passed } else { Outcome::Failed };
    Check { name, outcome, details }
}

/// A part of a manual: documents, and the present if the text names one.
struct Example<'a> {
    yaml: &'a str,
    now: Option<&'a str>,
}

impl<'a> Example<'a> {
    /// The first block of YAML under a heading.
    fn read(manual: &'a str, part: &str) -> Option<Self> {
        let (_, text) = manual.split_once(&format!("## {part}\n"))?;
        let text = text.split("\n## ").next()?;
        let (_, rest) = text.split_once("```yaml\n")?;
        let (yaml, _) = rest.split_once("```")?;
        let now = text.split_once("The present is ").and_then(|(_, now)| now.split(".\n").next());
        Some(Self { yaml, now })
    }

    /// Whether the rule is raised, at its own severity or above info, when the last document is
    /// judged beside those before it.
    fn found(&self, policy: &Policy, rule: &Rule) -> Result<bool, String> {
        let mut objects: Vec<Value> = Vec::new();
        let mut settings = String::new();
        let mut other = None;
        let reader = Cursor::new(self.yaml.as_bytes().to_vec());
        for document in Documents::new("example", reader) {
            for item in document.map_err(|error| error.to_string())?.items {
                match item.kind {
                    ItemKind::Object(json) => {
                        objects.push(serde_json::from_str(&json).map_err(|e| e.to_string())?);
                    }
                    ItemKind::Settings(json) => settings = json,
                    kind @ (ItemKind::Pass(_) | ItemKind::Trace(_)) => other = Some(kind),
                    _ => {}
                }
            }
        }
        let findings = match other {
            Some(ItemKind::Pass(pass)) => policy.decide(&pass, &settings).map(|it| it.findings),
            Some(ItemKind::Trace(trace)) => policy.trace(&trace, &settings).map(|it| it.findings),
            _ => policy.check(&self.observation(objects, settings)?).map(|it| it.findings),
        };
        let findings = findings.map_err(|error| error.to_string())?;
        let least = rule.severity.min(Severity::Warning);
        let mut findings = findings.iter();
        Ok(findings.any(|finding| finding.rule == rule.id && finding.severity >= least))
    }

    /// The last object, after its earlier states and beside the newest of each other one.
    fn observation(
        &self,
        mut objects: Vec<Value>,
        settings: String,
    ) -> Result<Observation, String> {
        let mut newest = None;
        for object in &objects {
            latest(object, &mut newest);
        }
        let last = objects.pop().ok_or("there is no document to judge")?;
        let (earlier, others): (Vec<Value>, Vec<Value>) =
            objects.into_iter().partition(|object| identity(object) == identity(&last));
        let related = others.iter().enumerate().filter(|(at, object)| {
            !others[at + 1..].iter().any(|newer| identity(newer) == identity(object))
        });
        let mut history: Vec<String> = earlier.iter().map(Value::to_string).collect();
        Ok(Observation {
            object: last.to_string(),
            old: history.pop(),
            history,
            related: related.map(|(_, object)| object.to_string()).collect(),
            now: self.now.map(str::to_owned).or_else(|| newest.map(|time| time.to_string())),
            settings,
        })
    }
}

fn identity(object: &Value) -> [&Value; 4] {
    let metadata = &object["metadata"];
    [&object["apiVersion"], &object["kind"], &metadata["namespace"], &metadata["name"]]
}

/// The newest time in a document.
fn latest(value: &Value, newest: &mut Option<Timestamp>) {
    match value {
        Value::String(text) => *newest = text.parse::<Timestamp>().ok().max(*newest),
        Value::Array(items) => items.iter().for_each(|item| latest(item, newest)),
        Value::Object(members) => members.values().for_each(|member| latest(member, newest)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
