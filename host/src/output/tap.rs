//! TAP 14: one test point for each result, with YAML diagnostics.
//!
//! <https://testanything.org/tap-version-14-specification.html>

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::place::Locators;
use super::{Manner, sum, words};
use crate::replay::result::{Judged, Report};

pub(super) fn write(report: &Report, manner: &Manner, out: &mut dyn Write) -> io::Result<()> {
    let mut locators = Locators::default();
    let mut point = Point { number: 0, out };
    writeln!(point.out, "TAP version 14")?;
    for judged in &report.results {
        let name = format!("{}, {}", judged.input, words::case(judged));
        let diagnostics = diagnostics(&mut locators, judged);
        point.write(!judged.fails(manner.fail_on), &name, &diagnostics)?;
    }
    for fixture in report.fixtures.iter().filter(|fixture| !fixture.unmet.is_empty()) {
        let name = format!("{}, expectations that met no result", fixture.input);
        let mut diagnostics = Map::new();
        diagnostics.insert("unmet".into(), json!(fixture.unmet));
        point.write(false, &name, &diagnostics)?;
    }
    for error in &report.errors {
        let mut diagnostics = Map::new();
        diagnostics.insert("message".into(), json!(error.message));
        diagnostics.insert("severity".into(), json!(error.kind));
        let at = json!({"file": error.input, "line": error.line});
        diagnostics.insert("at".into(), at);
        let what = sum::error_line(error);
        let what = what.split(':').next().unwrap_or_default();
        point.write(false, &format!("{}, {what}", error.input), &diagnostics)?;
    }
    let Point { number, out } = point;
    writeln!(out, "1..{number}")?;
    for line in sum::lines(report, manner) {
        writeln!(out, "# {line}")?;
    }
    Ok(())
}

struct Point<'a> {
    number: usize,
    out: &'a mut dyn Write,
}

impl Point<'_> {
    fn write(&mut self, ok: bool, name: &str, diagnostics: &Map<String, Value>) -> io::Result<()> {
        self.number += 1;
        let ok = if ok { "ok" } else { "not ok" };
        let name = words::clean(name).replace('\\', "\\\\").replace('#', "\\#");
        writeln!(self.out, "{ok} {} - {name}", self.number)?;
        if diagnostics.is_empty() {
            return Ok(());
        }
        // A JSON value on one line is YAML.
        writeln!(self.out, "  ---")?;
        for (key, value) in diagnostics {
            match value {
                Value::Array(items) => {
                    writeln!(self.out, "  {key}:")?;
                    for item in items {
                        writeln!(self.out, "    - {item}")?;
                    }
                }
                value => writeln!(self.out, "  {key}: {value}")?,
            }
        }
        writeln!(self.out, "  ...")
    }
}

fn diagnostics(locators: &mut Locators, judged: &Judged) -> Map<String, Value> {
    let mut fields = Map::new();
    if judged.findings.is_empty() && judged.unmet.is_empty() {
        return fields;
    }
    if !judged.unmet.is_empty() {
        fields.insert("unmet".into(), json!(judged.unmet));
    }
    let findings = judged.findings.iter().map(|finding| {
        let region = locators.target(judged, "object", &finding.path).map(|at| at.region());
        let mut entry = json!({
            "rule": finding.rule,
            "severity": finding.severity,
            "path": finding.path,
            "message": finding.message,
            "related": finding.related,
            "help": finding.help,
        });
        if let Some(region) = region {
            entry["at"] = json!({
                "file": &*region.input, "line": region.line, "column": region.column
            });
        }
        entry
    });
    fields.insert("findings".into(), findings.collect());
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_directives() {
        let mut out = Vec::new();
        Point { number: 0, out: &mut out }.write(true, "a # SKIP\nnot ok", &Map::new()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "ok 1 - a \\# SKIP not ok\n");
    }
}
