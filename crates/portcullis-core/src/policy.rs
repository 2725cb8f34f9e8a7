//! Everything settings say that the pipeline needs: rules and switches.

use crate::mode::Mode;
use crate::rule::{Behavior, Matcher, Rule, is_dangerous_allow};
use crate::rule_set::RuleSet;

/// A compiled policy. The default has no rules, widens nothing and takes no mode away.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each its own setting")]
pub struct Policy {
    /// The rules of all sources, indexed.
    pub rules: RuleSet,
    /// The mode a session starts in, if settings say so.
    pub default_mode: Option<Mode>,
    /// The mode that settings of our own name, not a host's: it counts also where a host says that its mode is the usual one.
    pub own_mode: Option<Mode>,
    /// The modes that are removed.
    pub disabled_modes: DisabledModes,
    /// Whether bypass mode also lifts the check of protected paths (spec A7); not from files inside the repository.
    pub bypass_protected_paths: bool,
    /// Whether reads outside the working directories are stopped in every mode: those of file tools are denied, those of
    /// shell commands need a person.
    pub block_reads_outside: bool,
    /// Who reviews shell commands while planning.
    pub auto_during_plan: Planning,
    /// Directories that count as working directories beside the current one: absolute, or relative to it.
    pub additional_directories: Vec<String>,
    /// The sandbox the host runs shell commands in.
    pub sandbox: Sandbox,
    /// Whether PowerShell commands may go to the classifier.
    pub power_shell_auto: bool,
    /// Whether auto mode judges every shell command that changes something, also those an allow rule or a proof covers.
    pub classify_all_shell: bool,
    /// Whether code of the project runs inside a fence too, where one can be had, although nothing speaks against it.
    pub contains_project_code: bool,
    /// What settings say in sentences of the user's own.
    pub prose: Prose,
    /// Whether a model reviews soft findings against the user's words, where they would be denied otherwise.
    pub reviews_findings: bool,
    /// Whether `PermissionRequest` hooks are configured to be asked when there is no person.
    pub has_permission_hooks: bool,
}

/// Sentences of the user's own settings that only a judge can apply (spec D11).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prose {
    /// What is not to be done. With any of these a proof does not settle a call that changes something.
    pub prohibitions: Vec<String>,
    /// What may pass, and what surrounds the agent. With any of these a soft finding is put to the judge.
    pub permissions: Vec<String>,
}

/// Which modes settings took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DisabledModes {
    /// Bypass mode, by `disableBypassPermissionsMode`.
    pub bypass: bool,
    /// Auto mode, by `disableAutoMode`.
    pub auto: bool,
}

impl DisabledModes {
    /// Says whether a mode is taken away.
    pub fn contains(self, mode: Mode) -> bool {
        match mode {
            Mode::Auto => self.auto,
            Mode::BypassPermissions => self.bypass,
            Mode::Default | Mode::Plan | Mode::AcceptEdits | Mode::DontAsk => false,
        }
    }
}

/// Who reviews shell commands in plan mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Planning {
    /// The classifier, if auto mode is available.
    #[default]
    Classifier,
    /// A person.
    Person,
}

/// What is known about the host's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sandbox {
    /// Whether shell commands run sandboxed.
    pub enabled: bool,
    /// Whether a sandboxed command runs without asking.
    pub auto_allow: bool,
}

impl Policy {
    /// Says whether a mode puts a rule out of force: auto mode suspends allow rules that would slip past its judge
    /// (spec D1).
    pub(crate) fn suspends(&self, rule: &Rule, mode: Mode) -> bool {
        let is_judged = match &rule.matcher {
            Matcher::Shell { .. } => self.classify_all_shell && rule.behavior == Behavior::Allow,
            Matcher::Tool(_)
            | Matcher::Path { .. }
            | Matcher::Domain(_)
            | Matcher::Name { .. }
            | Matcher::Parameter { .. } => false,
        };
        mode == Mode::Auto && (is_judged || is_dangerous_allow(rule))
    }

    /// Returns the allow rules that auto mode suspends.
    pub fn suspended_in_auto(&self) -> impl Iterator<Item = &Rule> {
        self.rules.rules().iter().filter(|rule| self.suspends(rule, Mode::Auto))
    }

    /// Returns the mode that a session is in which asks for one: the default, if that one is taken away.
    pub fn mode_in_force(&self, mode: Mode) -> Mode {
        if self.disabled_modes.contains(mode) { Mode::Default } else { mode }
    }

    /// Makes a policy of rules alone.
    pub fn of_rules(rules: Vec<Rule>) -> Self {
        Self { rules: RuleSet::new(rules), ..Self::default() }
    }

    /// Says whether the classifier reviews shell commands in plan mode.
    pub(crate) fn judges_while_planning(&self) -> bool {
        self.auto_during_plan == Planning::Classifier && !self.disabled_modes.auto
    }
}
