//! The recorded streams and reviews.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::generated::root;

/// All recordings where they stand beside the repository, else those that it holds.
pub fn folder() -> PathBuf {
    let all = root().join("../shared/recorded");
    if all.is_dir() { all } else { root().join("fixtures/recorded") }
}

/// The recorded reviews whose names begin so, in order.
///
/// # Panics
/// There is none, or one is no JSON.
pub fn reviews(prefix: &str) -> Vec<(String, Value)> {
    let mut files: Vec<(String, PathBuf)> = fs::read_dir(folder())
        .expect("the folder is there")
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(name, _)| {
            name.starts_with(prefix)
                && !name.contains(".response.")
                && Path::new(name).extension() == Some("json".as_ref())
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no recorded review begins with {prefix}");
    let read = |(name, path): (String, PathBuf)| {
        let text = fs::read(path).expect("it can be read");
        // As a fixture it has a header in front.
        let documents = serde_json::Deserializer::from_slice(&text).into_iter::<Value>();
        (name, documents.map(|document| document.expect("it is JSON")).last().expect("not empty"))
    };
    files.into_iter().map(read).collect()
}
