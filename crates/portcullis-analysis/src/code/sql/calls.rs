//! Functions a query calls that nobody knows, and tables that hold passwords.
//!
//! A function of the database's own may do anything: `select clean_all_users()`. Those that come with databases and
//! only compute are listed.

use super::words::SqlWord;
use crate::act::Act;
use crate::code::{CodeReading, CodeTarget};
use crate::lists::code::sql::{COMPUTING, FUNCTIONS, KEYWORDS, PASSWORDS, TAKING};

/// Adds what calls and names of a query give away.
pub(super) fn read(words: &[SqlWord], out: &mut CodeReading) {
    for (at, word) in words.iter().enumerate() {
        let SqlWord::Bare(upper, written) = word else { continue };
        if PASSWORDS.binary_search(&upper.as_str()).is_ok() {
            out.add(Act::SecretRead, CodeTarget::Name(written.clone()));
        }
        let is_call = words.get(at + 1) == Some(&SqlWord::Mark('('));
        if is_call && !is_known(upper) && !is_defined(words, at) {
            out.add_gap(format!("calls `{written}` of the database"));
        }
    }
}

fn is_known(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let is_listed = |list: &[(&str, Act)]| list.iter().any(|(known, _)| *known == last);
    COMPUTING.binary_search(&last).is_ok()
        || KEYWORDS.binary_search(&last).is_ok()
        || last.starts_with("JSON")
        || last.starts_with("ST_")
        || last.starts_with("TO_")
        || is_listed(FUNCTIONS)
        || is_listed(TAKING)
}

/// Says whether a name stands before a list of columns: `with a(x) as`, `insert into a(x)`, `join a using (x)`.
fn is_defined(words: &[SqlWord], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    before.is_some_and(|before| {
        ["WITH", "RECURSIVE", "INTO", "TABLE", "AS", "ON", "REFERENCES", "INDEX", "EXISTS", "VIEW"]
            .iter()
            .any(|word| before.is(word))
    })
}
