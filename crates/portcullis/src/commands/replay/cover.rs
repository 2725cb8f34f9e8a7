//! Which rules end the most prompts: a greedy choice, the best for each rule first.
//!
//! A command of several parts needs a rule for each of them, so a prompt ends only when all its rules are there, and
//! what is chosen at a step may be several rules at once. The order is the same on every run.

use std::collections::{BTreeMap, BTreeSet};

/// Prompts that the same rules would end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Need<'a> {
    /// The rules, without repetition.
    pub(super) rules: &'a [String],
    /// How many prompts there are.
    pub(super) prompts: usize,
}

/// One step of the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step<'a> {
    /// The rules that are added.
    pub(super) rules: Vec<&'a str>,
    /// How many prompts they end, given the rules before.
    pub(super) ends: usize,
    /// Which needs those are.
    pub(super) needs: Vec<usize>,
}

/// The most rules of one need; the core suggests five at most.
const MOST_RULES: usize = 8;

/// Chooses rules until so many steps are made or nothing is left.
pub(super) fn choose<'a>(needs: &[Need<'a>], most: usize) -> Vec<Step<'a>> {
    let names: BTreeSet<&'a str> = needs.iter().flat_map(|need| need.rules).map(String::as_str).collect();
    let names: Vec<&'a str> = names.into_iter().collect();
    let number = |rule: &String| names.binary_search(&rule.as_str()).ok();
    let open = needs.iter().enumerate().filter_map(|(index, need)| {
        let rules: BTreeSet<usize> = need.rules.iter().filter_map(number).collect();
        let is_fit = (1..=MOST_RULES).contains(&rules.len());
        is_fit.then(|| Open { index, prompts: need.prompts, missing: rules.into_iter().collect() })
    });
    let open = open.collect();
    let mut choice = Choice { names, open };
    std::iter::from_fn(|| choice.next()).take(most).collect()
}

/// A need that is not met yet.
struct Open {
    index: usize,
    prompts: usize,
    /// The rules it still lacks, by their places among the names, in order.
    missing: Vec<usize>,
}

struct Choice<'a> {
    /// All rules, in order.
    names: Vec<&'a str>,
    open: Vec<Open>,
}

impl<'a> Choice<'a> {
    fn next(&mut self) -> Option<Step<'a>> {
        let mut prompts: BTreeMap<&[usize], usize> = BTreeMap::new();
        for need in &self.open {
            *prompts.entry(&need.missing).or_default() += need.prompts;
        }
        let mut best: Option<(&[usize], usize)> = None;
        for rules in prompts.keys() {
            let ends = parts(rules).filter_map(|part| prompts.get(part.as_slice())).sum();
            if best.is_none_or(|best| is_better((rules, ends), best)) {
                best = Some((rules, ends));
            }
        }
        let (rules, ends) = best.map(|(rules, ends)| (rules.to_vec(), ends))?;
        for need in &mut self.open {
            need.missing.retain(|rule| !rules.contains(rule));
        }
        let ended = self.open.extract_if(.., |need| need.missing.is_empty());
        let needs = ended.map(|need| need.index).collect();
        let rules = rules.iter().filter_map(|rule| self.names.get(*rule)).copied().collect();
        Some(Step { rules, ends, needs })
    }
}

/// Returns every choice of at least one of the rules.
fn parts(rules: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let is_in = |part: u32, place: usize| part & (1 << place) != 0;
    let part = move |part| {
        let chosen = rules.iter().enumerate().filter(|(place, _)| is_in(part, *place));
        chosen.map(|(_, rule)| *rule).collect()
    };
    (1..1_u32 << rules.len().min(MOST_RULES)).map(part)
}

/// Says whether rules end more prompts for each of them; of equals, those that end more, then the first by name.
fn is_better((rules, ends): (&[usize], usize), (best, most): (&[usize], usize)) -> bool {
    (ends * best.len(), ends, best) > (most * rules.len(), most, rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(needs: &[(&[&str], usize)], most: usize) -> Vec<(String, usize)> {
        let rules: Vec<Vec<String>> =
            needs.iter().map(|(rules, _)| rules.iter().map(|rule| (*rule).to_owned()).collect()).collect();
        let needs: Vec<Need<'_>> =
            rules.iter().zip(needs).map(|(rules, (_, prompts))| Need { rules, prompts: *prompts }).collect();
        choose(&needs, most).into_iter().map(|step| (step.rules.join(" + "), step.ends)).collect()
    }

    fn step(rules: &str, ends: usize) -> (String, usize) {
        (rules.to_owned(), ends)
    }

    #[test]
    fn the_rule_that_ends_the_most_prompts_comes_first() {
        let needs: [(&[&str], usize); 3] = [(&["a"], 3), (&["b"], 10), (&["c"], 5)];
        assert_eq!(chosen(&needs, 9), [step("b", 10), step("c", 5), step("a", 3)]);
        assert_eq!(chosen(&needs, 1), [step("b", 10)]);
        assert_eq!(chosen(&[], 9), []);
        assert_eq!(chosen(&[(&[], 4)], 9), []);
    }

    #[test]
    fn a_prompt_ends_only_with_all_its_rules() {
        // The pair is worth three a rule alone, and its second half nine once the first is there.
        let needs: [(&[&str], usize); 3] = [(&["a"], 4), (&["a", "b"], 6), (&["c"], 3)];
        assert_eq!(chosen(&needs, 9), [step("a + b", 10), step("c", 3)]);
        let needs: [(&[&str], usize); 3] = [(&["a"], 9), (&["a", "b"], 6), (&["c"], 7)];
        assert_eq!(chosen(&needs, 9), [step("a", 9), step("c", 7), step("b", 6)]);
    }

    #[test]
    fn equals_are_taken_by_name_whatever_their_order() {
        let one: [(&[&str], usize); 3] = [(&["z"], 2), (&["a"], 2), (&["m", "n"], 4)];
        let other: [(&[&str], usize); 3] = [(&["m", "n"], 4), (&["a"], 2), (&["z"], 2)];
        assert_eq!(chosen(&one, 9), chosen(&other, 9));
        assert_eq!(chosen(&one, 9), [step("m + n", 4), step("a", 2), step("z", 2)]);
    }

    #[test]
    fn many_needs_take_no_time() {
        let rules: Vec<Vec<String>> = (0..5_000)
            .map(|number| vec![format!("r{}", number % 2_000), format!("s{}", number % 7)])
            .collect();
        let needs: Vec<Need<'_>> = rules.iter().map(|rules| Need { rules, prompts: 1 }).collect();
        assert_eq!(choose(&needs, 5).len(), 5);
    }
}
