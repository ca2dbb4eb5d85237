//! Waits until a file changes.
//!
//! Folders are watched, not files: an editor that writes a new file and renames it, and kubelet's
//! swap of a symbolic link, show only there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// So long nothing must happen before a change counts as complete: editors and `git checkout`
/// write in several steps.
const CALM: Duration = Duration::from_millis(150);

/// Tells when one of some files and folders changes.
pub(super) struct Changes {
    /// Watches as long as it lives.
    _watcher: RecommendedWatcher,
    events: Receiver<notify::Result<notify::Event>>,
    /// The files that are meant; of folders everything is.
    files: BTreeSet<PathBuf>,
    folders: Vec<PathBuf>,
    /// What this program writes itself.
    own: Option<PathBuf>,
}

impl Changes {
    /// Begins to watch. Of a pattern its folder is watched.
    pub(super) fn of(paths: &[PathBuf], own: Option<&Path>) -> notify::Result<Self> {
        let (sender, events) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(sender)?;
        let mut files = BTreeSet::new();
        let mut folders = Vec::new();
        for path in paths {
            if path.is_dir() {
                watcher.watch(path, RecursiveMode::Recursive)?;
                folders.push(absolute(path));
            } else {
                let folder = match path.parent() {
                    Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
                    Some(folder) => folder,
                    None => path,
                };
                watcher.watch(folder, RecursiveMode::NonRecursive)?;
                files.insert(absolute(path));
            }
        }
        Ok(Self { _watcher: watcher, events, files, folders, own: own.map(absolute) })
    }

    /// Returns after the next change, once things are calm; false if watching has ended.
    pub(super) fn wait(&self) -> bool {
        loop {
            match self.events.recv() {
                Ok(Ok(event)) if self.counts(&event) => break,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        loop {
            match self.events.recv_timeout(CALM) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    fn counts(&self, event: &notify::Event) -> bool {
        if matches!(event.kind, EventKind::Access(_)) {
            return false;
        }
        event.paths.iter().map(|path| absolute(path)).any(|path| {
            self.own.as_ref() != Some(&path)
                && (self.files.contains(&path)
                    || self.folders.iter().any(|folder| path.starts_with(folder)))
        })
    }
}

/// A path that compares equal however it was written; its file may be gone.
fn absolute(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    };
    match (path.canonicalize(), folder.canonicalize(), path.file_name()) {
        (Ok(_), Ok(folder), Some(name)) if path.is_symlink() => folder.join(name),
        (Ok(path), ..) => path,
        (Err(_), Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::thread;

    #[test]
    fn a_change_is_told_and_what_is_written_by_itself_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (file, own) = (folder.path().join("a.yaml"), folder.path().join("out.json"));
        fs::write(&file, "a: 1").unwrap();
        let changes = Changes::of(&[folder.path().to_owned()], Some(&own)).unwrap();
        let event = |path: &Path| notify::Event {
            kind: EventKind::Any,
            paths: vec![path.to_owned()],
            attrs: notify::event::EventAttributes::default(),
        };
        assert!(changes.counts(&event(&file)));
        assert!(changes.counts(&event(&folder.path().join("gone.yaml"))));
        assert!(!changes.counts(&event(&own)));
        assert!(!changes.counts(&event(&folder.path().join("../elsewhere.yaml"))));
        let writer = thread::spawn(move || fs::write(&file, "a: 2").unwrap());
        assert!(changes.wait());
        writer.join().unwrap();
    }

    #[test]
    fn a_file_is_watched_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        fs::write(&file, "a: 1").unwrap();
        let changes = Changes::of(std::slice::from_ref(&file), None).unwrap();
        let new = folder.path().join("new");
        fs::write(&new, "a: 2").unwrap();
        fs::rename(&new, &file).unwrap();
        assert!(changes.wait());
    }
}
