//! Makes what plumb hands out.
//!
//! ```text
//! policy/ ──guest──▶ core module ──▶ component ──┬─▶ dist/  files, SBOM, SHA256SUMS
//! wit/, docs/schema/ ────────────────────────────┘   └─ oci/  the same component as an artifact
//! ```
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers")]

mod dist;
#[path = "../../host/build/guest.rs"]
mod guest;
mod oci;
mod sbom;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

const USAGE: &str = "usage: cargo run -p xtask -- dist [FOLDER]

  dist    builds the policy and writes all that is handed out (FOLDER: `dist` if not named)";

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let command = arguments.next();
    let folder = arguments.next();
    let done = match command.as_deref() {
        Some("dist") if arguments.next().is_none() => distribute(folder.as_deref()),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Builds, and writes all into the folder. Returns what to tell of it.
fn distribute(folder: Option<&str>) -> Result<String, String> {
    let workspace = workspace()?;
    let folder = folder.map_or_else(|| workspace.join("dist"), PathBuf::from);
    let target = env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace.join("target"), PathBuf::from)
        .join("guest");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let module = guest::build(&workspace, &target, &cargo, &rustc)?;
    let component = guest::encode(&module)?;
    let metadata = sbom::metadata(&workspace, &cargo)?;
    let artifacts = dist::Artifacts {
        sbom: sbom::document(&metadata, &component)?,
        wit: dist::wit_package(&workspace.join("wit"))?,
        contract: read(&workspace.join("wit/policy.wit"))?,
        schemas: dist::schemas(&workspace.join("docs/schema"))?,
        licence: read(&workspace.join("LICENSE"))?,
        module,
        component,
    };
    let sums = dist::write(&folder, &artifacts)?;
    Ok(format!("{sums}written to {}", folder.display()))
}

fn workspace() -> Result<PathBuf, String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = own.parent().ok_or("xtask stands in no workspace")?;
    Ok(workspace.to_owned())
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("failed to read {}: {error}", file.display()))
}
