//! All rules of a policy, indexed so that ten thousand cost little more than a hundred.

use std::collections::BTreeMap;

use crate::path;
use crate::rule::{Behavior, Matcher, PathAccess, PathPattern, Rule, ToolPattern};

/// The rules of all sources, in the order they were read.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
    allow: RuleIndex,
    ask: RuleIndex,
    deny: RuleIndex,
}

/// The rules of one behavior by what they match; numbers are places in the list of rules.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleIndex {
    named_tools: BTreeMap<String, Vec<usize>>,
    other_tools: Vec<usize>,
    shell: BTreeMap<String, ShellIndex>,
    read: PathIndex,
    edit: PathIndex,
    domains: Vec<usize>,
    names: BTreeMap<String, Vec<usize>>,
    parameters: BTreeMap<String, Vec<usize>>,
}

/// The shell rules of one tool by the program they name.
#[derive(Debug, Clone, Default)]
struct ShellIndex {
    by_program: BTreeMap<String, Vec<usize>>,
    any_program: Vec<usize>,
}

/// The path rules of one access by a name that every path they match contains.
#[derive(Debug, Clone, Default)]
struct PathIndex {
    all: Vec<usize>,
    by_name: BTreeMap<String, Vec<usize>>,
    any_name: Vec<usize>,
    has_negated: bool,
}

impl RuleSet {
    /// Indexes rules.
    pub fn new(rules: Vec<Rule>) -> Self {
        let mut set = Self { rules, ..Self::default() };
        for (place, rule) in set.rules.iter().enumerate() {
            let index = match rule.behavior {
                Behavior::Allow => &mut set.allow,
                Behavior::Ask => &mut set.ask,
                Behavior::Deny => &mut set.deny,
            };
            index.insert(place, &rule.matcher);
        }
        set
    }

    /// Returns the rules in the order they were read.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn index(&self, behavior: Behavior) -> &RuleIndex {
        match behavior {
            Behavior::Allow => &self.allow,
            Behavior::Ask => &self.ask,
            Behavior::Deny => &self.deny,
        }
    }

    fn at<'a>(&'a self, places: &'a [usize]) -> impl Iterator<Item = &'a Rule> {
        places.iter().filter_map(|&place| self.rules.get(place))
    }

    /// Finds a tool-wide rule for a tool.
    pub(crate) fn tool_wide(&self, behavior: Behavior, tool: &str) -> Option<&Rule> {
        let index = self.index(behavior);
        let named = index.named_tools.get(tool).map(Vec::as_slice).unwrap_or_default();
        let matches = |rule: &&Rule| match &rule.matcher {
            Matcher::Tool(pattern) => pattern.matches(tool),
            Matcher::Shell { .. }
            | Matcher::Path { .. }
            | Matcher::Domain(_)
            | Matcher::Name { .. }
            | Matcher::Parameter { .. } => false,
        };
        self.at(named).chain(self.at(&index.other_tools)).find(matches)
    }

    /// Returns the shell rules of a tool that could name this program; all of them if it is not known.
    pub(crate) fn shell<'a>(
        &'a self,
        behavior: Behavior,
        tool: &str,
        program: Option<&str>,
    ) -> impl Iterator<Item = &'a Rule> {
        let shell = self.index(behavior).shell.get(tool);
        let (named, any): (Vec<&[usize]>, &[usize]) = match (shell, program) {
            (None, _) => (Vec::new(), &[]),
            (Some(shell), Some(program)) => {
                let key = program_key(program);
                (shell.by_program.get(&key).map(Vec::as_slice).into_iter().collect(), &shell.any_program)
            }
            (Some(shell), None) => {
                (shell.by_program.values().map(Vec::as_slice).collect(), &shell.any_program)
            }
        };
        named.into_iter().flat_map(|places| self.at(places)).chain(self.at(any))
    }

    fn path_index(&self, behavior: Behavior, access: PathAccess) -> &PathIndex {
        let index = self.index(behavior);
        match access {
            PathAccess::Read => &index.read,
            PathAccess::Edit => &index.edit,
        }
    }

    /// Returns the path rules about an access.
    pub(crate) fn paths(&self, behavior: Behavior, access: PathAccess) -> impl Iterator<Item = &Rule> {
        self.at(&self.path_index(behavior, access).all)
    }

    /// Returns the path rules about an access that could match a path, in the order they were read.
    pub(crate) fn paths_for(&self, behavior: Behavior, access: PathAccess, path: &str) -> Vec<&Rule> {
        let index = self.path_index(behavior, access);
        let mut places = index.any_name.clone();
        if !index.by_name.is_empty() {
            let named = path::components(path).filter_map(|name| index.by_name.get(name));
            places.extend(named.flatten());
            places.sort_unstable();
            places.dedup();
        }
        places.into_iter().filter_map(|place| self.rules.get(place)).collect()
    }

    /// Says whether any deny or ask rule is about a path.
    pub(crate) fn has_path_restraint(&self) -> bool {
        [&self.ask, &self.deny].iter().any(|index| !index.read.all.is_empty() || !index.edit.all.is_empty())
    }

    /// Says whether any path rule about an access begins with `!`.
    pub(crate) fn has_negated_path(&self, behavior: Behavior, access: PathAccess) -> bool {
        self.path_index(behavior, access).has_negated
    }

    /// Returns the domain rules.
    pub(crate) fn domains(&self, behavior: Behavior) -> impl Iterator<Item = &Rule> {
        self.at(&self.index(behavior).domains)
    }

    /// Returns the rules about an agent's or skill's name.
    pub(crate) fn names(&self, behavior: Behavior, tool: &str) -> impl Iterator<Item = &Rule> {
        self.at(self.index(behavior).names.get(tool).map(Vec::as_slice).unwrap_or_default())
    }

    /// Returns the rules about a tool's input fields.
    pub(crate) fn parameters(&self, behavior: Behavior, tool: &str) -> impl Iterator<Item = &Rule> {
        self.at(self.index(behavior).parameters.get(tool).map(Vec::as_slice).unwrap_or_default())
    }
}

