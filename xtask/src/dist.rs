//! The folder that is handed out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use wasmparser::{Parser, Payload};
use wit_parser::Resolve;

use crate::{guest, oci};

/// What is handed out. The same artifacts give the same folder, byte for byte.
pub(crate) struct Artifacts {
    /// The policy for hosts of components.
    pub(crate) component: Vec<u8>,
    /// The policy for hosts of core modules; see `docs/abi.md`.
    pub(crate) module: Vec<u8>,
    /// The contract as text.
    pub(crate) contract: Vec<u8>,
    /// The contract as a package that tools read.
    pub(crate) wit: Vec<u8>,
    /// JSON Schemas of what `evaluate-json` takes and gives, by file name.
    pub(crate) schemas: BTreeMap<String, Vec<u8>>,
    /// What the component is made of, `CycloneDX`.
    pub(crate) sbom: Vec<u8>,
    /// The licence's text.
    pub(crate) licence: Vec<u8>,
}

/// Writes the folder anew. Returns the checksums as `sha256sum` writes them.
pub(crate) fn write(folder: &Path, artifacts: &Artifacts) -> Result<String, String> {
    let Artifacts { component, module, contract, wit, schemas, sbom, licence } = artifacts;
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::from([
        ("LICENSE".to_owned(), licence.clone()),
        ("plumb-policy.cdx.json".to_owned(), sbom.clone()),
        ("plumb-policy.component.wasm".to_owned(), component.clone()),
        ("plumb-policy.core.wasm".to_owned(), module.clone()),
        ("plumb-policy.wit".to_owned(), contract.clone()),
        ("plumb-policy.wit.wasm".to_owned(), wit.clone()),
        ("rules.json".to_owned(), rules(component)?),
    ]);
    for (name, schema) in schemas {
        files.insert(format!("schema/{name}"), schema.clone());
    }
    for (name, blob) in oci::layout(component) {
        files.insert(format!("oci/{name}"), blob);
    }
    let mut sums = String::new();
    for (name, bytes) in &files {
        let _ = writeln!(sums, "{}  {name}", digest(bytes));
    }
    files.insert("SHA256SUMS".to_owned(), sums.clone().into_bytes());

    let failed = |file: &Path, error| format!("failed to write {}: {error}", file.display());
    // Nothing of an earlier version may stay.
    if folder.join("SHA256SUMS").exists() {
        fs::remove_dir_all(folder).map_err(|error| failed(folder, error))?;
    }
    for (name, bytes) in files {
        let file = folder.join(name);
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        fs::write(&file, bytes).map_err(|error| failed(&file, error))?;
    }
    Ok(sums)
}

/// Lower-case hexadecimal SHA-256.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The contract in `folder` as a binary WIT package.
pub(crate) fn wit_package(folder: &Path) -> Result<Vec<u8>, String> {
    let mut resolve = Resolve::default();
    resolve
        .push_path(folder)
        .and_then(|(package, _)| wit_component::encode(&resolve, package))
        .map_err(|error| format!("failed to encode the contract: {error:#}"))
}

/// The schemas in a folder, by file name.
pub(crate) fn schemas(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let failed = |error| format!("failed to read {}: {error}", folder.display());
    let mut schemas = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if let Some(name) = path.file_name().filter(|_| path.extension() == Some("json".as_ref())) {
            let name = name.to_string_lossy().into_owned();
            schemas.insert(name, fs::read(&path).map_err(failed)?);
        }
    }
    Ok(schemas)
}

/// The list of rules that the component carries.
fn rules(component: &[u8]) -> Result<Vec<u8>, String> {
    let mut sections = Parser::new(0).parse_all(component).filter_map(Result::ok);
    let rules = sections.find_map(|payload| match payload {
        Payload::CustomSection(section) if section.name() == guest::RULES => {
            Some([section.data(), b"\n"].concat())
        }
        _ => None,
    });
    rules.ok_or_else(|| format!("the component has no section {}", guest::RULES))
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{ComponentSection, CustomSection};

    use super::*;

    fn artifacts() -> Artifacts {
        let mut component = b"\0asm\x0d\0\x01\0".to_vec();
        CustomSection { name: guest::RULES.into(), data: (&b"[]"[..]).into() }
            .append_to_component(&mut component);
        Artifacts {
            component,
            module: vec![1],
            contract: vec![2],
            wit: vec![3],
            schemas: BTreeMap::from([("request.json".to_owned(), b"{}".to_vec())]),
            sbom: vec![4],
            licence: vec![5],
        }
    }

    #[test]
    fn two_folders_are_equal_and_nothing_of_an_earlier_version_stays() {
        let place = tempfile::tempdir().unwrap();
        let (one, two) = (place.path().join("one"), place.path().join("a/longer/two"));
        let sums = write(&one, &artifacts()).unwrap();
        write(&two, &Artifacts { schemas: BTreeMap::new(), ..artifacts() }).unwrap();
        fs::write(two.join("oci/blobs/stale"), "").unwrap();
        assert_eq!(write(&two, &artifacts()).unwrap(), sums);
        assert!(!two.join("oci/blobs/stale").exists());
        for line in sums.lines() {
            let (sum, name) = line.split_once("  ").unwrap();
            assert_eq!(digest(&fs::read(two.join(name)).unwrap()), sum, "{name}");
        }
    }

    #[test]
    fn the_contract_becomes_a_package() {
        let folder = crate::workspace().unwrap().join("wit");
        let package = wit_package(&folder).unwrap();
        assert!(package.starts_with(b"\0asm"));
    }
}
