//! The text of a rule: `Tool` or `Tool(content)`, and back (spec C1).

use std::borrow::Cow;
use std::fmt;

use super::RuleProblem;
use crate::tool::canonical_name;

/// A rule's tool and content, unescaped, with today's tool name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleText {
    /// The tool name, or a glob over tool names.
    pub tool: String,
    /// What stands in the parentheses; `None` for a tool-wide rule.
    pub content: Option<String>,
}

impl RuleText {
    /// Makes a text of its parts: a legacy tool name becomes today's, empty content and `*` become tool-wide.
    pub fn new(tool: &str, content: Option<&str>) -> Self {
        let content = content.filter(|content| !matches!(*content, "" | "*")).map(str::to_owned);
        Self { tool: canonical_name(tool).to_owned(), content }
    }

    /// Reads a rule: the content goes from the first unescaped `(` to the last unescaped `)`, which must end the text.
    ///
    /// `\(`, `\)` and `\\` stand for the plain character; every other backslash stays for the pattern languages.
    pub fn parse(text: &str) -> Result<Self, RuleProblem> {
        let (open, close) = match unescaped_parentheses(text) {
            (None, None) => return Self::checked(text, None),
            (Some(open), Some(close)) if open < close => (open, close),
            _ => return Err(unbalanced(text)),
        };
        if close + 1 != text.len() {
            return Err(unbalanced(text));
        }
        let tool = text.get(..open).unwrap_or_default();
        let content = text.get(open + 1..close).unwrap_or_default();
        Self::checked(tool, Some(content))
    }

    fn checked(tool: &str, content: Option<&str>) -> Result<Self, RuleProblem> {
        if tool.is_empty() {
            return Err(RuleProblem {
                message: "the rule names no tool".to_owned(),
                hint: Some("write the tool first, as in `Bash(npm test)`".to_owned()),
            });
        }
        Ok(Self::new(&unescape(tool), content.map(unescape).as_deref()))
    }
}

impl fmt::Display for RuleText {
    /// Prints the rule so that [`RuleText::parse`] reads the same rule again.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&escape(&self.tool, Parentheses::Escaped))?;
        match &self.content {
            None => Ok(()),
            // Balanced parentheses stay readable; a lone one would confuse whoever splits lists of rules.
            Some(content) if is_balanced(content) => {
                write!(formatter, "({})", escape(content, Parentheses::Plain))
            }
            Some(content) => write!(formatter, "({})", escape(content, Parentheses::Escaped)),
        }
    }
}

fn unbalanced(text: &str) -> RuleProblem {
    RuleProblem {
        message: format!("the parentheses of `{text}` do not enclose the rest of the rule"),
        hint: Some(
            "write `Tool(content)` with `)` as the last character, and `\\)` for a literal one".to_owned(),
        ),
    }
}

/// Finds the first opening and the last closing parenthesis that no backslash takes the meaning from.
fn unescaped_parentheses(text: &str) -> (Option<usize>, Option<usize>) {
    let (mut first_open, mut last_close) = (None, None);
    let mut escaped = false;
    // Parentheses and backslashes are single bytes, and no byte of another character is one.
    for (position, byte) in text.bytes().enumerate() {
        let plain = !escaped;
        escaped = plain && byte == b'\\';
        match byte {
            b'(' if plain => first_open = first_open.or(Some(position)),
            b')' if plain => last_close = Some(position),
            _ => {}
        }
    }
    (first_open, last_close)
}

fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = characters.next_if(|next| character == '\\' && matches!(next, '(' | ')' | '\\'));
        plain.push(escaped.unwrap_or(character));
    }
    Cow::Owned(plain)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parentheses {
    Plain,
    Escaped,
}

fn escape(text: &str, parentheses: Parentheses) -> String {
    let mut escaped = String::with_capacity(text.len() + 2);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let needs_backslash = match character {
            '\\' => matches!(characters.peek(), None | Some('(' | ')' | '\\')),
            '(' | ')' => parentheses == Parentheses::Escaped,
            _ => false,
        };
        if needs_backslash {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rule(tool: &str, content: Option<&str>) -> RuleText {
        RuleText { tool: tool.to_owned(), content: content.map(str::to_owned) }
    }

    #[test]
    fn a_rule_is_read_from_its_first_to_its_last_unescaped_parenthesis() {
        for (text, tool, content) in [
            ("Bash", "Bash", None),
            ("Bash()", "Bash", None),
            ("Bash(*)", "Bash", None),
            ("Bash(npm install)", "Bash", Some("npm install")),
            ("Bash(npm:*)", "Bash", Some("npm:*")),
            ("Bash( )", "Bash", Some(" ")),
            (r#"Bash(python -c "print\(1\)")"#, "Bash", Some(r#"python -c "print(1)""#)),
            (r#"Bash(python -c "print(1)")"#, "Bash", Some(r#"python -c "print(1)""#)),
            ("Edit(./Finance (2024)/**)", "Edit", Some("./Finance (2024)/**")),
            (r"Bash(git ad\* file)", "Bash", Some(r"git ad\* file")),
            (r"Bash(\*)", "Bash", Some(r"\*")),
            (r"Bash(echo \\)", "Bash", Some(r"echo \")),
            (r"Bash(a\\*)", "Bash", Some(r"a\*")),
            (r"Bash(a\nb)", "Bash", Some(r"a\nb")),
            ("Bash(a))", "Bash", Some("a)")),
            ("Bash(()", "Bash", Some("(")),
            (r"a\(b", "a(b", None),
            ("Task(x)", "Agent", Some("x")),
            ("KillShell", "TaskStop", None),
            ("mcp__server__*", "mcp__server__*", None),
        ] {
            assert_eq!(RuleText::parse(text), Ok(rule(tool, content)), "{text}");
        }
    }

    #[test]
    fn a_rule_whose_parentheses_do_not_enclose_its_end_is_a_problem() {
        for text in ["", "()", "(ls)", "Bash(ls", "Bash)", "Bash(ls) ", "Bash(ls)x", r"Bash(ls\)", "Bash)ls("]
        {
            assert!(RuleText::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn printing_keeps_the_usual_spelling() {
        for text in [
            "Bash",
            "Bash(npm:*)",
            "Edit(./Finance (2024)/**)",
            r"Bash(git ad\* file)",
            r"Bash(\*)",
            r"Bash(echo \))",
            r"Bash(echo \\)",
            r"Bash(a\\\*)",
        ] {
            assert_eq!(RuleText::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(RuleText::parse("Task()").unwrap().to_string(), "Agent");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back_the_same(tool in r"[ -~\\()*é]{1,8}", content in proptest::option::of(r"[ -~\\()*é\n]{0,12}")) {
            let rule = RuleText::new(&tool, content.as_deref());
            prop_assert_eq!(RuleText::parse(&rule.to_string()), Ok(rule));
        }

        #[test]
        fn escapes_and_parentheses_survive_in_every_order(content in r"[\\()*a]{1,10}") {
            let rule = RuleText::new("Bash", Some(&content));
            prop_assert_eq!(RuleText::parse(&rule.to_string()), Ok(rule));
        }

        #[test]
        fn printing_what_was_read_is_stable(text in r"[\\()*a]{1,12}") {
            if let Ok(rule) = RuleText::parse(&text) {
                let printed = rule.to_string();
                prop_assert_eq!(RuleText::parse(&printed).map(|again| again.to_string()), Ok(printed));
            }
        }
    }
}
