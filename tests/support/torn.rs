//! The writes of a controller that sends its conditions before the data they speak of, and what a
//! watcher makes of the states in between.

use serde_json::{Value, json};

/// The object as it is created.
pub fn object(name: &str) -> Value {
    json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"interval": "1m", "url": "https://example.com/a.git"},
    })
}

/// A revision of one letter.
pub fn revision(letter: char) -> String {
    format!("main@sha1:{}", letter.to_string().repeat(40))
}

/// Merge patches over the status, in order: a first install, then a new revision; each with the
/// conditions first, the rest next, and at last a patch that changes nothing.
pub fn writes() -> Vec<Value> {
    let conditions = |status: &str, reason: &str, message: &str| {
        let condition = |type_: &str, status: &str| {
            json!({
                "type": type_, "status": status, "reason": reason, "message": message,
                "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1,
            })
        };
        let mut all = vec![condition("Ready", status)];
        match status {
            "True" => all.push(condition("ArtifactInStorage", status)),
            _ => all.push(condition("Reconciling", "True")),
        }
        json!({"status": {"conditions": all}})
    };
    let mut writes = Vec::new();
    for letter in ['a', 'b'] {
        let revision = revision(letter);
        writes.push(conditions("Unknown", "Progressing", "building artifact"));
        let stored = format!("stored artifact for revision '{revision}'");
        writes.push(conditions("True", "Succeeded", &stored));
        let path = format!("gitrepository/default/demo/{}.tar.gz", letter.to_string().repeat(40));
        writes.push(json!({"status": {"observedGeneration": 1, "artifact": {
            "revision": revision,
            "path": path,
            "url": format!("http://source.example.com/{path}"),
            "digest": format!("sha256:{}", letter.to_string().repeat(64)),
            "lastUpdateTime": "2026-01-01T00:00:00Z",
        }}}));
        writes.push(json!({}));
    }
    writes
}

/// What a watcher reads of one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The status of Ready; empty if there is none.
    pub ready: String,
    /// The revision that its message names.
    pub named: String,
    /// The revision of the artifact; empty if there is none.
    pub artifact: String,
}

impl Read {
    /// What is read of an object.
    pub fn of(object: &Value) -> Self {
        let conditions = object["status"]["conditions"].as_array();
        let ready = conditions.into_iter().flatten().find(|one| one["type"] == "Ready");
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
        let message = text(ready.map(|one| &one["message"]));
        Self {
            ready: text(ready.map(|one| &one["status"])),
            named: message.split('\'').nth(1).unwrap_or("").to_owned(),
            artifact: text(Some(&object["status"]["artifact"]["revision"])),
        }
    }

    /// Who trusts it takes the wrong artifact for the new one.
    pub fn is_torn(&self) -> bool {
        self.ready == "True" && self.named != self.artifact
    }
}

/// That the states of a whole sequence of writes are safe to read, end well, and were held where
/// they had to be.
///
/// # Errors
/// What is wrong.
pub fn is_safe(states: &[Value]) -> Result<(), String> {
    let read: Vec<Read> = states.iter().map(Read::of).collect();
    if let Some(torn) = read.iter().find(|one| one.is_torn()) {
        return Err(format!("a watcher saw {torn:?}"));
    }
    let last = Read { ready: "True".to_owned(), named: revision('b'), artifact: revision('b') };
    if read.last() != Some(&last) {
        return Err(format!("it ends with {:?}", read.last()));
    }
    for letter in ['a', 'b'] {
        let held = |one: &&Read| one.ready == "Unknown" && one.named == revision(letter);
        if read.iter().filter(held).count() == 0 {
            return Err(format!("{} was never held: {read:#?}", revision(letter)));
        }
    }
    Ok(())
}
