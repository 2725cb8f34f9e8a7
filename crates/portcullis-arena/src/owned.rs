//! An arena that belongs to one thread.
//!
//! Nothing here depends on the other allocator, so that it is optimised with this crate, whatever the program is built with.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::pieces::{Pieces, SIZE};

thread_local! {
    /// Its address tells a thread from all others that live.
    static THREAD: u8 = const { 0 };
}

#[repr(align(4096))]
struct ArenaBytes(UnsafeCell<[u8; SIZE]>);

/// The bytes of an arena, its pieces and who owns both. All zeroes is one that nothing is taken of.
pub(crate) struct OwnedArena {
    bytes: ArenaBytes,
    pieces: UnsafeCell<Pieces>,
    /// The thread that owns the arena; 0 if none does.
    owner: AtomicUsize,
}

// SAFETY: the list of pieces is touched by the one thread that owns it, no reference to the bytes is ever made, and every
// piece that is handed out belongs to one owner alone.
unsafe impl Sync for OwnedArena {}

impl OwnedArena {
    #[expect(clippy::large_stack_arrays, reason = "it is made for a static, which is not on the stack")]
    pub(crate) const fn new() -> Self {
        Self {
            bytes: ArenaBytes(UnsafeCell::new([0; SIZE])),
            pieces: UnsafeCell::new(Pieces::new()),
            owner: AtomicUsize::new(0),
        }
    }

    pub(crate) const fn start(&self) -> *mut u8 {
        self.bytes.0.get().cast()
    }

    /// Says whether a pointer points into the arena.
    pub(crate) fn has(&self, pointer: *mut u8) -> bool {
        self.place(pointer) < SIZE
    }

    /// Takes a piece of the arena; null if there is none for this thread.
    pub(crate) fn take(&self, layout: Layout) -> *mut u8 {
        self.take_piece(layout).map_or(ptr::null_mut(), |(pointer, _)| pointer)
    }

    /// Takes a piece of zeroes; null if there is none for this thread.
    pub(crate) fn take_cleared(&self, layout: Layout) -> *mut u8 {
        let Some((pointer, used)) = self.take_piece(layout) else { return ptr::null_mut() };
        // SAFETY: the piece is at least that long, and nobody else has it. What was never used is zero already.
        unsafe { pointer.write_bytes(0, used) };
        pointer
    }

    /// Takes back a piece; false if it is not the arena's. What another thread gives back stays where it is.
    ///
    /// # Safety
    ///
    /// The pointer must have been handed out with this layout, and be of no use to anybody.
    pub(crate) unsafe fn give_back(&self, pointer: *mut u8, layout: Layout) -> bool {
        let place = self.place(pointer);
        if place >= SIZE {
            return false;
        }
        if let Some(pieces) = self.pieces() {
            // SAFETY: the caller gives back a piece of this place and layout.
            unsafe { pieces.give_back(self.start(), place, layout) };
        }
        true
    }

    /// Makes a piece of the arena longer or shorter where it is, if that can be.
    pub(crate) fn resize(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> bool {
        self.pieces().is_some_and(|pieces| pieces.resize(self.place(pointer), layout, new_size))
    }

    #[inline]
    fn take_piece(&self, layout: Layout) -> Option<(*mut u8, usize)> {
        let taken = self.pieces()?.take(self.start(), layout)?;
        // SAFETY: the place is inside of the arena.
        Some((unsafe { self.start().add(taken.place) }, taken.used))
    }

    /// Returns where a pointer points, from the start of the arena; beyond its size if it is not the arena's.
    fn place(&self, pointer: *mut u8) -> usize {
        pointer.addr().wrapping_sub(self.start().addr())
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
}
