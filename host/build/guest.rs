//! How the policy's sources become the component. Shared by the host's build script, which embeds
//! it, and by `xtask dist`, which hands it out: both must come to the same bytes.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use wasm_encoder::{ComponentNameSection, ComponentSection, CustomSection};
use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// What the component says of itself: the sections that `wasm-tools metadata show` prints. All of
/// the workspace has one version, one licence and one repository.
pub(crate) const NAME: &str = "plumb-policy";
pub(crate) const DESCRIPTION: &str =
    "Rules that judge the status of Kubernetes objects and the requeue decisions of controllers";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const LICENCE: &str = env!("CARGO_PKG_LICENSE");
pub(crate) const SOURCE: &str = env!("CARGO_PKG_REPOSITORY");

/// The section that lists the rules, as JSON; see `policy/src/manifest.rs`.
pub(crate) const RULES: &str = "plumb:rules";

/// Builds the policy as a core module, in a target folder of its own.
pub(crate) fn build(
    workspace: &Path,
    target: &Path,
    cargo: &OsStr,
    rustc: &OsStr,
) -> Result<Vec<u8>, String> {
    if !has_target(rustc) {
        return Err(format!(
            "the policy is built for {TARGET}, which this toolchain lacks: \
             run `rustup target add {TARGET}`, or set PLUMB_COMPONENT to a ready-made component"
        ));
    }
    let mut cargo = Command::new(cargo);
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
        .arg(target)
        .output()
        .map_err(|error| format!("failed to start cargo for the policy: {error}"))?;
    if !output.status.success() {
        let log = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the policy does not build for {TARGET}:\n{log}"));
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

/// The component around the module, with what it says of itself.
pub(crate) fn encode(module: &[u8]) -> Result<Vec<u8>, String> {
    let mut component = ComponentEncoder::default()
        .module(module)
        .and_then(|encoder| encoder.validate(true).encode())
        .map_err(|error| format!("failed to encode the policy as a component: {error:#}"))?;
    let mut name = ComponentNameSection::new();
    name.component(NAME);
    name.append_to_component(&mut component);
    let rules = section(module, RULES)?;
    let ids = ids(rules)?.join(" ");
    let count = ids.split(' ').count();
    let description = format!("{DESCRIPTION}. {count} rules: {ids}");
    // As `wasm-tools metadata add` writes them; and the rules where no module has to be looked
    // for.
    for (name, data) in [
        ("description", description.as_bytes()),
        ("licenses", LICENCE.as_bytes()),
        ("source", SOURCE.as_bytes()),
        ("version", VERSION.as_bytes()),
        (RULES, rules),
    ] {
        CustomSection { name: name.into(), data: data.into() }.append_to_component(&mut component);
    }
    Ok(component)
}

/// A custom section of the module.
fn section<'a>(module: &'a [u8], wanted: &str) -> Result<&'a [u8], String> {
    Parser::new(0)
        .parse_all(module)
        .filter_map(Result::ok)
        .find_map(|payload| match payload {
            Payload::CustomSection(section) if section.name() == wanted => Some(section.data()),
            _ => None,
        })
        .ok_or_else(|| format!("the policy has no section {wanted}"))
}

/// The ids in the list of rules. Each stands first in its object, and needs no escapes.
fn ids(rules: &[u8]) -> Result<Vec<&str>, String> {
    let text = std::str::from_utf8(rules).map_err(|error| format!("{RULES}: {error}"))?;
    let ids = text.split("{\"id\":\"").skip(1).filter_map(|rule| rule.split('"').next());
    Ok(ids.collect())
}
