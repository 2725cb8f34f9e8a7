//! Programs that fetch a package and run a program of it: `npx`, `uvx`, `pipx run`.

use crate::argument::Argument;
use crate::invocation::Invocation;
use crate::lists::programs::runners::{NPM, PYPI};

/// A runner, by what it starts without fetching anything that the project does not declare.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackageRunner {
    /// Tools that a project which uses them declares; `None` if it starts what is installed.
    tools: Option<&'static [&'static str]>,
}

/// Runners whose every word is a package.
const WHOLE: &[(&str, &[&str])] = &[("bunx", NPM), ("npx", NPM), ("pnpx", NPM), ("uvx", PYPI)];

/// Runners with the subcommand that fetches.
const FETCHING: &[(&str, &str, &[&str])] = &[
    ("bun", "x", NPM),
    ("npm", "exec", NPM),
    ("npm", "x", NPM),
    ("pipx", "run", PYPI),
    ("pnpm", "dlx", NPM),
    ("uv", "tool", PYPI),
    ("yarn", "dlx", NPM),
];

/// Programs that also start what is installed.
const INSTALLED: &[&str] = &["bun", "mise", "npm", "pipx", "pnpm", "uv", "yarn"];

impl PackageRunner {
    /// Reads a command that wraps another one.
    pub(crate) fn of(wrapper: &Invocation) -> Option<Self> {
        let name = wrapper.program_name()?;
        if let Some((_, tools)) = WHOLE.iter().find(|(listed, _)| *listed == name) {
            return Some(Self { tools: Some(tools) });
        }
        let first = wrapper.operands().iter().find(|word| !word.is_option()).and_then(Argument::fixed);
        let fetching = FETCHING.iter().find(|(listed, sub, _)| *listed == name && first == Some(*sub));
        match fetching {
            Some((.., tools)) => Some(Self { tools: Some(tools) }),
            None => INSTALLED.contains(&name).then_some(Self { tools: None }),
        }
    }

    /// Says whether a name stands for a package that is fetched and run.
    pub(crate) fn fetches(self, name: &str) -> bool {
        self.tools.is_some_and(|tools| tools.binary_search(&name).is_err())
    }
}
