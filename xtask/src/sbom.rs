//! What the component is made of, as a `CycloneDX` document.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::dist::digest;
use crate::guest;

/// What cargo knows of the workspace's packages for the component's target.
pub(crate) fn metadata(workspace: &Path, cargo: &OsStr) -> Result<Value, String> {
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform", guest::TARGET])
        .current_dir(workspace)
        .output()
        .map_err(|error| format!("failed to start cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The document. It names no time, no machine and no path.
pub(crate) fn document(metadata: &Value, component: &[u8]) -> Result<Vec<u8>, String> {
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).map(|package| (id(package), package)).collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).map(|node| (id(node), node)).collect();
    let root = packages
        .values()
        .find(|package| package["name"] == guest::NAME)
        .map(|package| id(package))
        .ok_or("cargo metadata does not know the policy")?;

    let linked = closure(&nodes, root, |package| !is_macro(packages[package]));
    let all = closure(&nodes, root, |_| true);
    let mut components = Vec::new();
    let mut dependencies = Vec::new();
    for package in &all {
        let reference = purl(packages[package]);
        let needs: BTreeSet<String> =
            needs(&nodes, package).map(|needed| purl(packages[needed])).collect();
        dependencies.push(json!({"ref": reference, "dependsOn": needs}));
        if *package != root {
            components.push(entry(packages[package], linked.contains(package)));
        }
    }
    components.sort_by_key(|component| component["bom-ref"].to_string());
    dependencies.sort_by_key(|dependency| dependency["ref"].to_string());
    let mut subject = entry(packages[root], true);
    subject["type"] = json!("application");
    subject["hashes"] = json!([{"alg": "SHA-256", "content": digest(component)}]);
    let document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": subject},
        "components": components,
        "dependencies": dependencies,
    });
    let text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    Ok((text + "\n").into_bytes())
}

fn entry(package: &Value, linked: bool) -> Value {
    let reference = purl(package);
    json!({
        "type": "library",
        "bom-ref": reference,
        "name": package["name"],
        "version": package["version"],
        "description": package["description"].as_str().unwrap_or_default().trim(),
        "licenses": [{"expression": package["license"]}],
        "purl": reference,
        // A macro runs in the compiler; nothing of it is in the component but what it wrote.
        "scope": if linked { "required" } else { "excluded" },
    })
}

/// What is needed by `root`, itself included, along packages of which `wanted` holds.
fn closure<'a>(
    nodes: &BTreeMap<&'a str, &'a Value>,
    root: &'a str,
    wanted: impl Fn(&str) -> bool,
) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(package) = open.pop() {
        if found.insert(package) {
            open.extend(needs(nodes, package).filter(|needed| wanted(needed)));
        }
    }
    found
}

/// The packages that one is linked with; not those of its tests and build script.
fn needs<'a>(nodes: &BTreeMap<&'a str, &'a Value>, package: &str) -> impl Iterator<Item = &'a str> {
    let normal =
        |needed: &&Value| list(&needed["dep_kinds"]).any(|dependency| dependency["kind"].is_null());
    let dependencies = nodes.get(package).map_or(&Value::Null, |node| &node["deps"]);
    list(dependencies).filter(normal).filter_map(|needed| needed["pkg"].as_str())
}

fn is_macro(package: &Value) -> bool {
    list(&package["targets"])
        .any(|target| list(&target["kind"]).any(|kind| kind.as_str() == Some("proc-macro")))
}

fn purl(package: &Value) -> String {
    let text = |name: &str| package[name].as_str().unwrap_or_default();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap_or_default()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_names_what_is_linked_and_nothing_of_this_machine() {
        let workspace = crate::workspace().unwrap();
        let cargo = std::env::var_os("CARGO").unwrap();
        let metadata = metadata(&workspace, &cargo).unwrap();
        let text = String::from_utf8(document(&metadata, b"component").unwrap()).unwrap();
        assert!(!text.contains(workspace.to_str().unwrap()));
        let document: Value = serde_json::from_str(&text).unwrap();
        let scope = |name: &str| {
            let found = list(&document["components"]).find(|component| component["name"] == name);
            found.map(|component| component["scope"].as_str().unwrap())
        };
        assert_eq!(scope("plumb-queue"), Some("required"));
        assert_eq!(scope("serde_json"), Some("required"));
        assert_eq!(scope("serde_derive"), Some("excluded"));
        assert_eq!(scope("serde-saphyr"), None, "of the build script alone");
        assert_eq!(document["metadata"]["component"]["name"], "plumb-policy");
        for component in list(&document["components"]) {
            let licence = &component["licenses"][0]["expression"];
            assert!(licence.is_string(), "{}: no licence", component["name"]);
        }
    }
}
