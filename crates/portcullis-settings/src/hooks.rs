//! `PermissionRequest` hooks of our own settings: who is asked when nobody is there (spec A11); and the address that
//! questions are posted to.
//!
//! The form is Claude Code's. Hooks in Claude Code's own files are that program's business: it runs them itself, and the
//! one that calls us would ask us again.

use std::fmt;

use portcullis_core::Origin;

/// Somebody to ask in a person's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionHook {
    /// The tools it is asked about.
    pub tools: ToolMatcher,
    /// How it is asked.
    pub handler: HookHandler,
    /// How long it may take, in seconds: from 1 to 600.
    pub timeout_seconds: u32,
    /// Where it stands.
    pub origin: Origin,
}

/// The tools a hook is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolMatcher {
    /// All of them.
    All,
    /// Those with one of these names; a name may end in `*`.
    Names(Vec<String>),
}

/// How a hook is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookHandler {
    /// A program is started and given the question on standard input.
    Command {
        /// The program and its arguments, started without a shell.
        words: Vec<String>,
    },
    /// A line is handed to a shell.
    ShellCommand {
        /// The line.
        line: String,
    },
    /// The question is posted.
    Http {
        /// The address.
        url: String,
        /// Further headers, their values as written: `$NAME` stands for a variable that `variables` names.
        headers: Vec<(String, String)>,
        /// The variables that headers may name.
        variables: Vec<String>,
    },
}

impl PermissionHook {
    /// Names it for people, without what may be secret: its arguments and headers, variables that are set before a
    /// program, and of an address everything but the host.
    pub(crate) fn shown(&self) -> String {
        match &self.handler {
            HookHandler::Command { words } => words.first().cloned().unwrap_or_default(),
            HookHandler::ShellCommand { line } => {
                let program = line.split_whitespace().next().filter(|word| !word.contains(['=', '$', '`']));
                program.unwrap_or("a shell command").to_owned()
            }
            HookHandler::Http { url, .. } => shown_address(url),
        }
    }
}

/// Returns of an address what nobody keeps secret: the scheme and the host.
pub(crate) fn shown_address(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}")
}

impl ToolMatcher {
    /// Reads a matcher: empty and `*` are all tools, otherwise names with `|` or `,` between them.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || text == "*" {
            return Some(Self::All);
        }
        let names: Vec<String> = text.split(['|', ',']).map(|name| name.trim().to_owned()).collect();
        let is_name = |name: &String| {
            let stem = name.strip_suffix('*').unwrap_or(name);
            !name.is_empty()
                && stem.chars().all(|character| character.is_alphanumeric() || "_-.".contains(character))
        };
        names.iter().all(is_name).then_some(Self::Names(names))
    }

    /// Says whether a tool is one of them.
    pub fn matches(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|name| match name.strip_suffix('*') {
                Some(start) => tool.starts_with(start),
                None => tool == name,
            }),
        }
    }
}

/// Where questions are posted to.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSettings {
    /// The address: `https://`, or `http://` of this machine.
    pub url: String,
    /// Further headers, their values as written: `$NAME` stands for a variable that `variables` names.
    pub headers: Vec<(String, String)>,
    /// The variables that headers may name.
    pub variables: Vec<String>,
}

/// Shows the host alone: the rest of the address and the headers may be secret.
impl fmt::Debug for WebhookSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WebhookSettings")
            .field("url", &shown_address(&self.url))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_a_hook_holds_no_secret() {
        let line = |line: &str| HookHandler::ShellCommand { line: line.to_owned() };
        let http =
            |url: &str| HookHandler::Http { url: url.to_owned(), headers: Vec::new(), variables: Vec::new() };
        let words = ["/opt/ask", "--token", "hunter2"].map(str::to_owned).to_vec();
        for (handler, expected) in [
            (HookHandler::Command { words }, "/opt/ask"),
            (line("ask --token hunter2"), "ask"),
            (line("TOKEN=hunter2 ask"), "a shell command"),
            (line("  "), "a shell command"),
            (
                http("https://me:hunter2@ask.example:8443/hook/hunter2?key=hunter2"),
                "https://ask.example:8443",
            ),
            (http("http://localhost"), "http://localhost"),
        ] {
            let origin = Origin::bare(portcullis_core::Source::User);
            let hook = PermissionHook { tools: ToolMatcher::All, handler, timeout_seconds: 1, origin };
            assert_eq!(hook.shown(), expected);
        }
    }

    #[test]
    fn matchers_are_names_and_anything_else_is_refused() {
        let names = ToolMatcher::parse("Bash|mcp__tracker__*, Write").unwrap();
        for (tool, expected) in [
            ("Bash", true),
            ("BashOutput", false),
            ("mcp__tracker__close", true),
            ("Write", true),
            ("Edit", false),
        ] {
            assert_eq!(names.matches(tool), expected, "{tool}");
        }
        assert!(
            ToolMatcher::parse("").unwrap().matches("x") && ToolMatcher::parse("*").unwrap().matches("x")
        );
        for wrong in ["Bash.+(", "^Bash$", "Bash||Write", "B*sh", "a b"] {
            assert_eq!(ToolMatcher::parse(wrong), None, "{wrong}");
        }
    }
}
