//! Files that are made from code, and kept in step with it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whether generated files are to be written rather than compared.
pub fn is_blessing() -> bool {
    env::var_os("PLUMB_BLESS").is_some_and(|value| value != "0")
}

/// Compares the files that should stand in `folder` (relative to the root) with those that do.
/// With `PLUMB_BLESS=1` it makes them so.
///
/// `exclusive` if nothing else may stand there.
///
/// # Errors
/// How they differ, and what to run.
pub fn check(folder: &str, files: &[(String, String)], exclusive: bool) -> Result<(), String> {
    let folder = root().join(folder);
    let mut differences = Vec::new();
    if is_blessing() {
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    }
    for (name, wanted) in files {
        let path = folder.join(name);
        let found = fs::read_to_string(&path).unwrap_or_default();
        if found == *wanted {
            continue;
        }
        if is_blessing() {
            fs::write(&path, wanted).map_err(|error| format!("{}: {error}", path.display()))?;
        } else {
            differences.push(format!("{name} differs:\n{}", difference(&found, wanted)));
        }
    }
    let present = fs::read_dir(&folder).into_iter().flatten().flatten();
    for entry in present.filter(|_| exclusive) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if files.iter().any(|(known, _)| *known == name) {
            continue;
        }
        if is_blessing() {
            fs::remove_file(entry.path()).map_err(|error| format!("{name}: {error}"))?;
        } else {
            differences.push(format!("{name} is made from nothing"));
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}\nrun `PLUMB_BLESS=1 cargo test -p plumb-tests`, and commit what it writes",
        differences.join("\n")
    ))
}

/// The lines between what is equal at the begin and at the end.
fn difference(found: &str, wanted: &str) -> String {
    let (found, wanted): (Vec<_>, Vec<_>) = (found.lines().collect(), wanted.lines().collect());
    let equal = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(left, right)| left == right).count()
    };
    let before = equal(&mut found.iter().zip(&wanted));
    let after = equal(&mut found[before..].iter().rev().zip(wanted[before..].iter().rev()));
    let removed = found[before..found.len() - after].iter().map(|line| format!("-{line}"));
    let added = wanted[before..wanted.len() - after].iter().map(|line| format!("+{line}"));
    let lines: Vec<_> = removed.chain(added).collect();
    format!("@@ line {}\n{}", before + 1, lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_what_differs() {
        assert_eq!(difference("a\nb\nc\n", "a\nx\ny\nc\n"), "@@ line 2\n-b\n+x\n+y");
    }
}
