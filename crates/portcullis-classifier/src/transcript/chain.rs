//! The chain of parents in a session file: which records led to the latest one, and in which order.
//!
//! A session file keeps what was rewound. Only the way back from the latest record is the session; the other branches
//! are dead. Where the way back breaks, it goes on with the record before in the file, so that nothing recent is lost
//! and every walk ends.

use std::collections::HashMap;

/// How one record hangs on the others.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RecordLink<'a> {
    /// Its own name.
    pub(super) uuid: Option<&'a str>,
    /// The record it follows.
    pub(super) parent: Option<&'a str>,
    /// The answer of the model it is a part of, if it is.
    pub(super) answer: Option<&'a str>,
    /// Whether the session may end with it, and whether it may be gone on with where the chain breaks.
    pub(super) is_main: bool,
    /// Whether nothing before it counts.
    pub(super) is_boundary: bool,
}

/// Returns the records that make up the session, oldest first.
///
/// Calls made at once are written as a chain, but their results hang on the single calls, so that the way back passes
/// only one of them. The others belong to the same answer of the model and come right after it.
pub(super) fn walk(links: &[RecordLink<'_>]) -> Vec<usize> {
    let places = places(links);
    let mut free = UnvisitedRecords::new(links);
    let mut chain = Vec::new();
    let mut at = links.iter().rposition(|link| link.is_main);
    while let Some(index) = at {
        free.take(index);
        chain.push(index);
        let Some(link) = links.get(index).filter(|link| !link.is_boundary) else {
            break;
        };
        let parent = link.parent.and_then(|parent| latest_before(places.get(parent)?, index));
        at = match parent {
            Some(parent) if free.is_free(parent) => Some(parent),
            Some(_) | None => free.main_before(index),
        };
    }
    chain.reverse();
    with_siblings(links, &places, chain)
}

/// Where each name occurs, in the order of the file.
type RecordPlaces<'a> = HashMap<&'a str, Vec<usize>>;

fn places<'a>(links: &[RecordLink<'a>]) -> RecordPlaces<'a> {
    let mut places: RecordPlaces<'a> = HashMap::with_capacity(links.len());
    for (index, link) in links.iter().enumerate() {
        if let Some(uuid) = link.uuid {
            places.entry(uuid).or_default().push(index);
        }
    }
    places
}

/// Picks the last place before a record; if all are after it, the last of all.
fn latest_before(places: &[usize], index: usize) -> Option<usize> {
    let before = places.partition_point(|place| *place < index);
    before.checked_sub(1).and_then(|last| places.get(last)).or_else(|| places.last()).copied()
}

