//! Pieces never overlap and keep their bytes, whoever takes, resizes and gives back what.
#![cfg(test)]
#![expect(clippy::cast_possible_truncation, reason = "marks and sizes are small on purpose")]

use std::alloc::{GlobalAlloc, Layout};
use std::thread;

use portcullis_arena::ArenaFirst;
use proptest::prelude::*;

/// A piece that was handed out, filled with a mark of its own.
struct Piece<'a> {
    arena: &'a ArenaFirst,
    pointer: *mut u8,
    layout: Layout,
    mark: u8,
}

impl<'a> Piece<'a> {
    fn new(arena: &'a ArenaFirst, size: usize, align: usize, mark: u8) -> Self {
        let layout = Layout::from_size_align(size, align).unwrap();
        // SAFETY: the size is not zero.
        let pointer = unsafe { arena.alloc(layout) };
        assert!(!pointer.is_null() && pointer.addr().is_multiple_of(align));
        // SAFETY: the piece is that long and ours alone.
        unsafe { pointer.write_bytes(mark, size) };
        Self { arena, pointer, layout, mark }
    }

    fn cleared(arena: &'a ArenaFirst, size: usize, align: usize, mark: u8) -> Self {
        let layout = Layout::from_size_align(size, align).unwrap();
        // SAFETY: the size is not zero.
        let pointer = unsafe { arena.alloc_zeroed(layout) };
        let mut piece = Self { arena, pointer, layout, mark: 0 };
        assert!(piece.is_whole(), "a cleared piece has bytes of another");
        // SAFETY: the piece is that long and ours alone.
        unsafe { pointer.write_bytes(mark, size) };
        piece.mark = mark;
        piece
    }

    fn is_whole(&self) -> bool {
        // SAFETY: the piece is that long, written, and ours alone.
        let bytes = unsafe { std::slice::from_raw_parts(self.pointer, self.layout.size()) };
        bytes.iter().all(|byte| *byte == self.mark)
    }

    fn resize(&mut self, size: usize) {
        let kept = size.min(self.layout.size());
        // SAFETY: the pointer came from the same allocator with this layout, and the size is not zero.
        self.pointer = unsafe { self.arena.realloc(self.pointer, self.layout, size) };
        self.layout = Layout::from_size_align(size, self.layout.align()).unwrap();
        // SAFETY: the piece is at least that long.
        let bytes = unsafe { std::slice::from_raw_parts(self.pointer, kept) };
        assert!(bytes.iter().all(|byte| *byte == self.mark), "a resized piece lost its bytes");
        // SAFETY: the piece is that long and ours alone.
        unsafe { self.pointer.write_bytes(self.mark, size) };
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the same allocator with this layout.
        unsafe { self.arena.dealloc(self.pointer, self.layout) };
    }
}

/// Makes an arena on the heap, where there is room for many.
fn fresh() -> Box<ArenaFirst> {
    // SAFETY: an arena of which nothing is taken is nothing but zeros.
    unsafe { Box::<ArenaFirst>::new_zeroed().assume_init() }
}

fn drive(arena: &ArenaFirst, steps: &[(u8, usize, u8)]) {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    for (number, (what, size, align)) in steps.iter().enumerate() {
        let at = size % pieces.len().max(1);
        match what % 4 {
            0 => pieces.push(Piece::new(arena, *size, 1 << (align % 13), number as u8)),
            1 => pieces.push(Piece::cleared(arena, *size, 1 << (align % 5), number as u8)),
            2 if !pieces.is_empty() => drop(pieces.swap_remove(at)),
            3 if !pieces.is_empty() => {
                let last = pieces.len() - 1;
                let which = if align % 2 == 0 { last } else { at };
                pieces[which].resize(*size);
            }
            _ => {}
        }
        assert!(pieces.iter().all(Piece::is_whole), "a piece was overwritten");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn pieces_never_overlap(steps in prop::collection::vec((any::<u8>(), 1_usize..6_000, any::<u8>()), 1..120)) {
        drive(&fresh(), &steps);
    }
}

#[test]
fn many_threads_share_it() {
    let arena = &fresh();
    thread::scope(|scope| {
        for thread in 0..8_u64 {
            scope.spawn(move || {
                let mut state = thread * 7_919 + 1;
                let steps: Vec<(u8, usize, u8)> = (0..400)
                    .map(|_| {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        ((state >> 33) as u8, (state >> 41) as usize % 300 + 1, (state >> 50) as u8 % 6)
                    })
                    .collect();
                for part in steps.chunks(40) {
                    drive(arena, part);
                }
            });
        }
    });
}

#[test]
fn what_is_given_back_is_handed_out_again() {
    let arena = &fresh();
    let first = Piece::new(arena, 100, 8, 1);
    let _last = Piece::new(arena, 10, 8, 2);
    let place = first.pointer.addr();
    drop(first);
    assert_eq!(Piece::new(arena, 104, 8, 3).pointer.addr(), place);
}

#[test]
fn what_does_not_fit_comes_from_the_system() {
    let arena = &fresh();
    let mut large = Piece::new(arena, 2 * 1024 * 1024, 64, 9);
    large.resize(3 * 1024 * 1024);
    assert!(large.is_whole() && Piece::new(arena, 100, 8_192, 3).is_whole());
}
