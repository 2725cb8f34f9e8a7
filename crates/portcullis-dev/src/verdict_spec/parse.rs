//! Markdown to cases. What cannot be read is a problem, never skipped: a forgotten fence must not lose a test.

use std::collections::BTreeMap;

use super::annotation::Expectation;
use super::session::SpecSession;

/// Which settings file a `json` block stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpecLayer {
    /// `json managed`.
    Managed,
    /// `json flag`.
    Flag,
    /// `json local`.
    Local,
    /// `json project`.
    Project,
    /// `json` or `json user`.
    User,
}

/// The settings and the session a call is made under.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpecState {
    /// The text of each settings file there is.
    pub settings: BTreeMap<SpecLayer, String>,
    /// The session.
    pub session: SpecSession,
}

/// A call as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallText {
    /// A shell command.
    Bash(String),
    /// `@Tool {…}`.
    Tool {
        /// The tool's name.
        name: String,
        /// Its input as JSON.
        input: String,
    },
}

/// One call with its expected verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecCase {
    /// The line of the call, from 1.
    pub line: usize,
    /// The heading it stands under.
    pub heading: String,
    /// The settings and the session.
    pub state: SpecState,
    /// The call.
    pub call: CallText,
    /// The verdict.
    pub expected: Expectation,
}

/// Something in a specification that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecProblem {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads a specification.
pub fn parse(text: &str) -> (Vec<SpecCase>, Vec<SpecProblem>) {
    let mut reader = SpecReader::default();
    for (index, line) in text.lines().enumerate() {
        reader.read_line(index + 1, line);
    }
    if let Some(block) = reader.block.take() {
        reader.complain(block.line, "the block is not closed");
    }
    (reader.cases, reader.problems)
}

#[derive(Default)]
struct SpecReader {
    preamble: SpecState,
    state: SpecState,
    heading: String,
    in_section: bool,
    block: Option<SpecBlock>,
    cases: Vec<SpecCase>,
    problems: Vec<SpecProblem>,
}

struct SpecBlock {
    line: usize,
    info: String,
    lines: Vec<String>,
}

impl SpecReader {
    fn read_line(&mut self, number: usize, line: &str) {
        match (&mut self.block, line.strip_prefix("```")) {
            (None, Some(info)) => {
                self.block =
                    Some(SpecBlock { line: number, info: info.trim().to_owned(), lines: Vec::new() });
            }
            (Some(_), Some("")) => {
                if let Some(block) = self.block.take() {
                    self.end_block(&block);
                }
            }
            (Some(block), _) => block.lines.push(line.to_owned()),
            (None, None) => self.read_prose(line),
        }
    }

    fn read_prose(&mut self, line: &str) {
        let Some(heading) = line.strip_prefix("## ") else {
            return;
        };
        if !self.in_section {
            self.preamble = self.state.clone();
            self.in_section = true;
        }
        self.state = self.preamble.clone();
        heading.clone_into(&mut self.heading);
    }

    fn end_block(&mut self, block: &SpecBlock) {
        match block.info.as_str() {
            "json" | "json user" => self.set_settings(SpecLayer::User, block),
            "json project" => self.set_settings(SpecLayer::Project, block),
            "json local" => self.set_settings(SpecLayer::Local, block),
            "json managed" => self.set_settings(SpecLayer::Managed, block),
            "json flag" => self.set_settings(SpecLayer::Flag, block),
            "context" => {
                for (index, line) in block.lines.iter().enumerate() {
                    if let Err(message) = self.state.session.apply(line.trim()) {
                        self.complain(block.line + 1 + index, &message);
                    }
                }
            }
            "console" => {
                for (index, line) in block.lines.iter().enumerate() {
                    self.read_call_line(block.line + 1 + index, line);
                }
            }
            "console-block" => self.read_call_block(block),
            "text" => {}
            other => self.complain(block.line, &format!("unknown kind of block `{other}`")),
        }
    }

    fn set_settings(&mut self, layer: SpecLayer, block: &SpecBlock) {
        self.state.settings.insert(layer, block.lines.join("\n"));
    }

    fn read_call_line(&mut self, number: usize, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        match Expectation::split_line(line) {
            Some((call, expected)) => self.add_case(number, call, expected),
            None => self.complain(number, "the line does not end in a verdict and a step"),
        }
    }

    fn read_call_block(&mut self, block: &SpecBlock) {
        let Some((last, command)) = block.lines.split_last() else {
            return self.complain(block.line, "the block is empty");
        };
        match last.strip_prefix("#=").and_then(Expectation::parse) {
            Some(expected) => self.add_case(block.line + 1, &command.join("\n"), expected),
            None => {
                self.complain(block.line + block.lines.len(), "the block does not end in `#= VERDICT STEP`");
            }
        }
    }

    fn add_case(&mut self, line: usize, call: &str, expected: Expectation) {
        let call = match call.strip_prefix('@').map(|rest| rest.split_once(' ').unwrap_or((rest, "{}"))) {
            Some((name, input)) => CallText::Tool { name: name.to_owned(), input: input.to_owned() },
            None => CallText::Bash(call.to_owned()),
        };
        let (heading, state) = (self.heading.clone(), self.state.clone());
        self.cases.push(SpecCase { line, heading, state, call, expected });
    }

    fn complain(&mut self, line: usize, message: &str) {
        self.problems.push(SpecProblem { line, message: message.to_owned() });
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_section_starts_from_the_preamble_again() {
        let text = "# T\n```json\n{\"a\":1}\n```\n## One\n```json\n{\"b\":2}\n```\n```console\nls # allow A9\n```\n\
                    ## Two\n```console\nls # allow A9\n```\n";
        let (cases, problems) = parse(text);
        assert_eq!(problems, []);
        let settings: Vec<&str> =
            cases.iter().map(|case| case.state.settings[&SpecLayer::User].as_str()).collect();
        assert_eq!(settings, ["{\"b\":2}", "{\"a\":1}"]);
        assert_eq!((cases[1].heading.as_str(), cases[1].line), ("Two", 14));
    }

    #[test]
    fn tools_and_blocks_of_several_lines_are_read() {
        let text = "```console\n@Read {\"file_path\": \"a # b\"}   # allow A9\n```\n```console-block\ncat <<X\nb\nX\n#= ask A4\n```\n";
        let (cases, problems) = parse(text);
        assert_eq!(problems, []);
        let calls: Vec<CallText> = cases.into_iter().map(|case| case.call).collect();
        let input = "{\"file_path\": \"a # b\"}".to_owned();
        assert_eq!(
            calls,
            [CallText::Tool { name: "Read".into(), input }, CallText::Bash("cat <<X\nb\nX".into())]
        );
    }

    #[test]
    fn what_cannot_be_read_is_reported_with_its_line() {
        let table = [
            ("```console\nls\n```\n", 2),
            ("```bash\nls # allow A9\n```\n", 1),
            ("```context\nmode yolo\n```\n", 2),
            ("```console-block\nls\n```\n", 2),
            ("```console\nls # allow A9\n", 1),
        ];
        for (text, line) in table {
            let (_, problems) = parse(text);
            assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [line], "{text}");
        }
    }
}
