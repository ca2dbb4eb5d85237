//! The component as an OCI artifact, in an image layout on disk.
//!
//! The manifest follows the CNCF's "Wasm OCI Artifact": one layer, the component itself, and a
//! configuration that says what it exports. `wkg`, `oras` and registries' web pages read it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::dist::digest;
use crate::guest;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.wasm.config.v0+json";
const LAYER: &str = "application/wasm";

/// The files of the layout, by path.
pub(crate) fn layout(component: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut blob = |media_type: &str, bytes: Vec<u8>| {
        let digest = digest(&bytes);
        let descriptor = json!({
            "mediaType": media_type,
            "digest": format!("sha256:{digest}"),
            "size": bytes.len(),
        });
        files.insert(format!("blobs/sha256/{digest}"), bytes);
        descriptor
    };
    let layer = blob(LAYER, component.to_vec());
    let config = json!({
        // Required; the same sources give the same bytes whenever they are built.
        "created": "1970-01-01T00:00:00Z",
        "architecture": "wasm",
        "os": "wasip2",
        "layerDigests": [layer["digest"]],
        "component": {
            "exports": [format!("plumb:policy/evaluator@{}", guest::VERSION)],
            "imports": [],
            "target": format!("plumb:policy/policy@{}", guest::VERSION),
        },
    });
    let config = blob(CONFIG, text(&config));
    let annotations = json!({
        "org.opencontainers.image.title": guest::NAME,
        "org.opencontainers.image.description": guest::DESCRIPTION,
        "org.opencontainers.image.licenses": guest::LICENCE,
        "org.opencontainers.image.source": guest::SOURCE,
        "org.opencontainers.image.version": guest::VERSION,
    });
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config,
        "layers": [layer],
        "annotations": annotations,
    });
    let mut manifest = blob(MANIFEST, text(&manifest));
    manifest["annotations"] = json!({"org.opencontainers.image.ref.name": guest::VERSION});
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [manifest]});
    files.insert("index.json".to_owned(), text(&index));
    files.insert("oci-layout".to_owned(), text(&json!({"imageLayoutVersion": "1.0.0"})));
    files
}

fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that a descriptor describes, having checked that they are these.
    fn follow<'a>(files: &'a BTreeMap<String, Vec<u8>>, descriptor: &Value) -> &'a [u8] {
        let name = descriptor["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
        let bytes = &files[&format!("blobs/sha256/{name}")];
        assert_eq!(digest(bytes), name);
        assert_eq!(descriptor["size"], bytes.len());
        bytes
    }

    #[test]
    fn the_index_leads_to_the_component() {
        let files = layout(b"component");
        let index: Value = serde_json::from_slice(&files["index.json"]).unwrap();
        let manifest: Value =
            serde_json::from_slice(follow(&files, &index["manifests"][0])).unwrap();
        assert_eq!(manifest["layers"][0]["mediaType"], "application/wasm");
        assert_eq!(follow(&files, &manifest["layers"][0]), b"component");
        assert_eq!(manifest["config"]["mediaType"], "application/vnd.wasm.config.v0+json");
        let config: Value = serde_json::from_slice(follow(&files, &manifest["config"])).unwrap();
        assert_eq!(config["layerDigests"][0], manifest["layers"][0]["digest"]);
        assert_eq!(config["component"]["imports"], json!([]));
    }
}
