//! `$((…))` where every operand is known: sums, products and brackets of whole numbers.

use super::variables::{KnownValue, KnownValues};
use crate::shape::{Shape, TextKind};
use crate::standard_input::LineCount;

/// A longer calculation is only known to give a number.
const LONGEST: usize = 128;

/// Returns the value of a calculation: the number if it can be worked out, else that it is one.
pub(super) fn value_of(written: &str, values: &KnownValues) -> KnownValue {
    let inside = written.strip_prefix("$((").and_then(|rest| rest.strip_suffix("))"));
    let result = inside.filter(|inside| inside.len() <= LONGEST).and_then(|inside| {
        let mut terms = Terms { rest: inside, values };
        let result = terms.sum()?;
        terms.rest.trim_start().is_empty().then_some(result)
    });
    if let Some(number) = result {
        return KnownValue::text(&number.to_string());
    }
    if inside.is_none_or(|inside| may_fail(inside, values)) {
        values.note_failure();
    }
    let is_counted = inside.is_some_and(|inside| never_falls(inside, values));
    let kind = if is_counted { TextKind::Digits } else { TextKind::Number };
    KnownValue::of(Shape::of(kind), LineCount::One)
}

/// Returns the variables that a calculation sets: `i++`, `n += 2`. `None` if it does more than name variables and numbers.
pub(super) fn set_by(inside: &str) -> Option<Vec<&str>> {
    let is_plain = |letter: char| super::settled::is_name(letter) || "+-*/%<>=!&|^() $".contains(letter);
    if !inside.chars().all(is_plain) {
        return None;
    }
    let mut names = Vec::new();
    let mut at = 0;
    for name in inside.split(|letter| !super::settled::is_name(letter)) {
        let before = inside.get(..at)?.trim_end();
        let after = inside.get(at + name.len()..)?.trim_start();
        at += name.len() + 1;
        let is_variable = name.starts_with(|letter: char| !letter.is_ascii_digit());
        if is_variable && (is_set_from(after) || before.ends_with("++") || before.ends_with("--")) {
            names.push(name);
        }
    }
    Some(names)
}

/// Says whether what stands behind a name gives it a value.
fn is_set_from(after: &str) -> bool {
    let behind = after.trim_start_matches(['+', '-', '*', '/', '%', '<', '>', '&', '|', '^']);
    let operator = after.len() - behind.len();
    let is_comparison = matches!(after.get(..operator), Some("<" | ">")) || behind.starts_with("==");
    after.starts_with("++") || after.starts_with("--") || behind.starts_with('=') && !is_comparison
}

/// Says whether only numbers without a sign are added up.
fn never_falls(inside: &str, values: &KnownValues) -> bool {
    let is_counted = |name: &str| match values.get(name) {
        Some(KnownValue::Text { text, .. }) => text.chars().all(|letter| letter.is_ascii_digit()),
        Some(KnownValue::Shaped { shape, count: LineCount::One }) => *shape == Shape::of(TextKind::Digits),
        _ => !name.is_empty() && name.chars().all(|letter| letter.is_ascii_digit()),
    };
    let mut names = inside.split(|letter| !super::settled::is_name(letter)).filter(|name| !name.is_empty());
    let is_sum = inside.chars().all(|letter| super::settled::is_name(letter) || "+() $".contains(letter));
    is_sum && !inside.contains("++") && names.all(is_counted)
}

/// Says whether the shell may give a calculation up: an operand is no number, something is divided.
fn may_fail(inside: &str, values: &KnownValues) -> bool {
    let is_odd = |letter: char| !super::settled::is_name(letter) && !"+-*() $".contains(letter);
    let is_number = |name: &str| match values.get(name) {
        Some(KnownValue::Text { text, .. }) => text.is_empty() || text.parse::<i64>().is_ok(),
        Some(KnownValue::Shaped { shape, count: LineCount::One }) => {
            [TextKind::Digits, TextKind::Number].into_iter().any(|kind| *shape == Shape::of(kind))
        }
        _ => false,
    };
    let mut names = inside.split(|letter| !super::settled::is_name(letter)).filter(|name| !name.is_empty());
    inside.contains(is_odd) || !names.all(|name| name.parse::<i64>().is_ok() || is_number(name))
}

struct Terms<'a> {
    rest: &'a str,
    values: &'a KnownValues,
}

impl Terms<'_> {
    fn take(&mut self, operators: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let found = self.rest.chars().next().filter(|found| operators.contains(found))?;
        let after = self.rest.get(found.len_utf8()..)?;
        // `**`, `++` and `+=` are other operators.
        if found != '(' && found != ')' && after.starts_with(['*', '+', '-', '=']) {
            return None;
        }
        self.rest = after;
        Some(found)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut result = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let next = self.product()?;
            result = if operator == '+' { result.checked_add(next)? } else { result.checked_sub(next)? };
        }
        Some(result)
    }

    fn product(&mut self) -> Option<i64> {
        let mut result = self.operand()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            let next = self.operand()?;
            result = match operator {
                '*' => result.checked_mul(next)?,
                '/' => result.checked_div(next)?,
                _ => result.checked_rem(next)?,
            };
        }
        Some(result)
    }

    fn operand(&mut self) -> Option<i64> {
        if self.take(&['(']).is_some() {
            let result = self.sum()?;
            return self.take(&[')']).map(|_| result);
        }
        let written = self.rest.trim_start();
        let text = written.strip_prefix('$').unwrap_or(written);
        // `2` is a number, and `$2` what a function was given.
        let is_literal = written.starts_with(|letter: char| letter.is_ascii_digit());
        let end = text.find(|letter| !super::settled::is_name(letter)).unwrap_or(text.len());
        let (word, rest) = text.split_at_checked(end)?;
        self.rest = rest;
        let number = match self.values.get(word).filter(|_| !is_literal) {
            Some(KnownValue::Text { text, .. }) => text.as_str(),
            _ => word,
        };
        // A leading zero makes it octal.
        let is_decimal = number == "0" || !number.starts_with('0');
        number.parse().ok().filter(|number: &i64| is_decimal && *number >= 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_calculation_sets_is_told_from_what_it_reads() {
        for (inside, expected) in [
            ("i++", Some(&["i"] as &[&str])),
            ("--i", Some(&["i"])),
            (" n += k * 2 ", Some(&["n"])),
            ("n = m", Some(&["n"])),
            ("i < 3 && j >= 2", Some(&[])),
            ("i == 3", Some(&[])),
            ("n <<= 2", Some(&["n"])),
            ("a[i]++", None),
            ("i = $(id)", Some(&["i"])),
            ("i ? a : b", None),
        ] {
            assert_eq!(set_by(inside).as_deref(), expected, "{inside}");
        }
    }
}
