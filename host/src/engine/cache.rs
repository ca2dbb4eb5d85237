//! Native code of policies given by the user, kept between runs.
//!
//! Compiling takes a hundred milliseconds, loading the code a tenth of one. The code is run as it
//! is found, so it is kept where nobody else can write, under the digest of the component and of
//! everything that decides the code, and with a digest of its own against damage. Whatever goes
//! wrong here, the policy is compiled.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, process};

use sha2::{Digest, Sha256};

/// How many policies are kept: more than anyone works on at a time; at 1 MB each it is no burden.
const KEPT: usize = 32;

/// Bytes of the digest at the head of a kept file.
const DIGEST_BYTES: usize = 32;

/// A folder of native code.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// `$XDG_CACHE_HOME/plumb` or `~/.cache/plumb`, made if need be. Nothing if it cannot be had
    /// or could be written by another user.
    pub(super) fn open() -> Option<Self> {
        let base =
            env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|base| base.is_absolute());
        let base = base.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
        Self::at(base.join("plumb"))
    }

    /// The cache in one folder.
    pub(super) fn at(folder: PathBuf) -> Option<Self> {
        // Made with its parents; an existing folder is no error.
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
        let present = fs::symlink_metadata(&folder).ok()?;
        let private = present.is_dir()
            && present.permissions().mode() & 0o777 == 0o700
            && present.uid() == rustix::process::geteuid().as_raw();
        private.then_some(Self { folder })
    }

    /// The code of a component for an engine, if it is there and undamaged.
    pub(super) fn get(&self, engine: &wasmtime::Engine, sha256: &str) -> Option<Vec<u8>> {
        let mut bytes = fs::read(self.file(engine, sha256)).ok()?;
        if bytes.len() < DIGEST_BYTES {
            return None;
        }
        let code = bytes.split_off(DIGEST_BYTES);
        (Sha256::digest(&code).as_slice() == bytes).then_some(code)
    }

    /// Keeps the code of a component. A failure is of no consequence.
    pub(super) fn put(&self, engine: &wasmtime::Engine, sha256: &str, code: &[u8]) {
        let _ = self.write(&self.file(engine, sha256), code);
        let _ = self.prune();
    }

    /// The file of a component's code.
    fn file(&self, engine: &wasmtime::Engine, sha256: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        self.folder.join(format!("{sha256}-{:016x}", hasher.finish()))
    }

    /// Writes a file beside its place and moves it there, so that a reader sees all or nothing.
    fn write(&self, file: &Path, code: &[u8]) -> io::Result<()> {
        let beside = self.folder.join(format!(".{}", process::id()));
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&beside)
            .and_then(|mut open: File| {
                open.write_all(&Sha256::digest(code))?;
                open.write_all(code)
            })
            .and_then(|()| fs::rename(&beside, file));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// Removes the oldest files beyond [`KEPT`].
    fn prune(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(&self.folder)?
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let surplus = files.len().saturating_sub(KEPT);
        for (_, file) in &files[..surplus] {
            fs::remove_file(file)?;
        }
        Ok(())
    }
}
