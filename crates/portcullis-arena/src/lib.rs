//! An allocator for a process that lives about a millisecond: the first half megabyte comes from a static arena, the rest
//! from the system, or from another allocator that is better at living long.
//!
//! A hook allocates a few hundred kilobytes in small pieces and ends. The system's allocator asks the kernel for pages
//! a few at a time and gives them back, and those calls and the faults behind them took longer than the decision itself.
//! What costs most is a page that is touched for the first time, so the arena touches few: it hands out its bytes in order,
//! takes back the piece at its end, keeps small pieces that are given back for the next one of their size, and does not
//! clear what was never used.
//!
//! The arena belongs to the thread that allocates first, which is all there is in a hook, and needs no atomic operation
//! for it. Other threads are served by the other allocator; a piece of the arena that one of them gives back stays where it
//! is, which is half a megabyte at worst, however long a process lives.

mod owned;
mod pieces;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::ptr;

use owned::OwnedArena;

/// Serves from its arena while it lasts, then from another allocator, which is the system's unless it is named. It must
/// outlive what it hands out.
pub struct ArenaFirst<Rest = System> {
    arena: OwnedArena,
    rest: Rest,
}

impl<Rest> fmt::Debug for ArenaFirst<Rest> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ArenaFirst").finish_non_exhaustive()
    }
}

impl ArenaFirst {
    /// Makes one that nothing is taken of, before the system's allocator.
    pub const fn new() -> Self {
        Self::before(System)
    }
}

impl<Rest> ArenaFirst<Rest> {
    /// Makes one that nothing is taken of, before another allocator.
    pub const fn before(rest: Rest) -> Self {
        Self { arena: OwnedArena::new(), rest }
    }

    /// Returns where the arena begins, which is what is used of it first.
    pub const fn start(&self) -> *const u8 {
        self.arena.start()
    }
}

impl Default for ArenaFirst {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: pieces of the arena do not overlap, fit their layout, and stay valid as long as it does; those of the other
// allocator are its own.
unsafe impl<Rest: GlobalAlloc> GlobalAlloc for ArenaFirst<Rest> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let pointer = self.arena.take(layout);
        if pointer.is_null() {
            // SAFETY: the caller's promises are passed on.
            return unsafe { self.rest.alloc(layout) };
        }
        pointer
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let pointer = self.arena.take_cleared(layout);
        if pointer.is_null() {
            // SAFETY: the caller's promises are passed on.
            return unsafe { self.rest.alloc_zeroed(layout) };
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller gives back a piece with its layout.
        if !unsafe { self.arena.give_back(pointer, layout) } {
            // SAFETY: what is not the arena's came from the other allocator with this layout.
            unsafe { self.rest.dealloc(pointer, layout) };
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !self.arena.has(pointer) {
            // SAFETY: what is not the arena's came from the other allocator with this layout.
            return unsafe { self.rest.realloc(pointer, layout, new_size) };
        }
        if self.arena.resize(pointer, layout, new_size) {
            return pointer;
        }
        // SAFETY: the caller promises that the new size fits a layout of this alignment and is not zero.
        let resized = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: the new size is not zero.
        let new = unsafe { self.alloc(resized) };
        if !new.is_null() {
            let kept = layout.size().min(new_size);
            // SAFETY: both are valid for the smaller of their sizes and do not overlap.
            unsafe { ptr::copy_nonoverlapping(pointer, new, kept) };
            // SAFETY: the old piece is the caller's to give back, and is not used again.
            unsafe { self.dealloc(pointer, layout) };
        }
        new
    }
}
