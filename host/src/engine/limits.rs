//! How much one evaluation may take, and what keeps it there.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use wasmtime::ResourceLimiter;

/// Largest component that is loaded, in bytes. The embedded one has a tenth of this; the time to
/// compile a component grows with its size and nothing else bounds it.
pub const COMPONENT_BYTES: u64 = 16 << 20;

/// Evaluations that may run at the same time, unless [`Engine::new`](super::Engine::new) says
/// otherwise. A slot costs about 0.4 MB once used.
pub const SLOTS: u32 = 64;

/// Fuel of one evaluation before its input is counted, in units of about 0.6 ns. The embedded
/// policy starts with less than a tenth of this.
pub const FUEL_BASE: u64 = 2_000_000;

/// Fuel for each byte of input. The embedded policy needs some 40; at 200 a hostile one is stopped
/// after 2 ms for an object of 3 kB and after 40 ms for one of 300 kB.
pub const FUEL_PER_BYTE: u64 = 200;

/// Fuel for each byte of a queue history: an event of a source concerns each key that depends on
/// it, so the work grows with the product of both. The embedded policy needs some 2,000 where ten
/// thousand events concern 256 keys each.
pub const TRACE_FUEL_PER_BYTE: u64 = 5_000;

/// Fuel that no queue history gets beyond what its size alone gives: about 6 s.
pub const TRACE_FUEL_MAX: u64 = 10_000_000_000;

/// What the catalogue counts as, in bytes of input: its answer does not grow with what is asked. The
/// embedded policy needs 32 million units of fuel for its profiles by `evaluate-json`, and a fifth of
/// that for its rules.
pub const CATALOGUE_BYTES: usize = 256 << 10;

/// Linear memory of one evaluation before its input is counted, in bytes.
pub const MEMORY_BASE: usize = 16 << 20;

/// Linear memory for each byte of input, in bytes. The input itself, its tree, and as much again.
pub const MEMORY_PER_BYTE: usize = 16;

/// Linear memory that no evaluation exceeds, in bytes.
pub const MEMORY_MAX: usize = 256 << 20;

/// Elements of a table: one for each function whose address is taken. The embedded policy has
/// fewer than a thousand.
pub const TABLE_ELEMENTS: usize = 10_000;

/// Largest answer, in bytes as the host holds it: the whole manual of the rules, several times
/// over. wasmtime's own limit is 128 MiB, which a guest can reach with a few overlapping pointers.
pub const REPLY_BYTES: usize = 4 << 20;

/// Linear memory that a reused instance may keep until the next evaluation, in bytes. One that
/// has grown further for a large object is dropped.
pub const KEPT_BYTES: usize = 8 << 20;

/// Linear memory that stays resident in a free slot of the pool, in bytes. More than a usual
/// evaluation touches, so that it needs no page fault; pages dirtied by a large one are put back
/// to zero after each later one, hence not more than this.
pub(super) const RESIDENT_BYTES: usize = 1 << 20;

/// The same where the kernel (before Linux 6.7) cannot tell which pages are dirty and all of them
/// are put back to zero each time.
pub(super) const RESIDENT_BYTES_BLIND: usize = 256 << 10;

/// The fuel for an input of so many bytes.
pub(super) fn fuel(input_bytes: usize) -> u64 {
    FUEL_BASE.saturating_add(FUEL_PER_BYTE.saturating_mul(input_bytes as u64))
}

/// The fuel for a queue history of so many bytes.
pub(super) fn trace_fuel(input_bytes: usize) -> u64 {
    let large = FUEL_BASE.saturating_add(TRACE_FUEL_PER_BYTE.saturating_mul(input_bytes as u64));
    large.min(TRACE_FUEL_MAX).max(fuel(input_bytes))
}

/// The linear memory for an input of so many bytes.
pub(super) fn memory(input_bytes: usize) -> usize {
    MEMORY_BASE.saturating_add(MEMORY_PER_BYTE.saturating_mul(input_bytes)).min(MEMORY_MAX)
}

/// Watches the growth of one instance, and remembers what it refused.
#[derive(Debug)]
pub(super) struct Guard {
    /// Linear memory that the instance may have, in bytes.
    pub(super) limit_bytes: usize,
    /// Linear memory that the instance has, in bytes.
    pub(super) memory_bytes: usize,
    /// Whether it wanted more than it may have.
    pub(super) refused: bool,
}

impl Guard {
    pub(super) fn new(limit_bytes: usize) -> Self {
        Self { limit_bytes, memory_bytes: 0, refused: false }
    }
}

impl ResourceLimiter for Guard {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.limit_bytes {
            self.refused = true;
            // An error rather than `false`: the instance is stopped here, whatever its allocator
            // would make of a refusal.
            return Err(Refused.into());
        }
        self.memory_bytes = desired;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS)
    }
}

#[derive(Debug)]
struct Refused;

impl Display for Refused {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("more memory than an evaluation may take")
    }
}

impl Error for Refused {}
