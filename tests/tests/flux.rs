//! Flux's kinds against recorded streams and the field's objects.

use plumb_tests::generated;
use plumb_tests::native::{self, Judged};

/// Judges every file of a shared folder; nothing if it is not there.
fn shared(folder: &str, endings: &[&str]) -> Vec<Judged> {
    let Some(folder) = native::shared(folder) else { return Vec::new() };
    native::files(&folder, endings).iter().flat_map(|path| native::judge(path).1).collect()
}

/// The rules whose data this test is about.
const RULES: [&str; 2] = ["message-revision-differs-from-field", "status-breaks-invariant"];

fn is_torn(one: &Judged) -> bool {
    one.findings().any(|finding| RULES.contains(&finding.rule))
}

#[test]
fn no_object_of_the_field_is_called_torn() {
    let judged = shared("truth/corpus", &[".yaml"]);
    let found: Vec<String> = judged.iter().filter(|one| is_torn(one)).map(Judged::told).collect();
    assert!(found.is_empty(), "{}", found.join(""));
}

#[test]
fn fixtures_are_judged_as_expected() {
    let mut unmet = Vec::new();
    for rule in RULES {
        let folder = generated::root().join("fixtures/rules").join(rule);
        for path in native::files(&folder, &[".yaml"]) {
            let (header, judged) = native::judge(&path);
            assert!(!judged.is_empty(), "{}: nothing to judge", path.display());
            unmet.extend(native::unmet(&header.expect("a header"), &judged));
        }
    }
    assert!(unmet.is_empty(), "{}", unmet.join("\n"));
}
