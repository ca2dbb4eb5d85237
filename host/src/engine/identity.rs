//! Which policy judged.

use std::fmt::Write;

use serde::Serialize;
use sha2::{Digest, Sha256};

/// Which policy judged: what it says of itself, and what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// Its name, from the component's name section; empty if it has none.
    pub name: String,
    /// Its version, from the component's `version` section; empty if it has none.
    pub version: String,
    /// SHA-256 of the component's bytes, lower-case hexadecimal.
    pub sha256: String,
}

/// What a component says of itself, and what it needs and gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct About {
    /// Which component it is.
    #[serde(flatten)]
    pub identity: Identity,
    /// Its size.
    pub bytes: usize,
    /// The world that it is of.
    pub world: String,
    /// What it exports.
    pub exports: Vec<String>,
    /// What it imports: nothing, or it would not have been loaded.
    pub imports: Vec<String>,
    /// From its `description` section; empty if it has none. What follows the first sentence is
    /// left out.
    pub description: String,
    /// From its `licenses` section: an SPDX expression; empty if it has none.
    pub licence: String,
    /// From its `source` section; empty if it has none.
    pub source: String,
}

/// What the outermost sections of a component say.
#[derive(Debug, Default)]
pub(super) struct Sections {
    name: String,
    version: String,
    pub(super) description: String,
    pub(super) licence: String,
    pub(super) source: String,
}

impl Identity {
    /// The identity of a component whose digest is known.
    pub(super) fn new(component: &[u8], sha256: String) -> Self {
        let Sections { name, version, .. } = Sections::read(component);
        Self { name, version, sha256 }
    }
}

impl Sections {
    pub(super) fn read(component: &[u8]) -> Self {
        let mut found = Self::default();
        let mut sections = Bytes(component.get(8..).unwrap_or_default());
        while let Some((id, mut section)) = sections.section() {
            if id != 0 {
                continue;
            }
            let text = |section: Bytes<'_>| String::from_utf8_lossy(section.0).into_owned();
            match section.string() {
                Some("version") => found.version = text(section),
                Some("description") => {
                    let whole = text(section);
                    whole.split(". ").next().unwrap_or_default().clone_into(&mut found.description);
                }
                Some("licenses") => found.licence = text(section),
                Some("source") => found.source = text(section),
                Some("component-name") => {
                    if let Some((0, mut own)) = section.section() {
                        found.name = own.string().map(str::to_owned).unwrap_or_default();
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// Lower-case hexadecimal SHA-256.
pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What is left to read of WebAssembly's binary format; malformed bytes end it.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// An unsigned LEB128 number of 32 bits.
    fn number(&mut self) -> Option<usize> {
        let mut number = 0_u64;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return usize::try_from(number).ok();
            }
        }
        None
    }

    fn take(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn string(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.take()?).ok()
    }

    fn section(&mut self) -> Option<(u8, Bytes<'a>)> {
        Some((self.byte()?, Bytes(self.take()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_bytes_have_no_name() {
        for bytes in [&b""[..], b"\0asm", b"\0asm\x0d\0\x01\0\0\xff\xff\xff\xff\x0f", &[0xff; 64]] {
            let identity = Identity::new(bytes, digest(bytes));
            assert_eq!((identity.name.as_str(), identity.version.as_str()), ("", ""));
        }
    }

    #[test]
    fn the_digest_is_that_of_the_standard() {
        assert_eq!(
            digest(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
