//! Files, folders, patterns and standard input.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::GlobBuilder;
use walkdir::{DirEntry, WalkDir};

use super::{Documents, Unreadable};

/// What is read in a folder; a file that is named itself may end otherwise.
const EXTENSIONS: &[&str] = &["yaml", "yml", "json", "jsonl", "ndjson", "log"];

/// One input to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// As shown to the user: the path, or `-`.
    pub name: Arc<str>,
    /// The file; standard input if none.
    pub path: Option<PathBuf>,
}

impl Source {
    /// Standard input.
    pub fn stdin() -> Self {
        Self { name: "-".into(), path: None }
    }

    /// The file at `path`.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { name: path.to_string_lossy().into(), path: Some(path) }
    }

    /// Whether the input grows while it is read: standard input, a pipe, a terminal.
    pub fn is_live(&self) -> bool {
        self.path.as_ref().is_none_or(|path| path.metadata().is_ok_and(|file| !file.is_file()))
    }

    /// Size in bytes, if known.
    pub fn size(&self) -> Option<u64> {
        let metadata = self.path.as_ref()?.metadata().ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// Begins to read.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(&self) -> Result<Documents, Unreadable> {
        let Some(path) = &self.path else {
            return Ok(Documents::new(Arc::clone(&self.name), io::stdin()));
        };
        match File::open(path) {
            Ok(file) => Ok(Documents::new(Arc::clone(&self.name), file)),
            Err(error) => Err(unreadable(&self.name, format!("failed to open: {error}"))),
        }
    }
}

/// Returns the inputs that the arguments name, in their order, each once; folders and patterns
/// sorted by path. What names nothing is an error beside the inputs.
pub fn sources(arguments: &[String]) -> (Vec<Source>, Vec<Unreadable>) {
    let mut sources: Vec<Source> = Vec::new();
    let mut errors = Vec::new();
    for argument in arguments {
        match expand(argument) {
            Ok(found) => sources.extend(found),
            Err(error) => errors.push(error),
        }
    }
    let mut seen = BTreeSet::new();
    sources.retain(|source| seen.insert(Arc::clone(&source.name)));
    (sources, errors)
}

fn expand(argument: &str) -> Result<Vec<Source>, Unreadable> {
    if argument == "-" {
        return Ok(vec![Source::stdin()]);
    }
    let path = Path::new(argument);
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            let found = walk(path, argument, |file| {
                let extension = file.extension().and_then(|extension| extension.to_str());
                extension.is_some_and(|extension| {
                    EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension))
                })
            })?;
            if found.is_empty() {
                let endings = EXTENSIONS.join(", .");
                return Err(unreadable(
                    argument,
                    format!("the folder holds no file in .{endings}"),
                ));
            }
            Ok(found)
        }
        Ok(_) => Ok(vec![Source::file(path)]),
        Err(_) if argument.contains(['*', '?', '[', '{']) => {
            let glob = GlobBuilder::new(argument)
                .literal_separator(true)
                .build()
                .map_err(|error| unreadable(argument, format!("not a pattern: {error}")))?
                .compile_matcher();
            let found = walk(&fixed_part(path), argument, |file| glob.is_match(file))?;
            if found.is_empty() {
                return Err(unreadable(argument, "the pattern matches no file".to_owned()));
            }
            Ok(found)
        }
        Err(error) => Err(unreadable(argument, format!("failed to open: {error}"))),
    }
}

/// The folders of a pattern before its first wildcard.
fn fixed_part(pattern: &Path) -> PathBuf {
    let fixed: PathBuf = pattern
        .components()
        .take_while(|component| match component {
            Component::Normal(name) => !name.to_string_lossy().contains(['*', '?', '[', '{']),
            _ => true,
        })
        .collect();
    fixed
}

fn walk(
    folder: &Path,
    argument: &str,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<Source>, Unreadable> {
    let root = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut found = Vec::new();
    let entries = WalkDir::new(root)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry));
    for entry in entries {
        let entry =
            entry.map_err(|error| unreadable(argument, format!("failed to list: {error}")))?;
        if !entry.file_type().is_file() {
            continue;
        }
        // A pattern without a folder means the current one, and so do the names it finds.
        let path = if folder.as_os_str().is_empty() {
            entry.path().strip_prefix(root).unwrap_or(entry.path())
        } else {
            entry.path()
        };
        if wanted(path) {
            found.push(Source::file(path));
        }
    }
    Ok(found)
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with('.')
}

fn unreadable(input: &str, message: String) -> Unreadable {
    Unreadable { input: input.into(), document: None, line: None, message }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(arguments: &[String]) -> (Vec<String>, Vec<String>) {
        let (sources, errors) = sources(arguments);
        (
            sources.iter().map(|source| source.name.to_string()).collect(),
            errors.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn folders_and_patterns_are_expanded_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        for name in ["b.yaml", "a.yml", "c/d.JSON", "c/e.txt", "c/f/g.log", ".git/h.yaml"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let under = |names: &[&str]| names.iter().map(|name| format!("{root}/{name}")).collect();
        let all: Vec<String> = under(&["a.yml", "b.yaml", "c/d.JSON", "c/f/g.log"]);
        assert_eq!(names(&[root.to_owned()]), (all, vec![]));
        let pattern = format!("{root}/**/*.{{yaml,log,txt}}");
        let matched: Vec<String> = under(&["b.yaml", "c/e.txt", "c/f/g.log"]);
        assert_eq!(names(&[pattern]), (matched, vec![]));
        let twice = [format!("{root}/c/e.txt"), format!("{root}/c/*.txt"), "-".to_owned()];
        assert_eq!(names(&twice).0, [twice[0].clone(), "-".to_owned()]);
    }

    #[test]
    fn what_names_nothing_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        let arguments = [root.to_owned(), format!("{root}/*.yaml"), format!("{root}/none.yaml")];
        let (found, errors) = names(&arguments);
        assert_eq!(found, [""; 0]);
        let expected = ["holds no file in .yaml", "matches no file", "failed to open"];
        assert_eq!(errors.len(), expected.len());
        for (error, expected) in errors.iter().zip(expected) {
            assert!(error.contains(expected), "{error}");
        }
    }
}
