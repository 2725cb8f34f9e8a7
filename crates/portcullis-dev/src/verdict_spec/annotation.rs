//! The expected verdict at the end of a line: `# deny A2 Bash(rm:*)`.

use portcullis_core::Decision;

/// What a specification expects of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The answer.
    pub decision: Decision,
    /// The step that settles it, as `A0` to `A11`.
    pub step: String,
    /// The rule named in the reason, if the specification cares.
    pub rule: Option<String>,
    /// The kind of the reason, if the specification cares: written in brackets.
    pub kind: Option<String>,
}

impl Expectation {
    /// Reads `deny A2`, `deny A2 Bash(rm:*)` or `allow A9 [readOnly]`.
    pub fn parse(text: &str) -> Option<Self> {
        let (word, rest) = text.trim().split_once(' ')?;
        let decision = [Decision::Allow, Decision::Ask, Decision::Deny]
            .into_iter()
            .find(|decision| decision.as_str() == word)?;
        let (step, detail) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        let number: u8 = step.strip_prefix('A')?.parse().ok()?;
        if number > 11 {
            return None;
        }
        let detail = detail.trim();
        let kind = detail.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(str::to_owned);
        let rule = (kind.is_none() && !detail.is_empty()).then(|| detail.to_owned());
        Some(Self { decision, step: step.to_owned(), rule, kind })
    }

    /// Splits a line at its last ` # ` that is followed by an expectation.
    pub fn split_line(line: &str) -> Option<(&str, Self)> {
        line.rmatch_indices(" # ").find_map(|(index, marker)| {
            let (call, rest) = line.split_at_checked(index)?;
            let expectation = Self::parse(rest.strip_prefix(marker)?)?;
            Some((call.trim_end(), expectation))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(decision: Decision, step: &str, rule: Option<&str>, kind: Option<&str>) -> Expectation {
        Expectation {
            decision,
            step: step.to_owned(),
            rule: rule.map(str::to_owned),
            kind: kind.map(str::to_owned),
        }
    }

    #[test]
    fn the_last_marker_of_a_line_counts() {
        let table = [
            ("ls # allow A9", "ls", expectation(Decision::Allow, "A9", None, None)),
            (
                "git push   # deny A2 Bash(git push:*)",
                "git push",
                expectation(Decision::Deny, "A2", Some("Bash(git push:*)"), None),
            ),
            (
                "echo ' # deny A2' # allow A9 [readOnly]",
                "echo ' # deny A2'",
                expectation(Decision::Allow, "A9", None, Some("readOnly")),
            ),
            ("ls # a comment # ask A10", "ls # a comment", expectation(Decision::Ask, "A10", None, None)),
        ];
        for (line, call, expected) in table {
            assert_eq!(Expectation::split_line(line), Some((call, expected)), "{line}");
        }
    }

    #[test]
    fn a_line_without_verdict_or_step_is_not_split() {
        for line in ["ls", "ls # allow", "ls # maybe A9", "ls # allow A12", "ls # allow B9", "ls #allow A9"] {
            assert_eq!(Expectation::split_line(line), None, "{line}");
        }
    }
}
