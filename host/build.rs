//! Builds the policy component that the host embeds.
//!
//! ```text
//! policy/ ──cargo, wasm32──▶ core module ──wit-component──▶ component ──wasmtime──▶ native code
//!                            target/guest                   policy.wasm             policy.cwasm
//! ```
//!
//! `PLUMB_COMPONENT=FILE` names a ready-made component to embed instead.
#![expect(clippy::print_stderr, reason = "what the nested cargo says is for the user")]

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use sha2::{Digest, Sha256};

#[path = "src/engine/config.rs"]
mod config;
#[path = "build/guest.rs"]
mod guest;

fn main() {
    if let Err(message) = run() {
        // An error is one line to cargo; what a compiler said is shown with the script's own
        // output.
        let (first, log) = message.split_once('\n').unwrap_or((&message, ""));
        eprint!("{log}");
        println!("cargo::error={first}");
        process::exit(1);
    }
}

fn run() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed=PLUMB_COMPONENT");
    let out = PathBuf::from(variable("OUT_DIR")?);
    let component = match env::var_os("PLUMB_COMPONENT") {
        Some(file) => {
            println!("cargo::rerun-if-changed={}", Path::new(&file).display());
            fs::read(&file).map_err(|error| {
                format!("failed to read PLUMB_COMPONENT {}: {error}", Path::new(&file).display())
            })?
        }
        None => guest::encode(&build(&out)?)?,
    };
    let digest = Sha256::digest(&component)
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    println!("cargo::rustc-env=PLUMB_POLICY_SHA256={digest}");
    write(&out.join("policy.wasm"), &component)?;
    write(&out.join("policy.cwasm"), &compile(&component)?)
}

/// The policy as a core module.
fn build(out: &Path) -> Result<Vec<u8>, String> {
    let host = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let workspace = host.parent().ok_or("the host's folder has no parent")?;
    for input in ["policy", "queue", "wit", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", workspace.join(input).display());
    }
    guest::build(workspace, &guest_folder(out), &variable("CARGO")?, &variable("RUSTC")?)
}

/// A target folder of the guest's own, beside `debug` and `release`: the outer cargo holds the
/// lock of those, and one build of the guest serves both.
fn guest_folder(out: &Path) -> PathBuf {
    out.ancestors()
        .find(|folder| folder.file_name() == Some(OsStr::new("build")))
        .and_then(|build| build.parent()?.parent())
        .unwrap_or(out)
        .join("guest")
}

/// The component as native code for any processor of the target's architecture; empty where
/// wasmtime cannot produce code for the target, and the host compiles at start.
fn compile(component: &[u8]) -> Result<Vec<u8>, String> {
    let triple = variable("TARGET")?;
    let mut config = config::code();
    // With a target, even the host's own, no features of this machine's processor are used.
    let engine =
        config.target(&triple.to_string_lossy()).and_then(|config| wasmtime::Engine::new(config));
    match engine {
        Ok(engine) => engine
            .precompile_component(component)
            .map_err(|error| format!("failed to compile the policy component: {error:#}")),
        Err(_) => Ok(Vec::new()),
    }
}

/// Writes only what has changed, so that the host is not built again for nothing.
fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    if fs::read(file).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    fs::write(file, bytes).map_err(|error| format!("failed to write {}: {error}", file.display()))
}

fn variable(name: &str) -> Result<OsString, String> {
    env::var_os(name).ok_or_else(|| format!("cargo does not set {name}"))
}
