//! The component's allocator and panic handler.
//!
//! A bump allocator: an evaluation is short and lives in a fresh instance, so freeing piece by
//! piece is work for nothing. When no block is alive the memory is taken from the start again,
//! which makes it safe for an instance that is reused.
#![expect(unsafe_code, reason = "an allocator hands out raw memory")]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32;
use core::cell::Cell;

const PAGE_BYTES: usize = 64 * 1024;

struct Bump {
    /// Where the next block begins; 0 before the first.
    next: Cell<usize>,
    /// Blocks alive.
    alive: Cell<usize>,
}

// SAFETY: a component has one thread.
unsafe impl Sync for Bump {}

#[global_allocator]
static BUMP: Bump = Bump { next: Cell::new(0), alive: Cell::new(0) };

unsafe extern "C" {
    /// The first byte behind the static data; set by the linker.
    static __heap_base: u8;
}

impl Bump {
    fn start() -> usize {
        &raw const __heap_base as usize
    }

    /// Makes memory up to `end` usable; false if the limit is reached.
    fn reach(end: usize) -> bool {
        let have = wasm32::memory_size(0) * PAGE_BYTES;
        if end <= have {
            return true;
        }
        // Doubling keeps the number of `memory.grow` calls small.
        let pages = (end - have).div_ceil(PAGE_BYTES).max(have / PAGE_BYTES);
        wasm32::memory_grow(0, pages) != usize::MAX
            || wasm32::memory_grow(0, (end - have).div_ceil(PAGE_BYTES)) != usize::MAX
    }
}

// SAFETY: blocks never overlap: `next` only grows while a block is alive.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let from = if self.alive.get() == 0 { Self::start() } else { self.next.get() };
        let begin = from.next_multiple_of(layout.align());
        let Some(end) = begin.checked_add(layout.size()) else { return core::ptr::null_mut() };
        if !Self::reach(end) {
            return core::ptr::null_mut();
        }
        self.next.set(end);
        self.alive.set(self.alive.get() + 1);
        begin as *mut u8
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.alive.set(self.alive.get().saturating_sub(1));
        // The last block is given back at once: growing strings and vectors do this.
        if block as usize + layout.size() == self.next.get() {
            self.next.set(block as usize);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let begin = block as usize;
        if begin + layout.size() == self.next.get() {
            let Some(end) = begin.checked_add(size) else { return core::ptr::null_mut() };
            if Self::reach(end) {
                self.next.set(end);
                return block;
            }
            return core::ptr::null_mut();
        }
        if size <= layout.size() {
            return block;
        }
        // SAFETY: as promised by the caller; the old block stays readable.
        unsafe {
            let fresh = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !fresh.is_null() {
                core::ptr::copy_nonoverlapping(block, fresh, layout.size());
                self.alive.set(self.alive.get() - 1);
            }
            fresh
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    wasm32::unreachable()
}
