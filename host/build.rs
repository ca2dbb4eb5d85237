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
use std::process::{self, Command};

use sha2::{Digest, Sha256};
use wasm_encoder::{ComponentNameSection, ComponentSection, CustomSection};
use wit_component::ComponentEncoder;

#[path = "src/engine/config.rs"]
mod config;

const TARGET: &str = "wasm32-unknown-unknown";

fn main() {
    if let Err(message) = run() {
        println!("cargo::error={}", message.replace('\n', " "));
        process::exit(1);
    }
}

fn run() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PLUMB_COMPONENT");
    let out = PathBuf::from(variable("OUT_DIR")?);
    let component = match env::var_os("PLUMB_COMPONENT") {
        Some(file) => {
            println!("cargo::rerun-if-changed={}", Path::new(&file).display());
            fs::read(&file).map_err(|error| {
                format!("failed to read PLUMB_COMPONENT {}: {error}", Path::new(&file).display())
            })?
        }
        None => encode(&build(&out)?)?,
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

    let rustc = variable("RUSTC")?;
    if !has_target(&rustc) {
        return Err(format!(
            "the policy is built for {TARGET}, which this toolchain lacks: \
             run `rustup target add {TARGET}`, or set PLUMB_COMPONENT to a ready-made component"
        ));
    }

    let target = guest_folder(out);
    let mut cargo = Command::new(variable("CARGO")?);
    for (name, _) in env::vars_os().filter(|(name, _)| !inherited(name)) {
        cargo.env_remove(name);
    }
    let output = cargo
        .env("RUSTC", rustc)
        // Set but empty: no flags from a configuration file either, so that the bytes are the
        // same everywhere.
        .env("CARGO_ENCODED_RUSTFLAGS", "")
        .current_dir(workspace)
        .args(["build", "--locked", "--package", "plumb-policy", "--profile", "guest"])
        .args(["--target", TARGET, "--target-dir"])
        .arg(&target)
        .output()
        .map_err(|error| format!("failed to start cargo for the policy: {error}"))?;
    if !output.status.success() {
        let log = String::from_utf8_lossy(&output.stderr);
        // The compiler's own words reach the user as they are; cargo shows a failed script's
        // standard error.
        eprint!("{log}");
        return Err(
            "the policy does not build for wasm32-unknown-unknown; its errors are below".to_owned()
        );
    }
    let file = target.join(TARGET).join("guest").join("plumb_policy.wasm");
    fs::read(&file).map_err(|error| format!("failed to read {}: {error}", file.display()))
}

/// Whether the compiler has the target's core library.
fn has_target(rustc: &OsStr) -> bool {
    Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .ok()
        .and_then(|output| fs::read_dir(String::from_utf8_lossy(&output.stdout).trim()).ok())
        .is_some_and(|files| {
            files.flatten().any(|file| file.file_name().to_string_lossy().starts_with("libcore-"))
        })
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

/// Whether the nested cargo may see an environment variable. Cargo, clippy and rustdoc describe
/// the outer build to its scripts in the environment; none of that is true of the guest.
fn inherited(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let kept = ["CARGO_HOME", "CARGO_MAKEFLAGS"].contains(&&*name)
        || ["CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTRY_", "CARGO_REGISTRIES_", "CARGO_SOURCE_"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
    let outer = ["CARGO", "RUSTC", "RUSTDOC", "DEP_"].iter().any(|prefix| name.starts_with(prefix))
        || ["RUSTFLAGS", "TARGET", "HOST", "OUT_DIR", "PROFILE", "OPT_LEVEL", "DEBUG", "NUM_JOBS"]
            .contains(&&*name);
    kept || !outer
}

/// The component around the module, with its name and version.
fn encode(module: &[u8]) -> Result<Vec<u8>, String> {
    let mut component = ComponentEncoder::default()
        .module(module)
        .and_then(|encoder| encoder.validate(true).encode())
        .map_err(|error| format!("failed to encode the policy as a component: {error:#}"))?;
    let mut name = ComponentNameSection::new();
    name.component("plumb-policy");
    name.append_to_component(&mut component);
    // As `wasm-tools metadata` writes it; the workspace has one version.
    CustomSection {
        name: "version".into(),
        data: variable("CARGO_PKG_VERSION")?.as_encoded_bytes().into(),
    }
    .append_to_component(&mut component);
    Ok(component)
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