/// Puts the other parts of an answer right after the part that is in the chain.
fn with_siblings(links: &[RecordLink<'_>], places: &RecordPlaces<'_>, chain: Vec<usize>) -> Vec<usize> {
    // For every record: the record of the chain it comes after, if it belongs to the session.
    let mut anchors: Vec<Option<usize>> = vec![None; links.len()];
    for index in &chain {
        if let Some(anchor) = anchors.get_mut(*index) {
            *anchor = Some(*index);
        }
    }
    let mut siblings: Vec<(usize, usize)> = Vec::new();
    for (index, link) in links.iter().enumerate() {
        if anchors.get(index).copied().flatten().is_some() || link.answer.is_none() || !link.is_main {
            continue;
        }
        let parent = link.parent.and_then(|parent| latest_before(places.get(parent)?, index));
        let parent = parent.filter(|parent| {
            *parent < index && links.get(*parent).is_some_and(|other| other.answer == link.answer)
        });
        if let Some(anchor) = parent.and_then(|parent| anchors.get(parent).copied().flatten()) {
            if let Some(own) = anchors.get_mut(index) {
                *own = Some(anchor);
            }
            siblings.push((anchor, index));
        }
    }
    if siblings.is_empty() {
        return chain;
    }
    siblings.sort_unstable();
    let mut all = Vec::with_capacity(chain.len() + siblings.len());
    for index in chain {
        all.push(index);
        let start = siblings.partition_point(|(anchor, _)| *anchor < index);
        all.extend(
            siblings.iter().skip(start).take_while(|(anchor, _)| *anchor == index).map(|(_, own)| *own),
        );
    }
    all
}

/// Which records the walk has not passed yet.
struct UnvisitedRecords {
    /// For every record: itself if it may be gone on with, else one before it to ask instead; shifted by one, so that
    /// 0 says that there is none.
    before: Vec<usize>,
    taken: Vec<bool>,
}

impl UnvisitedRecords {
    fn new(links: &[RecordLink<'_>]) -> Self {
        let mut before = vec![0];
        before.extend(links.iter().enumerate().map(|(index, link)| index + usize::from(link.is_main)));
        Self { before, taken: vec![false; links.len()] }
    }

    fn is_free(&self, index: usize) -> bool {
        self.taken.get(index).is_some_and(|is_taken| !is_taken)
    }

    fn take(&mut self, index: usize) {
        if let Some(taken) = self.taken.get_mut(index) {
            *taken = true;
        }
        if let Some(before) = self.before.get_mut(index + 1) {
            *before = index;
        }
    }

    /// Finds the nearest record before another that may be gone on with.
    fn main_before(&mut self, index: usize) -> Option<usize> {
        let mut at = index;
        loop {
            let next = self.before.get(at).copied()?;
            if next == at {
                return at.checked_sub(1);
            }
            // Halving the way keeps many questions cheap.
            let after_next = self.before.get(next).copied()?;
            if let Some(way) = self.before.get_mut(at) {
                *way = after_next;
            }
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(uuid: &'static str, parent: &'static str) -> RecordLink<'static> {
        let named = |name: &'static str| (!name.is_empty()).then_some(name);
        RecordLink { uuid: named(uuid), parent: named(parent), is_main: true, ..RecordLink::default() }
    }

    #[test]
    fn the_way_back_leaves_dead_branches_out() {
        let links = [link("a", ""), link("b", "a"), link("dead", "b"), link("c", "b"), link("d", "c")];
        assert_eq!(walk(&links), [0, 1, 3, 4]);
    }

    #[test]
    fn the_order_is_that_of_the_chain_and_not_of_the_file() {
        assert_eq!(walk(&[link("b", "a"), link("a", ""), link("c", "b")]), [1, 0, 2]);
    }

    #[test]
    fn a_broken_chain_goes_on_in_the_order_of_the_file() {
        assert_eq!(walk(&[link("a", ""), link("b", "a"), link("c", "gone"), link("d", "c")]), [0, 1, 2, 3]);
        assert_eq!(walk(&[link("a", ""), link("b", ""), link("c", "")]), [0, 1, 2]);
        assert_eq!(walk(&[link("", ""), link("", "")]), [0, 1]);
    }

    #[test]
    fn a_cycle_ends_and_loses_nothing_before_it() {
        assert_eq!(walk(&[link("a", ""), link("b", "c"), link("c", "b")]), [0, 1, 2]);
        assert_eq!(walk(&[link("a", "a")]), [0]);
        assert_eq!(walk(&[link("a", "b"), link("b", "a")]), [0, 1]);
    }

    #[test]
    fn of_records_with_one_name_the_nearest_before_is_the_parent() {
        let links = [link("a", ""), link("x", "a"), link("x", "a"), link("c", "x"), link("x", "a")];
        assert_eq!(walk(&links), [0, 4]);
        assert_eq!(walk(&links[..4]), [0, 2, 3]);
    }

    #[test]
    fn a_boundary_is_where_it_stops() {
        let boundary = RecordLink { is_boundary: true, ..link("b", "a") };
        assert_eq!(walk(&[link("a", ""), boundary, link("c", "b")]), [1, 2]);
    }

    #[test]
    fn calls_made_at_once_all_belong_to_the_session() {
        let part = |uuid, parent| RecordLink { answer: Some("m"), ..link(uuid, parent) };
        let links = [
            link("u", ""),
            part("c1", "u"),
            part("c2", "c1"),
            part("c3", "c2"),
            link("r2", "c2"),
            link("r1", "c1"),
            RecordLink { answer: Some("n"), ..link("next", "r1") },
        ];
        assert_eq!(walk(&links), [0, 1, 2, 3, 5, 6]);
    }

    #[test]
    fn hostile_chains_take_linear_time() {
        let same = vec![link("x", "x"); 200_000];
        assert_eq!(walk(&same).len(), 200_000);
        let forward: Vec<RecordLink<'_>> = (0..200_000).map(|_| link("", "gone")).collect();
        assert_eq!(walk(&forward).len(), 200_000);
    }
}
