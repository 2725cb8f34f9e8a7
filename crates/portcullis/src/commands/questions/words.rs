//! The words of a command that decided, as they were recorded with the question.

use std::ops::Range;

use portcullis_store::audit::{Entry, SpanEntry};

/// Returns where the deciding words stand in the command, as byte ranges; none if that was not recorded.
pub(super) fn deciding_words(entry: &Entry) -> Vec<Range<usize>> {
    let range = |SpanEntry(start, end): &SpanEntry| *start as usize..*end as usize;
    entry.spans.iter().map(range).collect()
}
