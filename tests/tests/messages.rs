//! How messages are worded: one sentence, lower case unless it begins with a Kubernetes name, no
//! final stop. Held over everything that the fixtures raise.

use plumb_host::engine::Policy;
use plumb_host::input::sources;
use plumb_host::replay::result::Report;
use plumb_host::replay::{Options, Replay, run};
use plumb_tests::generated;

fn report() -> Report {
    let policy = Policy::embedded().expect("the embedded policy loads");
    let replay = Replay::new(&policy, Options::default()).expect("the defaults are right");
    let fixtures = generated::root().join("fixtures").to_string_lossy().into_owned();
    let (sources, _) = sources(&[fixtures]);
    run(replay, &sources, &mut |_| Ok(())).expect("nothing is written")
}

/// What is wrong with the wording of a message.
fn fault(message: &str) -> Option<&'static str> {
    let first = message.split(' ').next().unwrap_or_default();
    let articles = ["A", "An", "The", "This", "That", "There", "No", "It", "If", "When", "Some"];
    if message.trim().is_empty() {
        Some("it is empty")
    } else if message.contains('\n') {
        Some("it has more than one line")
    } else if message.ends_with(['.', '!']) && !message.ends_with("...") {
        Some("it ends with a stop")
    } else if articles.contains(&first) {
        Some("it begins with a capital")
    } else if message.contains('\t') || message.contains("  ") {
        Some("it is laid out by blanks")
    } else {
        None
    }
}

#[test]
fn what_findings_say_is_worded_as_agreed() {
    let report = report();
    let mut count = 0;
    let mut faults = Vec::new();
    for judged in &report.results {
        let findings = judged.findings.iter().flat_map(|finding| {
            let notes = finding.related.iter().map(|note| &note.message);
            notes.chain([&finding.message]).chain(&finding.help)
        });
        for message in findings.chain([&judged.reason].into_iter().filter(|text| !text.is_empty()))
        {
            count += 1;
            if let Some(fault) = fault(message) {
                faults.push(format!("{}: {fault}: {message}", judged.input));
            }
        }
    }
    assert!(count > 50, "only {count} messages were seen");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_the_catalogue_says_is_worded_as_agreed() {
    for rule in Policy::embedded().unwrap().rules().unwrap() {
        assert_eq!(fault(&rule.summary), None, "{}: {}", rule.id, rule.summary);
        let harm = plumb_host::rules::harm(&rule.manual);
        assert!(harm.is_some_and(|text| text.len() > 20), "{}: no harm is told", rule.id);
    }
}

#[test]
fn a_badly_worded_message_is_noticed() {
    for message in ["", "The field is wrong", "a field is wrong.", "a\nb", "a  b"] {
        assert!(fault(message).is_some(), "{message}");
    }
    for message in ["Ready is True for `a`", "a field is wrong", "`x` is gone"] {
        assert_eq!(fault(message), None, "{message}");
    }
}
