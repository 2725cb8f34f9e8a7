//! An allocator for a process that lives about a millisecond: the first half megabyte comes from a static arena, the rest
//! from the system, or from another allocator that is better at living long.
//!
//! A hook allocates a few hundred kilobytes in small pieces and ends. The system's allocator asks the kernel for pages
//! a few at a time and gives them back, and those calls and the faults behind them took longer than the decision itself.
//! The arena hands out its bytes in order. Only the piece at its end can be given back or grow in place; any other is
//! left where it is, which is half a megabyte at worst, however long a process lives.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much the arena holds.
const SIZE: usize = 512 * 1024;
/// No larger alignment is served from the arena; its own start has this one.
const LARGEST_ALIGNMENT: usize = 4096;

#[repr(align(4096))]
struct ArenaBytes(UnsafeCell<[u8; SIZE]>);

// SAFETY: no reference to the bytes is ever made, and every piece that is handed out belongs to one owner alone.
unsafe impl Sync for ArenaBytes {}

/// Serves from its arena while it lasts, then from another allocator, which is the system's unless it is named. It must
/// outlive what it hands out.
pub struct ArenaFirst<Rest = System> {
    bytes: ArenaBytes,
    /// How much is taken, from the start. Whoever gives a piece back releases its bytes with this counter, and whoever
    /// takes it anew acquires them.
    taken: AtomicUsize,
    rest: Rest,
}

impl<Rest> fmt::Debug for ArenaFirst<Rest> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ArenaFirst").field("taken", &self.taken).finish_non_exhaustive()
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
    #[expect(clippy::large_stack_arrays, reason = "it is made for a static, which is not on the stack")]
    pub const fn before(rest: Rest) -> Self {
        Self { bytes: ArenaBytes(UnsafeCell::new([0; SIZE])), taken: AtomicUsize::new(0), rest }
    }

    const fn start(&self) -> *mut u8 {
        self.bytes.0.get().cast()
    }

    /// Returns where in the arena a pointer points, if it does.
    fn place(&self, pointer: *mut u8) -> Option<usize> {
        let offset = pointer.addr().wrapping_sub(self.start().addr());
        (offset < SIZE).then_some(offset)
    }

    /// Moves the end of what is taken, if it is where it is expected.
    fn move_end(&self, from: usize, to: usize) -> bool {
        self.taken.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Takes a piece of the arena, if there is one.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        if layout.align() > LARGEST_ALIGNMENT || layout.size() > SIZE {
            return None;
        }
        let mut taken = self.taken.load(Ordering::Acquire);
        loop {
            // Neither sum overflows: all of them are at most a few times the arena's size.
            let start = (taken + layout.align() - 1) & !(layout.align() - 1);
            let end = start + layout.size();
            // A piece must not begin at the very end, where a pointer would not be told to be the arena's.
            if end > SIZE || start == SIZE {
                return None;
            }
            match self.taken.compare_exchange_weak(taken, end, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: `start` is inside of the arena, and nobody else got the bytes up to `end`.
                Ok(_) => return Some(unsafe { self.start().add(start) }),
                Err(now) => taken = now,
            }
        }
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
        // SAFETY: the caller's promises are passed on.
        self.take(layout).unwrap_or_else(|| unsafe { self.rest.alloc(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        match self.place(pointer) {
            Some(start) => {
                self.move_end(start + layout.size(), start);
            }
            // SAFETY: what is not the arena's came from the other allocator with this layout.
            None => unsafe { self.rest.dealloc(pointer, layout) },
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Some(start) = self.place(pointer) else {
            // SAFETY: what is not the arena's came from the other allocator with this layout.
            return unsafe { self.rest.realloc(pointer, layout, new_size) };
        };
        let is_resized = new_size <= SIZE - start && self.move_end(start + layout.size(), start + new_size);
        if is_resized || new_size <= layout.size() {
            return pointer;
        }
        // SAFETY: the caller promises that the new size fits a layout of this alignment and is not zero.
        let larger = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: the new size is larger than the old one, so it is not zero.
        let new = unsafe { self.alloc(larger) };
        if !new.is_null() {
            // SAFETY: both are valid for the old size, which is the smaller, and do not overlap.
            unsafe { ptr::copy_nonoverlapping(pointer, new, layout.size()) };
            // SAFETY: the old piece is the caller's to give back, and is not used again.
            unsafe { self.dealloc(pointer, layout) };
        }
        new
    }
}
