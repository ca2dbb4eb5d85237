//! The catalogue without its manuals, as a custom section of the module: a tool reads there which
//! rules a component has, without running it.

use crate::finding::{Scope, Severity};
use crate::registry::RULES;
use crate::rule::Rule;

/// A JSON array of `{id, family, scope, severity, since, summary}`, ordered by id, in the section
/// `plumb:rules`. It is written by the compiler: the linker takes nothing but finished bytes.
#[used]
#[cfg_attr(target_arch = "wasm32", unsafe(link_section = "plumb:rules"))]
#[cfg_attr(
    target_arch = "wasm32",
    expect(unsafe_code, reason = "the name of a custom section clashes with no other")
)]
pub static MANIFEST: [u8; LENGTH] = rules(Text { bytes: [0; LENGTH], length: 0 }).bytes;

/// Bytes of the manifest: a text without room counts what it is given.
const LENGTH: usize = rules(Text { bytes: [], length: 0 }).length;

/// A text of at most `N` bytes that is written at compile time.
struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    const fn byte(mut self, byte: u8) -> Self {
        if self.length < N {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
        self
    }

    const fn text(mut self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self = self.byte(bytes[at]);
            at += 1;
        }
        self
    }

    /// `before`, then a JSON string.
    const fn string(mut self, before: &str, text: &str) -> Self {
        self = self.text(before).byte(b'"');
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            assert!(bytes[at] >= b' ', "no control characters stand in a line of the catalogue");
            if matches!(bytes[at], b'"' | b'\\') {
                self = self.byte(b'\\');
            }
            self = self.byte(bytes[at]);
            at += 1;
        }
        self.byte(b'"')
    }
}

const fn rules<const N: usize>(mut text: Text<N>) -> Text<N> {
    text = text.byte(b'[');
    let mut at = 0;
    while at < RULES.len() {
        let Rule { id, family, severity, since, summary, ref check, .. } = *RULES[at];
        text = text
            .text(if at == 0 { "" } else { ",\n" })
            .string("{\"id\":", id)
            .string(",\"family\":", family)
            .string(",\"scope\":", scope(check.scope()))
            .string(",\"severity\":", name(severity))
            .string(",\"since\":", since)
            .string(",\"summary\":", summary)
            .byte(b'}');
        at += 1;
    }
    text.byte(b']')
}

const fn name(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

const fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::State => "state",
        Scope::Transition => "transition",
        Scope::Series => "series",
        Scope::Set => "set",
        Scope::Pass => "pass",
        Scope::Trace => "trace",
    }
}
