//! The invariants of ARCHITECTURE.md that can be read off the sources.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use plumb_host::engine::Policy;
use serde_json::Value;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names of the packages that a member of the workspace declares, by kind: `normal`, `build`,
/// `dev`.
fn declared(member: &str) -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env::var_os("CARGO").unwrap())
        .args(["metadata", "--format-version=1", "--no-deps", "--locked", "--offline"])
        .current_dir(workspace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == member).unwrap();
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for dependency in package["dependencies"].as_array().unwrap() {
        let kind = dependency["kind"].as_str().unwrap_or("normal").to_owned();
        let name = dependency["name"].as_str().unwrap().to_owned();
        declared.entry(kind).or_default().insert(name);
    }
    declared
}

/// Every package that one of the lock file needs, in whatever way.
fn locked_closure(of: &str) -> BTreeSet<String> {
    let lock = fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    let mut needs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let name = package.split("name = \"").nth(1).unwrap().split('"').next().unwrap();
        let listed = package.split_once("dependencies = [").map_or("", |(_, list)| list);
        // An entry is a name, with a version where the lock file has two.
        let entries = listed.split(']').next().unwrap().split('"').skip(1).step_by(2);
        let names = entries.map(|entry| entry.split(' ').next().unwrap());
        needs.entry(name).or_default().extend(names);
    }
    let mut closure = BTreeSet::new();
    let mut open = vec![of];
    while let Some(name) = open.pop() {
        if closure.insert(name.to_owned()) {
            open.extend(&needs[name]);
        }
    }
    closure
}

/// The feature sets that each package is compiled with, for the packages that `of` is made of.
fn feature_sets(selection: &str, of: &str) -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env::var_os("CARGO").unwrap())
        .args(["tree", selection, "--edges=normal,build,dev", "--prefix=none", "--format={p}\t{f}"])
        .args(["--locked", "--offline", "--manifest-path=host/Cargo.toml"])
        .current_dir(workspace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let closure = locked_closure(of);
    let mut sets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let Some((package, features)) = line.split_once('\t') else { continue };
        if closure.contains(package.split(' ').next().unwrap()) {
            let features = features.trim_end_matches(" (*)");
            sets.entry(package.to_owned()).or_default().insert(features.to_owned());
        }
    }
    sets
}

/// All Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The string literals of a source text, without its comments and its unit tests.
fn literals(source: &str) -> Vec<&str> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap();
    let mut literals = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (before, found) = rest.split_at(at);
        if found.starts_with("//") {
            rest = found.split_once('\n').map_or("", |(_, rest)| rest);
        } else if found.starts_with("'\"'") || found.starts_with("'\\\"'") {
            rest = found.trim_start_matches(['\'', '\\', '"']);
        } else if let Some(body) = found.strip_prefix('"') {
            let hashes = before.len() - before.trim_end_matches('#').len();
            let raw = before.trim_end_matches('#').ends_with('r');
            let end = if raw {
                body.find(&format!("\"{}", "#".repeat(hashes))).unwrap()
            } else {
                let mut escaped = false;
                body.find(|character| {
                    let ends = character == '"' && !escaped;
                    escaped = character == '\\' && !escaped;
                    ends
                })
                .unwrap()
            };
            literals.push(&body[..end]);
            rest = &body[end + 1..];
        } else {
            rest = &found[1..];
        }
    }
    literals
}

