//! Which bytes of the arena are taken, and which were given back.
//!
//! Every piece is a multiple of [`UNIT`] long, so that one that is given back can hold the place of the next of its size.

use std::alloc::Layout;

/// How much the arena holds.
pub(crate) const SIZE: usize = 512 * 1024;

/// No larger alignment is served from the arena; its own start has this one.
const LARGEST_ALIGNMENT: usize = 4096;

/// What the length of every piece is a multiple of, and its place too.
const UNIT: usize = 16;

/// How many lengths pieces are kept of after they were given back.
const KEPT_LENGTHS: usize = 128;

/// A piece that was taken.
pub(crate) struct TakenPiece {
    /// Where it begins.
    pub(crate) place: usize,
    /// How many of its bytes, from its beginning, may have been used before.
    pub(crate) used: usize,
}

/// What is taken of an arena. All zeroes is one of which nothing is.
pub(crate) struct Pieces {
    /// How much is taken, from the start.
    taken: usize,
    /// How much was ever taken.
    most: usize,
    /// By length in units: the last piece that was given back, as its place and 1; 0 if there is none. Its first bytes say
    /// which was given back before it.
    kept: [usize; KEPT_LENGTHS],
}

impl Pieces {
    pub(crate) const fn new() -> Self {
        Self { taken: 0, most: 0, kept: [0; KEPT_LENGTHS] }
    }

    /// Takes a piece of the arena that begins at `start`, if there is one.
    pub(crate) fn take(&mut self, start: *mut u8, layout: Layout) -> Option<TakenPiece> {
        if layout.align() > LARGEST_ALIGNMENT || layout.size() > SIZE {
            return None;
        }
        let length = length_of(layout);
        if let Some(kept) = self.kept_of(length, layout)
            && let Some(place) = kept.checked_sub(1)
        {
            // SAFETY: the piece lies in the arena, and is at least a unit long.
            let before = unsafe { start.add(place) };
            // SAFETY: the place was written here when the piece was given back.
            *kept = unsafe { before.cast::<usize>().read_unaligned() };
            return Some(TakenPiece { place, used: layout.size() });
        }
        let align = layout.align().max(UNIT);
        // Neither sum overflows: all of them are at most a few times the arena's size.
        let place = (self.taken + align - 1) & !(align - 1);
        let end = place + length;
        // A piece must not begin at the very end, where a pointer would not be told to be the arena's.
        if end > SIZE || place == SIZE {
            return None;
        }
        let used = self.most.saturating_sub(place).min(layout.size());
        self.taken = end;
        self.most = self.most.max(end);
        Some(TakenPiece { place, used })
    }

    /// Takes back a piece.
    ///
    /// # Safety
    ///
    /// The piece must have been taken of the arena that begins at `start`, with this layout, and be of no use to anybody.
    pub(crate) unsafe fn give_back(&mut self, start: *mut u8, place: usize, layout: Layout) {
        let length = length_of(layout);
        if place + length == self.taken {
            self.taken = place;
        } else if let Some(kept) = self.kept_of(length, layout) {
            // SAFETY: the piece lies in the arena, and is at least a unit long.
            let piece = unsafe { start.add(place) };
            // SAFETY: the piece is nobody's, and long enough for a place.
            unsafe { piece.cast::<usize>().write_unaligned(*kept) };
            *kept = place + 1;
        }
    }

    /// Makes a piece longer or shorter where it is, if that can be.
    pub(crate) fn resize(&mut self, place: usize, layout: Layout, new_size: usize) -> bool {
        let (old, new) = (length_of(layout), rounded(new_size));
        if old == new {
            return true;
        }
        if place + old == self.taken && new <= SIZE - place {
            self.taken = place + new;
            self.most = self.most.max(self.taken);
            return true;
        }
        false
    }

    /// Returns where pieces of a length are kept, if they are.
    #[inline]
    fn kept_of(&mut self, length: usize, layout: Layout) -> Option<&mut usize> {
        if layout.align() > UNIT { None } else { self.kept.get_mut(length / UNIT) }
    }
}

fn length_of(layout: Layout) -> usize {
    rounded(layout.size())
}

/// Rounds a size up; one that is near the largest number there is fits no arena either way.
const fn rounded(size: usize) -> usize {
    size.saturating_add(UNIT - 1) & !(UNIT - 1)
}
