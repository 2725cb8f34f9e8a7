//! The memory of the program that agents start.
//!
//! The allocator is named here and not in the program itself: what an allocation runs is compiled with the crate that names
//! it, a plain build does not optimise that of the program, and a hook allocates three thousand times.

use portcullis_arena::ArenaFirst;

/// A hook needs little memory, at once.
#[global_allocator]
static ALLOCATOR: ArenaFirst = ArenaFirst::new();

/// How much memory most calls need.
const USUAL: usize = 176 * 1024;

/// Asks the kernel for the memory that most calls need, all at once. A program that calls this has the allocator.
pub fn prepare() {
    portcullis_guard::prefault(ALLOCATOR.start().addr(), USUAL);
}
