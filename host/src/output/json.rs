//! The report itself, one JSON document.

use std::io::{self, Write};

use crate::replay::result::Report;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, report)?;
    out.write_all(b"\n")
}
