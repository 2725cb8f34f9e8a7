//! Names close to one that is not known, for hints such as `did you mean`.

/// Finds the candidate nearest to a name, if one is near enough to be what was meant.
pub fn find_closest<'name>(
    name: &str,
    candidates: impl IntoIterator<Item = &'name str>,
) -> Option<&'name str> {
    rank(name, candidates).into_iter().next()
}

/// Returns the candidates near enough to a name, nearest first.
pub fn rank<'name>(name: &str, candidates: impl IntoIterator<Item = &'name str>) -> Vec<&'name str> {
    let length = name.chars().count();
    if length > LONGEST {
        return Vec::new();
    }
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let longest = length.max(candidate.chars().count());
            let allowed = (longest / 3).max(1);
            (longest <= LONGEST)
                .then(|| distance(&name.to_lowercase(), &candidate.to_lowercase()))
                .filter(|distance| *distance <= allowed)
                .map(|distance| (distance, candidate))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Longer names are not compared: the cost is the product of both lengths.
const LONGEST: usize = 200;

/// Counts the single-character changes between two texts, a swap of neighbours being two.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.chars().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        let mut next = vec![before];
        for (to, above) in right.iter().zip(row.iter().skip(1)) {
            let cost = diagonal + usize::from(from != *to);
            before = cost.min(above + 1).min(before + 1);
            next.push(before);
            diagonal = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_changes() {
        for (left, right, expected) in
            [("", "", 0), ("a", "", 1), ("allow", "alow", 1), ("deny", "dney", 2), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(left, right), expected, "{left} {right}");
        }
    }

    #[test]
    fn only_near_names_are_offered() {
        let names = ["allow", "ask", "deny", "defaultMode"];
        for (name, expected) in
            [("alow", Some("allow")), ("defaultmode", Some("defaultMode")), ("zebra", None), ("", None)]
        {
            assert_eq!(find_closest(name, names), expected, "{name}");
        }
        assert_eq!(find_closest(&"a".repeat(100_000), names), None);
    }
}
