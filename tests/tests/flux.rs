//! Flux's kinds against recorded streams and the field's objects.

use plumb_tests::native::{self, Judged};

fn is_flux(one: &Judged) -> bool {
    let version = one.object["apiVersion"].as_str().unwrap_or_default();
    version.contains("fluxcd.io/") || version.contains("fluxcd.controlplane.io/")
}

/// Judges every file of a shared folder; nothing if it is not there.
fn shared(folder: &str, endings: &[&str]) -> Vec<Judged> {
    let Some(folder) = native::shared(folder) else { return Vec::new() };
    native::files(&folder, endings)
        .iter()
        .flat_map(|path| native::judge(path).1)
        .collect()
}

#[test]
fn no_object_of_the_field_is_called_torn() {
    let judged = shared("truth/corpus", &[".yaml"]);
    let found: Vec<String> = judged
        .iter()
        .filter(|one| is_flux(one) && one.findings().next().is_some())
        .map(Judged::told)
        .collect();
    assert!(found.is_empty(), "{}", found.join(""));
}

#[test]
fn show_recorded() {
    let judged = shared("recorded", &[".yaml", ".json", ".jsonl"]);
    for one in &judged {
        if one.findings().next().is_some() {
            println!("{}", one.told());
        }
    }
    println!("{}", judged.len());
}
