//! The start of a program that lives a millisecond.
//!
//! Before `main` the standard library asks where the stack of the process ends, which the C library answers by reading
//! `/proc/self/maps`, and prepares a message for the case that it overflows. That takes a tenth of what a hook may take,
//! and the guard does its own for a stack that overflows. So such a program begins where the C library leaves it.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;

use crate::block::block;
use crate::descriptor::{STDERR, STDOUT};

/// The size of a page; where pages are larger, the kernel refuses what does not begin with one.
const PAGE: usize = 4096;

/// How much stack most calls need.
const STACK: usize = 12 * PAGE;

/// Makes a function from arguments to an exit code the beginning of a program, which must say `#![no_main]`.
#[macro_export]
macro_rules! begin_with {
    ($main:path) => {
        /// What the C library calls.
        ///
        /// # Safety
        ///
        /// Nobody else calls it.
        // SAFETY: no other function of a program is called so.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn main(
            count: ::std::ffi::c_int,
            words: *const *const ::std::ffi::c_char,
        ) -> ::std::ffi::c_int {
            // SAFETY: the C library calls this with what the program was started with.
            let arguments = unsafe { $crate::prepare_start(count, words) };
            ::std::ffi::c_int::from($main(arguments))
        }
    };
}

/// Does what a program must have done before it opens a file or writes, and returns its arguments.
///
/// # Safety
///
/// `words` must point to `count` texts that end in zero and stay as they are while this runs.
pub unsafe fn prepare_start(count: c_int, words: *const *const c_char) -> Vec<OsString> {
    open_standard_files();
    prefault_stack();
    // SAFETY: to ignore a signal runs no code of ours. A failed write then reports itself as an error.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let count = usize::try_from(count).unwrap_or_default();
    let word = |index| {
        // SAFETY: there are `count` texts.
        let word = unsafe { words.add(index) };
        // SAFETY: it points to a text.
        let word = unsafe { *word };
        // SAFETY: the text ends in zero, and stays as it is.
        unsafe { CStr::from_ptr(word) }
    };
    (0..count).map(|index| OsStr::from_bytes(word(index).to_bytes()).to_owned()).collect()
}

/// Puts the null device in the place of standard files that are closed: the next file that is opened would become one, and
/// what is meant for the host would be written to it.
fn open_standard_files() {
    for descriptor in [libc::STDIN_FILENO, STDOUT, STDERR] {
        // SAFETY: asking for the flags of a descriptor touches no memory.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } >= 0 {
            continue;
        }
        // SAFETY: the path is a C string. What is opened gets the lowest number that is free.
        if unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) } != descriptor {
            block();
        }
    }
}

/// Asks the kernel for the pages of the stack that most calls need, all at once.
fn prefault_stack() {
    let here = 0_u8;
    let top = (&raw const here).addr() & !(PAGE - 1);
    prefault(top - STACK, STACK);
}

/// Asks the kernel for pages that will be written, all at once: one call costs half of what a fault for each page does.
/// Where the kernel does not know the question, the pages come as they are touched.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "no other system is asked"))]
pub fn prefault(start: usize, length: usize) {
    // SAFETY: this changes no memory; the kernel checks which pages there are.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::madvise(std::ptr::without_provenance_mut(start), length, libc::MADV_POPULATE_WRITE)
    };
}
