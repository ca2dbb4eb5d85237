//! `plumb`: judges the status that Kubernetes controllers publish.

use std::process::ExitCode;

fn main() -> ExitCode {
    plumb_host::cli::main(std::env::args_os())
}
