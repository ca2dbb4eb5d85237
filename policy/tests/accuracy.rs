//! The bars against the labelled sets, where those are at hand; see `docs/accuracy.md`.

#[path = "../examples/score/sets.rs"]
#[expect(dead_code, reason = "shared with the example that prints the table")]
mod sets;

#[path = "../examples/score/cases.rs"]
#[expect(dead_code, reason = "shared with the example that prints the table")]
mod cases;

use std::fs;

use cases::Case;
use plumb_policy::finding::{Finding, Severity};
use sets::Sample;

fn share(part: usize, all: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).expect("a small count"));
    if all == 0 { 1.0 } else { number(part) / number(all) }
}

/// What differs without being known to.
fn unknown_differences(set: &str, samples: &[Sample]) -> Vec<String> {
    let known = sets::known();
    samples
        .iter()
        .filter(|sample| !sets::agrees(set, sample))
        .filter(|sample| {
            !known.iter().any(|known| {
                known.set == set
                    && known.file == sample.file
                    && known.phase.as_deref() == Some(sample.phase())
            })
        })
        .map(|sample| format!("{} {}: {}", sample.file, sample.label, sample.verdict.reason))
        .collect()
}

#[test]
fn phases_are_those_of_kstatus_but_for_the_known_differences() {
    let samples = sets::samples("kstatus");
    let unknown = unknown_differences("kstatus", &samples);
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(!samples.iter().any(|sample| sets::falsely_settled("kstatus", sample)));
}

#[test]
fn phases_are_those_of_argo_cd_and_karmada_on_profiled_kinds() {
    let known = sets::known();
    for set in ["argocd", "karmada"] {
        let samples = sets::samples(set);
        let profiled = samples.iter().filter(|sample| sample.verdict.profiled);
        let equal = profiled.clone().filter(|sample| sets::agrees(set, sample)).count();
        assert!(share(equal, profiled.count()) >= 0.95, "{set}: {equal} are equal");
        for sample in samples.iter().filter(|sample| sets::falsely_settled(set, sample)) {
            let is_known = known.iter().any(|known| known.set == set && known.file == sample.file);
            assert!(is_known, "{set} {}: {}", sample.file, sample.verdict.reason);
        }
        let unknown = unknown_differences(set, &samples);
        assert!(unknown.is_empty(), "{set}: {unknown:#?}");
    }
}

#[test]
fn every_finding_is_a_known_fault() {
    let known = sets::known();
    let states = ["kstatus", "argocd", "karmada", "corpus"].map(|set| (set, sets::samples(set)));
    for (set, samples) in states.into_iter().chain([("transitions", sets::transitions())]) {
        for sample in &samples {
            for finding in sample.findings() {
                let is_known = known.iter().any(|known| {
                    known.set == set
                        && known.file == sample.file
                        && known.rule.as_deref() == Some(finding.rule)
                });
                assert!(is_known, "{set} {}: {} {}", sample.file, finding.rule, finding.message);
            }
        }
    }
}

#[test]
fn the_torn_status_is_found_among_the_transitions() {
    let samples = sets::transitions();
    let torn = samples.iter().any(|sample| {
        sample.file == "flux-pkg-934/1"
            && sample
                .findings()
                .any(|finding| finding.rule == "message-revision-differs-from-field")
    });
    assert!(torn || samples.is_empty());
}

#[test]
fn what_is_known_has_a_reason() {
    for known in sets::known() {
        assert!(!known.reason.is_empty() && known.phase.is_some() != known.rule.is_some());
    }
}

#[test]
fn reported_faults_are_found_and_what_is_no_fault_is_not() {
    let mut wrong = Vec::new();
    for case in cases::cases() {
        let other = |finding: &&Finding| !case.is_fault || finding.rule != case.rule;
        let above = case.findings.iter().filter(|finding| finding.severity > Severity::Info);
        let noise: Vec<_> =
            above.filter(other).map(|finding| (finding.rule, &finding.path)).collect();
        if !noise.is_empty() || (case.is_fault && case.found().is_none()) {
            wrong.push(format!(
                "{} {}: {:?}, beside {noise:?}",
                case.number,
                case.rule,
                case.found()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn fixtures_that_expect_nothing_show_nothing() {
    let unexpected = cases::unexpected();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}

/// The reports lie beside the repository, if at all.
#[test]
fn every_report_that_objects_can_tell_is_among_the_cases() {
    let cases = cases::cases();
    let Ok(reports) = fs::read_dir(sets::root().join("../cases")) else { return };
    let mut missing = Vec::new();
    for report in reports.map(|entry| entry.expect("an entry").path()) {
        let text = fs::read_to_string(&report).expect("a readable report");
        let told = |key: &str| {
            let line = text.lines().find(|line| line.starts_with(key)).expect("front matter");
            line[key.len()..].trim().trim_matches('"').to_owned()
        };
        let number = told("id:");
        let is_known = |case: &Case| case.number == number;
        let is_told = cases::too_little().iter().any(|one| one.case == number);
        if told("scope:") != "queue" && !cases.iter().any(is_known) && !is_told {
            missing.push(number);
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
