//! Compares plumb with the labelled sets of other projects.
//!
//! `cargo run -p plumb-policy --example score` prints the table of `docs/accuracy.md`;
//! `--write` puts it there; `--misses SET` lists what differs, `--findings SET` what was found,
//! `--cases` the reported cases among the fixtures.

#[expect(dead_code, reason = "shared with the test of the bars")]
mod cases;
mod sets;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::{env, fs};

use plumb_policy::finding::Phase;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let text = match arguments[..] {
        [] => table(),
        ["--write"] => {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/accuracy.md");
            let page = fs::read_to_string(&path)?;
            let page = replace(&page, "score", &table());
            fs::write(path, replace(&page, "cases", &cases::table()))?;
            String::new()
        }
        ["--cases"] => cases::table(),
        ["--misses", set] => misses(set),
        ["--findings", set] => findings(set),
        _ => "usage: score [--write | --cases | --misses SET | --findings SET]\n".into(),
    };
    io::stdout().lock().write_all(text.as_bytes())
}

/// The page with `text` between two marks.
fn replace(page: &str, mark: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- {mark} -->"), format!("<!-- /{mark} -->"));
    let (head, rest) = page.split_once(&begin).expect("docs/accuracy.md has the mark");
    let (_, tail) = rest.split_once(&end).expect("docs/accuracy.md has the end mark");
    format!("{head}{begin}\n{text}{end}{tail}")
}

fn percent(part: usize, all: usize) -> String {
    let tenths = (part * 1_000 + all / 2).checked_div(all).unwrap_or(0);
    format!("{part} of {all} ({}.{} %)", tenths / 10, tenths % 10)
}

fn table() -> String {
    let mut lines = vec![
        "| set | objects | of a profiled kind | equal | equal, of a profiled kind | settled said of worse |".to_string(),
        "|---|---|---|---|---|---|".to_string(),
    ];
    for set in ["kstatus", "argocd", "karmada"] {
        let samples = sets::samples(set);
        let all = samples.len();
        let known = sets::known();
        let equal = |sample: &&sets::Sample| sets::agrees(set, sample);
        let profiled = samples.iter().filter(|sample| sample.verdict.profiled).count();
        let equal_profiled =
            samples.iter().filter(|sample| sample.verdict.profiled).filter(equal).count();
        let knowing = known.iter().filter(|known| known.set == set).count();
        let knowing =
            if knowing == 0 { String::new() } else { format!(", {knowing} knowing differences") };
        lines.push(format!(
            "| {set} | {all} | {profiled} | {}{knowing} | {} | {} |",
            percent(samples.iter().filter(equal).count(), all),
            percent(equal_profiled, profiled),
            percent(
                samples.iter().filter(|sample| sets::falsely_settled(set, sample)).count(),
                all
            ),
        ));
    }
    lines.push(String::new());
    lines.push("| set | states | of a profiled kind | phases | findings above info |".into());
    lines.push("|---|---|---|---|---|".into());
    for set in ["corpus", "transitions"] {
        let samples = if set == "corpus" { sets::samples(set) } else { sets::transitions() };
        let phases = sets::count(samples.iter().map(sets::Sample::phase));
        let rules = sets::count(
            samples.iter().flat_map(|sample| sample.findings().map(|finding| finding.rule)),
        );
        let join = |counts: BTreeMap<&str, usize>| {
            let parts: Vec<String> =
                counts.iter().map(|(key, count)| format!("{count} {key}")).collect();
            if parts.is_empty() { "none".into() } else { parts.join(", ") }
        };
        lines.push(format!(
            "| {set} | {} | {} | {} | {} |",
            samples.len(),
            samples.iter().filter(|sample| sample.verdict.profiled).count(),
            join(phases),
            join(rules),
        ));
    }
    lines.join("\n") + "\n"
}

fn misses(set: &str) -> String {
    let samples = sets::samples(set);
    let known = sets::known();
    let mut text = String::new();
    for sample in samples.iter().filter(|sample| !sets::agrees(set, sample)) {
        let known = known.iter().find(|known| {
            known.set == set
                && known.file == sample.file
                && known.phase.as_deref() == Some(sample.phase())
        });
        let marks = [
            (known.is_some(), known.map_or("", |known| &known.reason)),
            (!sample.verdict.profiled, "no profile"),
            (sets::falsely_settled(set, sample), "FALSELY SETTLED"),
        ];
        let marks: Vec<&str> = marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark).collect();
        text += &format!(
            "{} {}: {} but plumb says {}: {} [{}]\n",
            sample.file,
            sample.kind,
            sample.label,
            sample.phase(),
            sample.verdict.reason,
            marks.join(", ")
        );
    }
    text
}

fn findings(set: &str) -> String {
    let samples = if set == "transitions" { sets::transitions() } else { sets::samples(set) };
    let known = sets::known();
    let mut text = String::new();
    for sample in &samples {
        for finding in sample.findings() {
            if known.iter().any(|known| {
                known.set == set
                    && known.file == sample.file
                    && known.rule.as_deref() == Some(finding.rule)
            }) {
                continue;
            }
            text += &format!(
                "{} {} {} {}: {}\n",
                sample.file, sample.kind, finding.rule, finding.path, finding.message
            );
        }
        if set == "corpus" && sample.verdict.phase == Phase::Unknown {
            text +=
                &format!("{} {} unknown: {}\n", sample.file, sample.kind, sample.verdict.reason);
        }
    }
    text
}
