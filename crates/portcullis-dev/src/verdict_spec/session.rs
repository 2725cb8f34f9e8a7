//! The `context` block: in which session the calls are made, and what the disk looks like there.

use std::collections::BTreeMap;

use portcullis_core::pattern::may_name_component;
use portcullis_core::{Context, DiskAnswer, DiskQuestion, Mode, Person};

const DEFAULT_HOME: &str = "/home/dev";
const DEFAULT_DIRECTORY: &str = "/home/dev/app";
const MAX_HOPS: usize = 40;

/// A session and the links on its disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecSession {
    /// What the core is told.
    pub context: Context,
    /// Whether the workspace is trusted.
    pub trusted: bool,
    /// Whether the session names its mode; if not, settings do.
    pub has_mode: bool,
    links: BTreeMap<String, String>,
    broken: Vec<String>,
    files: BTreeMap<String, String>,
    processes: BTreeMap<String, String>,
}

impl Default for SpecSession {
    fn default() -> Self {
        let mut context = Context::new(Mode::Default, DEFAULT_DIRECTORY);
        context.home = Some(DEFAULT_HOME.to_owned());
        Self {
            context,
            trusted: true,
            has_mode: false,
            links: BTreeMap::new(),
            broken: Vec::new(),
            files: BTreeMap::new(),
            processes: BTreeMap::new(),
        }
    }
}

impl SpecSession {
    /// Applies one line of a `context` block; the error says what is wrong with it.
    pub fn apply(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match (word, rest) {
            ("mode", name) => {
                self.context.mode = Mode::find(name).ok_or(format!("unknown mode `{name}`"))?;
                self.has_mode = true;
            }
            ("cwd", path) if !path.is_empty() => path.clone_into(&mut self.context.cwd),
            ("project", path) if !path.is_empty() => path.clone_into(&mut self.context.project),
            ("home", path) if !path.is_empty() => self.context.home = Some(path.to_owned()),
            ("no-home", "") => self.context.home = None,
            ("add-dir", path) if !path.is_empty() => self.context.added_directories.push(path.to_owned()),
            ("headless", "") => self.context.person = Person::Absent,
            ("aborted", "") => self.context.aborted = true,
            ("plan-from-bypass", "") => self.context.plan_from_bypass = true,
            ("hint", "needs-person") => self.context.hints.needs_person = true,
            ("hint", "read-only") => self.context.hints.read_only = true,
            ("untrusted", "") => self.trusted = false,
            ("broken", path) if !path.is_empty() => self.broken.push(path.to_owned()),
            ("said", turn) => self.context.session.turns.push(turn.to_owned()),
            ("wrote", path) if path.starts_with('/') => {
                let text = self.files.get(path).cloned();
                self.context.session.written.insert(path.to_owned(), text);
            }
            ("file", text) => {
                let (path, text) = text.split_once(" = ").ok_or("a file is written `file PATH = TEXT`")?;
                self.files.insert(path.trim().to_owned(), text.replace("\\n", "\n"));
            }
            ("agent-process", text) => {
                let (number, place) = text
                    .split_once(" in ")
                    .ok_or("a process is written `agent-process NUMBER in DIRECTORY`")?;
                self.processes.insert(number.to_owned(), place.to_owned());
            }
            ("link", arrow) => {
                let (from, to) = arrow.split_once(" -> ").ok_or("a link is written `link FROM -> TO`")?;
                self.links.insert(from.trim().to_owned(), to.trim().to_owned());
            }
            _ => return Err(format!("cannot read `{line}`")),
        }
        Ok(())
    }

