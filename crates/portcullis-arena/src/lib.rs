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

mod pieces;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use pieces::{Pieces, SIZE};

thread_local! {
    /// Its address tells a thread from all others that live.
    static THREAD: u8 = const { 0 };
}

#[repr(align(4096))]
struct ArenaBytes(UnsafeCell<[u8; SIZE]>);

/// Serves from its arena while it lasts, then from another allocator, which is the system's unless it is named. It must
/// outlive what it hands out.
pub struct ArenaFirst<Rest = System> {
    bytes: ArenaBytes,
    pieces: UnsafeCell<Pieces>,
    /// The thread that owns the arena; 0 if none does.
    owner: AtomicUsize,
    rest: Rest,
}

// SAFETY: the arena and the list of its pieces are touched by the one thread that owns them, no reference to the bytes is
// ever made, and every piece that is handed out belongs to one owner alone.
unsafe impl<Rest: Sync> Sync for ArenaFirst<Rest> {}

impl<Rest> fmt::Debug for ArenaFirst<Rest> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ArenaFirst").field("owner", &self.owner).finish_non_exhaustive()
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
        Self {
            bytes: ArenaBytes(UnsafeCell::new([0; SIZE])),
            pieces: UnsafeCell::new(Pieces::new()),
            owner: AtomicUsize::new(0),
            rest,
        }
    }

    const fn start(&self) -> *mut u8 {
        self.bytes.0.get().cast()
    }

    /// Returns where in the arena a pointer points, if it does.
    fn place(&self, pointer: *mut u8) -> Option<usize> {
        let offset = pointer.addr().wrapping_sub(self.start().addr());
        (offset < SIZE).then_some(offset)
    }

    /// Returns the pieces of the arena if it belongs to this thread, which takes it if nobody has.
    #[expect(
        clippy::mut_from_ref,
        reason = "only the thread that owns the arena gets it, for one call at a time"
    )]
    fn pieces(&self) -> Option<&mut Pieces> {
        let thread = THREAD.with(|byte| ptr::from_ref(byte).addr());
        let owner = match self.owner.load(Ordering::Relaxed) {
            0 => self.claim(thread),
            owner => owner,
        };
        if owner != thread {
            return None;
        }
        // SAFETY: this thread is the only one that owns the arena, and no caller calls another while it has them.
        Some(unsafe { &mut *self.pieces.get() })
    }

    /// Makes a thread the owner unless there is one, and returns who is.
    #[cold]
    fn claim(&self, thread: usize) -> usize {
        match self.owner.compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => thread,
            Err(owner) => owner,
        }
    }

    /// Takes a piece of the arena, if there is one, and says how many of its first bytes were used before.
    fn take(&self, layout: Layout) -> Option<(*mut u8, usize)> {
        let taken = self.pieces()?.take(self.start(), layout)?;
        // SAFETY: the place is inside of the arena.
        Some((unsafe { self.start().add(taken.place) }, taken.used))
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
        match self.take(layout) {
            Some((pointer, _)) => pointer,
            // SAFETY: the caller's promises are passed on.
            None => unsafe { self.rest.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some((pointer, used)) => {
                // SAFETY: the piece is at least that long, and nobody else has it.
                unsafe { pointer.write_bytes(0, used) };
                pointer
            }
            // SAFETY: the caller's promises are passed on.
            None => unsafe { self.rest.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        match self.place(pointer) {
            Some(place) => {
                if let Some(pieces) = self.pieces() {
                    // SAFETY: the caller gives back a piece of this place and layout.
                    unsafe { pieces.give_back(self.start(), place, layout) };
                }
            }
            // SAFETY: what is not the arena's came from the other allocator with this layout.
            None => unsafe { self.rest.dealloc(pointer, layout) },
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Some(place) = self.place(pointer) else {
            // SAFETY: what is not the arena's came from the other allocator with this layout.
            return unsafe { self.rest.realloc(pointer, layout, new_size) };
        };
        if self.pieces().is_some_and(|pieces| pieces.resize(place, layout, new_size)) {
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
