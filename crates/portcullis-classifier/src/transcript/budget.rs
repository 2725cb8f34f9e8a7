//! Which entries of a long session the judge sees: the latest, and the user's own words longest (spec D5).
//!
//! Entries go in steps, not one by one: as long as the same ones are left out, the beginning of the prompt is the same
//! from call to call, and a provider that caches it charges little for it.

/// How many entries are left out at once. If that leaves too little, fewer.
const STEPS: [usize; 3] = [16, 4, 1];

/// One entry as far as its length matters.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntrySize {
    /// What it costs, in tokens.
    pub(super) tokens: usize,
    /// Whether it is the user's.
    pub(super) is_human: bool,
}

/// Says for every entry whether it stays, so that all together cost at most `total`.
///
/// The user's words stay up to half of it, the first and the latest of them always: no entry of the user may cost more
/// than a quarter. What they leave goes to the rest, latest first.
pub(super) fn choose(sizes: &[EntrySize], total: usize) -> Vec<bool> {
    if sizes.iter().map(|size| size.tokens).sum::<usize>() <= total {
        return vec![true; sizes.len()];
    }
    let pinned = pinned(sizes, total / 2);
    let is_pinned = |index: usize| pinned.contains(&Some(index));
    let cost = |index: Option<usize>| index.and_then(|index| sizes.get(index)).map_or(0, |size| size.tokens);
    let always: usize = pinned.into_iter().map(cost).sum();
    let human_costs = costs(sizes, |index, size| size.is_human && !is_pinned(index));
    let human_cut = cut(&human_costs, (total / 2).saturating_sub(always), total / 8);
    let other_costs = costs(sizes, |_, size| !size.is_human);
    let human = always + after(&human_costs, human_cut);
    let other_cut = cut(&other_costs, total.saturating_sub(human), total / 4);
    let stays = |(index, size): (usize, &EntrySize)| {
        if size.is_human { is_pinned(index) || index >= human_cut } else { index >= other_cut }
    };
    sizes.iter().enumerate().map(stays).collect()
}

/// Returns the first and the latest entry of the user. If both together cost too much, the latest; if even that does,
/// none, and then it is left to what fits.
fn pinned(sizes: &[EntrySize], room: usize) -> [Option<usize>; 2] {
    let first = sizes.iter().position(|size| size.is_human);
    let latest = sizes.iter().rposition(|size| size.is_human).filter(|latest| Some(*latest) != first);
    let cost = |index: Option<usize>| index.and_then(|index| sizes.get(index)).map_or(0, |size| size.tokens);
    if cost(first) + cost(latest) <= room {
        [first, latest]
    } else if cost(latest.or(first)) <= room {
        [latest.or(first), None]
    } else {
        [None, None]
    }
}

/// Returns for every place what the chosen entries cost from there to the end.
fn costs(sizes: &[EntrySize], is_chosen: impl Fn(usize, &EntrySize) -> bool) -> Vec<usize> {
    let mut costs = vec![0; sizes.len() + 1];
    let mut sum = 0;
    for (cost, (index, size)) in costs.iter_mut().rev().skip(1).zip(sizes.iter().enumerate().rev()) {
        if is_chosen(index, size) {
            sum += size.tokens;
        }
        *cost = sum;
    }
    costs
}

fn after(costs: &[usize], place: usize) -> usize {
    costs.get(place).copied().unwrap_or(0)
}

/// Finds the first place, counted in steps, from which on everything fits. A step that leaves less than `enough` of what
/// could be kept is too coarse.
fn cut(costs: &[usize], room: usize, enough: usize) -> usize {
    let finest = costs.partition_point(|cost| *cost > room);
    for step in STEPS {
        let place = finest.div_ceil(step) * step;
        if after(costs, place) >= enough.min(after(costs, finest)) {
            return place;
        }
    }
    finest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(pattern: &str, tokens: usize) -> Vec<EntrySize> {
        pattern.chars().map(|letter| EntrySize { tokens, is_human: letter == 'h' }).collect()
    }

    fn kept(stays: &[bool]) -> String {
        stays.iter().map(|stays| if *stays { '+' } else { '.' }).collect()
    }

    #[test]
    fn what_fits_stays() {
        assert_eq!(kept(&choose(&sizes("hccch", 10), 50)), "+++++");
        assert_eq!(kept(&choose(&[], 0)), "");
    }

    #[test]
    fn the_oldest_calls_go_first_in_steps_and_the_users_words_stay() {
        let pattern = format!("h{}h{}", "c".repeat(20), "c".repeat(20));
        let stays = kept(&choose(&sizes(&pattern, 10), 400));
        assert_eq!(stays, format!("+{}{}", ".".repeat(15), "+".repeat(26)));
    }

    #[test]
    fn the_same_entries_are_left_out_while_the_session_grows() {
        let mut changes = 0;
        let mut before = 0;
        for length in 100..200 {
            let stays = choose(&sizes(&format!("h{}", "c".repeat(length)), 10), 600);
            let left_out = stays.iter().filter(|stays| !**stays).count();
            changes += usize::from(left_out != before);
            before = left_out;
        }
        assert!(changes <= 8, "{changes}");
    }

    #[test]
    fn a_step_that_would_leave_nothing_is_made_smaller() {
        let stays = choose(&sizes(&"c".repeat(29), 1000), 12_000);
        assert!(stays.iter().filter(|stays| **stays).count() >= 9, "{}", kept(&stays));
    }

    #[test]
    fn of_too_many_words_the_first_and_the_latest_stay() {
        let stays = kept(&choose(&sizes(&format!("{}{}", "h".repeat(100), "c".repeat(50)), 10), 200));
        assert!(stays.starts_with('+') && stays.get(99..100) == Some("+"), "{stays}");
        let cost = 10 * stays.matches('+').count();
        assert!(cost <= 200, "{stays}");
    }
}