impl RuleIndex {
    fn insert(&mut self, place: usize, matcher: &Matcher) {
        match matcher {
            Matcher::Tool(ToolPattern::Name(name)) => push(&mut self.named_tools, name, place),
            Matcher::Tool(ToolPattern::Server(_) | ToolPattern::Glob(_)) => self.other_tools.push(place),
            Matcher::Shell { tool, pattern } => {
                let program = pattern.program().filter(|program| !program.contains('='));
                change(&mut self.shell, tool, |shell| match program {
                    Some(program) => push(&mut shell.by_program, &program_key(program), place),
                    None => shell.any_program.push(place),
                });
            }
            Matcher::Path { access: PathAccess::Read, pattern } => self.read.insert(place, pattern),
            Matcher::Path { access: PathAccess::Edit, pattern } => self.edit.insert(place, pattern),
            Matcher::Domain(_) => self.domains.push(place),
            Matcher::Name { tool, .. } => push(&mut self.names, tool, place),
            Matcher::Parameter { tool, .. } => push(&mut self.parameters, tool, place),
        }
    }
}

impl PathIndex {
    fn insert(&mut self, place: usize, pattern: &PathPattern) {
        self.all.push(place);
        self.has_negated |= pattern.is_negated();
        match pattern.required_name() {
            Some(name) => push(&mut self.by_name, name, place),
            None => self.any_name.push(place),
        }
    }
}

fn push(map: &mut BTreeMap<String, Vec<usize>>, key: &str, place: usize) {
    change(map, key, |places| places.push(place));
}

/// Changes what stands under a key. Many rules share a key, so only a new one is copied.
fn change<T: Default>(map: &mut BTreeMap<String, T>, key: &str, change: impl FnOnce(&mut T)) {
    if let Some(known) = map.get_mut(key) {
        return change(known);
    }
    change(map.entry(key.to_owned()).or_default());
}

/// Returns the key of a program: its name without directory, case and `.exe`.
pub(crate) fn program_key(program: &str) -> String {
    let mut name = portcullis_analysis::base_name(program).to_ascii_lowercase();
    name.truncate(name.strip_suffix(".exe").map_or(name.len(), str::len));
    name
}