    /// Answers questions about this disk: only the links that were declared exist on it.
    pub fn answer(
        &self,
        questions: impl IntoIterator<Item = DiskQuestion>,
    ) -> Vec<(DiskQuestion, DiskAnswer)> {
        let answer = |question: DiskQuestion| {
            let answer = match &question {
                DiskQuestion::RealPath(path) => self.resolve(path),
                DiskQuestion::Pattern(pattern) => self.resolve_pattern(pattern),
                DiskQuestion::GitSettings(directory) => self.settings(directory, ".git/config"),
                DiskQuestion::CargoSettings(directory) => self.settings(directory, ".cargo/config.toml"),
                DiskQuestion::Unheld(_) => DiskAnswer::Leads(Vec::new()),
                DiskQuestion::AgentProcess(number) => self
                    .processes
                    .get(number)
                    .map_or(DiskAnswer::Absent, |place| DiskAnswer::Text(place.clone())),
                DiskQuestion::Text(path) => self
                    .files
                    .get(path)
                    .map_or_else(|| question.on_empty_disk(), |text| DiskAnswer::Text(text.clone())),
            };
            (question, answer)
        };
        questions.into_iter().map(answer).collect()
    }

    /// Returns the declared settings file of a directory or of the nearest one above it.
    fn settings(&self, directory: &str, name: &str) -> DiskAnswer {
        let mut above = Some(directory);
        while let Some(place) = above {
            if let Some(text) = self.files.get(&format!("{}/{name}", place.trim_end_matches('/'))) {
                return DiskAnswer::Text(text.clone());
            }
            above = place.rsplit_once('/').map(|(parent, _)| parent).filter(|parent| !parent.is_empty());
        }
        DiskAnswer::Absent
    }

    fn resolve(&self, path: &str) -> DiskAnswer {
        if self.broken.iter().any(|broken| is_at_or_below(path, broken)) {
            return DiskAnswer::Broken;
        }
        let mut hops = Vec::new();
        let mut current = path.to_owned();
        while let Some(next) = self.follow(&current) {
            if hops.len() == MAX_HOPS {
                return DiskAnswer::Broken;
            }
            hops.push(next.clone());
            current = next;
        }
        DiskAnswer::Leads(hops)
    }

    /// Returns where the declared links lead that a pattern may name or pass through.
    fn resolve_pattern(&self, pattern: &str) -> DiskAnswer {
        let named = self.links.keys().filter(|from| may_pass(pattern, from));
        let mut leads = Vec::new();
        for from in named {
            match self.resolve(from) {
                DiskAnswer::Leads(hops) => leads.extend(hops),
                _ => return DiskAnswer::Broken,
            }
        }
        if self.broken.iter().any(|broken| may_pass(pattern, broken)) {
            return DiskAnswer::Broken;
        }
        DiskAnswer::Leads(leads)
    }

    fn follow(&self, path: &str) -> Option<String> {
        let (from, to) = self.links.iter().find(|(from, _)| is_at_or_below(path, from))?;
        path.strip_prefix(from.as_str()).map(|rest| format!("{to}{rest}"))
    }
}

/// Says whether a pattern may name a path or something below it.
fn may_pass(pattern: &str, path: &str) -> bool {
    let mut components = pattern.split('/');
    path.split('/').all(|name| components.next().is_some_and(|component| may_name_component(component, name)))
}

fn is_at_or_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_hop_by_hop_and_component_wise() {
        let mut session = SpecSession::default();
        session.apply("link /a/x -> /b/y").unwrap();
        session.apply("link /b -> /c").unwrap();
        assert_eq!(session.resolve("/a/x/f"), DiskAnswer::Leads(vec!["/b/y/f".into(), "/c/y/f".into()]));
        assert_eq!(session.resolve("/a/xx"), DiskAnswer::Leads(vec![]));
    }

    #[test]
    fn a_loop_is_broken() {
        let mut session = SpecSession::default();
        session.apply("link /a -> /b").unwrap();
        session.apply("link /b -> /a").unwrap();
        assert_eq!(session.resolve("/a"), DiskAnswer::Broken);
    }

    #[test]
    fn a_line_that_says_nothing_known_is_refused() {
        for line in ["mode yolo", "cwd", "link /a /b", "speed 3", "headless yes"] {
            assert!(SpecSession::default().apply(line).is_err(), "{line}");
        }
    }
}
