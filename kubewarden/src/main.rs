//! plumb's rules as a policy for Kubewarden in its `wasi` mode.
//!
//! ```text
//! policy.wasm validate           {"request": …, "settings": …} ──▶ {"accepted": …, "warnings": …}
//! policy.wasm validate-settings  {…}                           ──▶ {"valid": …, "message": …}
//! ```
//!
//! It is a program like any other: built for the machine it answers the same.

mod review;
mod settings;

use std::io::{self, Read, Write};
use std::process::ExitCode;

/// What Kubewarden reads before it runs the policy.
#[used]
#[cfg_attr(target_arch = "wasm32", unsafe(link_section = "io.kubewarden.metadata"))]
#[cfg_attr(
    target_arch = "wasm32",
    expect(unsafe_code, reason = "the name of a custom section clashes with no other")
)]
static METADATA: [u8; include_bytes!("../metadata.json").len()] =
    *include_bytes!("../metadata.json");

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    match run(command.as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Kubewarden keeps what stands here in its log, and rejects the request.
            let _ = writeln!(io::stderr(), "plumb: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Option<&str>) -> Result<(), String> {
    let answer = match command {
        Some("validate") => review::validate,
        Some("validate-settings") => settings::validate,
        _ => return Err("expected `validate` or `validate-settings`".to_owned()),
    };
    let mut input = String::new();
    io::stdin().read_to_string(&mut input).map_err(|error| error.to_string())?;
    let answer = answer(&input)?;
    io::stdout().write_all(answer.as_bytes()).map_err(|error| error.to_string())
}