/// All strings in a JSON value that are written like a condition type, a reason or a kind.
fn camel_case_words(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let named = text.starts_with(|first: char| first.is_ascii_uppercase())
                && text.chars().all(|character| character.is_ascii_alphabetic());
            if named && !["True", "False", "Unknown"].contains(&text.as_str()) {
                words.insert(text.clone());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| camel_case_words(item, words)),
        Value::Object(members) => members.values().for_each(|item| camel_case_words(item, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn the_host_does_not_depend_on_the_policy() {
    let declared = declared("plumb-host");
    for kind in ["normal", "build"] {
        assert!(!declared[kind].contains("plumb-policy"), "as a {kind} dependency");
    }
    // What the host shares with the policy must not lead there either.
    assert!(!locked_closure("plumb-queue").contains("plumb-policy"));
}

#[test]
fn the_policy_depends_on_no_io() {
    let closure = locked_closure("plumb-policy");
    assert!(closure.contains("serde_json"), "the lock file is read wrongly");
    for package in ["kube", "tokio", "wasmtime", "plumb-host", "mio", "hyper", "getrandom"] {
        assert!(!closure.contains(package), "plumb-policy needs {package}");
    }
}

#[test]
fn the_queue_depends_on_nothing() {
    assert_eq!(locked_closure("plumb-queue"), BTreeSet::from(["plumb-queue".to_owned()]));
}

#[test]
fn the_host_names_no_rule() {
    let rules = Policy::embedded().unwrap().rules().unwrap();
    assert!(!rules.is_empty());
    for file in sources(&workspace().join("host/src")) {
        let source = fs::read_to_string(&file).unwrap();
        for literal in literals(&source) {
            for rule in &rules {
                assert!(!literal.contains(&rule.id), "{}: {literal}", file.display());
            }
        }
    }
}

#[test]
fn the_host_names_no_condition_type_reason_or_kind_that_is_judged() {
    let profiles = Policy::embedded().unwrap().profiles("").unwrap();
    let mut words: BTreeSet<String> =
        ["Ready", "Reconciling", "Stalled", "Available", "Progressing", "Degraded", "Healthy"]
            .map(str::to_owned)
            .into();
    for profile in &profiles {
        let document: Value = serde_json::from_str(&profile.document).unwrap();
        // Of a kind without a status nothing is judged; the host may read and redact it.
        if document["statusless"] != true {
            camel_case_words(&document, &mut words);
        }
    }
    assert!(words.contains("GitRepository"), "the profiles are read wrongly");
    // Words of some project's kind or reason that the host has from elsewhere: what it calls the
    // component, and a reason of the API server's answers.
    words.retain(|word| word.contains(char::is_lowercase));
    for word in ["Policy", "Invalid"] {
        words.remove(word);
    }
    let is_test = |file: &PathBuf| file.file_name().is_some_and(|name| name == "tests.rs");
    for file in sources(&workspace().join("host/src")).into_iter().filter(|file| !is_test(file)) {
        let source = fs::read_to_string(&file).unwrap();
        for literal in literals(&source) {
            assert!(!words.contains(literal), "{}: {literal}", file.display());
        }
    }
}

#[test]
fn literals_are_found() {
    let source = r##"
        // "not this"
        let a = "one \" two"; let b = '"'; let c = r#"three " four"#; let d = "";
        #[cfg(test)]
        mod tests { const E: &str = "nor this"; }
    "##;
    let source = source.replace("#[cfg(test)]\n        mod", "#[cfg(test)]\nmod");
    assert_eq!(literals(&source), ["one \\\" two", "three \" four", ""]);
}

/// The build script and the host both need wasmtime, which takes minutes to compile.
#[test]
fn wasmtime_is_compiled_once() {
    let workspace = feature_sets("--workspace", "wasmtime");
    assert!(workspace.len() > 20, "{workspace:?}");
    let host = feature_sets("--package=plumb-host", "wasmtime");
    for (package, sets) in workspace {
        // What macros are made of; the tests read Rust with it, which is a build of its own.
        if ["syn ", "proc-macro2 ", "quote "].iter().any(|name| package.starts_with(name)) {
            continue;
        }
        let sets: BTreeSet<_> =
            sets.iter().chain(host.get(&package).into_iter().flatten()).collect();
        assert_eq!(
            sets.len(),
            1,
            "{package} is compiled once for each of {sets:?}: name the features that are missing \
             in the dependencies and in the build-dependencies of host/Cargo.toml"
        );
    }
}
